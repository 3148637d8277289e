//! What a reader should know first: the verdict, its requirements, the figures beside it.

use results::run::RunResult;
use serde::{Deserialize, Serialize};

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
    limit: Option<Limit>,
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
    /// `at least 100`; empty if there is no limit.
    needs: String,
    unit: String,
    /// Anything more to say, a line each.
    remarks: Vec<String>,
    source: String,
    /// Where figure and threshold stand on a scale, percent of its width.
    scale: Option<(f64, f64)>,
}

/// A verdict as any version wrote it: keys that a version did not have are absent.
#[derive(Debug, Deserialize)]
struct Written {
    result: String,
    reason: String,
    capability: Option<WrittenPart>,
    feeding: Option<WrittenPart>,
    requirements: Vec<Requirement>,
    limited_by: Option<Limit>,
}

#[derive(Debug, Deserialize)]
struct WrittenPart {
    result: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
struct Requirement {
    id: String,
    #[serde(default)]
    part: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    level: String,
    value: Option<f64>,
    threshold: Option<f64>,
    #[serde(default)]
    relation: String,
    unit: String,
    result: String,
    reason: Option<String>,
    source: String,
    #[serde(default)]
    date: String,
    limited_by: Option<Limit>,
}

/// What limited a figure.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Limit {
    kind: String,
    name: String,
    evidence: String,
    relief: String,
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
    let written = serde_json::to_value(&run.result.verdict)
        .and_then(serde_json::from_value::<Written>)
        .expect("every version has result, reason and requirements");
    Shown {
        word: word(&written.result),
        parts: parts(&written),
        result: written.result,
        reason: written.reason,
        limit: written.limited_by,
    }
}

fn parts(written: &Written) -> Vec<Part> {
    let kinds = [
        (
            "capability",
            "Capability",
            "What the storage sustains under saturating load.",
            &written.capability,
        ),
        (
            "feeding",
            "Feeding",
            "Whether the storage held back the jobs of a mixed load.",
            &written.feeding,
        ),
    ];
    // Versions without parts judged nothing but capability.
    let of_part = |name: &str| {
        let wanted = move |requirement: &&Requirement| {
            requirement.part == name || (requirement.part.is_empty() && name == "capability")
        };
        let cards = written.requirements.iter().filter(wanted).map(card);
        cards.collect::<Vec<_>>()
    };
    kinds
        .into_iter()
        .map(|(name, title, about, part)| {
            let (result, reason) = part.as_ref().map_or_else(
                || (written.result.clone(), String::new()),
                |part| (part.result.clone(), part.reason.clone()),
            );
            // The heading of the page has said it already.
            let reason = if reason == written.reason {
                String::new()
            } else {
                reason
            };
            let (word, cards) = (word(&result), of_part(name));
            (
                part.is_some(),
                Part {
                    title,
                    about,
                    result,
                    word,
                    reason,
                    cards,
                },
            )
        })
        .filter(|(judged, part)| *judged || !part.cards.is_empty())
        .map(|(_, part)| part)
        .collect()
}

fn card(requirement: &Requirement) -> Card {
    let (value, threshold) = (requirement.value, requirement.threshold);
    let relation = match requirement.relation.as_str() {
        "at_most" => "at most",
        _ => "at least",
    };
    let needs = threshold.map_or_else(String::new, |needed| {
        let wanted = if requirement.level == "wanted" {
            " (wanted, not required)"
        } else {
            ""
        };
        format!("{relation} {}{wanted}", short(needed))
    });
    let mut remarks: Vec<String> = requirement.reason.iter().map(|why| capital(why)).collect();
    if let Some(limit) = &requirement.limited_by {
        remarks.push(format!(
            "Limited by {}: {}. {}",
            limit.name,
            limit.evidence,
            capital(&limit.relief)
        ));
    }
    let scale = value.zip(threshold).and_then(|(value, needed)| {
        let largest = value.max(needed) * 1.15;
        (largest > 0.0 && value >= 0.0).then(|| (value / largest * 100.0, needed / largest * 100.0))
    });
    Card {
        title: if requirement.title.is_empty() {
            capital(&requirement.id.replace(['-', '_', '.'], " "))
        } else {
            capital(&requirement.title)
        },
        result: requirement.result.clone(),
        word: if requirement.level == "reported" {
            "Reported"
        } else {
            word(&requirement.result)
        },
        value: value.map_or_else(|| "not measured".to_owned(), figure),
        needs,
        unit: if value.is_some() {
            requirement.unit.clone()
        } else {
            String::new()
        },
        remarks,
        source: [requirement.source.as_str(), requirement.date.as_str()]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
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
    Figure {
        label: "Elapsed",
        value: all.elapsed_s.map_or("–".to_owned(), duration),
        unit: "",
        about: match (all.elapsed_s, all.flush_s) {
            (None, _) => "no job ended".to_owned(),
            (_, Some(flush)) => format!(
                "first launch to last end; then {} to flush",
                duration(flush)
            ),
            _ => "first launch to last end".to_owned(),
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
