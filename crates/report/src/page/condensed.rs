//! Steps few enough for a page: a job may have thousands of them, and a run hundreds of jobs.

use results::step::{ChannelRecord, OperationRecord, StepRecord};

/// Lines of steps that a page has for all jobs together.
const LINES: usize = 15_000;

/// Lines that each job has, however many jobs there are.
const LINES_OF_JOB: usize = 8;

/// A step, or neighbouring ones together.
#[derive(Debug, Clone, PartialEq)]
pub struct StepLine {
    /// Number of the first in its job, from 1.
    pub first: usize,
    /// How many they are.
    pub count: usize,
    /// Sums of times, memory (the largest), rows, messages, and of bytes and calls by channel: what a page shows.
    /// All else is that of the first.
    pub record: StepRecord,
}

/// The steps of one of so many jobs.
pub fn condensed(steps: Vec<StepRecord>, jobs: usize) -> Vec<StepLine> {
    let lines = (LINES / jobs.max(1)).max(LINES_OF_JOB);
    let each = steps.len().div_ceil(lines).max(1);
    let mut found: Vec<StepLine> = Vec::with_capacity(steps.len().div_ceil(each));
    for (place, record) in steps.into_iter().enumerate() {
        match found.last_mut() {
            Some(line) if line.count < each => line.add(&record),
            _ => found.push(StepLine {
                first: place + 1,
                count: 1,
                record,
            }),
        }
    }
    found
}

impl StepLine {
    /// What it is called.
    pub(super) fn name(&self) -> String {
        match (self.count, self.record.kind.as_str()) {
            (1, "proc") => format!("PROC {}", self.record.name),
            (1, _) => self.record.name.clone(),
            (count, _) => format!("{count} steps"),
        }
    }

    /// Its number, or numbers from and to.
    pub(super) fn number(&self) -> String {
        match self.count {
            1 => self.first.to_string(),
            count => format!("{}–{}", self.first, self.first + count - 1),
        }
    }

    fn add(&mut self, step: &StepRecord) {
        self.count += 1;
        let sum = &mut self.record;
        sum.ended_unix_s = step.ended_unix_s;
        sum.real_s += step.real_s;
        sum.user_s += step.user_s;
        sum.system_s += step.system_s;
        sum.memory_bytes = sum.memory_bytes.max(step.memory_bytes);
        add_some(&mut sum.sleep_s, step.sleep_s);
        add_some(&mut sum.pace_s, step.pace_s);
        add_some(&mut sum.pace_fixed_s, step.pace_fixed_s);
        add_some(&mut sum.pace_cpu_s, step.pace_cpu_s);
        add_some(&mut sum.observations_read, step.observations_read);
        add_some(&mut sum.observations_written, step.observations_written);
        sum.notes += step.notes;
        sum.warnings += step.warnings;
        sum.errors += step.errors;
        for (name, channel) in &step.channels {
            add_channel(sum.channels.entry(name.clone()).or_default(), channel);
        }
    }
}

fn add_channel(sum: &mut ChannelRecord, channel: &ChannelRecord) {
    sum.read_bytes += channel.read_bytes;
    sum.write_bytes += channel.write_bytes;
    sum.read_s += channel.read_s;
    sum.write_s += channel.write_s;
    add_some(&mut sum.blocked_s, channel.blocked_s);
    for (name, operation) in &channel.operations {
        add_operation(sum.operations.entry(name.clone()).or_default(), operation);
    }
}

/// Adds calls to others of their kind; median and 99th percentile stay those of the first.
pub(super) fn add_operation(sum: &mut OperationRecord, operation: &OperationRecord) {
    sum.count += operation.count;
    sum.errors += operation.errors;
    sum.bytes += operation.bytes;
    sum.total_s += operation.total_s;
    sum.latency_max_us = sum.latency_max_us.max(operation.latency_max_us);
}

fn add_some<T: std::ops::Add<Output = T> + Copy>(sum: &mut Option<T>, more: Option<T>) {
    *sum = match (*sum, more) {
        (Some(sum), Some(more)) => Some(sum + more),
        (one, other) => one.or(other),
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn steps(count: u32) -> Vec<StepRecord> {
        let step = |number: u32| {
            let read = OperationRecord {
                count: 2,
                bytes: 10,
                total_s: 0.25,
                latency_max_us: f64::from(number),
                ..OperationRecord::default()
            };
            let channel = ChannelRecord {
                read_bytes: 10,
                operations: BTreeMap::from([("read".to_owned(), read)]),
                ..ChannelRecord::default()
            };
            let mut step: StepRecord = serde_json::from_value(serde_json::json!({
                "step": number, "kind": "proc", "name": "SORT", "ended_unix_s": f64::from(number),
                "real_s": 1.0, "user_s": 0.5, "system_s": 0.25, "memory_bytes": 1000 + number,
                "channels": {}, "inputs": [], "outputs": [], "notes": 0, "warnings": 1, "errors": 0,
            }))
            .unwrap();
            let name = if number.is_multiple_of(2) {
                "work"
            } else {
                "input"
            };
            step.channels.insert(name.to_owned(), channel);
            step
        };
        (1..=count).map(step).collect()
    }

    #[test]
    fn a_few_steps_stay_what_they_are() {
        let all = steps(30);
        let lines = condensed(all.clone(), 500);
        assert_eq!(lines.len(), 30);
        assert!(
            lines
                .iter()
                .zip(&all)
                .all(|(line, step)| line.record == *step)
        );
        assert_eq!(
            (lines[4].name().as_str(), lines[4].number().as_str()),
            ("PROC SORT", "5")
        );
    }

    #[test]
    fn of_many_steps_neighbours_are_added_up_and_nothing_is_lost() {
        // Thirty lines for each of five hundred jobs: 34 steps each.
        let lines = condensed(steps(1001), 500);
        assert_eq!(lines.len(), 30);
        let (first, last) = (&lines[0], &lines[29]);
        assert_eq!(
            (first.name().as_str(), first.number().as_str()),
            ("34 steps", "1–34")
        );
        assert_eq!(last.number(), "987–1001");
        assert_eq!(first.record.ended_unix_s, Some(34.0));
        assert_eq!(first.record.memory_bytes, Some(1034));
        let reads = lines.iter().flat_map(|line| line.record.channels.values());
        assert_eq!(
            reads.clone().map(|channel| channel.read_bytes).sum::<u64>(),
            10_010
        );
        let calls = reads.map(|channel| &channel.operations["read"]);
        assert_eq!(calls.clone().map(|read| read.count).sum::<u64>(), 2002);
        assert!((calls.map(|read| read.latency_max_us).fold(0.0, f64::max) - 1001.0).abs() < 1e-9);
        assert!((lines.iter().map(|line| line.record.real_s).sum::<f64>() - 1001.0).abs() < 1e-9);
    }
}
