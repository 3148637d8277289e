//! A comparison in sentences and tables.

use crate::statistics::ratio::{Finding, Ratio};
use crate::table::{Cell, Column, Table, Unit};
use crate::tables::{self, time_unit};

use super::{Compared, Comparison, SUM, Side};

/// What it comes to.
pub(super) fn statements(comparison: &Comparison, sides: &[Side]) -> Vec<String> {
    let alike = super::of_one_suite(sides);
    let mut all: Vec<String> = Vec::new();
    all.extend(
        comparison
            .growth
            .iter()
            .flat_map(|growth| growth.statements.clone()),
    );
    for (at, side) in comparison.sides.iter().enumerate().skip(1) {
        all.extend(headline(comparison, at));
        all.extend(jobs(comparison, at, &side.label));
    }
    let some_alike = alike.iter().skip(1).any(|alike| *alike);
    if some_alike && comparison.sides.iter().all(|side| side.repeats < 2) {
        all.push(
            "each side was measured once: how much two runs of one configuration differ is not known, so no \
             difference can be told from noise (repeat the runs)"
                .to_owned(),
        );
    }
    all
}

/// The figure that says most: sum of run times in common, or of all; of other numbers of jobs of one suite their mean.
fn headline(comparison: &Comparison, side: usize) -> Option<String> {
    let says_most =
        |row: &&Compared| row.name.starts_with("Sum of real times") || row.name == "Mean real time";
    let mut rows = comparison.aggregate.iter().filter(says_most);
    let (row, ratio) =
        rows.find_map(|row| Some((row, row.ratios.get(side - 1).copied().flatten()?)))?;
    let label = &comparison.sides[side].label;
    let base = &comparison.sides[0].label;
    let word = match (ratio.finding(), row.less_is_better) {
        (Finding::Noise, _) => "no difference beyond noise".to_owned(),
        (Finding::Unknown, _) => format!("{}, noise not known", change(ratio.ratio)),
        (Finding::Less, _) => format!("faster, {}", change(ratio.ratio)),
        (Finding::More, _) => format!("slower, {}", change(ratio.ratio)),
    };
    Some(format!(
        "{label} against {base}: {} x {}: {word}",
        lower(&row.name),
        number(&ratio)
    ))
}

/// Names of figures begin with a capital.
fn lower(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

/// `47.0 % less`.
fn change(ratio: f64) -> String {
    let word = if ratio < 1.0 { "less" } else { "more" };
    format!("{:.1} % {word}", (ratio - 1.0).abs() * 100.0)
}

/// `0.530 (0.512 to 0.549)`.
fn number(ratio: &Ratio) -> String {
    match ratio.interval {
        Some((low, high)) => format!("{:.3} ({low:.3} to {high:.3})", ratio.ratio),
        None => format!("{:.3}", ratio.ratio),
    }
}

fn jobs(comparison: &Comparison, side: usize, label: &str) -> Option<String> {
    let known: Vec<Ratio> = comparison
        .jobs
        .iter()
        .filter_map(|job| job.ratios.get(side - 1).copied().flatten())
        .collect();
    if known.is_empty() {
        return None;
    }
    let count = |finding| {
        known
            .iter()
            .filter(|ratio| ratio.finding() == finding)
            .count()
    };
    let all = known.len();
    if let [one] = known[..] {
        let said = match one.finding() {
            Finding::Noise => format!("shows no difference on {label} beyond noise"),
            Finding::Less => format!("is faster on {label} beyond noise"),
            Finding::More => format!("is slower on {label} beyond noise"),
            Finding::Unknown if one.ratio < 1.0 => format!("took less time on {label}"),
            Finding::Unknown => format!("took no less time on {label}"),
        };
        return Some(format!("the one job with a ratio {said}"));
    }
    if count(Finding::Unknown) == all {
        let less = known.iter().filter(|ratio| ratio.ratio < 1.0).count();
        return Some(format!(
            "of {all} jobs with a ratio {less} took less time on {label}"
        ));
    }
    // At 95 % one interval in twenty leaves 1 without a difference.
    let by_chance = all as f64 / 20.0;
    Some(format!(
        "of {all} jobs {} are faster and {} slower on {label} beyond noise, {} are within it; by chance alone \
         about {by_chance:.0} would be beyond",
        count(Finding::Less),
        count(Finding::More),
        count(Finding::Noise)
    ))
}

impl Comparison {
    /// As tables: growth with the nodes, all jobs together, and by job.
    pub fn tables(&self) -> Vec<Table> {
        let mut all = vec![
            self.table(
                "compare-aggregate",
                "All jobs together",
                "Figure",
                &self.aggregate,
            ),
            self.table("compare-jobs", "By job", "Job", &self.jobs),
        ];
        if self.aggregate.iter().any(Compared::is_of_different_jobs) {
            all[0].note(
                "sums over all jobs have a ratio only where both sides ran the same jobs, as often",
            );
        }
        all.retain(|table| !table.rows.is_empty());
        for table in &mut all {
            table.note(format!(
                "ratios are over {}; {}",
                self.sides[0].label, self.method
            ));
        }
        all.extend(self.audits());
        if let Some(growth) = &self.growth {
            all.insert(0, tables::growth(growth));
        }
        all
    }

    /// What the audits say differently.
    fn audits(&self) -> Option<Table> {
        let columns = ["Rule", "Severity", "Where"].map(|title| (title, Unit::Text));
        let mut table = Table::new(
            "compare-audit",
            "Findings of the audits that differ",
            &columns,
        );
        let sides = self.sides.iter().map(|side| &*side.label);
        for title in sides.chain(["What should be so"]) {
            table.columns.push(Column::new(title, Unit::Text));
        }
        for one in &self.findings {
            let places = one.places.join(", ");
            let mut cells = [&one.rule, &one.severity, &places].map(Cell::text).to_vec();
            let answers = one.answers.iter();
            cells.extend(answers.map(|answer| Cell::text(answer.as_deref().unwrap_or("-"))));
            cells.push(Cell::text(&one.title));
            table.row(cells);
        }
        (!table.rows.is_empty()).then_some(table)
    }

    fn table(&self, id: &str, title: &str, what: &str, rows: &[Compared]) -> Table {
        let mut table = Table::new(id, title, &[(what, Unit::Text)]);
        // Jobs share a unit, figures of all jobs have their own.
        let shared = rows.iter().all(|row| row.unit == Unit::Seconds);
        for (at, side) in self.sides.iter().enumerate() {
            // A paper's hours tell nothing of a run of seconds.
            let times = rows.iter().map(|row| row.values.get(at).copied().flatten());
            let unit = if shared {
                time_unit(times)
            } else {
                Unit::Plain
            };
            table.columns.push(Column::new(&*side.label, unit));
        }
        if !shared {
            table.columns.push(Column::new("Unit", Unit::Text));
        }
        for side in &self.sides[1..] {
            let label = if self.sides.len() == 2 {
                String::new()
            } else {
                format!(" {}", side.label)
            };
            table
                .columns
                .push(Column::new(format!("Ratio{label}"), Unit::Ratio));
            table
                .columns
                .push(Column::new(format!("95 %{label}"), Unit::Ratio));
            table
                .columns
                .push(Column::new(format!("Finding{label}"), Unit::Text));
        }
        for row in rows {
            let mut cells = vec![Cell::text(&row.name)];
            let (factor, name) = plain(row.unit);
            let value = |value: &Option<f64>| Cell::from(value.map(|value| value / factor));
            cells.extend(row.values.iter().map(value));
            if !shared {
                cells.push(Cell::text(name));
            }
            for ratio in &row.ratios {
                cells.push(ratio.map(|ratio| ratio.ratio).into());
                cells.push(ratio.and_then(|ratio| ratio.interval).into());
                cells.push(Cell::text(
                    ratio.map_or("", |ratio| word(&ratio, row.less_is_better)),
                ));
            }
            table.row(cells);
        }
        table
    }
}

impl Compared {
    /// A sum that a side has and that has no ratio.
    fn is_of_different_jobs(&self) -> bool {
        let others = self.values.iter().skip(1).zip(&self.ratios);
        let mut without = others.filter(|(value, ratio)| value.is_some() && ratio.is_none());
        self.name.starts_with(SUM) && self.values[0] > Some(0.0) && without.next().is_some()
    }
}

/// Divisor and name of a unit where a column has several.
const fn plain(unit: Unit) -> (f64, &'static str) {
    match unit {
        Unit::Bytes => (1e9, "GB"),
        Unit::MegabytesPerSecond => (1.0, "MB/s"),
        Unit::PerHour => (1.0, "per hour"),
        Unit::Seconds => (1.0, "s"),
        _ => (1.0, ""),
    }
}

/// What a ratio says, for people.
fn word(ratio: &Ratio, less_is_better: Option<bool>) -> &'static str {
    match (ratio.finding(), less_is_better) {
        // Said once, in a statement.
        (Finding::Unknown, _) => "",
        (Finding::Noise, _) => "noise",
        (Finding::Less, Some(true)) | (Finding::More, Some(false)) => "better",
        (Finding::More, Some(true)) | (Finding::Less, Some(false)) => "worse",
        (Finding::Less, None) => "less",
        (Finding::More, None) => "more",
    }
}
