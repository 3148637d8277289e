//! What each node of a run on several did.

use std::collections::BTreeSet;

use crate::node::NodeRecord;
use crate::run::{Event, EventKind, JobResult, NodeResult, name_in_batch};

/// The nodes, in order; none of a run on one.
pub(super) fn results(
    names: &[String],
    jobs: &[JobResult],
    records: &[NodeRecord],
    events: &[Event],
) -> Vec<NodeResult> {
    let of = |name: &String| {
        let own: Vec<&JobResult> = jobs.iter().filter(|job| job.node == *name).collect();
        let record = records.iter().find(|record| record.node == *name);
        let started = events.iter().find(|event| {
            event.event == EventKind::BatchStarted && event.node.as_ref() == Some(name)
        });
        let times: Vec<f64> = own.iter().filter_map(|job| job.real_s).collect();
        NodeResult {
            node: name.clone(),
            jobs: count(own.len()),
            done: count(own.iter().filter(|job| job.ended_well()).count()),
            real_mean_s: (!times.is_empty())
                .then(|| times.iter().sum::<f64>() / times.len() as f64),
            real_max_s: times.iter().copied().reduce(f64::max),
            mb_per_s: rate(&own),
            start_late_s: started.and_then(|event| event.late_s),
            clock_offset_s: record.and_then(|record| record.clock_offset_s),
            clock_uncertainty_s: record.and_then(|record| record.clock_uncertainty_s),
            same_host_as: record.and_then(|record| record.same_host_as.clone()),
            verified_by: verified_by(&own, events),
        }
    };
    names.iter().filter(|_| names.len() > 1).map(of).collect()
}

/// Where outputs of these jobs were verified.
fn verified_by(jobs: &[&JobResult], events: &[Event]) -> Vec<String> {
    let names: BTreeSet<String> = jobs
        .iter()
        .map(|job| name_in_batch(&job.name, job.batch))
        .collect();
    let verified = events.iter().filter(|event| {
        let job = event.job.as_deref();
        event.event == EventKind::JobVerified && job.is_some_and(|job| names.contains(job))
    });
    let nodes: BTreeSet<&String> = verified.filter_map(|event| event.node.as_ref()).collect();
    nodes.into_iter().cloned().collect()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Bytes over time, if all of the node's jobs say what they moved.
fn rate(jobs: &[&JobResult]) -> Option<f64> {
    let bytes = jobs
        .iter()
        .map(|job| Some(job.read_bytes? + job.write_bytes?));
    let bytes: u64 = bytes.sum::<Option<u64>>()?;
    let began = jobs.iter().filter_map(|job| job.launched_s);
    let ended = jobs
        .iter()
        .map(|job| Some(job.launched_s? + job.real_s?))
        .collect::<Option<Vec<f64>>>()?;
    let took = ended.into_iter().reduce(f64::max)? - began.reduce(f64::min)?;
    (took > 0.0).then(|| bytes as f64 / 1e6 / took)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Time;

    fn job(node: &str, launched_s: f64, real_s: Option<f64>) -> JobResult {
        JobResult {
            name: format!("{node}-{launched_s}"),
            node: node.to_owned(),
            launched_s: Some(launched_s),
            real_s,
            exit: real_s.map(|_| 0),
            read_bytes: Some(30_000_000),
            write_bytes: Some(10_000_000),
            ..JobResult::default()
        }
    }

    #[test]
    fn each_node_has_the_figures_of_its_own_jobs() {
        let names = ["a", "b"].map(str::to_owned);
        let jobs = [
            job("a", 0.0, Some(2.0)),
            job("a", 2.0, Some(6.0)),
            JobResult {
                batch: 2,
                ..job("b", 0.0, Some(3.0))
            },
            job("b", 0.0, None),
        ];
        let verified = |job: &str, node: &str| Event {
            job: Some(job.to_owned()),
            node: Some(node.to_owned()),
            ..Event::new(Time::default(), EventKind::JobVerified)
        };
        let events = [
            verified("a-0", "b"),
            verified("a-2", "b"),
            verified("b-0@2", "a"),
        ];
        let found = results(&names, &jobs, &[], &events);
        assert_eq!(
            (&*found[0].verified_by, &*found[1].verified_by),
            (&names[1..], &names[..1])
        );
        assert_eq!((found[0].jobs, found[0].done), (2, 2));
        assert_eq!(found[0].real_mean_s, Some(4.0));
        assert_eq!(found[0].mb_per_s, Some(10.0));
        // One job did not end: how fast the node was is not known.
        assert_eq!((found[1].jobs, found[1].done), (2, 1));
        assert_eq!((found[1].real_max_s, found[1].mb_per_s), (Some(3.0), None));
        assert_eq!(found[1].start_late_s, None);
    }
}
