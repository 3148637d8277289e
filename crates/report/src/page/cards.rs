//! What a reader should know first: the verdict, its requirements, the figures beside it.

use results::run::{Requirement, RunResult, Verdict};
use serde::Serialize;

use crate::verdict::limited_by;

use super::Run;
use super::jobs::State;
use super::number::{count, duration, figure, percent, short};

/// The verdict as the page shows it.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    result: String,
    /// `Pass`, `Not shown`, …
    word: &'static str,
    reason: String,
    limit: Option<String>,
    parts: Vec<Part>,
}

/// One of the questions that a verdict answers.
#[derive(Debug, Serialize)]
struct Part {
    title: &'static str,
    about: &'static str,
    result: String,
    word: &'static str,
    reason: String,
    cards: Vec<Card>,
}

/// A requirement.
#[derive(Debug, Serialize)]
struct Card {
    title: String,
    result: String,
    word: &'static str,
    value: String,
    /// `needed: at least 100`; empty if there is no limit.
    needs: String,
    unit: String,
    /// Anything more to say, a line each.
    remarks: Vec<String>,
    source: String,
    /// Where figure and threshold stand on a scale, percent of its width.
    scale: Option<(f64, f64)>,
}

/// A figure with its name.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    label: &'static str,
    value: String,
    unit: &'static str,
    about: String,
}

fn word(result: &str) -> &'static str {
    match result {
        "pass" => "Pass",
        "fail" => "Fail",
        "inconclusive" => "Inconclusive",
        "not_shown" => "Not shown",
        _ => "Unknown",
    }
}

pub(super) fn verdict(run: &Run) -> Shown {
    let verdict = &run.result.verdict;
    Shown {
        word: word(&verdict.result),
        parts: parts(verdict),
        result: verdict.result.clone(),
        reason: verdict.reason.clone(),
        limit: verdict
            .limited_by
            .as_ref()
            .filter(|_| !verdict.demonstration)
            .map(limited_by),
    }
}

/// Both parts; a demonstration has none, and verdicts of earlier versions judged capability alone.
fn parts(verdict: &Verdict) -> Vec<Part> {
    if verdict.demonstration {
        return Vec::new();
    }
    let kinds = [
        (
            "Capability",
            "What the storage sustains under saturating load.",
            &verdict.capability,
        ),
        (
            "Feeding",
            "Whether the storage held back the jobs of a mixed load.",
            &verdict.feeding,
        ),
    ];
    let is_said = |one: &Requirement| one.is_wanted_too(&verdict.requirements);
    let all = kinds.into_iter().map(|(title, about, part)| {
        let is_first = title == "Capability";
        let is_judged = part.as_ref().map_or(is_first, |part| {
            part.result == verdict.result && part.reason == verdict.reason
        });
        let result = part.as_ref().map_or(&verdict.result, |part| &part.result);
        // The heading of the page has said the reason of the part that was judged.
        let reason = part.as_ref().filter(|_| !is_judged);
        let id = title.to_ascii_lowercase();
        Part {
            title,
            about,
            word: word(result),
            result: result.clone(),
            reason: reason.map_or_else(String::new, |part| part.reason.clone()),
            cards: verdict
                .requirements
                .iter()
                .filter(|one| {
                    one.part == id
                        || (one.part.is_empty() && is_first)
                        || (is_judged && one.concerns_every_run())
                })
                .filter(|one| is_judged || !(one.concerns_every_run() || is_said(one)))
                .map(|one| card(one, is_judged))
                .collect(),
        }
    });
    all.filter(|part| !part.cards.is_empty() || !part.reason.is_empty())
        .collect()
}

fn card(one: &Requirement, is_judged: bool) -> Card {
    let (value, threshold) = (one.value, one.threshold.filter(|_| is_judged));
    let relation = match one.relation.as_str() {
        "at_most" => "at most",
        _ => "at least",
    };
    let level = match one.level.as_str() {
        "wanted" => "wanted",
        _ => "needed",
    };
    let title = if one.title.is_empty() {
        &one.id
    } else {
        &one.title
    };
    let mut remarks: Vec<String> = one
        .reason
        .iter()
        .filter(|_| is_judged)
        .map(|why| capital(why))
        .collect();
    remarks.extend(
        one.limited_by
            .as_ref()
            .map(|limit| format!("Limited by {}", limited_by(limit))),
    );
    let scale = value.zip(threshold).and_then(|(value, needed)| {
        let largest = value.max(needed) * 1.15;
        (largest > 0.0 && value >= 0.0).then(|| (value / largest * 100.0, needed / largest * 100.0))
    });
    let unit = [Some(one.unit.clone()), one.basis.clone()];
    let unit = unit.into_iter().flatten().filter(|text| !text.is_empty());
    let source = [&one.source, &one.date].map(String::as_str);
    let source = source.into_iter().filter(|text| !text.is_empty());
    Card {
        title: capital(title),
        // What is wanted and not reached is no failure.
        result: match (is_judged, &*one.level, &*one.result) {
            (false, ..) => "not_shown",
            (_, "wanted", "fail") => "inconclusive",
            (.., result) => result,
        }
        .to_owned(),
        word: match one.level.as_str() {
            _ if !is_judged => "Not judged",
            "reported" => "Reported",
            "wanted" if one.result == "fail" => "Not reached",
            _ => word(&one.result),
        },
        value: value.map_or_else(
            || "not measured".to_owned(),
            |value| results::verdict::beside(figure(value), value, threshold),
        ),
        needs: threshold.map_or_else(String::new, |limit| {
            format!("{level}: {relation} {}", short(limit))
        }),
        unit: value.map_or_else(String::new, |_| unit.collect::<Vec<_>>().join("; ")),
        remarks,
        source: source.collect::<Vec<_>>().join(", "),
        scale,
    }
}

/// With a capital at the begin.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The figures that stand under the verdict.
pub(super) fn figures(run: &Run) -> Vec<Figure> {
    vec![
        elapsed(run),
        throughput(run),
        peak(run),
        jobs(&run.result),
        computing(run),
        physical(run),
    ]
}

/// Share of the bytes read that came from devices or servers, with what it is known from. Runs with
/// samples know where that is hidden; earlier ones have only what the kernel counted.
pub(super) fn physical_share(run: &Run) -> Option<(f64, String)> {
    let all = &run.result.aggregate;
    if !run.nodes.is_empty() {
        let basis = all.physical_read_basis.clone().unwrap_or_default();
        return Some((all.physical_read_share?, basis));
    }
    let (device, read) = all.device_read_bytes.zip(all.read_bytes)?;
    let basis = "as the kernel counts; network file systems may not be counted".to_owned();
    (read > 0).then(|| (device as f64 / read as f64, basis))
}

fn physical(run: &Run) -> Figure {
    let share = physical_share(run);
    Figure {
        label: "Read physically",
        about: match share {
            Some(_) => "of the bytes that programs read; the rest came from caches",
            None => "not measured",
        }
        .to_owned(),
        value: share.map_or("–".to_owned(), |(share, _)| percent(share)),
        unit: "",
    }
}

fn computing(run: &Run) -> Figure {
    let all = &run.result.aggregate;
    let ratio = all.cpu_real_ratio_of_sums;
    Figure {
        label: "CPU / real",
        value: ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}")),
        unit: "",
        about: match ratio {
            Some(_) => format!(
                "{} of processor time in {} of elapsed time, all jobs added up",
                duration(all.user_s + all.system_s),
                duration(all.real_s)
            ),
            None => "not measured".to_owned(),
        },
    }
}

fn peak(run: &Run) -> Figure {
    let peak = run.result.sustained_peak.as_ref();
    let rate = peak.and_then(|peak| Some((peak.mb_per_s?, peak.window_s)));
    Figure {
        label: "Sustained peak",
        value: rate.map_or("–".to_owned(), |(rate, _)| figure(rate)),
        unit: if rate.is_some() { "MB/s" } else { "" },
        about: match rate {
            Some((_, window)) => format!("highest mean over {}", duration(window)),
            None if run.samples.is_empty() => "not measured: nothing was sampled".to_owned(),
            None => "the run was too short for it".to_owned(),
        },
    }
}

fn elapsed(run: &Run) -> Figure {
    let all = &run.result.aggregate;
    let batches = run.result.jobs.iter().any(|job| job.batch > 1);
    let of = if batches {
        "all batches, without what lies between"
    } else {
        "first launch to last end"
    };
    Figure {
        label: "Elapsed",
        value: all.elapsed_s.map_or("–".to_owned(), duration),
        unit: "",
        about: match (all.elapsed_s, all.flush_s) {
            (None, _) => "no job ended".to_owned(),
            (_, Some(flush)) => format!("{of}; then {} to flush", duration(flush)),
            _ => of.to_owned(),
        },
    }
}

fn throughput(run: &Run) -> Figure {
    let all = &run.result.aggregate;
    let about = match (all.mb_per_s, all.mb_per_s_per_core) {
        (None, _) => "not measured: a job left no record of its steps".to_owned(),
        (_, Some(core)) => format!("mean; {} per core with the flush", figure(core)),
        _ => "mean over the elapsed time".to_owned(),
    };
    Figure {
        label: "Throughput",
        value: all.mb_per_s.map_or("–".to_owned(), figure),
        unit: if all.mb_per_s.is_some() { "MB/s" } else { "" },
        about,
    }
}

fn jobs(result: &RunResult) -> Figure {
    let jobs = &result.jobs;
    let of = |wanted| jobs.iter().filter(|job| job.verified == wanted).count() as u64;
    let bad = jobs.iter().filter(|job| State::of(job).bad()).count() as u64;
    let (right, wrong, unchecked) = (of(Some(true)), of(Some(false)), of(None));
    let checks = match (wrong, unchecked) {
        (0, 0) => "every output was checked and is right".to_owned(),
        (0, _) => format!("{} of them checked, none wrong", count(right)),
        (wrong, _) => format!("{} with wrong outputs", count(wrong)),
    };
    Figure {
        label: "Jobs",
        value: count(jobs.len() as u64),
        unit: "",
        about: match bad {
            0 => format!("all ended well; {checks}"),
            bad => format!("{} to be looked at; {checks}", count(bad)),
        },
    }
}
