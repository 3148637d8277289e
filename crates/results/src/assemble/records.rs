//! Records that are not whole: what they miss would be missing in every figure.

use super::disturbance::Window;
use crate::run::{Disturbance, Event, Records, RunPlan};
use crate::sample::Sample;
use crate::step::{END, StepRecord};

/// Programs end with at most this: more tells of a signal, or that the program could not be run.
const EXIT_OF_PROGRAMS_MAX: i32 = 2;

/// Samples are due every second: within this, seconds, there must be one.
const SAMPLED_S_MIN: f64 = 3.0;

/// The file of steps of a job that ended by itself, and ends before the session does.
pub(super) fn cut_steps(
    plan: &RunPlan,
    job: &str,
    steps: &Records<StepRecord>,
    finished: Option<&Event>,
) -> Option<Disturbance> {
    let by_itself = finished?.exit? <= EXIT_OF_PROGRAMS_MAX;
    let last = steps.records.last().filter(|last| last.kind == END);
    let is_whole = last.is_some_and(|last| last.step == steps.records.len() as u64);
    let tells = plan.sas.is_none() && has_ends(&plan.schema);
    let wrong = match &steps.broken {
        Some((line, wrong)) => format!(" at line {line}: {wrong}"),
        None if is_whole || !by_itself || !tells => return None,
        None => " before the end of the session".to_owned(),
    };
    Some(missing(
        job,
        format!(
            "the record of the steps of {job} ends{wrong} (jobs/{job}/steps.jsonl): its figures and those of all \
             jobs together are too small"
        ),
    ))
}

/// Runs before 1.1 do not say where a session ended.
fn has_ends(schema: &str) -> bool {
    let minor = schema
        .split('.')
        .nth(1)
        .and_then(|minor| minor.parse().ok());
    minor.is_some_and(|minor: u32| minor >= 1)
}

/// Nodes of a run whose jobs all ended which were not sampled while jobs ran: what else they did is not known.
pub(super) fn not_sampled(
    plan: &RunPlan,
    events: &[Event],
    samples: &[(String, Vec<Sample>)],
) -> Vec<Disturbance> {
    let lasted = |window: &Window| {
        let lasted_s = window.ended_s - window.launched_s;
        lasted_s.is_finite() && lasted_s >= SAMPLED_S_MIN
    };
    let Some(window) = Window::of(events).filter(lasted) else {
        return Vec::new();
    };
    let first = std::slice::from_ref(&plan.node);
    let nodes = if plan.nodes.is_empty() {
        first
    } else {
        &plan.nodes
    };
    let is_sampled = |node: &&String| {
        let of_node = |(name, samples): &(String, Vec<Sample>)| {
            name == *node && !window.running(samples).is_empty()
        };
        samples.iter().any(of_node)
    };
    let without = nodes.iter().filter(|node| !is_sampled(node));
    without
        .map(|node| {
            let what = "left no samples of the time in which jobs ran";
            missing(
                node,
                format!("{node} {what}: what else it did is not known"),
            )
        })
        .collect()
}

fn missing(what: &str, statement: String) -> Disturbance {
    Disturbance {
        kind: "records".to_owned(),
        what: Some(what.to_owned()),
        node: None,
        value: 1.0,
        unit: "records".to_owned(),
        share: None,
        share_max: None,
        exceeded: true,
        statement,
    }
}
