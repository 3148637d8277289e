//! What a run shows, in two parts that are never mixed: *capability* is judged from saturating load only,
//! *feeding* from mixed load only. Pure: evidence and thresholds in, verdict out.

mod evidence;
mod limit;
mod published;
mod relief;

use std::collections::BTreeMap;

use crate::run::{Limit, Part, Requirement, Verdict};
use crate::thresholds::{Level, Measure, Threshold, Thresholds};

pub(crate) use evidence::machines;
pub use evidence::{CACHED_SHARE_MAX, Facts, of_run};
pub use published::of_reference;

/// What a verdict is made from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// The load pushes storage to its limit: capability is judged, otherwise feeding.
    pub saturating: bool,
    /// Demonstration scale: nothing is judged but failures.
    pub demonstration: bool,
    /// Something is wrong with the storage or the run: a job failed, data are not what they were.
    pub failure: Option<String>,
    /// Why the run cannot prove anything: cut short, unverified, cached, disturbed.
    pub doubts: Vec<String>,
    /// What has to be known beside the result, whatever it is: how outputs were verified.
    pub remarks: Vec<String>,
    /// Figures.
    pub measures: BTreeMap<Measure, Measured>,
    /// What limited the run as a whole.
    pub limited_by: Option<Limit>,
}

/// A figure, or why there is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// The figure.
    pub value: Option<f64>,
    /// How it came about, where there is more than one way.
    pub basis: Option<&'static str>,
    /// Why it is absent, or why it is not to be judged.
    pub not_shown: Option<String>,
    /// Why it may be judged only if it is met: something else than storage may have held it down.
    pub only_if_met: Option<String>,
    /// What limited it.
    pub limited_by: Option<Limit>,
}

impl Measured {
    /// A figure that can be judged.
    pub fn of(value: f64) -> Self {
        Self {
            value: Some(value),
            ..Self::default()
        }
    }

    /// No figure.
    pub fn absent(why: impl Into<String>) -> Self {
        Self {
            not_shown: Some(why.into()),
            ..Self::default()
        }
    }
}

const PASS: &str = "pass";
const FAIL: &str = "fail";
const NOT_SHOWN: &str = "not_shown";
const INCONCLUSIVE: &str = "inconclusive";

const MIXED: &str = "a mixed load does not show what storage can sustain";
const SATURATING: &str = "a saturating load holds jobs back by design";

/// The verdict.
pub fn judge(evidence: &Evidence, thresholds: &Thresholds) -> Verdict {
    let requirements: Vec<Requirement> = [true, false]
        .into_iter()
        .flat_map(|capability| {
            let of_part = move |one: &&Threshold| one.measure.is_capability() == capability;
            thresholds.requirements.iter().filter(of_part)
        })
        .map(|threshold| requirement(evidence, threshold))
        .collect();
    let (judged, other) = if evidence.saturating {
        ("capability", SATURATING)
    } else {
        ("feeding", MIXED)
    };
    let mut part = part(evidence, judged, &requirements);
    for remark in &evidence.remarks {
        part.reason = format!("{}; {remark}", part.reason);
    }
    let other = Part {
        result: NOT_SHOWN.to_owned(),
        reason: other.to_owned(),
    };
    let (capability, feeding) = if evidence.saturating {
        (part.clone(), other)
    } else {
        (other, part.clone())
    };
    Verdict {
        result: part.result,
        reason: part.reason,
        demonstration: evidence.demonstration,
        capability: Some(capability),
        feeding: Some(feeding),
        thresholds: thresholds.title.clone(),
        requirements,
        limited_by: evidence.limited_by.clone(),
    }
}

fn requirement(evidence: &Evidence, threshold: &Threshold) -> Requirement {
    let measured = evidence.measures.get(&threshold.measure);
    let value = measured.and_then(|measured| measured.value);
    let (limit, relation) = threshold.limit();
    let (result, reason) = result(evidence, threshold, measured);
    let limited_by = (result == FAIL || result == INCONCLUSIVE)
        .then(|| {
            let own = measured.and_then(|measured| measured.limited_by.clone());
            own.or_else(|| evidence.limited_by.clone())
        })
        .flatten();
    let part = if threshold.measure.is_capability() {
        "capability"
    } else {
        "feeding"
    };
    Requirement {
        id: threshold.id.clone(),
        measure: threshold.measure.name().to_owned(),
        part: part.to_owned(),
        title: threshold.title.clone(),
        level: threshold.level.name().to_owned(),
        value,
        basis: measured
            .filter(|_| value.is_some())
            .and_then(|measured| measured.basis)
            .map(str::to_owned),
        threshold: limit,
        relation: relation.to_owned(),
        unit: threshold.unit.clone(),
        result: result.to_owned(),
        reason,
        source: threshold.source.clone(),
        date: threshold.date.clone(),
        limited_by,
    }
}

/// `pass`, `fail` and so on of one requirement, with the reason where it is neither.
fn result(
    evidence: &Evidence,
    threshold: &Threshold,
    measured: Option<&Measured>,
) -> (&'static str, Option<String>) {
    let not_shown = |why: &str| (NOT_SHOWN, Some(why.to_owned()));
    let every_run = threshold.measure.concerns_every_run();
    let Some(measured) = measured else {
        return not_shown("not measured");
    };
    if let Some(why) = &measured.not_shown {
        return not_shown(why);
    }
    let Some(value) = measured.value else {
        return not_shown("not measured");
    };
    if every_run {
        // What was not checked is not proved wrong.
        return match (threshold.is_met(value), threshold.measure) {
            (true, _) => (PASS, None),
            (false, Measure::JobsNotVerified) => (INCONCLUSIVE, None),
            (false, _) => (FAIL, None),
        };
    }
    if threshold.level == Level::Reported {
        return not_shown("reported; no limit is set");
    }
    if evidence.demonstration {
        return not_shown("demonstration scale");
    }
    match (threshold.measure.is_capability(), evidence.saturating) {
        (true, false) => return not_shown(MIXED),
        (false, true) => return not_shown(SATURATING),
        _ => {}
    }
    if let Some(doubt) = evidence.doubts.first() {
        return (INCONCLUSIVE, Some(doubt.clone()));
    }
    if threshold.is_met(value) {
        return (PASS, None);
    }
    match &measured.only_if_met {
        Some(why) => (INCONCLUSIVE, Some(why.clone())),
        None => (FAIL, None),
    }
}

/// The part that is judged.
fn part(evidence: &Evidence, judged: &str, requirements: &[Requirement]) -> Part {
    let say = |result: &str, reason: String| Part {
        result: result.to_owned(),
        reason,
    };
    if let Some(failure) = &evidence.failure {
        return say(FAIL, failure.clone());
    }
    if evidence.demonstration && evidence.doubts.is_empty() {
        return say(NOT_SHOWN, "demonstration: no verdict".to_owned());
    }
    if !evidence.doubts.is_empty() {
        return say(INCONCLUSIVE, evidence.doubts.join("; "));
    }
    let ours: Vec<&Requirement> = requirements
        .iter()
        .filter(|one| one.part == judged || one.concerns_every_run())
        .collect();
    let with = |level: &str, result: &str| -> Vec<&Requirement> {
        let all = ours.iter().copied();
        all.filter(|one| one.level == level && one.result == result)
            .collect()
    };
    for result in [FAIL, INCONCLUSIVE, NOT_SHOWN] {
        let found = with("required", result);
        if !found.is_empty() {
            return say(result, sentence(&found));
        }
    }
    let met = with("required", PASS);
    if met.is_empty() {
        return say(NOT_SHOWN, "no requirement is set".to_owned());
    }
    let missed = with("wanted", FAIL);
    let met: Vec<&Requirement> = met.into_iter().filter(|one| met_is_news(one)).collect();
    let mut reason = sentence(&met);
    if !missed.is_empty() {
        reason = format!("{reason}; wanted but not met: {}", sentence(&missed));
    }
    say(PASS, reason)
}

/// That no job failed is no news beside figures.
fn met_is_news(requirement: &Requirement) -> bool {
    requirement.threshold != Some(0.0) || requirement.value != Some(0.0)
}

/// `Sustained throughput of all channels: 120 (at least 100 MB/s per physical core)`.
fn sentence(requirements: &[&Requirement]) -> String {
    let one = |one: &&Requirement| {
        let relation = if one.relation == "at_most" {
            "at most"
        } else {
            "at least"
        };
        let limit = one.threshold.map_or(String::new(), |limit| {
            // The unit up to its first comma says enough in a sentence.
            let unit = one.unit.split(',').next().unwrap_or_default();
            format!(" ({relation} {limit} {unit})")
        });
        match (one.value, &one.reason) {
            (None, reason) => {
                let why = reason.as_deref().unwrap_or("not measured");
                format!("{}: not shown, {why}", one.title)
            }
            (Some(value), Some(why)) => format!("{}: {}, {why}", one.title, figure(value)),
            (Some(value), None) => {
                let value = beside(figure(value), value, one.threshold);
                format!("{}: {value}{limit}", one.title)
            }
        }
    };
    let all: Vec<String> = requirements.iter().map(one).collect();
    if all.is_empty() {
        return "every job ended and every check of its outputs held".to_owned();
    }
    all.join("; ")
}

/// A figure as it is shown, with more decimals where it would look like the limit that it misses.
pub fn beside(shown: String, value: f64, limit: Option<f64>) -> String {
    let is_limit = |text: &str| text.replace(',', "").parse::<f64>().ok() == limit;
    let misses = limit.is_some_and(|limit| value.to_bits() != limit.to_bits());
    if !misses || !is_limit(&shown) {
        return shown;
    }
    let mut longer = (1..=12).map(|decimals| format!("{value:.decimals$}"));
    longer.find(|text| !is_limit(text)).unwrap_or(shown)
}

/// As many decimals as a figure of its size needs.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size.fract() == 0.0 && size < 1e15 => format!("{value}"),
        size if size >= 99.5 => format!("{value:.0}"),
        size if size >= 9.95 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}
