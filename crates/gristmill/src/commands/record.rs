//! From what the engine and the I/O layer measured to the record that is kept.

use std::collections::BTreeMap;
use std::time::Duration;

use base::store::Operation;
use engine::accounting::{DatasetUse, StepSummary};
use io::account::{Report, Tally};
use io::process::SAS_EPOCH_OFFSET_SECONDS;
use results::step::{ChannelRecord, DatasetRecord, OperationRecord, SortRecord, StepRecord};

/// The record of a finished step.
pub fn step_record(step: &StepSummary, report: &Report) -> StepRecord {
    let usage = &step.usage;
    let rows = |uses: &[DatasetUse]| uses.iter().map(|one| one.observations).sum();
    StepRecord {
        step: step.step,
        kind: if step.data_step { "data" } else { "proc" }.to_owned(),
        name: step.name.clone(),
        ended_unix_s: usage.ended.sas_datetime - usage.ended.utc_offset - SAS_EPOCH_OFFSET_SECONDS,
        real_s: usage.real.as_secs_f64(),
        user_s: usage.user.as_secs_f64(),
        system_s: usage.system.as_secs_f64(),
        memory_bytes: usage.memory_bytes,
        page_faults: usage.page_faults,
        page_reclaims: usage.page_reclaims,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        block_input: usage.block_input,
        block_output: usage.block_output,
        channels: channels(report),
        observations_read: rows(&step.inputs),
        observations_written: rows(&step.outputs),
        inputs: step.inputs.iter().map(dataset).collect(),
        outputs: step.outputs.iter().map(dataset).collect(),
        sort: step.sort.map(|sort| SortRecord {
            rows: sort.rows,
            row_bytes: sort.row_bytes,
            runs: sort.runs,
            merges: sort.merges,
        }),
        notes: step.notes,
        warnings: step.warnings,
        errors: step.errors,
    }
}

fn dataset(used: &DatasetUse) -> DatasetRecord {
    DatasetRecord {
        name: used.name.clone(),
        observations: used.observations,
        variables: used.variables,
        row_hash: used.rows.map(|hash| format!("{:016x}", hash.sum)),
    }
}

fn channels(report: &Report) -> BTreeMap<String, ChannelRecord> {
    report
        .iter()
        .map(|(channel, tallies)| (channel.name().to_owned(), channel_record(tallies)))
        .collect()
}

fn channel_record(tallies: &BTreeMap<Operation, Tally>) -> ChannelRecord {
    let mut record = ChannelRecord::default();
    for (operation, tally) in tallies {
        match operation {
            Operation::Read => {
                record.read_bytes += tally.bytes;
                record.read_s += tally.total.as_secs_f64();
            }
            Operation::Write | Operation::HeaderRewrite => {
                record.write_bytes += tally.bytes;
                record.write_s += tally.total.as_secs_f64();
            }
            _ => {}
        }
        record
            .operations
            .insert(operation.name().to_owned(), operation_record(tally));
    }
    record
}

fn operation_record(tally: &Tally) -> OperationRecord {
    let microseconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64() * 1e6;
    let quantile = |q| microseconds(tally.latency_ns.value_at_quantile(q));
    OperationRecord {
        count: tally.count,
        errors: tally.errors,
        bytes: tally.bytes,
        total_s: tally.total.as_secs_f64(),
        latency_p50_us: quantile(0.5),
        latency_p99_us: quantile(0.99),
        latency_max_us: microseconds(tally.latency_ns.max()),
    }
}
