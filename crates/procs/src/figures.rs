//! Figures as the listings of statistical procedures print them.

use engine::format::{best, decimal};
use engine::session::World;

/// A probability with four decimals.
pub(crate) fn probability(value: f64) -> String {
    if value.is_nan() {
        ".".to_owned()
    } else if value < 0.0001 {
        "<.0001".to_owned()
    } else {
        decimal(value, 4)
    }
}

/// A value of t or F with two decimals.
pub(crate) fn statistic(value: f64) -> String {
    if value.is_nan() {
        ".".to_owned()
    } else if value.is_infinite() {
        "Infty".to_owned()
    } else if value.abs() >= 1e6 {
        best(value, 8).trim().to_owned()
    } else {
        decimal(value, 2)
    }
}

/// A value with as many decimals, as long as it stays within `width`.
pub(crate) fn fixed(value: f64, width: usize, decimals: usize) -> String {
    if value.is_nan() {
        return ".".to_owned();
    }
    // Zero has no sign.
    let text = decimal(value + 0.0, decimals);
    if text.len() <= width && !(value != 0.0 && text.parse() == Ok(0.0) && decimals > 4) {
        text
    } else {
        best(value, width).trim().to_owned()
    }
}

/// Digits before the point.
fn whole_digits(value: f64) -> usize {
    format!("{:.0}", value.floor()).len()
}

/// Columns that share their decimals: as many as the largest value leaves of `width`, at most
/// eight.
pub(crate) fn aligned(values: &[f64], width: usize) -> Vec<String> {
    let largest = values
        .iter()
        .filter(|value| value.is_finite())
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    let digits = whole_digits(largest);
    let decimals = width.saturating_sub(digits + 2).min(8);
    let one = |value: &f64| fixed(*value, width, decimals);
    values.iter().map(one).collect()
}

/// A value in so many columns, with as many digits as fit: `0.456024`, `55.66750`, `100.0263`.
pub(crate) fn filled(value: f64, width: usize) -> String {
    if value.is_nan() {
        return ".".to_owned();
    }
    let whole = whole_digits(value.abs());
    let decimals = width
        .saturating_sub(whole + 1 + usize::from(value < 0.0))
        .min(6);
    fixed(value, width.max(whole + 1), decimals)
}

/// A table of a listing: as wide as what is in it, in the middle of the page.
pub(crate) struct Grid {
    /// Lines of each column's heading.
    headings: Vec<Vec<String>>,
    /// So many columns at the left are texts, and begin together.
    texts: usize,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Headings with their lines parted by `/`.
    pub(crate) fn new(texts: usize, headings: &[&str]) -> Self {
        let lines = |heading: &&str| heading.split('\n').map(str::to_owned).collect();
        Self {
            headings: headings.iter().map(lines).collect(),
            texts,
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn print(self, world: &mut World, title: &str) {
        if !title.is_empty() {
            for line in title.split('\n') {
                world.listing.centered_line(line);
            }
            world.listing.line("");
        }
        let height = self.headings.iter().map(Vec::len).max().unwrap_or(0);
        let heading = |line: usize| -> Vec<String> {
            let of = |lines: &Vec<String>| {
                let above = height - lines.len();
                line.checked_sub(above)
                    .map_or(String::new(), |own| lines[own].clone())
            };
            self.headings.iter().map(of).collect()
        };
        let head: Vec<Vec<String>> = (0..height).map(heading).collect();
        let columns = self.headings.len();
        let width = |column: usize| {
            let cells = head
                .iter()
                .chain(&self.rows)
                .filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |cells: &[String]| {
            let mut text = String::new();
            for (column, width) in widths.iter().enumerate() {
                let cell = cells.get(column).map_or("", String::as_str);
                if column > 0 {
                    text.push_str("    ");
                }
                let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
                let parts = if column < self.texts {
                    [cell, &blanks]
                } else {
                    [&blanks, cell]
                };
                text.extend(parts);
            }
            text
        };
        let headed = head.iter().flatten().any(|cell| !cell.is_empty());
        if headed {
            for cells in &head {
                world.listing.centered_line(&line(cells));
            }
            world.listing.line("");
        }
        for cells in &self.rows {
            if cells.is_empty() {
                world.listing.line("");
            } else {
                world.listing.centered_line(&line(cells));
            }
        }
        world.listing.line("");
    }
}

/// Class variables with their levels: as many as the line has room for.
pub(crate) fn class_levels<'a>(
    world: &mut World,
    classes: impl Iterator<Item = (&'a str, &'a [String])>,
) {
    let mut grid = Grid::new(3, &["Class", "Levels", "Values"]);
    let room = world.listing.line_size().saturating_sub(40).max(20);
    for (name, labels) in classes {
        let mut text = String::new();
        for label in labels {
            if text.len() + label.len() + 5 > room {
                text.push_str(" ...");
                break;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(label);
        }
        grid.row([name.to_owned(), format!("{:>6}", labels.len()), text]);
    }
    grid.print(world, "Class Level Information");
}
