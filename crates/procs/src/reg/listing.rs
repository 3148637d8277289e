//! The printed results of PROC REG.

use engine::format::best;
use engine::session::World;

use super::Result;

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
        format!("{value:.0}")
    } else {
        format!("{value:.5}")
    }
}

fn statistic(value: f64) -> String {
    if value.is_nan() {
        ".".to_owned()
    } else if value.is_infinite() {
        "Infty".to_owned()
    } else if value.abs() >= 1e6 {
        best(value, 8).trim().to_owned()
    } else {
        format!("{value:.2}")
    }
}

fn probability(value: f64) -> String {
    if value.is_nan() {
        ".".to_owned()
    } else if value < 0.0001 {
        "<.0001".to_owned()
    } else {
        format!("{value:.4}")
    }
}

/// Prints one model of one dependent variable.
pub(super) fn print(world: &mut World, result: &Result<'_>) {
    let listing = &mut world.listing;
    for line in [
        "The REG Procedure".to_owned(),
        format!("Model: {}", result.model.name),
        format!("Dependent Variable: {}", result.dependent),
    ] {
        listing.centered_line(&line);
    }
    listing.line("");
    for (text, count) in [
        ("Number of Observations Read", result.read),
        ("Number of Observations Used", result.used),
    ] {
        listing.centered_line(&format!("{text}{count:>12}"));
    }
    let missing = result.read - result.used;
    if missing > 0.0 {
        listing.centered_line(&format!(
            "Number of Observations with Missing Values{missing:>12}"
        ));
    }
    listing.line("");
    if !result.model.intercept {
        listing.line("NOTE: No intercept in model. R-Square is redefined.");
        listing.line("");
    }
    listing.centered_line("Analysis of Variance");
    listing.line("");
    let row = |source: &str, degrees: f64, square: f64, rest: [String; 3]| {
        let [mean, f, p] = rest;
        format!(
            "{source:<20}{degrees:>5}{:>15}{mean:>15}{f:>11}{p:>10}",
            eleven(square)
        )
    };
    listing.centered_line(&format!(
        "{:<20}{:>5}{:>15}{:>15}{:>11}{:>10}",
        "", "", "Sum of", "Mean", "", ""
    ));
    listing.centered_line(&format!(
        "{:<20}{:>5}{:>15}{:>15}{:>11}{:>10}",
        "Source", "DF", "Squares", "Square", "F Value", "Pr > F"
    ));
    listing.line("");
    let none = || [String::new(), String::new(), String::new()];
    let model_mean = result.model_square / result.model_degrees;
    let rows = [
        row(
            "Model",
            result.model_degrees,
            result.model_square,
            [
                eleven(model_mean),
                statistic(result.f),
                probability(result.f_probability),
            ],
        ),
        row(
            "Error",
            result.error_degrees,
            result.fit.error,
            [eleven(result.mean_square), String::new(), String::new()],
        ),
        row(
            if result.model.intercept {
                "Corrected Total"
            } else {
                "Uncorrected Total"
            },
            result.model_degrees + result.error_degrees,
            result.total_square,
            none(),
        ),
    ];
    for row in rows {
        listing.centered_line(&row);
    }
    listing.line("");
    for (left, left_value, right, right_value) in [
        (
            "Root MSE",
            eleven(result.root_mse),
            "R-Square",
            format!("{:.4}", result.r_square),
        ),
        (
            "Dependent Mean",
            eleven(result.dependent_mean),
            "Adj R-Sq",
            format!("{:.4}", result.adjusted_r_square),
        ),
        (
            "Coeff Var",
            eleven(result.coefficient_of_variation),
            "",
            String::new(),
        ),
    ] {
        listing.centered_line(&format!(
            "{left:<16}{left_value:>14}    {right:<10}{right_value:>10}"
        ));
    }
    listing.line("");
    if result.fit.singular.iter().any(|singular| *singular) {
        listing.line(
            "NOTE: Model is not full rank. Least-squares solutions for the parameters are not unique. \
             Some statistics will be misleading.",
        );
        listing.line("");
    }
    estimates(world, result);
}

fn estimates(world: &mut World, result: &Result<'_>) {
    let listing = &mut world.listing;
    let model = result.model;
    listing.centered_line("Parameter Estimates");
    listing.line("");
    let width = result
        .names
        .iter()
        .map(String::len)
        .max()
        .unwrap_or(0)
        .max(9)
        + 3;
    let mut above = format!(
        "{:<width$}{:>3}{:>15}{:>15}{:>10}{:>12}",
        "", "", "Parameter", "Standard", "", ""
    );
    let mut heading = format!(
        "{:<width$}{:>3}{:>15}{:>15}{:>10}{:>12}",
        "Variable", "DF", "Estimate", "Error", "t Value", "Pr > |t|"
    );
    if model.ss1 {
        above += &format!("{:>15}", "");
        heading += &format!("{:>15}", "Type I SS");
    }
    if model.vif {
        above += &format!("{:>15}", "Variance");
        heading += &format!("{:>15}", "Inflation");
    }
    if model.limits {
        above += &format!("{:>30}", "");
        heading += &format!("{:>30}", "95% Confidence Limits");
    }
    listing.centered_line(&above);
    listing.centered_line(&heading);
    listing.line("");
    for (index, name) in result.names.iter().enumerate() {
        let degrees = u8::from(!result.fit.singular[index]);
        let (estimate, error) = (result.fit.estimates[index], result.errors[index]);
        let biased = if result.fit.singular[index] { " 0" } else { "" };
        let mut line = format!(
            "{:<width$}{degrees:>3}{:>15}{:>15}{:>10}{:>12}",
            format!("{name}{biased}"),
            eleven(estimate),
            eleven(error),
            statistic(estimate / error),
            probability(result.probabilities[index])
        );
        if model.ss1 {
            line += &format!("{:>15}", eleven(result.fit.sequential[index]));
        }
        if model.vif {
            line += &format!("{:>15}", eleven(result.inflation(index)));
        }
        if model.limits {
            let half = result.t_quantile * error;
            line += &format!(
                "{:>15}{:>15}",
                eleven(estimate - half),
                eleven(estimate + half)
            );
        }
        listing.centered_line(&line);
    }
    listing.line("");
}
