//! From what the engine and the I/O layer measured to the record that is kept.

use std::collections::BTreeMap;
use std::path::{self, Path};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::store::Operation;
use engine::accounting::{DatasetUse, StepKind, StepSummary};
use io::account::{Report, Tally};
use io::errno;
use io::live::{CLASSES, class_of, classes_in_use};
use io::process::SAS_EPOCH_OFFSET_SECONDS;
use io::written::Change;
use results::step::{
    ChannelRecord, DatasetRecord, END, FilesRecord, LockRecord, OperationRecord, SortRecord,
    StepRecord,
};
use results::written::{BlockRun, ChangeKind, FileChange};

/// The record of a finished step.
pub fn step_record(step: &StepSummary, report: &Report) -> StepRecord {
    let usage = &step.usage;
    let rows = |uses: &[DatasetUse]| uses.iter().map(|one| one.observations).sum();
    StepRecord {
        step: step.step,
        kind: match step.kind {
            StepKind::Data => "data",
            StepKind::Procedure => "proc",
            StepKind::End => END,
        }
        .to_owned(),
        name: step.name.clone(),
        ended_unix_s: Some(
            usage.ended.sas_datetime - usage.ended.utc_offset - SAS_EPOCH_OFFSET_SECONDS,
        ),
        real_s: usage.real.as_secs_f64(),
        user_s: usage.user.as_secs_f64(),
        system_s: usage.system.as_secs_f64(),
        memory_bytes: Some(usage.memory_bytes),
        page_faults: Some(usage.page_faults),
        page_reclaims: Some(usage.page_reclaims),
        voluntary_switches: Some(usage.voluntary_switches),
        involuntary_switches: Some(usage.involuntary_switches),
        block_input: Some(usage.block_input),
        block_output: Some(usage.block_output),
        sleep_s: Some(usage.slept.as_secs_f64()),
        pace_s: step.pace.as_ref().map(|pace| pace.spent.as_secs_f64()),
        pace_fixed_s: step.pace.as_ref().map(|pace| pace.fixed.as_secs_f64()),
        pace_cpu_s: step
            .pace
            .as_ref()
            .map(|pace| (usage.user + usage.system + pace.stood_in).as_secs_f64()),
        channels: channels(report),
        observations_read: Some(rows(&step.inputs)),
        observations_written: Some(rows(&step.outputs)),
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

/// The record of what became of a permanent file.
pub fn file_change(file: &Path, change: &Change<'_>) -> FileChange {
    let whole = |path: &Path| {
        let path = path::absolute(path).unwrap_or_else(|_| path.to_owned());
        path.to_string_lossy().into_owned()
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    FileChange {
        unix_ns: u64::try_from(now.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX),
        file: whole(file),
        kind: match change {
            Change::Created => ChangeKind::Created,
            Change::Written(blocks) => {
                let blocks = blocks.iter().map(|one| (one.offset, one.bytes, one.hash));
                let blocks = BlockRun::gather(blocks);
                ChangeKind::Written { blocks }
            }
            Change::Truncated(bytes) => ChangeKind::Truncated { bytes: *bytes },
            Change::Renamed(to) => ChangeKind::Renamed { to: whole(to) },
            Change::Removed => ChangeKind::Removed,
        },
    }
}

fn dataset(used: &DatasetUse) -> DatasetRecord {
    DatasetRecord {
        name: used.name.clone(),
        observations: used.observations,
        variables: Some(used.variables),
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
    let mut classes = [0u64; CLASSES];
    let mut blocked = Duration::ZERO;
    for (operation, tally) in tallies {
        let is_write = matches!(operation, Operation::Write | Operation::HeaderRewrite);
        if *operation == Operation::Read {
            record.read_bytes += tally.bytes;
            record.read_s += tally.total.as_secs_f64();
        } else if is_write {
            record.write_bytes += tally.bytes;
            record.write_s += tally.total.as_secs_f64();
        }
        if is_write || *operation == Operation::Read {
            let latencies = &tally.latency_ns;
            latencies.for_each(|ns, count| classes[class_of(ns)] += count);
        }
        blocked += tally.total;
        record
            .operations
            .insert(operation.name().to_owned(), operation_record(tally));
    }
    record.blocked_s = Some(blocked.as_secs_f64());
    record.latency_us = classes_in_use(&classes);
    record.locks = tallies.get(&Operation::Lock).map(|tally| LockRecord {
        count: tally.count,
        refused: tally.error_codes.get(&errno::REFUSED).copied().unwrap_or(0),
        wait_s: tally.total.as_secs_f64(),
    });
    record.files = files(tallies);
    record
}

/// What became of files; `None` if nothing did.
fn files(tallies: &BTreeMap<Operation, Tally>) -> Option<FilesRecord> {
    let done = |operation| {
        let tally = tallies.get(&operation);
        tally.map_or(0, |tally: &Tally| tally.count - tally.errors)
    };
    let files = FilesRecord {
        created: done(Operation::Create),
        extended: tallies
            .get(&Operation::Write)
            .map_or(0, |tally| tally.extended),
        renamed: done(Operation::Rename),
        removed: done(Operation::Unlink),
    };
    (files != FilesRecord::default()).then_some(files)
}

fn operation_record(tally: &Tally) -> OperationRecord {
    let microseconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64() * 1e6;
    let [median, high] = tally.latency_ns.quantiles([0.5, 0.99]).map(microseconds);
    OperationRecord {
        count: tally.count,
        errors: tally.errors,
        errors_by_name: tally
            .error_codes
            .iter()
            .map(|(code, count)| (errno::name(*code).into_owned(), *count))
            .collect(),
        bytes: tally.bytes,
        total_s: tally.total.as_secs_f64(),
        latency_p50_us: median,
        latency_p99_us: high,
        latency_max_us: microseconds(tally.latency_ns.max()),
    }
}
