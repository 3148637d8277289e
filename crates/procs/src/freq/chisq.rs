//! Tests of CHISQ, computed and printed.

use engine::format::decimal;
use engine::listing::Listing;
use sas7bdat::Kind;

use super::counts::Crossed;
use crate::distribution::chi_square_probability;
use crate::figures::{fixed, probability};
use crate::levels::ClassVariable;

/// Above this not all whole numbers are exact.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Probabilities below this share of the greatest one are left out of sums.
const NEGLIGIBLE: f64 = 1e-30;

/// Tables as probable as the one at hand, but for rounding.
const ROUNDING: f64 = 1e-7;

const TOO_FEW_LEVELS: &str =
    "No statistics are computed since a variable has fewer than 2 nonmissing levels.";

/// Scores of the levels of a variable: their numbers, or 1, 2, ... of texts.
pub(super) fn scores(variable: &ClassVariable, levels: &[&[u8]]) -> Vec<f64> {
    let levels = levels.iter().enumerate();
    let score = |(index, level): (usize, &&[u8])| match variable.field.variable.kind {
        Kind::Numeric => variable.number(level),
        Kind::Character => index as f64 + 1.0,
    };
    levels.map(score).collect()
}

/// The chi-square of equal proportions of a one-way table.
fn equal_proportions(counts: &[f64]) -> f64 {
    let expected = counts.iter().sum::<f64>() / counts.len() as f64;
    let squares = counts.iter().map(|count| (count - expected).powi(2));
    squares.sum::<f64>() / expected
}

/// The Mantel-Haenszel chi-square, with one degree of freedom.
fn mantel_haenszel(crossed: &Crossed<'_>, rows: &[f64], columns: &[f64]) -> f64 {
    let cells = || {
        let pairs = (0..rows.len()).flat_map(|row| (0..columns.len()).map(move |one| (row, one)));
        pairs.map(|(row, column)| (rows[row], columns[column], crossed.at(row, column)))
    };
    let total = crossed.total();
    let mean_row = cells().map(|(row, _, count)| row * count).sum::<f64>() / total;
    let mean_column = cells()
        .map(|(_, column, count)| column * count)
        .sum::<f64>()
        / total;
    let (mut both, mut along, mut across) = (0.0, 0.0, 0.0);
    for (row, column, count) in cells() {
        let (row, column) = (row - mean_row, column - mean_column);
        both += row * column * count;
        along += row * row * count;
        across += column * column * count;
    }
    (total - 1.0) * both * both / (along * across)
}

/// Pearson's chi-square of a table of two by two, adjusted for continuity.
fn adjusted(crossed: &Crossed<'_>) -> f64 {
    let total = crossed.total();
    let cross = crossed.at(0, 0) * crossed.at(1, 1) - crossed.at(0, 1) * crossed.at(1, 0);
    let margins = crossed.row_total(0)
        * crossed.row_total(1)
        * crossed.column_total(0)
        * crossed.column_total(1);
    total * (cross.abs() - total / 2.0).max(0.0).powi(2) / margins
}

/// Fisher's exact test of a table of two by two.
#[derive(Debug)]
struct Exact {
    left: f64,
    right: f64,
    table: f64,
    two_sided: f64,
}

/// `None` unless all counts are whole.
fn fisher(crossed: &Crossed<'_>) -> Option<Exact> {
    let cells = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(row, column)| crossed.at(row, column));
    let whole = |count: &f64| count.fract() == 0.0 && (0.0..WHOLE_MAX).contains(count);
    if !cells.iter().all(whole) {
        return None;
    }
    let (row, column, total) = (
        crossed.row_total(0),
        crossed.column_total(0),
        crossed.total(),
    );
    let (least, most) = ((row + column - total).max(0.0), row.min(column));
    // Towards greater counts of the first cell, as a share of the probability before.
    let step =
        |at: f64| (row - at) * (column - at) / ((at + 1.0) * (total - row - column + at + 1.0));
    let mode = ((row + 1.0) * (column + 1.0) / (total + 2.0))
        .floor()
        .clamp(least, most);
    // Walked twice and not kept: large counts have millions of tables that are not negligible.
    let each = |take: &mut dyn FnMut(f64, f64)| {
        take(mode, 1.0);
        let (mut at, mut weight) = (mode, 1.0);
        while at < most && weight >= NEGLIGIBLE {
            weight *= step(at);
            at += 1.0;
            take(at, weight);
        }
        (at, weight) = (mode, 1.0);
        while at > least && weight >= NEGLIGIBLE {
            at -= 1.0;
            weight /= step(at);
            take(at, weight);
        }
    };
    let here = cells[0];
    let (mut all, mut of_table) = (0.0, 0.0);
    each(&mut |at, weight| {
        all += weight;
        if at - here == 0.0 {
            of_table = weight;
        }
    });
    let (mut left, mut right, mut two_sided) = (0.0, 0.0, 0.0);
    each(&mut |at, weight| {
        if at <= here {
            left += weight;
        }
        if at >= here {
            right += weight;
        }
        if weight <= of_table * (1.0 + ROUNDING) {
            two_sided += weight;
        }
    });
    let share = |sum: f64| (sum / all).min(1.0);
    Some(Exact {
        left: share(left),
        right: share(right),
        table: of_table / all,
        two_sided: share(two_sided),
    })
}

/// Chi-square distributions do for counts if at most this share of them is expected to be below this.
const FEW: f64 = 5.0;
const FEW_SHARE: f64 = 0.2;

/// Prints the test of a one-way table.
pub(super) fn print_equal(listing: &mut Listing, counts: &[f64]) {
    if counts.len() < 2 {
        listing.line(TOO_FEW_LEVELS);
        listing.line("");
        return;
    }
    let (value, degrees) = (equal_proportions(counts), counts.len() as f64 - 1.0);
    let pairs = [
        ("Chi-Square", decimal(value, 4)),
        ("DF", degrees.to_string()),
        (
            "Pr > ChiSq",
            probability(chi_square_probability(value, degrees)),
        ),
    ];
    listing.centered_line("Chi-Square Test");
    listing.centered_line("for Equal Proportions");
    pairs_below(listing, 21, &pairs);
    let expected = counts.iter().sum::<f64>() / counts.len() as f64;
    if expected < FEW {
        caution(listing, "The table cells have expected counts less");
    }
    sample_size(listing, counts.iter().sum());
}

/// Prints the tests of a two-way table.
pub(super) fn print(listing: &mut Listing, crossed: &Crossed<'_>, scores: [&[f64]; 2]) {
    let (pearson, likelihood, degrees) = crossed.chi_squares();
    if degrees < 1.0 {
        listing.line(TOO_FEW_LEVELS);
        listing.line("");
        return;
    }
    let two_by_two = (crossed.rows.len(), crossed.columns.len()) == (2, 2);
    listing.centered_line("Statistics for the table");
    listing.line("");
    listing.centered_line(&format!(
        "{:<28}{:>6}{:>12}{:>10}",
        "Statistic", "DF", "Value", "Prob"
    ));
    listing.centered_line(&"-".repeat(56));
    let mut tests = vec![
        ("Chi-Square", degrees, pearson),
        ("Likelihood Ratio Chi-Square", degrees, likelihood),
    ];
    if two_by_two {
        tests.push(("Continuity Adj. Chi-Square", 1.0, adjusted(crossed)));
    }
    let mantel_haenszel = mantel_haenszel(crossed, scores[0], scores[1]);
    tests.push(("Mantel-Haenszel Chi-Square", 1.0, mantel_haenszel));
    for (name, degrees, value) in tests {
        let (shown, probability) = (
            fixed(value, 12, 4),
            probability(chi_square_probability(value, degrees)),
        );
        listing.centered_line(&format!(
            "{name:<28}{degrees:>6}{shown:>12}{probability:>10}"
        ));
    }
    for (name, value) in [
        ("Phi Coefficient", crossed.phi()),
        ("Contingency Coefficient", crossed.contingency()),
        ("Cramer's V", crossed.cramer()),
    ] {
        let shown = decimal(value, 4);
        listing.centered_line(&format!("{name:<28}{:>6}{shown:>12}{:>10}", "", ""));
    }
    listing.line("");
    let share = crossed.share_below(FEW);
    if share > FEW_SHARE {
        let percent = (share * 100.0).round();
        caution(
            listing,
            &format!("{percent}% of the cells have expected counts less"),
        );
    }
    if let Some(exact) = two_by_two.then(|| fisher(crossed)).flatten() {
        let pairs = [
            ("Cell (1,1) Frequency (F)", crossed.at(0, 0).to_string()),
            ("Left-sided Pr <= F", probability(exact.left)),
            ("Right-sided Pr >= F", probability(exact.right)),
            ("", String::new()),
            ("Table Probability (P)", probability(exact.table)),
            ("Two-sided Pr <= P", probability(exact.two_sided)),
        ];
        listing.centered_line("Fisher's Exact Test");
        pairs_below(listing, 36, &pairs);
    }
    sample_size(listing, crossed.total());
}

fn caution(listing: &mut Listing, what: &str) {
    let first = format!("WARNING: {what}");
    let second = "         than 5. Chi-Square may not be a valid test.";
    listing.centered_line(&first);
    let width = first.len();
    listing.centered_line(&format!("{second:<width$}"));
    listing.line("");
}

/// Names and values below a rule.
fn pairs_below(listing: &mut Listing, width: usize, pairs: &[(&str, String)]) {
    listing.centered_line(&"-".repeat(width));
    for (name, value) in pairs {
        let free = width - name.len();
        listing.centered_line(&format!("{name}{value:>free$}"));
    }
    listing.line("");
}

fn sample_size(listing: &mut Listing, total: f64) {
    listing.centered_line(&format!("Sample Size = {total}"));
    listing.line("");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows by columns; the keys are their numbers.
    fn with_table<T>(counts: &[&[f64]], look: impl FnOnce(&Crossed<'_>) -> T) -> T {
        let mut keys = Vec::new();
        for (row, counts) in (0u8..).zip(counts) {
            keys.extend(
                (0u8..)
                    .zip(*counts)
                    .map(|(column, count)| ([row, column], *count)),
            );
        }
        let cells: Vec<(&[u8], f64)> = keys.iter().map(|(key, n)| (key.as_slice(), *n)).collect();
        look(&Crossed::new(&cells, &(0..1), &(1..2)))
    }

    /// Eye and hair colours of children, a published example.
    #[test]
    fn mantel_haenszel_of_a_published_table() {
        let counts: [&[f64]; 3] = [
            &[69.0, 28.0, 68.0, 51.0, 6.0],
            &[69.0, 38.0, 55.0, 37.0, 0.0],
            &[90.0, 47.0, 94.0, 94.0, 16.0],
        ];
        let found = with_table(&counts, |crossed| {
            mantel_haenszel(crossed, &[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0, 5.0])
        });
        assert!((found - 3.7838).abs() < 5e-5, "{found}");
    }

    /// A test of a treatment, a published example.
    #[test]
    fn tests_of_a_published_table_of_two_by_two() {
        with_table(&[&[10.0, 2.0], &[2.0, 4.0]], |crossed| {
            let exact = fisher(crossed).unwrap();
            for (found, published) in [
                (exact.left, 0.9961),
                (exact.right, 0.0573),
                (exact.table, 0.0533),
                (exact.two_sided, 0.1070),
                (adjusted(crossed), 2.5313),
            ] {
                assert!((found - published).abs() <= 5e-5, "{found} {published}");
            }
        });
    }

    #[test]
    fn exact_tests_of_large_tables_are_near_the_adjusted_chi_square() {
        let counts: [&[f64]; 2] = [&[50_400_000.0, 49_600_000.0], &[50_390_000.0, 49_610_000.0]];
        with_table(&counts, |crossed| {
            let (exact, value) = (fisher(crossed).unwrap(), adjusted(crossed));
            let near = chi_square_probability(value, 1.0);
            assert!(
                (exact.two_sided / near - 1.0).abs() < 1e-3,
                "{exact:?} {near}"
            );
            assert!((exact.left + exact.right - exact.table - 1.0).abs() < 1e-9);
        });
        let halves: [&[f64]; 2] = [&[1.5, 2.0], &[3.0, 4.0]];
        assert!(with_table(&halves, |crossed| fisher(crossed).is_none()));
    }

    #[test]
    fn equal_proportions_by_hand() {
        let found = equal_proportions(&[10.0, 20.0, 30.0]);
        assert!((found - 10.0).abs() < 1e-12, "{found}");
    }
}
