//! The printed tables of PROC MEANS.

use engine::dataset::input::Field;
use engine::format::{best, decimal};
use engine::session::World;
use sas7bdat::{Encoding, Kind};

use super::groups::Groups;
use super::statistic::{Rules, Statistic, Wanted};
use crate::levels::Classes;

/// What a table is made of.
pub(super) struct Printed<'a> {
    pub(super) analysis: &'a [Field],
    pub(super) classes: &'a Classes,
    pub(super) wanted: &'a [Wanted],
    pub(super) rules: Rules,
    pub(super) max_decimals: Option<usize>,
    pub(super) encoding: Encoding,
}

struct Column {
    /// The heading's lines, the last one lowest.
    heading: Vec<String>,
    right: bool,
    cells: Vec<String>,
}

impl Column {
    fn new(heading: &str, right: bool) -> Self {
        Self {
            heading: heading.split('\n').map(str::to_owned).collect(),
            right,
            cells: Vec::new(),
        }
    }

    fn width(&self) -> usize {
        let longest = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max();
        longest(&self.heading)
            .max(longest(&self.cells))
            .unwrap_or(0)
    }

    fn padded(&self, text: &str) -> String {
        let width = self.width();
        if self.right {
            format!("{text:>width$}")
        } else {
            format!("{text:<width$}")
        }
    }
}

impl Printed<'_> {
    /// Prints the groups of one type.
    pub(super) fn print(&self, world: &mut World, mask: u64, groups: &Groups) {
        let columns = self.columns(mask, groups);
        if let [only] = self.analysis {
            let label = if only.variable.label.is_empty() {
                String::new()
            } else {
                format!(" {}", only.variable.label)
            };
            let name = &only.variable.name;
            world
                .listing
                .centered_line(&format!("Analysis Variable : {name}{label}"));
            world.listing.line("");
        }
        let gap = "    ";
        let join = |texts: Vec<String>| texts.join(gap);
        let lines = columns
            .iter()
            .map(|column| column.heading.len())
            .max()
            .unwrap_or(0);
        for line in 0..lines {
            let text = |column: &Column| {
                let above = lines - column.heading.len();
                let text = line
                    .checked_sub(above)
                    .and_then(|own| column.heading.get(own));
                column.padded(text.map_or("", String::as_str))
            };
            world
                .listing
                .line(&join(columns.iter().map(text).collect()));
        }
        let width: usize = columns.iter().map(Column::width).sum::<usize>()
            + gap.len() * columns.len().saturating_sub(1);
        let rule = "-".repeat(width.min(world.listing.line_size()));
        world.listing.line(&rule);
        let rows = columns.first().map_or(0, |column| column.cells.len());
        for row in 0..rows {
            let text = |column: &Column| column.padded(&column.cells[row]);
            world
                .listing
                .line(&join(columns.iter().map(text).collect()));
        }
        world.listing.line(&rule);
        world.listing.line("");
    }

    fn columns(&self, mask: u64, groups: &Groups) -> Vec<Column> {
        let order = groups.in_order();
        let mut columns = self.class_columns(mask, groups, &order);
        if self.analysis.is_empty() {
            return columns;
        }
        if self.analysis.len() > 1 {
            let mut names = Column::new("Variable", false);
            let mut labels = Column::new("Label", false);
            for _ in &order {
                let fields = self.analysis.iter();
                names
                    .cells
                    .extend(fields.clone().map(|field| field.variable.name.clone()));
                labels
                    .cells
                    .extend(fields.map(|field| field.variable.label.clone()));
            }
            columns.push(names);
            if labels.cells.iter().any(|label| !label.is_empty()) {
                columns.push(labels);
            }
        }
        for wanted in self.wanted {
            let mut column = Column::new(wanted.heading, true);
            for group in &order {
                for variable in 0..self.analysis.len() {
                    let (cell, values) = (
                        groups.cell(*group, variable),
                        groups.values(*group, variable),
                    );
                    let value = wanted.statistic.value(&cell, values, self.rules);
                    column.cells.push(self.shown(wanted.statistic, value));
                }
            }
            columns.push(column);
        }
        columns
    }

    /// Class values and `N Obs`, each on the first line of its group.
    fn class_columns(&self, mask: u64, groups: &Groups, order: &[usize]) -> Vec<Column> {
        // Without analysis variables observations are all that is counted.
        if self.classes.variables.is_empty() && !self.analysis.is_empty() {
            return Vec::new();
        }
        let blanks = self.analysis.len().max(1) - 1;
        let count = self.classes.variables.len();
        let mut columns = Vec::new();
        let parts = self.classes.parts();
        for (index, (class, part)) in self.classes.variables.iter().zip(parts).enumerate() {
            if mask >> (count - 1 - index) & 1 == 0 {
                continue;
            }
            let variable = &class.field.variable;
            let heading = if variable.label.is_empty() {
                &variable.name
            } else {
                &variable.label
            };
            let numeric = variable.kind == Kind::Numeric;
            let mut column = Column::new(heading, numeric);
            for group in order {
                let key = &groups.key(*group)[part.clone()];
                column.cells.push(class.shown(key, self.encoding));
                column.cells.extend((0..blanks).map(|_| String::new()));
            }
            columns.push(column);
        }
        let mut observations = Column::new("N\nObs", true);
        for group in order {
            observations
                .cells
                .push(format!("{}", groups.frequency(*group)));
            observations
                .cells
                .extend((0..blanks).map(|_| String::new()));
        }
        columns.push(observations);
        columns
    }

    fn shown(&self, statistic: Statistic, value: f64) -> String {
        if value.is_nan() {
            return ".".to_owned();
        }
        match (statistic, self.max_decimals) {
            (Statistic::N | Statistic::NMiss, _) => format!("{value}"),
            (Statistic::ProbT, _) if value < 0.0001 => "<.0001".to_owned(),
            (Statistic::ProbT, _) => decimal(value, 4),
            (Statistic::T, _) => decimal(value, 2),
            (_, Some(decimals)) => decimal(value, decimals),
            _ => twelve_columns(value),
        }
    }
}

/// As SAS shows a statistic in twelve columns: seven decimals below a thousand, two above.
fn twelve_columns(value: f64) -> String {
    let size = value.abs();
    let text = if size != 0.0 && size < 1e-4 {
        return best(value, 12).trim().to_owned();
    } else if size < 1000.0 {
        decimal(value, 7)
    } else {
        decimal(value, 2)
    };
    if text.len() <= 12 {
        text
    } else {
        best(value, 12).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::twelve_columns;

    #[test]
    fn values_as_the_class_data_set_shows_them() {
        for (value, shown) in [
            (62.336_842_105_263_16, "62.3368421"),
            (100.026_315_789_473_69, "100.0263158"),
            (11.0, "11.0000000"),
            (32_774.855_140_186_91, "32774.86"),
            (192_465.0, "192465.00"),
            (0.0, "0.0000000"),
            (-3_577.953, "-3577.95"),
        ] {
            assert_eq!(twelve_columns(value), shown);
        }
    }
}
