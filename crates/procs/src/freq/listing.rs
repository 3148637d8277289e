//! The printed tables of PROC FREQ.

use engine::format::decimal;
use engine::session::World;
use sas7bdat::{Encoding, Kind};

use super::chisq;
use super::counts::{Counts, Crossed};
use super::statements::Options;
use crate::levels::ClassVariable;

/// Prints one table; without percentages and statistics if there were negative weights.
pub(super) fn print(world: &mut World, counts: &Counts, options: &Options, encoding: Encoding) {
    let counts_only;
    let options = if counts.negative {
        counts_only = options.counts_only();
        &counts_only
    } else {
        options
    };
    let cells = counts.in_order();
    let variables = &counts.classes.variables;
    if variables.len() == 1 || options.list {
        list(world, counts, &cells, options, encoding);
        return;
    }
    let parts = counts.classes.parts();
    let strata = variables.len() - 2;
    let head = parts[strata].start;
    let mut number = 0;
    for stratum in cells.chunk_by(|left, right| left.0[..head] == right.0[..head]) {
        number += 1;
        let crossed = Crossed::new(stratum, &parts[strata], &parts[strata + 1]);
        let (row, column) = (&variables[strata], &variables[strata + 1]);
        let names = format!(
            "{} by {}",
            row.field.variable.name, column.field.variable.name
        );
        if strata == 0 {
            world.listing.centered_line(&format!("Table of {names}"));
        } else {
            world
                .listing
                .centered_line(&format!("Table {number} of {names}"));
            let controls = variables[..strata]
                .iter()
                .zip(&parts)
                .map(|(variable, part)| {
                    let value = variable.shown(&stratum[0].0[part.clone()], encoding);
                    format!("{}={value}", variable.field.variable.name)
                });
            let controls = controls.collect::<Vec<_>>().join(" ");
            world
                .listing
                .centered_line(&format!("Controlling for {controls}"));
        }
        world.listing.line("");
        crosstab(world, &crossed, (row, column), options, encoding);
        if options.chi_square {
            let scores = [
                chisq::scores(row, &crossed.rows),
                chisq::scores(column, &crossed.columns),
            ];
            let scores = [scores[0].as_slice(), scores[1].as_slice()];
            chisq::print(&mut world.listing, &crossed, scores);
        }
    }
    frequency_missing(world, counts);
}

fn frequency_missing(world: &mut World, counts: &Counts) {
    if counts.missing != 0.0 {
        world
            .listing
            .centered_line(&format!("Frequency Missing = {}", counts.missing));
        world.listing.line("");
    }
}

/// One line a cell: values, frequency, percent and both cumulated.
fn list(
    world: &mut World,
    counts: &Counts,
    cells: &[(&[u8], f64)],
    options: &Options,
    encoding: Encoding,
) {
    let variables = &counts.classes.variables;
    let parts = counts.classes.parts();
    let total: f64 = cells.iter().map(|(_, count)| count).sum();
    let figures = [
        (true, "", "Frequency"),
        (!options.no_percent, "", "Percent"),
        (!options.no_cum, "Cumulative", "Frequency"),
        (
            !options.no_cum && !options.no_percent,
            "Cumulative",
            "Percent",
        ),
    ];
    let wanted = || figures.iter().filter(|figure| figure.0);
    let names = variables
        .iter()
        .map(|class| class.field.variable.name.clone());
    let mut lines = vec![
        variables
            .iter()
            .map(|_| String::new())
            .chain(wanted().map(|figure| figure.1.to_owned()))
            .collect::<Vec<_>>(),
        names
            .chain(wanted().map(|figure| figure.2.to_owned()))
            .collect(),
    ];
    let mut so_far = 0.0;
    for (key, count) in cells {
        so_far += count;
        let values = [
            count.to_string(),
            percent(*count, total),
            so_far.to_string(),
            percent(so_far, total),
        ];
        let shown = variables
            .iter()
            .zip(&parts)
            .map(|(variable, part)| variable.shown(&key[part.clone()], encoding));
        let values = values.into_iter().zip(figures);
        let values = values
            .filter(|(_, figure)| figure.0)
            .map(|(value, _)| value);
        lines.push(shown.chain(values).collect());
    }
    let text = |column: usize| {
        variables
            .get(column)
            .is_some_and(|class| class.field.variable.kind == Kind::Character)
    };
    aligned(world, &lines, text);
    if options.chi_square && variables.len() == 1 {
        let counts: Vec<f64> = cells.iter().map(|(_, count)| *count).collect();
        chisq::print_equal(&mut world.listing, &counts);
    }
    frequency_missing(world, counts);
}

/// Lines of cells below each other, the first two above a rule; columns of `text` begin at the left.
fn aligned(world: &mut World, lines: &[Vec<String>], text: impl Fn(usize) -> bool) {
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|column| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.max().unwrap_or(0)
        })
        .collect();
    for (index, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| {
            if text(column) {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        let joined = cells.collect::<Vec<_>>().join("    ");
        world.listing.centered_line(&joined);
        if index == 1 {
            let rule = "-".repeat(joined.chars().count());
            world.listing.centered_line(&rule);
        }
    }
    world.listing.line("");
}

fn percent(part: f64, whole: f64) -> String {
    decimal(100.0 * part / whole, 2)
}

/// What stands in each cell of a crossed table, one below the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Figure {
    Frequency,
    Percent,
    RowPercent,
    ColumnPercent,
}

impl Figure {
    const fn heading(self) -> &'static str {
        match self {
            Self::Frequency => "Frequency",
            Self::Percent => "Percent",
            Self::RowPercent => "Row Pct",
            Self::ColumnPercent => "Col Pct",
        }
    }

    fn of_cell(self, crossed: &Crossed<'_>, row: usize, column: usize) -> String {
        let count = crossed.at(row, column);
        match self {
            Self::Frequency => count.to_string(),
            Self::Percent => percent(count, crossed.total()),
            Self::RowPercent => percent(count, crossed.row_total(row)),
            Self::ColumnPercent => percent(count, crossed.column_total(column)),
        }
    }

    /// Of a total; rows and columns have no percentages of themselves.
    fn of_total(self, sum: f64, total: f64) -> String {
        match self {
            Self::Frequency => sum.to_string(),
            Self::Percent => percent(sum, total),
            _ => String::new(),
        }
    }
}

/// The widths of a crossed table.
struct Widths {
    first: usize,
    each: usize,
}

impl Widths {
    fn line(&self, first: &str, cells: &[String], border: char, last: &str) -> String {
        let mut line = format!("{first:<0$}{border}", self.first);
        for cell in cells {
            line.push_str(cell);
            line.push(border);
        }
        line + last
    }

    fn rule(&self, columns: usize) -> String {
        let cells = vec!["-".repeat(self.each); columns];
        self.line(&"-".repeat(self.first), &cells, '+', "")
    }

    fn right(&self, text: &str) -> String {
        format!("{text:>0$}", self.each)
    }
}

/// Rows by columns, with the percentages that are wanted below each count.
fn crosstab(
    world: &mut World,
    crossed: &Crossed<'_>,
    (row_variable, column_variable): (&ClassVariable, &ClassVariable),
    options: &Options,
    encoding: Encoding,
) {
    let texts = |variable: &ClassVariable, parts: &[&[u8]]| -> Vec<String> {
        let each = parts.iter().map(|part| variable.shown(part, encoding));
        each.collect()
    };
    let rows = texts(row_variable, &crossed.rows);
    let columns = texts(column_variable, &crossed.columns);
    let longest = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max();
    let widths = Widths {
        first: longest(&rows).unwrap_or(0).max(9),
        each: longest(&columns).unwrap_or(0).max(8),
    };
    let figures: Vec<Figure> = [
        (Figure::Frequency, true),
        (Figure::Percent, !options.no_percent),
        (Figure::RowPercent, !options.no_row),
        (Figure::ColumnPercent, !options.no_col),
    ]
    .iter()
    .filter(|(_, wanted)| *wanted)
    .map(|(figure, _)| *figure)
    .collect();
    let names = [row_variable, column_variable].map(|variable| &variable.field.variable.name);
    let mut lines = vec![format!("{:<2$} {}", names[0], names[1], widths.first)];
    let (lowest, above) = figures.split_last().expect("there is the frequency");
    for figure in above {
        lines.push(widths.line(figure.heading(), &[], '|', ""));
    }
    let heads: Vec<String> = columns
        .iter()
        .map(|column| format!("{column:<0$}", widths.each))
        .collect();
    lines.push(widths.line(lowest.heading(), &heads, '|', "  Total"));
    lines.push(widths.rule(columns.len()));
    let total = crossed.total();
    for (row, name) in rows.iter().enumerate() {
        for (index, figure) in figures.iter().enumerate() {
            let cells: Vec<String> = (0..columns.len())
                .map(|column| widths.right(&figure.of_cell(crossed, row, column)))
                .collect();
            let all = format!("{:>9}", figure.of_total(crossed.row_total(row), total));
            let name = if index == 0 { name.as_str() } else { "" };
            lines.push(widths.line(name, &cells, '|', &all));
        }
        lines.push(widths.rule(columns.len()));
    }
    for (index, figure) in figures.iter().enumerate().take(2) {
        if matches!(figure, Figure::RowPercent | Figure::ColumnPercent) {
            continue;
        }
        let cells: Vec<String> = (0..columns.len())
            .map(|column| widths.right(&figure.of_total(crossed.column_total(column), total)))
            .collect();
        let all = format!("{:>9}", figure.of_total(total, total));
        let name = if index == 0 { "Total" } else { "" };
        lines.push(widths.line(name, &cells, ' ', &all));
    }
    for line in lines {
        world.listing.line(&line);
    }
    world.listing.line("");
}
