//! Runs side by side: ratios by job and of all jobs together, and what of them is noise.

mod audits;
mod repeat;
mod shown;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::growth::{Growth, follows_from_nodes, growth, unlike};
use crate::statistics::ratio::{Finding, Ratio, ratio};
use crate::subject::{Figures, Subject};
use crate::table::Unit;

use repeat::{Repeat, cautions, of_one_load, repeats};

/// Jobs of papers, printed in whole seconds, have no ratio below this.
const PAPER_REAL_S_MIN: f64 = 10.0;

pub use audits::FindingDiffers;

/// How intervals come about, for whoever reads them.
pub const METHOD: &str = "95 % interval of the ratio of geometric means by Student's t on the logarithms, \
                          their spread pooled over both sides";

/// One side: a run, its repeats, or a reference run.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// How it was named.
    pub label: String,
    /// The run and its repeats.
    pub runs: Vec<Subject>,
}

/// Several sides compared with the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The sides; the first is the base.
    pub sides: Vec<SideShown>,
    /// By job.
    pub jobs: Vec<Compared>,
    /// All jobs together.
    pub aggregate: Vec<Compared>,
    /// What the audits of the sides' nodes say differently; empty if fewer than two were audited.
    pub findings: Vec<FindingDiffers>,
    /// How run times and throughput grow, if the runs are on several numbers of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// What it comes to, a sentence each, the most important first.
    pub statements: Vec<String>,
    /// What makes the sides differ beside storage, and what else calls for care, a sentence each.
    pub differences: Vec<String>,
    /// How intervals come about.
    pub method: &'static str,
}

/// A side as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideShown {
    /// How it was named.
    pub label: String,
    /// What it is.
    pub title: String,
    /// Document of a reference run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How often it was measured: its runs.
    pub repeats: usize,
}

/// One figure on all sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Job or figure.
    pub name: String,
    /// Unit of the figures.
    pub unit: Unit,
    /// Less is better; absent where neither is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub less_is_better: Option<bool>,
    /// Geometric mean over the repeats, by side.
    pub values: Vec<Option<f64>>,
    /// Each side over the first.
    pub ratios: Vec<Option<Ratio>>,
}

/// Compares sides with the first.
pub fn compare(sides: &[Side]) -> Comparison {
    let all: Vec<Vec<Repeat>> = sides.iter().map(repeats).collect();
    let alike = of_one_suite(sides);
    let jobs = jobs(sides, &all, &alike);
    let aggregate = aggregate(&all, &alike);
    let findings = audits::differing(sides);
    let runs: Vec<Subject> = sides.iter().flat_map(|side| side.runs.clone()).collect();
    let mut differences = differences(sides, &all, &alike, &findings);
    differences.extend(cautions(sides, &all));
    differences.extend(unlike(&runs));
    let mut comparison = Comparison {
        growth: growth(&runs),
        sides: sides
            .iter()
            .zip(&all)
            .map(|(side, all)| side_shown(side, all))
            .collect(),
        jobs,
        aggregate,
        statements: Vec::new(),
        differences,
        findings,
        method: METHOD,
    };
    comparison.statements = shown::statements(&comparison, sides);
    comparison
}

/// Sides whose runs are all of the suite of the first side: jobs of others may have the same names, and are others.
fn of_one_suite(sides: &[Side]) -> Vec<bool> {
    let base = sides.iter().find_map(|side| side.runs.first());
    let same = |run: &Subject| base.is_some_and(|base| run.suite == base.suite);
    sides
        .iter()
        .map(|side| side.runs.iter().all(same))
        .collect()
}

fn side_shown(side: &Side, repeats: &[Repeat]) -> SideShown {
    let first = side.runs.first();
    SideShown {
        label: side.label.clone(),
        title: first.map_or(String::new(), |run| run.title.clone()),
        source: first.and_then(|run| run.source.clone()),
        repeats: repeats.len(),
    }
}

/// Jobs in the order of the first side, then those that others have beside.
fn jobs(sides: &[Side], all: &[Vec<Repeat>], alike: &[bool]) -> Vec<Compared> {
    let jobs = sides
        .iter()
        .flat_map(|side| &side.runs)
        .flat_map(|run| &run.jobs);
    let mut seen = BTreeSet::new();
    let names: Vec<&str> = jobs
        .map(|job| &*job.name)
        .filter(|name| seen.insert(*name))
        .collect();
    let rough: Vec<bool> = sides
        .iter()
        .map(|side| side.runs.iter().any(|run| run.source.is_some()))
        .collect();
    names
        .into_iter()
        .map(|name| {
            let figures: Vec<Vec<f64>> = all
                .iter()
                .map(|repeats| {
                    repeats
                        .iter()
                        .filter_map(|one| one.real_s.get(name).copied())
                        .collect()
                })
                .collect();
            let too_short = |(figures, rough): (&Vec<f64>, &bool)| {
                *rough && figures.iter().any(|real_s| *real_s < PAPER_REAL_S_MIN)
            };
            let skip = figures.iter().zip(&rough).any(too_short);
            let comparable = |side: usize| !skip && alike[side];
            compared(name, Unit::Seconds, Some(true), &figures, comparable)
        })
        .collect()
}

fn compared(
    name: &str,
    unit: Unit,
    less_is_better: Option<bool>,
    figures: &[Vec<f64>],
    comparable: impl Fn(usize) -> bool,
) -> Compared {
    let base = figures.first().map_or(&[][..], Vec::as_slice);
    let others = figures.iter().enumerate().skip(1);
    Compared {
        name: name.to_owned(),
        unit,
        less_is_better,
        values: figures
            .iter()
            .map(|values| geometric_mean(values))
            .collect(),
        ratios: others
            .map(|(side, of)| ratio(base, of).filter(|_| comparable(side)))
            .collect(),
    }
}

/// The mean that ratios are of; of figures with a 0 among them the arithmetic one.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    match values {
        [] => None,
        [one] => Some(*one),
        _ if values.iter().all(|value| *value > 0.0) => {
            Some((values.iter().map(|value| value.ln()).sum::<f64>() / count).exp())
        }
        _ => Some(values.iter().sum::<f64>() / count),
    }
}

/// A figure of all jobs together.
type Figure = (
    &'static str,
    Unit,
    Option<bool>,
    fn(&Figures) -> Option<f64>,
);

const FIGURES: [Figure; 11] = [
    ("Elapsed", Unit::Seconds, Some(true), |all| all.elapsed_s),
    ("Sum of real times", Unit::Seconds, Some(true), |all| {
        all.real_sum_s
    }),
    ("Mean real time", Unit::Seconds, Some(true), |all| {
        all.real_mean_s
    }),
    ("Longest job", Unit::Seconds, Some(true), |all| {
        all.real_max_s
    }),
    ("Sum of user CPU", Unit::Seconds, Some(true), |all| {
        all.user_s
    }),
    ("Sum of system CPU", Unit::Seconds, Some(true), |all| {
        all.system_s
    }),
    ("Sum of memory", Unit::Bytes, None, |all| all.memory_bytes),
    (
        "CPU/real, mean of ratios",
        Unit::Ratio,
        Some(false),
        |all| all.cpu_real_mean,
    ),
    ("CPU/real, ratio of sums", Unit::Ratio, Some(false), |all| {
        all.cpu_real_of_sums
    }),
    (
        "Throughput, flush included",
        Unit::MegabytesPerSecond,
        Some(false),
        |all| all.mb_per_s,
    ),
    ("Models per hour", Unit::PerHour, Some(false), |all| {
        all.models_per_hour
    }),
];

/// What figures that grow with the number of jobs begin with: they compare only over the same jobs.
const SUM: &str = "Sum of";

fn aggregate(all: &[Vec<Repeat>], alike: &[bool]) -> Vec<Compared> {
    let compared_sides = of_sides(all, alike);
    let common = common(&compared_sides);
    let of = |figure: &dyn Fn(&Repeat) -> Option<f64>| -> Vec<Vec<f64>> {
        all.iter()
            .map(|repeats| repeats.iter().filter_map(figure).collect())
            .collect()
    };
    let mut rows = Vec::new();
    if differ_in_jobs(&compared_sides) && !common.is_empty() {
        let sum = |one: &Repeat| -> Option<f64> {
            common
                .iter()
                .map(|name| one.real_s.get(*name).copied())
                .sum()
        };
        let jobs = match common.len() {
            1 => "1 job".to_owned(),
            many => format!("{many} jobs"),
        };
        let label = format!("Sum of real times, {jobs} in common");
        rows.push(compared(
            &label,
            Unit::Seconds,
            Some(true),
            &of(&sum),
            |side| alike[side],
        ));
    }
    let one_load: Vec<bool> = all.iter().map(|side| of_one_load(&all[0], side)).collect();
    for (name, unit, better, figure) in FIGURES {
        let figures = of(&|one: &Repeat| figure(&one.figures));
        if figures.iter().any(|values| !values.is_empty()) {
            let comparable =
                |side: usize| alike[side] && (!name.starts_with(SUM) || one_load[side]);
            rows.push(compared(name, unit, better, &figures, comparable));
        }
    }
    rows
}

/// Sides that are compared at all.
fn of_sides<'a>(all: &'a [Vec<Repeat>], alike: &[bool]) -> Vec<&'a Vec<Repeat>> {
    let sides = all.iter().zip(alike);
    sides
        .filter_map(|(side, alike)| alike.then_some(side))
        .collect()
}

/// Jobs that every repeat of every side has.
fn common<'a>(all: &[&'a Vec<Repeat>]) -> BTreeSet<&'a str> {
    let names = |one: &Repeat| one.real_s.keys().cloned().collect::<BTreeSet<String>>();
    let mut sets = all.iter().copied().flatten().map(names);
    let Some(first) = sets.next() else {
        return BTreeSet::new();
    };
    let common = sets.fold(first, |common, names| &common & &names);
    let every = all
        .iter()
        .copied()
        .flatten()
        .flat_map(|one| one.real_s.keys());
    every
        .filter(|name| common.contains(*name))
        .map(String::as_str)
        .collect()
}

fn differ_in_jobs(all: &[&Vec<Repeat>]) -> bool {
    let names = |one: &Repeat| one.real_s.keys().cloned().collect::<Vec<String>>();
    let mut sets = all.iter().copied().flatten().map(names);
    let first = sets.next();
    sets.any(|names| Some(names) != first)
}

/// What else than storage sets the sides apart.
fn differences(
    sides: &[Side],
    all: &[Vec<Repeat>],
    alike: &[bool],
    findings: &[FindingDiffers],
) -> Vec<String> {
    let mut found = Vec::new();
    let base = sides.first().and_then(|side| side.runs.first());
    let others = sides
        .iter()
        .skip(1)
        .filter_map(|side| Some((&side.label, side.runs.first()?)));
    for (label, other) in others {
        let Some(base) = base else { break };
        if base.suite != other.suite {
            found.push(format!(
                "{label} ran suite {}, the first side {}: figures of two suites have no ratio",
                other.suite, base.suite
            ));
        }
        if base.source.is_some() != other.source.is_some() {
            found.push(
                "a paper's figures are of SAS on the paper's hosts and full-size data: ratios to it say \
                 how two whole systems compare, not two storages"
                    .to_owned(),
            );
        }
        if !base.configuration.is_empty() && !other.configuration.is_empty() {
            found.extend(settings(label, base, other, findings.is_empty()));
        }
    }
    if !findings.is_empty() {
        let mut rules: Vec<&str> = findings.iter().map(|one| one.rule.as_str()).collect();
        rules.dedup();
        found.push(format!(
            "the audits of the nodes differ in {}",
            rules.join(" ")
        ));
    }
    let nodes = |side: &Side| side.runs.first().and_then(|run| run.nodes);
    let same_nodes = sides.iter().all(|side| nodes(side) == nodes(&sides[0]));
    let compared = of_sides(all, alike);
    let one_load = compared.iter().all(|side| of_one_load(&all[0], side));
    if same_nodes && (differ_in_jobs(&compared) || !one_load) {
        found.push(
            "the sides have different jobs, or some did not finish: sums over all jobs are not \
             compared"
                .to_owned(),
        );
    }
    found.extend(sides.iter().filter_map(no_repeats));
    for side in sides {
        let cautions = side.runs.iter().flat_map(|run| &run.cautions);
        found.extend(cautions.map(|caution| format!("{}: {caution}", side.label)));
    }
    let mut seen = BTreeSet::new();
    found.retain(|text| seen.insert(text.clone()));
    found
}

/// Why runs of a side are no repeats of each other.
fn no_repeats(side: &Side) -> Option<String> {
    let (first, others) = side.runs.split_first()?;
    let names = others.iter().flat_map(|other| differing(first, other));
    let names: BTreeSet<&str> = names.collect();
    (!names.is_empty()).then(|| {
        format!(
            "the runs of {} are not of one configuration: they are no repeats, since they differ in {}",
            side.label,
            Vec::from_iter(names).join(", ")
        )
    })
}

/// What two runs were set to differently, by name.
fn differing<'a>(one: &'a Subject, other: &'a Subject) -> Vec<&'a str> {
    let of = |run: &'a Subject| run.configuration.keys();
    let names: BTreeSet<&String> = of(one).chain(of(other)).collect();
    let differs = |name: &&String| one.configuration.get(*name) != other.configuration.get(*name);
    names
        .into_iter()
        .filter(differs)
        .map(String::as_str)
        .collect()
}

fn settings(label: &str, base: &Subject, other: &Subject, same_nodes: bool) -> Vec<String> {
    let value = |of: &Subject, name: &str| {
        let value = of.configuration.get(name).filter(|value| !value.is_empty());
        value.cloned().unwrap_or_else(|| "not set".to_owned())
    };
    let grown = base.nodes != other.nodes;
    let mut changed: Vec<String> = differing(base, other)
        .into_iter()
        .filter(|name| !(grown && follows_from_nodes(name)))
        .map(|name| {
            format!(
                "{label}: {name} {}, first side: {}",
                value(other, name),
                value(base, name)
            )
        })
        .collect();
    if changed.is_empty() && same_nodes && !grown {
        changed.push(format!(
            "{label} and the first side are of the same configuration: what differs is noise, or something \
             that runs do not record"
        ));
    }
    changed
}

impl Compared {
    /// What the ratio of a side says.
    pub fn finding(&self, side: usize) -> Option<Finding> {
        let ratio = self.ratios.get(side.checked_sub(1)?)?.as_ref()?;
        Some(ratio.finding())
    }
}

#[cfg(test)]
mod tests;
