//! Runs over one another as a page: what it comes to, ratios with their intervals, tables.

use results::compare::{Compared, Comparison};
use results::statistics::ratio::{Finding, Ratio};
use results::table::{Cell, Table};
use serde::Serialize;

use super::number::short;
use crate::table::{heading, shown, unit_word};

/// The least that the scale of ratios shows on either side of 1, a logarithm: a tenth.
const SPAN_MIN: f64 = 0.1;

/// The most: what lies further is drawn at the edge.
const SPAN_MAX: f64 = 3.0;

/// A side but the first, with its ratios.
#[derive(Debug, Serialize)]
pub(super) struct Against {
    label: String,
    groups: Vec<Group>,
    /// Ratios at the edges and in the middle of the scale.
    scale: [String; 3],
}

#[derive(Debug, Serialize)]
struct Group {
    title: &'static str,
    rows: Vec<Row>,
}

/// A figure of a side over that of the first.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    unit: &'static str,
    base: String,
    value: String,
    ratio: String,
    words: &'static str,
    /// `better`, `worse` or empty.
    kind: &'static str,
    /// Where the ratio and the ends of its interval stand, percent of the scale.
    at: Option<f64>,
    interval: Option<(f64, f64)>,
}

/// Each side against the first.
pub(super) fn against(comparison: &Comparison) -> Vec<Against> {
    let sides = comparison.sides.iter().enumerate().skip(1);
    sides
        .map(|(index, side)| {
            let all = comparison.aggregate.iter().chain(&comparison.jobs);
            let ratios = all.filter_map(|one| ratio_of(one, index));
            let farthest = ratios
                .map(|ratio| ratio.ratio.ln().abs())
                .fold(0.0, f64::max);
            let span = (farthest * 1.15).clamp(SPAN_MIN, SPAN_MAX);
            let rows = |all: &[Compared]| all.iter().map(|one| row(one, index, span)).collect();
            Against {
                label: side.label.clone(),
                groups: vec![
                    Group {
                        title: "All jobs together",
                        rows: rows(&comparison.aggregate),
                    },
                    Group {
                        title: "By job, elapsed time",
                        rows: rows(&comparison.jobs),
                    },
                ],
                scale: [(-span).exp(), 1.0, span.exp()].map(short),
            }
        })
        .collect()
}

/// The ratio of a side; the first has none.
fn ratio_of(one: &Compared, side: usize) -> Option<Ratio> {
    one.ratios.get(side.checked_sub(1)?).copied().flatten()
}

fn row(one: &Compared, index: usize, span: f64) -> Row {
    let text = |side: usize| {
        let value = one.values.get(side).copied().flatten();
        value.map_or("–".to_owned(), |value| {
            shown(&Cell::Number(value), one.unit)
        })
    };
    let ratio = ratio_of(one, index);
    let place = |value: f64| ((value.ln() / span).clamp(-1.0, 1.0) + 1.0) * 50.0;
    let finding = one.finding(index);
    let less = match finding {
        Some(Finding::Less) => Some(true),
        Some(Finding::More) => Some(false),
        _ => None,
    };
    Row {
        name: one.name.clone(),
        unit: unit_word(one.unit),
        base: text(0),
        value: text(index),
        ratio: ratio.map_or("–".to_owned(), |ratio| format!("{:.3}", ratio.ratio)),
        words: match finding {
            Some(Finding::Less) => "less",
            Some(Finding::More) => "more",
            Some(Finding::Noise) => "within noise",
            Some(Finding::Unknown) => "noise not known",
            None => "not comparable",
        },
        kind: match (less, one.less_is_better) {
            (Some(less), Some(wanted)) if less == wanted => "better",
            (Some(_), Some(_)) => "worse",
            _ => "",
        },
        at: ratio.map(|ratio| place(ratio.ratio)),
        interval: ratio
            .and_then(|ratio| ratio.interval)
            .map(|(low, high)| (place(low), place(high) - place(low))),
    }
}

/// A table as the page prints it.
#[derive(Debug, Serialize)]
pub(super) struct Printed {
    title: String,
    form: Option<String>,
    /// Title, and whether its cells are numbers.
    columns: Vec<(String, bool)>,
    /// Cells, and whether it sums up those above.
    rows: Vec<(Vec<String>, bool)>,
    notes: Vec<String>,
}

pub(super) fn printed(table: &Table) -> Printed {
    let is_text = |cell: &Cell| matches!(cell, Cell::Text(_));
    let numeric = |at: usize| {
        table
            .rows
            .iter()
            .all(|row| !row.cells.get(at).is_some_and(is_text))
    };
    Printed {
        title: table.title.clone(),
        form: table.form.clone(),
        columns: table
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| (heading(column), numeric(at)))
            .collect(),
        rows: table
            .rows
            .iter()
            .map(|row| {
                let cells = row.cells.iter().zip(&table.columns);
                let text = |(cell, column): (&Cell, &results::table::Column)| match cell {
                    Cell::Absent => "–".to_owned(),
                    cell => shown(cell, column.unit),
                };
                (cells.map(text).collect(), row.summary)
            })
            .collect(),
        notes: table.notes.clone(),
    }
}
