//! The evidence of a reference run: what a paper prints of it, and nothing else.

use crate::reference;
use crate::run::Verdict;
use crate::statistics::summarize;
use crate::subject::Subject;
use crate::thresholds::{Measure, Thresholds};

use super::{Evidence, Measured, judge};

/// The verdict on a reference run by our requirements.
///
/// Papers do not say whether jobs failed or outputs were checked; they are taken at their word, so that
/// these two are not part of it.
pub fn of_reference(subject: &Subject, thresholds: &Thresholds) -> Verdict {
    let integrity = [Measure::JobsFailed, Measure::JobsNotVerified];
    let asked = Thresholds {
        title: thresholds.title.clone(),
        requirements: thresholds
            .requirements
            .iter()
            .filter(|one| !integrity.contains(&one.measure))
            .cloned()
            .collect(),
    };
    judge(&evidence(subject), &asked)
}

fn evidence(subject: &Subject) -> Evidence {
    let figures = &subject.figures;
    let cores = subject.cores.map(f64::from).filter(|cores| *cores > 0.0);
    // Of a range, the end that surely was sustained.
    let per_core = |range: Option<(f64, f64)>| Some(range?.0 / cores?);
    let spread = subject.slowest.as_ref().and_then(|slowest| {
        let times = summarize(&slowest.real_s)?;
        (times.count > 1 && times.min > 0.0).then(|| times.max / times.min)
    });
    let printed = |value: Option<f64>| {
        value.map_or_else(
            || Measured::absent("the paper does not print it"),
            Measured::of,
        )
    };
    let measures = [
        (Measure::TotalPerCore, per_core(figures.total_mb_per_s)),
        (Measure::SharedPerCore, per_core(figures.shared_mb_per_s)),
        (Measure::WorkOverShared, None),
        (Measure::CpuReal, figures.cpu_real_mean),
        (Measure::TimeInIo, None),
        (Measure::Elongation, None),
        (Measure::Spread, spread),
        (Measure::Growth, growth(subject)),
        (Measure::MetadataLatency, longest(subject, "fscheck")),
        (Measure::Response, None),
    ];
    Evidence {
        saturating: subject.saturating,
        measures: measures
            .into_iter()
            .map(|(measure, value)| (measure, printed(value)))
            .collect(),
        ..Evidence::default()
    }
}

/// Mean run time over that of the same storage with one node, both as the same table prints them.
fn growth(subject: &Subject) -> Option<f64> {
    let id = subject.name.strip_prefix(reference::PREFIX)?;
    let nodes = subject.nodes.filter(|nodes| *nodes > 1)?;
    let one = id.strip_suffix(&format!("-{nodes}"))?;
    let printed = |id: &str| {
        let documents = reference::documents().iter();
        let mut all = documents.flat_map(|document| &document.printed);
        let place = "Table 2";
        let found = all.find(|printed| printed.run == id && printed.place == place)?;
        found.figures().real_mean_s
    };
    Some(printed(id)? / printed(one)?)
}

/// The longest job whose name begins so.
fn longest(subject: &Subject, stem: &str) -> Option<f64> {
    let jobs = subject.jobs.iter().filter(|job| job.name.starts_with(stem));
    jobs.filter_map(|job| job.real_s).reduce(f64::max)
}
