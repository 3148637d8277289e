//! A factorial series: the same suite with file systems, options and settings in every combination, several times,
//! and what of the differences is effect and what is noise.
//!
//! [`record`] is what the folder of a series holds, [`read`](mod@read) makes observations of it and of runs made
//! elsewhere, [`model`] fits them, [`effects`] are contrasts of the fit, [`ranking`] says them in words and
//! [`tables`] prints them.

pub mod effects;
pub mod model;
pub mod ranking;
pub mod read;
pub mod record;
pub mod tables;

use serde::Serialize;

use effects::{Effect, Interaction};
use read::{LeftOut, Observation};

/// A factor as it was varied: its levels, the first of which others are held against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Factor {
    /// Name.
    pub name: String,
    /// Names of its levels.
    pub levels: Vec<String>,
}

/// The figures that are analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// Sum of the jobs' elapsed times, as the RHEL paper has it.
    WallSum,
    /// Sum of the jobs' system CPU times, as the RHEL paper has it.
    SystemSum,
}

impl Response {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::WallSum, Self::SystemSum];

    /// What it is, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::WallSum => "sum of wall times",
            Self::SystemSum => "sum of system time",
        }
    }

    /// The figure of a run, seconds.
    pub const fn of(self, run: &Observation) -> Option<f64> {
        match self {
            Self::WallSum => run.wall_s,
            Self::SystemSum => run.system_s,
        }
    }
}

/// What one figure shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysed {
    /// Which.
    pub response: Response,
    /// Runs that have it.
    pub runs: usize,
    /// Degrees of freedom of the residual; 0: there is no interval.
    pub freedom: usize,
    /// Standard deviation of the residual, of logarithms: about the share by which equal runs differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// True if drift from block to block was taken out.
    pub by_blocks: bool,
    /// Each level against the first of its factor that was measured.
    pub effects: Vec<Effect>,
    /// Each pair of levels of two factors.
    pub interactions: Vec<Interaction>,
    /// Each block over the first: what changed with time.
    pub blocks: Vec<effects::BlockEffect>,
    /// What it comes to, a sentence each, the largest difference first.
    pub ranking: Vec<String>,
}

/// What a series shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// What was varied.
    pub factors: Vec<Factor>,
    /// Its runs.
    pub runs: Vec<Observation>,
    /// By figure; one that fewer than two cells have is left out.
    pub responses: Vec<Analysed>,
    /// Cells that were not measured, and why.
    pub left_out: Vec<LeftOut>,
    /// What must be known to read it, a sentence each.
    pub notes: Vec<String>,
    /// How effects and intervals come about.
    pub method: &'static str,
}

/// How effects and intervals come about, for whoever reads them.
pub const METHOD: &str = "Each level is held against another over all pairs of cells that differ in nothing else; \
     an effect is the mean of their ratios (geometric, of least squares estimates of the cells with blocks as a \
     factor), its 95 % interval is by Student's t from what cells and blocks leave unexplained. Each interval is \
     for one comparison: of twenty without any effect about one leaves out 0 by chance.";

/// Analyses the runs of a series.
pub fn analyse(series: read::Series) -> Analysis {
    let read::Series {
        factors,
        runs,
        left_out,
        mut notes,
    } = series;
    let responses = Response::ALL
        .into_iter()
        .filter_map(|response| analysed(response, &factors, &runs, &mut notes))
        .collect();
    Analysis {
        factors,
        runs,
        responses,
        left_out,
        notes,
        method: METHOD,
    }
}

fn analysed(
    response: Response,
    factors: &[Factor],
    runs: &[Observation],
    notes: &mut Vec<String>,
) -> Option<Analysed> {
    let cells = effects::Cells::of(factors, runs);
    let mut measured = Vec::new();
    for run in runs {
        // A logarithm needs something to be measured.
        let seconds = response.of(run).filter(|seconds| *seconds > 0.0);
        match (seconds, cells.of_run(run)) {
            (Some(seconds), Some(cell)) => measured.push(model::Measured {
                value: seconds.ln(),
                cell,
                block: run.block.clone(),
            }),
            _ => note(notes, format!("{}: has no {}", run.run, response.title())),
        }
    }
    let fit = model::fit(&measured)?;
    if let Some(why) = &fit.without_blocks {
        note(notes, why.clone());
    }
    let mut all = Analysed {
        response,
        runs: measured.len(),
        freedom: fit.freedom,
        deviation: fit.variance.map(f64::sqrt),
        by_blocks: fit.blocks.len() > 1,
        effects: effects::main(&fit, factors, &cells),
        interactions: effects::interactions(&fit, factors, &cells),
        blocks: effects::blocks(&fit),
        ranking: Vec::new(),
    };
    all.ranking = ranking::sentences(&all, &fit, factors, &cells);
    Some(all)
}

fn note(notes: &mut Vec<String>, text: String) {
    if !notes.contains(&text) {
        notes.push(text);
    }
}

#[cfg(test)]
mod tests;
