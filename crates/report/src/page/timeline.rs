//! The time axis of the page: seconds since the first job was launched.

use std::collections::BTreeMap;

use results::run::{Event, EventKind};
use results::sample::Sample;
use serde::Serialize;

use super::Run;
use super::number::{clock, rounded_to_ms};

/// What stands on the axis.
#[derive(Debug, Serialize)]
pub(super) struct Mark {
    /// When.
    pub(super) at_s: f64,
    /// What happened, a few words.
    pub(super) name: String,
    /// More of it.
    pub(super) detail: String,
}

/// An event as the page lists it.
#[derive(Debug, Serialize)]
pub(super) struct Listed {
    at: String,
    what: String,
    detail: String,
}

/// From the first launch to the end of the last job and of the flush.
#[derive(Debug)]
pub(super) struct Timeline {
    /// The first launch, seconds since the run began.
    pub(super) origin_s: f64,
    /// The same by the wall clock, seconds since the Unix epoch.
    pub(super) origin_unix_s: f64,
    /// Its end, seconds after the origin; never 0.
    pub(super) end_s: f64,
    /// What happened within it, but for jobs.
    pub(super) marks: Vec<Mark>,
    /// All that happened, but for jobs, staging included.
    pub(super) events: Vec<Listed>,
}

impl Timeline {
    pub(super) fn of(run: &Run) -> Self {
        let launches = || {
            run.events
                .iter()
                .filter(|event| event.event == EventKind::JobLaunched)
        };
        let first = launches().min_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let (origin_s, origin_unix_s) =
            first.map_or((0.0, run.plan.started_unix_s), |e| (e.at_s, e.unix_s));
        let ends = |event: &&Event| {
            matches!(
                event.event,
                EventKind::JobLaunched
                    | EventKind::JobFinished
                    | EventKind::Flushed
                    | EventKind::Interrupted
            )
        };
        let last = run.events.iter().filter(ends).map(|event| event.at_s);
        let end_s = last.fold(origin_s, f64::max) - origin_s;
        let end_s = if end_s > 0.0 { end_s } else { 1.0 };
        let told = run.events.iter().filter_map(|event| {
            let name = name(event.event)?;
            let detail = event.detail.clone().unwrap_or_default();
            let detail = match (event.real_s, detail.is_empty()) {
                (Some(real), true) => format!("took {}", super::number::duration(real)),
                _ => detail,
            };
            Some((event.at_s - origin_s, event.event, name, detail))
        });
        let (mut marks, mut events) = (Vec::new(), Vec::new());
        for (at_s, kind, what, detail) in told {
            if (0.0..=end_s).contains(&at_s) {
                // A mark that somebody made is called what they called it.
                let (name, detail) = match kind {
                    EventKind::Mark if !detail.is_empty() => (detail.clone(), String::new()),
                    _ => (what.clone(), detail.clone()),
                };
                let at_s = rounded_to_ms(at_s);
                marks.push(Mark { at_s, name, detail });
            }
            let at = clock(at_s);
            events.push(Listed { at, what, detail });
        }
        Self {
            origin_s,
            origin_unix_s,
            end_s,
            marks,
            events,
        }
    }

    /// The samples of each node that overlap it, their times moved to its origin; nodes without any are left out.
    pub(super) fn within(
        &self,
        samples: &BTreeMap<String, Vec<Sample>>,
    ) -> (Vec<String>, Vec<Vec<Sample>>) {
        let moved = |sample: &Sample| Sample {
            at_s: sample.at_s - self.origin_s,
            ..sample.clone()
        };
        let overlaps = |sample: &Sample| {
            sample.interval_s > 0.0
                && sample.at_s > 0.0
                && sample.at_s - sample.interval_s < self.end_s
        };
        let of_node = |all: &Vec<Sample>| all.iter().map(moved).filter(overlaps).collect();
        let nodes = samples
            .iter()
            .map(|(name, all)| (name.clone(), of_node(all)));
        nodes
            .filter(|(_, own): &(String, Vec<Sample>)| !own.is_empty())
            .unzip()
    }
}

/// What an event is called; nothing for those of jobs, which have their own places.
fn name(kind: EventKind) -> Option<String> {
    let key = serde_json::to_value(kind).ok()?;
    let key = key.as_str()?;
    if key.starts_with("job_") || key.starts_with("phase_") {
        return None;
    }
    let known = match kind {
        EventKind::StageFinished => "Data in place",
        EventKind::Evicted => "Cold start",
        EventKind::OrphanRemoved => "Left-over removed",
        EventKind::OrphanKept => "Left-over stays",
        EventKind::RunFinished => "Run complete",
        _ => return Some(super::cards::capital(&key.replace('_', " "))),
    };
    Some(known.to_owned())
}
