//! The printed results of PROC REG.

use engine::format::{best, decimal};
use engine::session::World;

use super::Result;
use super::selection::Method;
use crate::figures::{Grid, fixed, probability, statistic};

/// A value in eleven columns, as SAS prints sums of squares and estimates: five decimals, none from
/// ten thousand on.
fn eleven(value: f64) -> String {
    if value.is_nan() {
        return ".".to_owned();
    }
    let size = value.abs();
    if size >= 1e10 || (size != 0.0 && size < 0.01) {
        best(value, 11).trim().to_owned()
    } else if size >= 1e4 {
        decimal(value, 0)
    } else {
        // Zero has no sign.
        decimal(value + 0.0, 5)
    }
}

/// Prints one model of one dependent variable.
pub(super) fn print(world: &mut World, result: &Result<'_>) {
    heading(world, result);
    steps(world, result);
    if result.names.is_empty() {
        return;
    }
    variance(world, result);
    summary(world, result);
    if result.fit.singular.iter().any(|singular| *singular) {
        world.listing.line(
            "NOTE: Model is not full rank. Least-squares solutions for the parameters are not unique. \
             Some statistics will be misleading.",
        );
        world.listing.line("");
    }
    estimates(world, result);
}

fn heading(world: &mut World, result: &Result<'_>) {
    let listing = &mut world.listing;
    listing.centered_line("The REG Procedure");
    listing.centered_line(&format!("Model: {}", result.model.name));
    listing.centered_line(&format!("Dependent Variable: {}", result.dependent));
    listing.line("");
    let missing = result.read - result.used;
    for (text, count) in [
        ("Number of Observations Read", result.read),
        ("Number of Observations Used", result.used),
        ("Number of Observations with Missing Values", missing),
    ] {
        if count > 0.0 || text.ends_with("Used") {
            listing.centered_line(&format!("{text:<42}{count:>12}"));
        }
    }
    listing.line("");
    if !result.model.intercept {
        listing.line("NOTE: No intercept in model. R-Square is redefined.");
        listing.line("");
    }
}

/// How SELECTION= came to the model.
fn steps(world: &mut World, result: &Result<'_>) {
    let Some(selection) = result.model.selection else {
        return;
    };
    let name = match selection.method {
        Method::Forward => "Forward",
        Method::Backward => "Backward",
        Method::Stepwise => "Stepwise",
    };
    for (number, (step, variable)) in result.steps.iter().enumerate() {
        let title = if selection.method == Method::Backward {
            "Elimination"
        } else {
            "Selection"
        };
        let what = if step.entered { "Entered" } else { "Removed" };
        world
            .listing
            .centered_line(&format!("{name} {title}: Step {}", number + 1));
        let (r_square, c) = (decimal(step.r_square, 4), decimal(step.c, 4));
        world.listing.centered_line(&format!(
            "Variable {variable} {what}: R-Square = {r_square} and C(p) = {c}"
        ));
        world.listing.line("");
    }
    let headings = [
        "Step",
        "Variable\nEntered",
        "Variable\nRemoved",
        "Number\nVars In",
        "Partial\nR-Square",
        "Model\nR-Square",
        "C(p)",
        "F Value",
        "Pr > F",
    ];
    let mut grid = Grid::new(3, &headings);
    for (number, (step, variable)) in result.steps.iter().enumerate() {
        let own = |entered: bool| {
            if step.entered == entered {
                variable.clone()
            } else {
                String::new()
            }
        };
        grid.row([
            (number + 1).to_string(),
            own(true),
            own(false),
            step.count.to_string(),
            decimal(step.partial, 4),
            decimal(step.r_square, 4),
            fixed(step.c, 9, 4),
            statistic(step.f),
            probability(step.probability),
        ]);
    }
    let title = if selection.method == Method::Backward {
        "Elimination"
    } else {
        "Selection"
    };
    grid.print(world, &format!("Summary of {name} {title}"));
}

fn variance(world: &mut World, result: &Result<'_>) {
    let line = |cells: [&str; 6]| {
        let [source, degrees, square, mean, f, p] = cells;
        format!("{source:<20}{degrees:>5}{square:>15}{mean:>15}{f:>11}{p:>10}")
    };
    let listing = &mut world.listing;
    listing.centered_line("Analysis of Variance");
    listing.line("");
    listing.centered_line(&line(["", "", "Sum of", "Mean", "", ""]));
    listing.centered_line(&line([
        "Source", "DF", "Squares", "Square", "F Value", "Pr > F",
    ]));
    listing.line("");
    let total = if result.model.intercept {
        "Corrected Total"
    } else {
        "Uncorrected Total"
    };
    listing.centered_line(&line([
        "Model",
        &result.model_degrees.to_string(),
        &eleven(result.model_square),
        &eleven(result.model_square / result.model_degrees),
        &statistic(result.f),
        &probability(result.f_probability),
    ]));
    listing.centered_line(&line([
        "Error",
        &result.error_degrees.to_string(),
        &eleven(result.fit.error),
        &eleven(result.mean_square),
        "",
        "",
    ]));
    let degrees = (result.model_degrees + result.error_degrees).to_string();
    listing.centered_line(&line([
        total,
        &degrees,
        &eleven(result.total_square),
        "",
        "",
        "",
    ]));
    listing.line("");
}

fn summary(world: &mut World, result: &Result<'_>) {
    let fraction = |value: f64| fixed(value, 10, 4);
    for (left, value, right, other) in [
        (
            "Root MSE",
            result.root_mse,
            "R-Square",
            fraction(result.r_square),
        ),
        (
            "Dependent Mean",
            result.dependent_mean,
            "Adj R-Sq",
            fraction(result.adjusted_r_square),
        ),
        (
            "Coeff Var",
            result.coefficient_of_variation,
            "",
            String::new(),
        ),
    ] {
        let line = format!("{left:<16}{:>14}    {right:<10}{other:>10}", eleven(value));
        world.listing.centered_line(&line);
    }
    world.listing.line("");
}

/// A column of the table of estimates: the two lines of its heading, its width, and a cell.
struct Column<'a> {
    heading: [&'static str; 2],
    width: usize,
    cell: Box<dyn Fn(usize) -> String + 'a>,
}

fn columns<'a>(result: &'a Result<'_>) -> Vec<Column<'a>> {
    let column = |heading, width, cell: Box<dyn Fn(usize) -> String + 'a>| Column {
        heading,
        width,
        cell,
    };
    let (estimates, errors) = (&result.fit.estimates, &result.errors);
    let limit = move |index: usize, side: f64| {
        eleven(estimates[index] + side * result.t_quantile * errors[index])
    };
    let mut columns = vec![
        column(
            ["", "DF"],
            3,
            Box::new(|index| u8::from(!result.fit.singular[index]).to_string()),
        ),
        column(
            ["Parameter", "Estimate"],
            15,
            Box::new(|index| eleven(estimates[index])),
        ),
        column(
            ["Standard", "Error"],
            15,
            Box::new(|index| eleven(errors[index])),
        ),
        column(
            ["", "t Value"],
            10,
            Box::new(|index| statistic(estimates[index] / errors[index])),
        ),
        column(
            ["", "Pr > |t|"],
            12,
            Box::new(|index| probability(result.probabilities[index])),
        ),
    ];
    if result.model.ss1 {
        let cell = Box::new(|index: usize| eleven(result.fit.sequential[index]));
        columns.push(column(["", "Type I SS"], 15, cell));
    }
    if result.model.vif {
        let cell = Box::new(|index: usize| eleven(result.inflation(index)));
        columns.push(column(["Variance", "Inflation"], 15, cell));
    }
    if result.model.limits {
        columns.push(column(
            ["95% Confidence", "Lower"],
            16,
            Box::new(move |index| limit(index, -1.0)),
        ));
        columns.push(column(
            ["Limits", "Upper"],
            16,
            Box::new(move |index| limit(index, 1.0)),
        ));
    }
    columns
}

fn estimates(world: &mut World, result: &Result<'_>) {
    let columns = columns(result);
    let names: Vec<String> = result
        .names
        .iter()
        .zip(&result.fit.singular)
        .map(|(name, singular)| format!("{name}{}", if *singular { " 0" } else { "" }))
        .collect();
    let width = names.iter().map(String::len).max().unwrap_or(0).max(9) + 3;
    let line = |first: &str, cell: &dyn Fn(&Column<'_>) -> String| {
        let cells = columns
            .iter()
            .map(|column| format!("{:>1$}", cell(column), column.width));
        format!("{first:<width$}{}", cells.collect::<String>())
    };
    let mut lines = vec![
        "Parameter Estimates".to_owned(),
        String::new(),
        line("", &|column| column.heading[0].to_owned()),
        line("Variable", &|column| column.heading[1].to_owned()),
        String::new(),
    ];
    for (index, name) in names.iter().enumerate() {
        lines.push(line(name, &|column| (column.cell)(index)));
    }
    lines.push(String::new());
    for line in lines {
        world.listing.centered_line(&line);
    }
}
