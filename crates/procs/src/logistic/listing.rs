//! The log and the printed results of PROC LOGISTIC and PROC HPLOGISTIC.

use engine::format::{best, decimal};
use engine::session::World;

use super::fit::{Status, Test, times};
use super::likelihood::BINS;
use super::statements::Method;
use super::{Analysis, Bound};
use crate::by::ByGroups;
use crate::distribution::{chi_square_probability, normal_quantile};
use crate::effects::Effect;
use crate::effects::classes::{Coding, Ordered};
use crate::effects::estimable::{General, containing};
use crate::figures::{Grid, fixed, probability, statistic};
use crate::linear::{Echelon, dot};

/// What the log says of an analysis.
pub(super) fn notes(world: &mut World, bound: &Bound<'_>, analysis: &Analysis) {
    let response = &bound.response_field.variable.name;
    let procedure = bound.name;
    if analysis.responses.labels.len() == 2 {
        let event = &analysis.responses.labels[0];
        world.note(&format!(
            "PROC {procedure} is modeling the probability that {response}='{event}'."
        ));
    } else {
        world.note(&format!(
            "PROC {procedure} is fitting the cumulative logit model. The probabilities modeled are \
             summed over the responses having the lower Ordered Values in the Response Profile table. \
             Use the response variable option DESCENDING if you want to reverse the assignment of \
             Ordered Values to the response levels."
        ));
    }
    let separation = |kind: &str| {
        format!(
            "There is {kind} separation of data points. The maximum likelihood estimate {} exist.",
            if kind == "a complete" {
                "does not"
            } else {
                "may not"
            }
        )
    };
    let continues = format!(
        "The {procedure} procedure continues in spite of the above warning. Results shown are based on \
         the last maximum likelihood iteration. Validity of the model fit is questionable."
    );
    match analysis.fitted.status {
        Status::Converged => {
            let text = convergence(bound, analysis);
            world.note(&text);
        }
        Status::Complete => {
            world.log.warning(&separation("a complete"));
            world.log.warning(&continues);
        }
        Status::Quasi => {
            world.log.warning(&separation("possibly a quasi-complete"));
            world.log.warning(&continues);
        }
        Status::Unfinished => {
            world
                .log
                .warning("Iteration limit reached without convergence.");
            world.log.warning(&continues);
        }
    }
}

fn convergence(bound: &Bound<'_>, analysis: &Analysis) -> String {
    match analysis.fitted.status {
        Status::Converged => {
            let value = best(bound.model.criterion, 6);
            format!("Convergence criterion (GCONV={}) satisfied.", value.trim())
        }
        Status::Complete => "Complete separation of data points detected.".to_owned(),
        Status::Quasi => "Quasi-complete separation of data points detected.".to_owned(),
        Status::Unfinished => "Iteration limit reached without convergence.".to_owned(),
    }
}

/// Prints what a BY group gave.
pub(super) fn group(
    world: &mut World,
    bound: &Bound<'_>,
    analysis: &Analysis,
    by: Option<&ByGroups>,
) {
    if let Some(by) = by {
        let heading = format!("---------- {} ----------", by.heading());
        world.listing.centered_line(&heading);
        world.listing.line("");
    }
    world
        .listing
        .centered_line(&format!("The {} Procedure", bound.name));
    world.listing.line("");
    information(world, bound, analysis);
    profile(world, bound, analysis);
    if !analysis.classes.is_empty() {
        classes(world, bound, &analysis.classes);
    }
    if bound.name == "HPLOGISTIC" {
        let mut grid = Grid::new(1, &["", ""]);
        let effects = analysis.effects(bound).count() + usize::from(analysis.intercepts > 0);
        grid.row(["Number of Effects".to_owned(), effects.to_string()]);
        grid.row([
            "Number of Parameters".to_owned(),
            analysis.parameters_free().to_string(),
        ]);
        grid.print(world, "Dimensions");
    }
    if bound.statements.selection.method != Method::None {
        steps(world, bound, analysis);
    }
    world.listing.centered_line("Model Convergence Status");
    world.listing.line("");
    world.listing.centered_line(&convergence(bound, analysis));
    world.listing.line("");
    if let Some(test) = &analysis.odds_test {
        let title = "Score Test for the Proportional Odds Assumption";
        let mut grid = Grid::new(0, &["Chi-Square", "DF", "Pr > ChiSq"]);
        grid.row(test_cells(test));
        grid.print(world, title);
    }
    fit_statistics(world, bound, analysis);
    if analysis.effects(bound).next().is_some() {
        global(world, bound, analysis);
        if !analysis.classes.is_empty() && bound.name == "LOGISTIC" {
            type_three(world, bound, analysis);
        }
    }
    estimates(world, bound, analysis);
    if bound.name == "LOGISTIC" {
        odds_ratios(world, bound, analysis);
        if !analysis.bins.is_empty() {
            association(world, analysis);
        }
    }
}

fn test_cells(test: &Test) -> [String; 3] {
    [
        fixed(test.square, 12, 4),
        test.degrees.to_string(),
        probability(test.probability()),
    ]
}

fn information(world: &mut World, bound: &Bound<'_>, analysis: &Analysis) {
    let count = analysis.responses.labels.len();
    let model = if count == 2 {
        "binary logit"
    } else {
        "cumulative logit"
    };
    let high = bound.name == "HPLOGISTIC";
    let technique = if high {
        "Newton-Raphson with Ridging"
    } else {
        "Fisher's scoring"
    };
    if high {
        let mut grid = Grid::new(1, &["", ""]);
        grid.row(["Execution Mode".to_owned(), "Single-Machine".to_owned()]);
        grid.row(["Number of Threads".to_owned(), bound.threads.to_string()]);
        grid.print(world, "Performance Information");
    }
    let data = &bound.statements.data;
    let member = match &data.libref {
        Some(libref) => format!("{libref}.{}", data.member),
        None => format!("WORK.{}", data.member),
    };
    let mut grid = Grid::new(2, &["", ""]);
    for (name, value) in [
        ("Data Set", member.to_uppercase()),
        (
            "Response Variable",
            bound.response_field.variable.name.clone(),
        ),
        ("Number of Response Levels", count.to_string()),
        ("Model", model.to_owned()),
        ("Optimization Technique", technique.to_owned()),
    ] {
        grid.row([name.to_owned(), value]);
    }
    grid.print(world, "Model Information");
    let mut grid = Grid::new(1, &["", ""]);
    grid.row([
        "Number of Observations Read".to_owned(),
        analysis.read.to_string(),
    ]);
    grid.row([
        "Number of Observations Used".to_owned(),
        analysis.used.to_string(),
    ]);
    if bound.weight.is_some() {
        let total = best(analysis.weight, 12).trim().to_owned();
        grid.row(["Sum of Weights Used".to_owned(), total]);
    }
    grid.print(world, "");
}

fn profile(world: &mut World, bound: &Bound<'_>, analysis: &Analysis) {
    let response = &bound.response_field.variable.name;
    let mut headings = vec!["Ordered\nValue", response.as_str(), "Total\nFrequency"];
    if bound.weight.is_some() {
        headings.push("Total\nWeight");
    }
    let mut grid = Grid::new(0, &headings);
    for (place, (frequency, weight)) in analysis.profile.iter().enumerate() {
        let label = analysis.responses.labels[place].clone();
        let mut cells = vec![(place + 1).to_string(), label, frequency.to_string()];
        if bound.weight.is_some() {
            cells.push(best(*weight, 12).trim().to_owned());
        }
        grid.row(cells);
    }
    grid.print(world, "Response Profile");
    let line = if analysis.responses.labels.len() == 2 {
        format!(
            "Probability modeled is {response}='{}'.",
            analysis.responses.labels[0]
        )
    } else {
        "Probabilities modeled are cumulated over the lower Ordered Values.".to_owned()
    };
    world.listing.centered_line(&line);
    world.listing.line("");
}

fn classes(world: &mut World, bound: &Bound<'_>, classes: &[Ordered]) {
    if bound.name == "HPLOGISTIC" {
        crate::figures::class_levels(
            world,
            classes
                .iter()
                .map(|class| (class.name.as_str(), class.labels.as_slice())),
        );
        return;
    }
    let width = |class: &Ordered| class.labels.len() - usize::from(class.coding != Coding::Glm);
    let most = classes.iter().map(width).max().unwrap_or(0);
    let mut headings = vec!["Class", "Value"];
    if most > 0 {
        headings.push("Design\nVariables");
    }
    headings.extend(std::iter::repeat_n("", most.saturating_sub(1)));
    let mut grid = Grid::new(2, &headings);
    for class in classes {
        for (place, label) in class.labels.iter().enumerate() {
            let mut cells = vec![
                if place == 0 {
                    class.name.clone()
                } else {
                    String::new()
                },
                label.clone(),
            ];
            for column in 0..width(class) {
                let own =
                    column + usize::from(class.coding != Coding::Glm && column >= class.reference);
                let value = if class.coding == Coding::Effect && place == class.reference {
                    -1
                } else {
                    i32::from(own == place)
                };
                cells.push(value.to_string());
            }
            grid.row(cells);
        }
    }
    grid.print(world, "Class Level Information");
}

fn steps(world: &mut World, bound: &Bound<'_>, analysis: &Analysis) {
    let high = bound.name == "HPLOGISTIC";
    if high {
        let mut grid = Grid::new(2, &["", ""]);
        let selection = &bound.statements.selection;
        grid.row([
            "Selection Method".to_owned(),
            selection.method.name().to_owned(),
        ]);
        grid.row([
            "Select Criterion".to_owned(),
            "Significance Level".to_owned(),
        ]);
        grid.row(["Stop Criterion".to_owned(), "Significance Level".to_owned()]);
        grid.print(world, "Selection Information");
    }
    let headings = [
        "Step",
        "Effect\nEntered",
        "Effect\nRemoved",
        "DF",
        "Number\nIn",
        "Score\nChi-Square",
        "Wald\nChi-Square",
        "Pr > ChiSq",
    ];
    let mut grid = Grid::new(3, &headings);
    for (number, step) in analysis.steps.iter().enumerate() {
        let name = bound.effects.effects[step.effect].name.clone();
        let square = fixed(step.test.square, 12, 4);
        let none = String::new;
        let (entered, removed, score, wald) = if step.entered {
            (name, none(), square, none())
        } else {
            (none(), name, none(), square)
        };
        grid.row([
            (number + 1).to_string(),
            entered,
            removed,
            step.test.degrees.to_string(),
            step.count.to_string(),
            score,
            wald,
            probability(step.test.probability()),
        ]);
    }
    let title = format!(
        "Summary of {} Selection",
        bound.statements.selection.method.name()
    );
    grid.print(world, if high { "Selection Summary" } else { &title });
}

fn fit_statistics(world: &mut World, bound: &Bound<'_>, analysis: &Analysis) {
    let both = analysis.effects(bound).next().is_some();
    let (null, full) = (-2.0 * analysis.null, -2.0 * analysis.fitted.likelihood);
    let (few, all) = (analysis.intercepts as f64, analysis.parameters_free());
    let log = analysis.used.ln();
    if bound.name == "HPLOGISTIC" {
        let mut grid = Grid::new(1, &["", ""]);
        let corrected = 2.0 * all * analysis.used / (analysis.used - all - 1.0);
        for (name, value) in [
            ("-2 Log Likelihood", full),
            ("AIC (smaller is better)", full + 2.0 * all),
            ("AICC (smaller is better)", full + corrected),
            ("BIC (smaller is better)", full + log * all),
        ] {
            grid.row([name.to_owned(), fixed(value, 14, 4)]);
        }
        grid.print(world, "Fit Statistics");
        return;
    }
    let headings = ["Criterion", "Intercept\nOnly", "Intercept\nand\nCovariates"];
    let shown = if both { 3 } else { 2 };
    let mut grid = Grid::new(1, &headings[..shown]);
    for (name, one, other) in [
        ("AIC", null + 2.0 * few, full + 2.0 * all),
        ("SC", null + log * few, full + log * all),
        ("-2 Log L", null, full),
    ] {
        let cells = [name.to_owned(), fixed(one, 12, 3), fixed(other, 12, 3)];
        grid.row(cells.into_iter().take(shown));
    }
    grid.print(world, "Model Fit Statistics");
}

fn global(world: &mut World, bound: &Bound<'_>, analysis: &Analysis) {
    let slopes = analysis.intercepts..analysis.design.columns;
    let wald = analysis.fitted.wald_of(slopes);
    let ratio = Test {
        square: 2.0 * (analysis.fitted.likelihood - analysis.null),
        degrees: wald.degrees,
    };
    let mut grid = Grid::new(1, &["Test", "Chi-Square", "DF", "Pr > ChiSq"]);
    let tests = [
        ("Likelihood Ratio", &ratio),
        ("Score", &analysis.score),
        ("Wald", &wald),
    ];
    let count = if bound.name == "HPLOGISTIC" { 1 } else { 3 };
    for (name, test) in tests.into_iter().take(count) {
        let [square, degrees, p] = test_cells(test);
        grid.row([name.to_owned(), square, degrees, p]);
    }
    grid.print(world, "Testing Global Null Hypothesis: BETA=0");
}

fn type_three(world: &mut World, bound: &Bound<'_>, analysis: &Analysis) {
    let effects = &bound.effects.effects;
    let glm = analysis
        .classes
        .iter()
        .any(|class| class.coding == Coding::Glm);
    let ranges: Vec<_> = analysis
        .design
        .effects
        .iter()
        .map(|columns| columns.first..columns.first + columns.count)
        .collect();
    let size = analysis.design.columns;
    let general = glm.then(|| {
        let cells = (0..size * size).map(|index| {
            let (row, column) = (index % size, index / size);
            analysis.fitted.sums.information[row.min(column) * size + row.max(column)]
        });
        let echelon = Echelon::new(cells.collect(), size, size);
        (General::new(&echelon), echelon)
    });
    let mut grid = Grid::new(1, &["Effect", "DF", "Wald\nChi-Square", "Pr > ChiSq"]);
    for (index, effect) in analysis.effects(bound) {
        let test = match &general {
            Some((general, echelon)) => {
                let above = containing(effects, &ranges, index);
                let hypothesis = general.type_three(echelon, &ranges[index], &above);
                let rows: Vec<Vec<f64>> = hypothesis
                    .iter()
                    .map(|values| {
                        let mut row = vec![0.0; size];
                        for (pivot, value) in echelon.pivots().iter().zip(values) {
                            row[*pivot] = *value;
                        }
                        row
                    })
                    .collect();
                analysis.fitted.wald(&rows)
            }
            None => analysis.fitted.wald_of(ranges[index].clone()),
        };
        let [square, degrees, p] = test_cells(&test);
        grid.row([effect.name.clone(), degrees, square, p]);
    }
    let crossed = effects
        .iter()
        .any(|effect| effect.classes.len() + effect.covariates.len() > 1);
    let title = if glm || !crossed {
        "Type 3 Analysis of Effects"
    } else {
        "Joint Tests"
    };
    grid.print(world, title);
}

fn estimates(world: &mut World, bound: &Bound<'_>, analysis: &Analysis) {
    let high = bound.name == "HPLOGISTIC";
    let mut headings = if high {
        vec![
            "Parameter",
            "",
            "Estimate",
            "Standard\nError",
            "DF",
            "t Value",
            "Pr > |t|",
        ]
    } else {
        vec![
            "Parameter",
            "",
            "DF",
            "Estimate",
            "Standard\nError",
            "Wald\nChi-Square",
            "Pr > ChiSq",
        ]
    };
    if bound.model.limits {
        headings.extend(["Wald Lower", "Limits\nUpper"]);
    }
    let mut grid = Grid::new(2, &headings);
    let mut names: Vec<(usize, String, String)> = Vec::new();
    for cut in 0..analysis.intercepts {
        let level = match analysis.intercepts {
            1 => String::new(),
            _ => analysis.responses.labels[cut].clone(),
        };
        names.push((cut, "Intercept".to_owned(), level));
    }
    for (index, _) in analysis.effects(bound) {
        let first = analysis.design.effects[index].first;
        for (place, (effect, level)) in analysis.parameters(bound, index).into_iter().enumerate() {
            names.push((first + place, effect, level));
        }
    }
    let quantile = normal_quantile(1.0 - bound.model.alpha / 2.0);
    for (column, effect, level) in names {
        let (estimate, error) = (analysis.fitted.beta[column], analysis.fitted.error(column));
        let free = analysis.fitted.free[column];
        let wald = (estimate / error).powi(2);
        let p = probability(chi_square_probability(wald, 1.0));
        let number = |value: f64| fixed(value, 11, 4);
        let mut cells = vec![effect, level];
        if high {
            let degrees = if free { "Infty" } else { "." }.to_owned();
            let t = statistic(estimate / error);
            cells.extend([number(estimate), number(error), degrees, t, p]);
        } else {
            let degrees = usize::from(free).to_string();
            cells.extend([degrees, number(estimate), number(error), number(wald), p]);
        }
        if bound.model.limits {
            let width = quantile * error;
            cells.extend([number(estimate - width), number(estimate + width)]);
        }
        grid.row(cells);
    }
    let title = if high {
        "Parameter Estimates"
    } else {
        "Analysis of Maximum Likelihood Estimates"
    };
    grid.print(world, title);
}

/// Odds ratios of covariates and classes that are in no other effect.
fn odds_ratios(world: &mut World, bound: &Bound<'_>, analysis: &Analysis) {
    let headings = [
        "Effect",
        "Point\nEstimate",
        "95% Wald\nConfidence",
        "\nLimits",
    ];
    let mut grid = Grid::new(1, &headings);
    let quantile = normal_quantile(1.0 - bound.model.alpha / 2.0);
    let mut any = false;
    for (index, effect) in analysis.effects(bound) {
        let shared = analysis.effects(bound).any(|(other, one)| {
            let common = |list: &[usize], own: &[usize]| own.iter().any(|item| list.contains(item));
            other != index
                && (common(&one.classes, &effect.classes)
                    || common(&one.covariates, &effect.covariates))
        });
        if shared || effect.classes.len() + effect.covariates.len() != 1 {
            continue;
        }
        for (name, contrast) in contrasts(analysis, index, effect) {
            any = true;
            let estimate = dot(&contrast, &analysis.fitted.beta);
            let product = times(&analysis.fitted.covariance, &contrast);
            let width = quantile * dot(&product, &contrast).sqrt();
            let limits = [estimate - width, estimate + width];
            grid.row([name, ratio(estimate), ratio(limits[0]), ratio(limits[1])]);
        }
    }
    if any {
        grid.print(world, "Odds Ratio Estimates");
    }
}

/// An odds ratio from its logarithm.
fn ratio(logarithm: f64) -> String {
    let value = logarithm.exp();
    if value > 999.999 {
        ">999.999".to_owned()
    } else if value < 0.001 {
        "<0.001".to_owned()
    } else {
        decimal(value, 3)
    }
}

/// What the odds ratios of an effect compare, with their names.
fn contrasts(analysis: &Analysis, index: usize, effect: &Effect) -> Vec<(String, Vec<f64>)> {
    let columns = &analysis.design.effects[index];
    let mut unit = vec![0.0; analysis.design.columns];
    let [class] = effect.classes.as_slice() else {
        unit[columns.first] = 1.0;
        return vec![(effect.name.clone(), unit)];
    };
    let levels = &analysis.classes[*class];
    let row = |place: usize| {
        let mut entries = Vec::new();
        columns.append(&|_| levels.codes[place], &|_| 1.0, &mut entries);
        let mut row = unit.clone();
        for (column, value) in entries {
            row[column as usize] = value;
        }
        row
    };
    let base = row(levels.reference);
    let of = |place: usize| {
        let own = row(place);
        let contrast = own
            .iter()
            .zip(&base)
            .map(|(one, other)| one - other)
            .collect();
        let (level, other) = (&levels.labels[place], &levels.labels[levels.reference]);
        (format!("{} {level} vs {other}", effect.name), contrast)
    };
    (0..levels.labels.len())
        .filter(|place| *place != levels.reference)
        .map(of)
        .collect()
}

/// How predicted probabilities agree with responses, counted in bins of 1/500.
fn association(world: &mut World, analysis: &Analysis) {
    let responses = analysis.responses.labels.len();
    let width = BINS * (responses - 1) + 1;
    let (mut concordant, mut discordant, mut pairs) = (0.0, 0.0, 0.0);
    for higher in 0..responses {
        for lower in higher + 1..responses {
            // The first response is the one that larger predicted values belong to.
            let above = &analysis.bins[higher * width..(higher + 1) * width];
            let below = &analysis.bins[lower * width..(lower + 1) * width];
            let (mut seen, all): (f64, f64) = (0.0, below.iter().sum());
            for (own, other) in above.iter().zip(below) {
                concordant += own * seen;
                discordant += own * (all - seen - other);
                seen += other;
            }
            pairs += all * above.iter().sum::<f64>();
        }
    }
    let tied = pairs - concordant - discordant;
    let percent = |count: f64| decimal(100.0 * count / pairs, 1);
    let difference = concordant - discordant;
    let all = analysis.used * (analysis.used - 1.0) / 2.0;
    let mut grid = Grid::new(1, &["", "", "", ""]);
    for (left, value, right, other) in [
        (
            "Percent Concordant",
            percent(concordant),
            "Somers' D",
            difference / pairs,
        ),
        (
            "Percent Discordant",
            percent(discordant),
            "Gamma",
            difference / (concordant + discordant),
        ),
        ("Percent Tied", percent(tied), "Tau-a", difference / all),
        (
            "Pairs",
            pairs.to_string(),
            "c",
            (concordant + 0.5 * tied) / pairs,
        ),
    ] {
        grid.row([left.to_owned(), value, right.to_owned(), fixed(other, 8, 3)]);
    }
    grid.print(
        world,
        "Association of Predicted Probabilities and Observed Responses",
    );
}
