//! The tables of a series.

use std::collections::BTreeMap;

use super::effects::Effect;
use super::read::Observation;
use super::{Analysed, Analysis, Response};
use crate::statistics::ratio::{Finding, Ratio};
use crate::statistics::summarize;
use crate::table::{Cell, Table, Unit};

/// All tables of a series that have rows.
pub fn all(analysis: &Analysis) -> Vec<Table> {
    let all = [
        cells(analysis),
        effects(analysis),
        interactions(analysis),
        blocks(analysis),
        left_out(analysis),
    ];
    all.into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// The figures of a cell over its repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct OfCell {
    /// Levels in the order of the factors.
    pub levels: Vec<String>,
    /// Its runs.
    pub runs: usize,
    /// Mean, smallest and largest sum of wall times, seconds.
    pub wall_s: Option<(f64, f64, f64)>,
    /// The same of system time.
    pub system_s: Option<(f64, f64, f64)>,
    /// Mean sum of user time, seconds.
    pub user_s: Option<f64>,
    /// Mean elapsed time, seconds.
    pub elapsed_s: Option<f64>,
}

/// Cells with their means, the one with the least sum of wall times first.
pub fn of_cells(analysis: &Analysis) -> Vec<OfCell> {
    let mut cells: BTreeMap<Vec<String>, Vec<&Observation>> = BTreeMap::new();
    for run in &analysis.runs {
        let names = analysis.factors.iter();
        let levels = names.map(|factor| run.levels.get(&factor.name).cloned().unwrap_or_default());
        cells.entry(levels.collect()).or_default().push(run);
    }
    let mut all: Vec<OfCell> = cells
        .into_iter()
        .map(|(levels, runs)| of_cell(levels, &runs))
        .collect();
    let wall = |cell: &OfCell| cell.wall_s.map_or(f64::INFINITY, |all| all.0);
    all.sort_by(|left, right| wall(left).total_cmp(&wall(right)));
    all
}

fn of_cell(levels: Vec<String>, runs: &[&Observation]) -> OfCell {
    let summary = |figure: fn(&Observation) -> Option<f64>| {
        let values: Vec<f64> = runs.iter().filter_map(|run| figure(run)).collect();
        summarize(&values)
    };
    let whole = |figure| summary(figure).map(|all| (all.mean, all.min, all.max));
    OfCell {
        levels,
        runs: runs.len(),
        wall_s: whole(|run| run.wall_s),
        system_s: whole(|run| run.system_s),
        user_s: summary(|run| run.user_s).map(|all| all.mean),
        elapsed_s: summary(|run| run.elapsed_s).map(|all| all.mean),
    }
}

fn cells(analysis: &Analysis) -> Table {
    let mut columns: Vec<(&str, Unit)> = analysis
        .factors
        .iter()
        .map(|factor| (&*factor.name, Unit::Text))
        .collect();
    columns.extend([
        ("Runs", Unit::Count),
        ("Sum of wall", Unit::Seconds),
        ("from, to", Unit::Seconds),
        ("Sum of system", Unit::Seconds),
        ("from, to", Unit::Seconds),
        ("Sum of user", Unit::Seconds),
        ("Elapsed", Unit::Seconds),
    ]);
    let mut table = Table::new(
        "matrix-cells",
        "Sum of wall and system time by cell",
        &columns,
    )
    .in_form("RHEL paper, figure 1");
    for cell in of_cells(analysis) {
        // One run has no range.
        let range = |all: Option<(f64, f64, f64)>| {
            let several = all.filter(|_| cell.runs > 1);
            Cell::from(several.map(|(_, low, high)| (low, high)))
        };
        let mut row: Vec<Cell> = cell.levels.iter().map(Cell::text).collect();
        row.extend([
            Cell::count(cell.runs as u64),
            cell.wall_s.map(|all| all.0).into(),
            range(cell.wall_s),
            cell.system_s.map(|all| all.0).into(),
            range(cell.system_s),
            cell.user_s.into(),
            cell.elapsed_s.into(),
        ]);
        table.row(row);
    }
    table.note("means over the repeats, the least first; sums are over all jobs of a run");
    table
}

/// Factor, level, and the level that it is held against: a figure may have been measured at levels where another was
/// not, and then has another first one.
type Contrast<'a> = (&'a str, &'a str, &'a str);

fn effects(analysis: &Analysis) -> Table {
    let columns = [
        ("Factor", Unit::Text),
        ("Level", Unit::Text),
        ("Against", Unit::Text),
        ("Pairs", Unit::Count),
        ("Wall ratio", Unit::Ratio),
        ("95 % interval", Unit::Ratio),
        ("Wall", Unit::Text),
        ("System ratio", Unit::Ratio),
        ("95 % interval", Unit::Ratio),
        ("System", Unit::Text),
    ];
    let mut table = Table::new("matrix-effects", "Main effects", &columns);
    let of = |response: Response| -> BTreeMap<Contrast<'_>, &Effect> {
        let found = analysis
            .responses
            .iter()
            .find(|all| all.response == response);
        let effects = found.iter().flat_map(|all| &all.effects);
        effects
            .map(|one| ((&*one.factor, &*one.level, &*one.against), one))
            .collect()
    };
    let [wall, system] = Response::ALL.map(of);
    for factor in &analysis.factors {
        let pairs = factor.levels.iter().flat_map(|level| {
            let others = factor.levels.iter();
            others.map(move |against| (&*factor.name, &**level, &**against))
        });
        for key in pairs {
            let (wall, system) = (wall.get(&key), system.get(&key));
            let Some(either) = wall.or(system) else {
                continue;
            };
            let mut row = vec![
                Cell::text(key.0),
                Cell::text(key.1),
                Cell::text(key.2),
                Cell::count(either.pairs as u64),
            ];
            row.extend(ratio(wall.and_then(|one| one.ratio)));
            row.extend(ratio(system.and_then(|one| one.ratio)));
            table.row(row);
        }
    }
    for all in &analysis.responses {
        table.note(residual(all));
    }
    table.note(analysis.method);
    table
}

/// How far equal runs differ, and that without repeats nothing says so.
fn residual(all: &Analysed) -> String {
    let what = all.response.title();
    let Some(deviation) = all.deviation else {
        return format!(
            "{what}: {} runs, each cell once: no interval can be given",
            all.runs
        );
    };
    let blocks = if all.by_blocks { " within a block" } else { "" };
    format!(
        "{what}: {} runs; equal ones differ by {:.1} % (standard deviation{blocks}, {} degrees of freedom)",
        all.runs,
        100.0 * deviation,
        all.freedom
    )
}

/// Ratio, interval and what it says.
fn ratio(ratio: Option<Ratio>) -> [Cell; 3] {
    let says = match ratio.map(|ratio| ratio.finding()) {
        Some(Finding::Less) => "less",
        Some(Finding::More) => "more",
        Some(Finding::Noise) => "no difference shown",
        Some(Finding::Unknown) => "noise not known",
        None => "no pair of cells",
    };
    [
        ratio.map(|ratio| ratio.ratio).into(),
        ratio.and_then(|ratio| ratio.interval).into(),
        Cell::text(says),
    ]
}

fn interactions(analysis: &Analysis) -> Table {
    let columns = [
        ("Figure", Unit::Text),
        ("Effect of", Unit::Text),
        ("depends on", Unit::Text),
        ("Squares", Unit::Count),
        ("at the first-named", Unit::Ratio),
        ("at the other", Unit::Ratio),
        ("Ratio of them", Unit::Ratio),
        ("95 % interval", Unit::Ratio),
        ("Says", Unit::Text),
    ];
    let mut table = Table::new(
        "matrix-interactions",
        "Interactions of two factors",
        &columns,
    );
    for all in &analysis.responses {
        for one in &all.interactions {
            let named = |(factor, level, first): &(String, String, String)| {
                Cell::text(format!("{factor}: {level} / {first}"))
            };
            let mut row = vec![
                Cell::text(all.response.title()),
                named(&one.one),
                named(&one.other),
                Cell::count(one.squares as u64),
                Cell::Number(one.at_level.ratio),
                Cell::Number(one.at_first.ratio),
            ];
            row.extend(ratio(Some(one.ratio)));
            table.row(row);
        }
    }
    table.note("an effect at the first-named level of the other factor, at the other one, and the ratio of the two");
    table
}

fn blocks(analysis: &Analysis) -> Table {
    let columns = [
        ("Block", Unit::Text),
        ("Wall ratio to the first", Unit::Ratio),
        ("95 % interval", Unit::Ratio),
        ("Says", Unit::Text),
    ];
    let mut table = Table::new("matrix-blocks", "Drift from block to block", &columns);
    let wall = analysis
        .responses
        .iter()
        .find(|all| all.response == Response::WallSum);
    for block in wall.iter().flat_map(|all| &all.blocks) {
        let mut row = vec![Cell::text(&block.block)];
        row.extend(ratio(Some(block.ratio)));
        table.row(row);
    }
    table.note(
        "each block holds every cell once, in an order of its own; what changed from block to block is taken out \
         of the effects",
    );
    table
}

fn left_out(analysis: &Analysis) -> Table {
    let columns = [
        ("Cell", Unit::Text),
        ("Runs", Unit::Count),
        ("What", Unit::Text),
        ("Why", Unit::Text),
    ];
    let mut table = Table::new("matrix-left-out", "Not measured", &columns);
    for one in &analysis.left_out {
        let named = |name: &String| one.levels.get(name).map(|level| format!("{name} {level}"));
        let is_factor =
            |name: &&String| analysis.factors.iter().any(|factor| factor.name == **name);
        let others = one.levels.keys().filter(|name| !is_factor(name));
        let names = analysis.factors.iter().map(|factor| &factor.name);
        let levels: Vec<String> = names.chain(others).filter_map(named).collect();
        table.row(vec![
            Cell::text(levels.join(", ")),
            Cell::count(one.runs as u64),
            Cell::text(one.how.replace('-', " ")),
            Cell::text(&one.why),
        ]);
    }
    table
}
