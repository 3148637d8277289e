//! The printed results of PROC GLM.

use engine::session::World;

use super::means::{Mean, Request, means};
use super::{Analysis, Bound, Group};
use crate::by::ByGroups;
use crate::distribution::{f_probability, t_probability};
use crate::effects::classes::Ordered;
use crate::figures::{Grid, aligned, class_levels, filled, probability, statistic};

/// Prints what a BY group gave.
pub(super) fn group(
    world: &mut World,
    bound: &Bound<'_>,
    group: &Group,
    levels: &[Ordered],
    analyses: &[Analysis],
    by: Option<&ByGroups>,
) {
    if let Some(by) = by {
        let heading = format!("---------- {} ----------", by.heading());
        world.listing.centered_line(&heading);
        world.listing.line("");
    }
    world.listing.centered_line("The GLM Procedure");
    world.listing.line("");
    if !levels.is_empty() {
        let named = levels
            .iter()
            .map(|class| (class.name.as_str(), class.labels.as_slice()));
        class_levels(world, named);
    }
    let mut counts = Grid::new(1, &["", ""]);
    counts.row([
        "Number of Observations Read".to_owned(),
        group.read.to_string(),
    ]);
    let used = analyses
        .iter()
        .fold(0.0, |most: f64, one| most.max(one.used));
    counts.row(["Number of Observations Used".to_owned(), used.to_string()]);
    counts.print(world, "");
    for analysis in analyses {
        dependent(world, bound, levels, analysis);
    }
}

fn dependent(world: &mut World, bound: &Bound<'_>, levels: &[Ordered], analysis: &Analysis) {
    world.listing.centered_line("The GLM Procedure");
    world.listing.line("");
    world
        .listing
        .line(&format!("Dependent Variable: {}", analysis.dependent));
    world.listing.line("");
    if analysis.used == 0.0 {
        world.listing.line("No valid observations are found.");
        world.listing.line("");
        return;
    }
    variance(world, bound, analysis);
    let mut fit = Grid::new(
        0,
        &[
            "R-Square",
            "Coeff Var",
            "Root MSE",
            &format!("{} Mean", analysis.dependent),
        ],
    );
    let root = analysis.mean_square.sqrt();
    fit.row([
        filled(analysis.model_square / analysis.total_square, 8),
        filled(100.0 * root / analysis.mean, 8),
        filled(root, 8),
        filled(analysis.mean, 8),
    ]);
    fit.print(world, "");
    for kind in &bound.model.types {
        squares(world, bound, analysis, *kind);
    }
    if bound.model.solution || levels.is_empty() {
        solution(world, bound, levels, analysis);
    }
    for request in &bound.requests {
        least_squares(world, bound, levels, analysis, request);
    }
}

fn variance(world: &mut World, bound: &Bound<'_>, analysis: &Analysis) {
    let headings = [
        "Source",
        "DF",
        "Sum of\nSquares",
        "Mean Square",
        "F Value",
        "Pr > F",
    ];
    let mut grid = Grid::new(1, &headings);
    let model_mean = analysis.model_square / analysis.model_degrees;
    let f = model_mean / analysis.mean_square;
    let texts = aligned(
        &[
            analysis.model_square,
            analysis.error_square,
            analysis.total_square,
            model_mean,
            analysis.mean_square,
        ],
        12,
    );
    let text = |index: usize| texts[index].clone();
    let total = analysis.model_degrees + analysis.error_degrees;
    grid.row([
        "Model".to_owned(),
        analysis.model_degrees.to_string(),
        text(0),
        text(3),
        statistic(f),
        probability(f_probability(
            f,
            analysis.model_degrees,
            analysis.error_degrees,
        )),
    ]);
    grid.row([]);
    grid.row([
        "Error".to_owned(),
        analysis.error_degrees.to_string(),
        text(1),
        text(4),
    ]);
    grid.row([]);
    let name = if bound.model.intercept {
        "Corrected Total"
    } else {
        "Uncorrected Total"
    };
    grid.row([name.to_owned(), total.to_string(), text(2)]);
    grid.print(world, "");
}

fn squares(world: &mut World, bound: &Bound<'_>, analysis: &Analysis, kind: u8) {
    let name = ["I", "II", "III"][usize::from(kind).clamp(1, 3) - 1];
    let heading = format!("Type {name} SS");
    let headings = [
        "Source",
        "DF",
        heading.as_str(),
        "Mean Square",
        "F Value",
        "Pr > F",
    ];
    let mut grid = Grid::new(1, &headings);
    let squares = analysis.squares(bound, kind);
    let means: Vec<f64> = squares
        .iter()
        .map(|(degrees, square)| square / *degrees as f64)
        .collect();
    let all: Vec<f64> = squares
        .iter()
        .map(|(_, square)| *square)
        .chain(means.clone())
        .collect();
    let texts = aligned(&all, 12);
    for (index, effect) in bound.effects.effects.iter().enumerate() {
        let degrees = squares[index].0 as f64;
        let f = means[index] / analysis.mean_square;
        grid.row([
            effect.name.clone(),
            degrees.to_string(),
            texts[index].clone(),
            texts[squares.len() + index].clone(),
            statistic(f),
            probability(f_probability(f, degrees, analysis.error_degrees)),
        ]);
    }
    grid.print(world, "");
}

/// Names of the parameters: the effect and its levels.
fn parameters(bound: &Bound<'_>, levels: &[Ordered], analysis: &Analysis) -> Vec<[String; 2]> {
    let mut names = Vec::new();
    if bound.model.intercept {
        names.push(["Intercept".to_owned(), String::new()]);
    }
    for (effect, columns) in bound.effects.effects.iter().zip(&analysis.design.effects) {
        for places in &columns.levels {
            let label = |(class, place): (&usize, &usize)| levels[*class].labels[*place].clone();
            let of: Vec<String> = effect.classes.iter().zip(places).map(label).collect();
            names.push([effect.name.clone(), of.join(" ")]);
        }
    }
    names
}

fn solution(world: &mut World, bound: &Bound<'_>, levels: &[Ordered], analysis: &Analysis) {
    let mut headings = vec![
        "Parameter",
        "",
        "Estimate",
        "",
        "Standard\nError",
        "t Value",
        "Pr > |t|",
    ];
    if bound.model.limits {
        headings.extend(["Confidence\nLower", "Limits\nUpper"]);
    }
    let mut grid = Grid::new(2, &headings);
    let errors: Vec<f64> = analysis
        .inverse_diagonal
        .iter()
        .enumerate()
        .map(|(column, diagonal)| match analysis.echelon.row_of(column) {
            Some(_) => (analysis.mean_square * diagonal).sqrt(),
            None => f64::NAN,
        })
        .collect();
    let (estimate_texts, error_texts) = (aligned(&analysis.estimates, 12), aligned(&errors, 12));
    let mut biased = false;
    for (column, name) in parameters(bound, levels, analysis).into_iter().enumerate() {
        let mut unit = vec![0.0; analysis.design.columns];
        unit[column] = 1.0;
        let estimable = analysis.general.is_estimable(&unit, &analysis.echelon);
        biased |= !estimable;
        let [effect, level] = name;
        let (estimate, error) = (analysis.estimates[column], errors[column]);
        let mut cells = vec![
            effect,
            level,
            estimate_texts[column].clone(),
            if estimable { "" } else { "B" }.to_owned(),
            error_texts[column].clone(),
            statistic(estimate / error),
            probability(t_probability(estimate / error, analysis.error_degrees)),
        ];
        if bound.model.limits {
            let width = analysis.t_quantile * error;
            cells.extend(aligned(&[estimate - width, estimate + width], 12));
        }
        grid.row(cells);
    }
    grid.print(world, "");
    if biased {
        for line in [
            "NOTE: The X'X matrix has been found to be singular, and a generalized inverse was used to \
             solve the normal equations.",
            "      Terms whose estimates are followed by the letter 'B' are not uniquely estimable.",
        ] {
            world.listing.line(line);
        }
        world.listing.line("");
    }
}

fn least_squares(
    world: &mut World,
    bound: &Bound<'_>,
    levels: &[Ordered],
    analysis: &Analysis,
    request: &Request<'_>,
) {
    let means = means(request, bound, levels, analysis);
    let numbered = request.options.differences;
    let name = format!("{}\nLSMEAN", analysis.dependent);
    let classes: Vec<&str> = request
        .effect
        .classes
        .iter()
        .map(|class| levels[*class].name.as_str())
        .collect();
    let mut headings = classes.clone();
    headings.push(&name);
    if request.options.errors {
        headings.extend(["Standard\nError", "Pr > |t|"]);
    }
    if request.options.limits {
        headings.extend(["Confidence\nLower", "Limits\nUpper"]);
    }
    if numbered {
        headings.push("LSMEAN\nNumber");
    }
    let mut grid = Grid::new(classes.len(), &headings);
    let values: Vec<(f64, f64)> = means.iter().map(|mean| value(analysis, mean)).collect();
    let texts = aligned(
        &values.iter().map(|(value, _)| *value).collect::<Vec<f64>>(),
        11,
    );
    let errors = aligned(
        &values.iter().map(|(_, error)| *error).collect::<Vec<f64>>(),
        10,
    );
    for (index, mean) in means.iter().enumerate() {
        let (estimate, error) = values[index];
        let label = |(class, place): (&usize, &usize)| levels[*class].labels[*place].clone();
        let mut cells: Vec<String> = request
            .effect
            .classes
            .iter()
            .zip(&mean.places)
            .map(label)
            .collect();
        let known = mean.function.is_some();
        cells.push(if known {
            texts[index].clone()
        } else {
            "Non-est".to_owned()
        });
        if request.options.errors {
            cells.push(errors[index].clone());
            let p = t_probability(estimate / error, analysis.error_degrees);
            cells.push(probability(p));
        }
        if request.options.limits {
            let width = analysis.t_quantile * error;
            cells.extend(aligned(&[estimate - width, estimate + width], 11));
        }
        if numbered {
            cells.push((index + 1).to_string());
        }
        grid.row(cells);
    }
    world.listing.centered_line("The GLM Procedure");
    grid.print(world, "Least Squares Means");
    if numbered {
        differences(world, analysis, &request.effect.name, &means);
    }
}

/// A mean and its standard error.
fn value(analysis: &Analysis, mean: &Mean) -> (f64, f64) {
    match &mean.function {
        Some(function) => {
            let (variance, estimate) = analysis.function(function);
            (estimate, (analysis.mean_square * variance).sqrt())
        }
        None => (f64::NAN, f64::NAN),
    }
}

fn differences(world: &mut World, analysis: &Analysis, effect: &str, means: &[Mean]) {
    let numbers: Vec<String> = (1..=means.len()).map(|number| number.to_string()).collect();
    let mut headings = vec!["i/j"];
    headings.extend(numbers.iter().map(String::as_str));
    let mut grid = Grid::new(1, &headings);
    for (row, one) in means.iter().enumerate() {
        let mut cells = vec![numbers[row].clone()];
        for (column, other) in means.iter().enumerate() {
            cells.push(match (&one.function, &other.function) {
                _ if row == column => String::new(),
                (Some(one), Some(other)) => {
                    let function: Vec<f64> = one
                        .iter()
                        .zip(other)
                        .map(|(left, right)| left - right)
                        .collect();
                    let (variance, estimate) = analysis.function(&function);
                    let t = estimate / (analysis.mean_square * variance).sqrt();
                    probability(t_probability(t, analysis.error_degrees))
                }
                _ => ".".to_owned(),
            });
        }
        grid.row(cells);
    }
    let title = format!(
        "Least Squares Means for effect {effect}\nPr > |t| for H0: LSMean(i)=LSMean(j)\n\nDependent \
         Variable: {}",
        analysis.dependent
    );
    grid.print(world, &title);
}
