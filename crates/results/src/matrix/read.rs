//! Observations: from the folders of series, and from runs that were made elsewhere and carry labels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Factor;
use super::record::{MatrixFolder, MatrixPlan, State};
use crate::assemble::assemble;
use crate::run::{Error, JobResult, RunDirectory};
use crate::subject::Subject;

/// How the cautions of a run begin that say what disturbed it.
const DISTURBED: &str = "disturbed: ";

/// A run as it is analysed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Observation {
    /// Its run directory.
    pub run: String,
    /// Level by factor.
    pub levels: BTreeMap<String, String>,
    /// Block; a run that was made alone has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// Sum of the jobs' elapsed times, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// Sum of the jobs' system CPU times, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// Sum of the jobs' user CPU times, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    /// From the first launch to the last end, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<f64>,
}

/// A cell, or some of its runs, without figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Level by factor.
    pub levels: BTreeMap<String, String>,
    /// How many of its runs.
    pub runs: usize,
    /// `not-possible`, `failed` or `not-run`.
    pub how: &'static str,
    /// Why.
    pub why: String,
}

/// Everything to be analysed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// What differs between runs.
    pub factors: Vec<Factor>,
    /// Runs with figures.
    pub runs: Vec<Observation>,
    /// Those without.
    pub left_out: Vec<LeftOut>,
    /// What must be known, a sentence each.
    pub notes: Vec<String>,
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    series: Series,
    /// Suite and scale of the runs.
    kinds: BTreeSet<String>,
    /// How many runs call for which care.
    cautions: BTreeMap<String, usize>,
    /// By kind of disturbance: how many runs, and the largest with its sentence.
    disturbed: BTreeMap<String, (usize, f64, String)>,
}

/// Reads folders of series and run directories.
pub fn read(paths: &[PathBuf]) -> Result<Series, Error> {
    let mut all = Reading::default();
    for path in paths {
        let folder = MatrixFolder::open(path);
        match folder.plan()? {
            Some(plan) => all.folder(&folder, &plan, paths.len() > 1)?,
            None => all.alone(path)?,
        }
    }
    Ok(all.finish())
}

impl Reading {
    fn folder(
        &mut self,
        folder: &MatrixFolder,
        plan: &MatrixPlan,
        several: bool,
    ) -> Result<(), Error> {
        for factor in &plan.factors {
            for level in &factor.levels {
                self.level(&factor.name, &level.name);
            }
        }
        for planned in &plan.runs {
            let mut levels = planned.levels.clone();
            for (name, value) in &plan.labels {
                self.level(name, value);
                levels.insert(name.clone(), value.clone());
            }
            let block = if several {
                format!("{}: {}", folder.path().display(), planned.block)
            } else {
                planned.block.to_string()
            };
            let Some(record) = folder.record(planned.number)? else {
                self.left_out(levels, "not-run", "not run yet");
                continue;
            };
            let why = record.reason.as_deref().unwrap_or("no reason was recorded");
            match (record.state, &record.run) {
                (State::Done, Some(run)) => {
                    let path = folder.run(planned.number).join(run);
                    self.run(&path, levels, Some(block))?;
                }
                (State::NotPossible, _) => self.left_out(levels, "not-possible", why),
                _ => self.left_out(levels, "failed", why),
            }
        }
        Ok(())
    }

    fn alone(&mut self, path: &Path) -> Result<(), Error> {
        let plan = RunDirectory::open(path).plan()?;
        for (name, value) in &plan.labels {
            self.level(name, value);
        }
        self.run(path, plan.labels, None)
    }

    fn run(
        &mut self,
        path: &Path,
        levels: BTreeMap<String, String>,
        block: Option<String>,
    ) -> Result<(), Error> {
        let directory = RunDirectory::open(path);
        let plan = directory.plan()?;
        let result = assemble(&directory)?;
        if let Some(why) = wrong(&result.jobs) {
            self.left_out(levels, "failed", &why);
            return Ok(());
        }
        self.kinds
            .insert(format!("{} at scale {}", plan.suite, plan.scale));
        let subject = Subject::of_run(&plan, &result);
        for one in result.disturbance.iter().filter(|one| one.exceeded) {
            let kind = self.disturbed.entry(one.kind.clone()).or_default();
            kind.0 += 1;
            if one.value >= kind.1 {
                (kind.1, kind.2) = (one.value, one.statement.clone());
            }
        }
        let others = subject.cautions.into_iter();
        for caution in others.filter(|caution| !caution.starts_with(DISTURBED)) {
            *self.cautions.entry(caution).or_default() += 1;
        }
        self.series.runs.push(Observation {
            run: path.display().to_string(),
            levels,
            block,
            wall_s: subject.figures.real_sum_s,
            system_s: subject.figures.system_s,
            user_s: subject.figures.user_s,
            elapsed_s: subject.figures.elapsed_s,
        });
        Ok(())
    }

    fn left_out(&mut self, levels: BTreeMap<String, String>, how: &'static str, why: &str) {
        let mut there = self.series.left_out.iter_mut();
        let same = there.find(|one| one.levels == levels && one.how == how && one.why == why);
        match same {
            Some(one) => one.runs += 1,
            None => self.series.left_out.push(LeftOut {
                levels,
                runs: 1,
                how,
                why: why.to_owned(),
            }),
        }
    }

    fn level(&mut self, factor: &str, level: &str) {
        let factors = &mut self.series.factors;
        let place = factors.iter().position(|one| one.name == factor);
        let place = place.unwrap_or_else(|| {
            factors.push(Factor {
                name: factor.to_owned(),
                levels: Vec::new(),
            });
            factors.len() - 1
        });
        let levels = &mut factors[place].levels;
        if !levels.iter().any(|one| one == level) {
            levels.push(level.to_owned());
        }
    }

    fn finish(self) -> Series {
        let Self {
            mut series,
            kinds,
            cautions,
            disturbed,
        } = self;
        let all = series.runs.len();
        for factor in &series.factors {
            let without = series
                .runs
                .iter()
                .filter(|run| !run.levels.contains_key(&factor.name));
            let without = without.count();
            if without > 0 {
                series.notes.push(format!(
                    "{} is no factor here: {without} of {all} runs do not say what it was (gristmill run --label \
                     {}=…)",
                    factor.name, factor.name
                ));
            }
        }
        let runs = &series.runs;
        series
            .factors
            .retain(|factor| runs.iter().all(|run| run.levels.contains_key(&factor.name)));
        series.factors.retain(|factor| factor.levels.len() > 1);
        let is_factor = |name: &str| series.factors.iter().any(|factor| factor.name == name);
        if kinds.len() > 1 && !is_factor("suite") && !is_factor("scale") {
            let kinds: Vec<String> = kinds.into_iter().collect();
            series.notes.push(format!(
                "the runs are of different work: {}",
                kinds.join(", ")
            ));
        }
        let of_all = |runs: usize| match runs {
            _ if runs == all => "all runs".to_owned(),
            _ => format!("{runs} of {all} runs"),
        };
        for (caution, runs) in cautions {
            series.notes.push(format!("{}: {caution}", of_all(runs)));
        }
        for (runs, _, statement) in disturbed.into_values() {
            series.notes.push(format!(
                "{} were disturbed; most of all: {statement}",
                of_all(runs)
            ));
        }
        series
    }
}

/// Why the sums of a run are not those of its jobs, if they are not.
pub fn wrong(jobs: &[JobResult]) -> Option<String> {
    let failed = jobs.iter().find(|job| job.exit.is_none_or(|exit| exit > 1));
    if let Some(job) = failed {
        let why = job.error.as_deref().unwrap_or("it did not end");
        return Some(format!("job {} failed: {why}", job.name));
    }
    let unverified = jobs.iter().find(|job| job.verified == Some(false))?;
    let why = unverified.findings.first().map_or("", String::as_str);
    Some(format!(
        "outputs of job {} are wrong: {why}",
        unverified.name
    ))
}
