//! Tables of channels and of a run as a whole.

use crate::run::{ChannelResult, JobResult, RunPlan, RunResult};
use crate::subject::Subject;
use crate::table::{Cell, Table, Unit};

/// What went over each channel.
pub fn channels(subjects: &[Subject]) -> Option<Table> {
    let mut table = Table::new(
        "channels",
        "Channels",
        &[
            ("Run", Unit::Text),
            ("Channel", Unit::Text),
            ("Read", Unit::Bytes),
            ("Written", Unit::Bytes),
            ("Of all bytes", Unit::Percent),
            ("Read/written", Unit::Ratio),
            ("MB/s", Unit::MegabytesPerSecond),
            ("in I/O s", Unit::Seconds),
        ],
    );
    for subject in subjects {
        let all: u64 = subject.channels.values().map(moved).sum();
        for (name, channel) in &subject.channels {
            table.row(row((subject, name), channel, all));
        }
        let work_util = ["work", "util"]
            .iter()
            .filter_map(|name| subject.channels.get(*name));
        let work_util: Vec<&ChannelResult> = work_util.collect();
        if work_util.len() > 1 {
            table.summary(row((subject, "work + util"), &sum(work_util), all));
        }
        if subject.channels.len() > 1 {
            table.summary(row((subject, "all"), &sum(subject.channels.values()), all));
        }
        if let Some([from, to]) = subject.work_util_share {
            let (from, to) = (from * 100.0, to * 100.0);
            table.note(format!(
                "the paper states {from:.0} to {to:.0} % of all bytes for WORK and utility files"
            ));
        }
    }
    table.note(
        "input and output are permanent data, work is WORK, util utility files; \
                bytes are those that programs read and wrote, cached or not",
    );
    (!table.rows.is_empty()).then_some(table)
}

fn moved(of: &ChannelResult) -> u64 {
    of.read_bytes + of.write_bytes
}

fn row((subject, name): (&Subject, &str), channel: &ChannelResult, all: u64) -> Vec<Cell> {
    let share = (all > 0).then(|| moved(channel) as f64 / all as f64 * 100.0);
    let ratio =
        (channel.write_bytes > 0).then(|| channel.read_bytes as f64 / channel.write_bytes as f64);
    vec![
        Cell::text(&subject.name),
        Cell::text(name),
        Cell::count(channel.read_bytes),
        Cell::count(channel.write_bytes),
        share.into(),
        ratio.into(),
        channel.mb_per_s.into(),
        channel.blocked_s.into(),
    ]
}

/// Several channels as one; what was not measured of one of them is not known of all.
fn sum<'a>(channels: impl IntoIterator<Item = &'a ChannelResult>) -> ChannelResult {
    let mut channels = channels.into_iter();
    let mut total = channels.next().cloned().unwrap_or_default();
    for channel in channels {
        let add = |one: Option<f64>, other: Option<f64>| Some(one? + other?);
        total.read_bytes += channel.read_bytes;
        total.write_bytes += channel.write_bytes;
        total.mb_per_s = add(total.mb_per_s, channel.mb_per_s);
        total.blocked_s = add(total.blocked_s, channel.blocked_s);
    }
    total
}

/// Models per hour, files created per second, and what file locks cost (survey).
pub fn calibration(subjects: &[Subject]) -> Option<Table> {
    let mut table = Table::new(
        "calibration",
        "Small files",
        &[
            ("Run", Unit::Text),
            ("Models/h", Unit::PerHour),
            ("Files created/s", Unit::PerSecond),
            ("FILELOCKS", Unit::Text),
            ("FAIL/NONE", Unit::Ratio),
        ],
    )
    .in_form("survey, calibration");
    for subject in subjects {
        let figures = &subject.figures;
        let ratio = figures
            .locks_ratio
            .or_else(|| against_none(subject, subjects));
        let known = [figures.models_per_hour, ratio, figures.locks_ratio_min];
        if known.iter().all(Option::is_none) {
            continue;
        }
        let locks = subject.configuration.get(LOCKS);
        let at_least = figures.locks_ratio_min.filter(|_| ratio.is_none());
        if at_least.is_some() {
            table.note(format!("{} says \"or more\" of its ratio", subject.name));
        }
        table.row(vec![
            Cell::text(&subject.name),
            figures.models_per_hour.into(),
            figures.creates_per_s.into(),
            locks.map_or(Cell::Absent, Cell::text),
            ratio.or(at_least).into(),
        ]);
    }
    table.note(
        "FAIL/NONE is the elapsed time with file locks over that without, of two runs that differ \
                in nothing else",
    );
    (!table.rows.is_empty()).then_some(table)
}

const LOCKS: &str = "option FILELOCKS";

/// Elapsed time of a run with locks over that of the run that differs in having none.
fn against_none(subject: &Subject, subjects: &[Subject]) -> Option<f64> {
    let locks = |one: &Subject| {
        one.configuration
            .get(LOCKS)
            .map(|value| value.to_ascii_uppercase())
    };
    let is_none = |one: &Subject| locks(one).is_some_and(|value| value == "NONE");
    if subject.configuration.is_empty() || is_none(subject) {
        return None;
    }
    let rest = |one: &Subject| {
        let mut rest = one.configuration.clone();
        rest.remove(LOCKS);
        rest
    };
    let other = subjects
        .iter()
        .find(|other| is_none(other) && rest(other) == rest(subject))?;
    let without = other.figures.elapsed_s.filter(|elapsed| *elapsed > 0.0)?;
    Some(subject.figures.elapsed_s? / without)
}

/// The figures of one run as a whole.
pub fn totals(plan: &RunPlan, result: &RunResult) -> Option<Table> {
    let all = &result.aggregate;
    let percent = |share: Option<f64>| share.map(|share| share * 100.0);
    let device = all
        .device_read_bytes
        .zip(all.read_bytes.filter(|read| *read > 0))
        .map(|(device, read)| device as f64 / read as f64);
    let known_cold = if plan.cold { "%" } else { "% (warm start)" };
    let [elapsed, flush] = if result.jobs.iter().any(|job| job.batch > 1) {
        [
            "Elapsed, all batches without what lies between",
            "Flushes after each batch",
        ]
    } else {
        [
            "Elapsed, first launch to last end",
            "Flush after the last end",
        ]
    };
    let rows = [
        (elapsed, all.elapsed_s, "s"),
        ("First job done after", all.first_done_s, "s"),
        ("Throughput", all.mb_per_s, "MB/s"),
        (flush, all.flush_s, "s"),
        ("Throughput, flush included", all.mb_per_s_flushed, "MB/s"),
        (
            "Throughput per core, flush included",
            all.mb_per_s_per_core,
            "MB/s",
        ),
        (
            "Bytes moved by sorts, per byte sorted",
            all.moved_per_sorted,
            "(4 when sorts of whole files spill, 2 when they fit in memory)",
        ),
        (
            "Read from devices, of all reads",
            percent(device),
            "% (as the kernel counts; the rest came from caches)",
        ),
        (
            "Jobs without a processor",
            percent(without_processor(&result.jobs)),
            "% of their elapsed time (their first threads could have run)",
        ),
        (
            "Input cached at the start",
            percent(all.cached_share),
            known_cold,
        ),
    ];
    let mut table = Table::new(
        "totals",
        "The run",
        &[
            ("Figure", Unit::Text),
            ("Value", Unit::Plain),
            ("Unit", Unit::Text),
        ],
    );
    for (label, value, unit) in rows {
        table.row(vec![Cell::text(label), value.into(), Cell::text(unit)]);
    }
    for (label, job) in extremes(plan, result) {
        let label = format!("{label} sort, {}", job.name);
        table.row(vec![Cell::text(label), job.sort_s.into(), Cell::text("s")]);
    }
    Some(table)
}

/// Share of the jobs' elapsed time, if all that ended tell.
fn without_processor(jobs: &[JobResult]) -> Option<f64> {
    let ended = jobs.iter().filter_map(|job| Some((job, job.real_s?)));
    let times = ended.map(|(job, real_s)| Some((job.cpu_wait_s?, real_s)));
    let times: Option<Vec<(f64, f64)>> = times.collect();
    let (waited_s, real_s) = times?
        .iter()
        .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (real_s > 0.0).then(|| waited_s / real_s)
}

/// The fastest and the slowest of equal sorts, which a saturating load is made of.
fn extremes<'a>(plan: &RunPlan, result: &'a RunResult) -> Vec<(&'static str, &'a JobResult)> {
    let mut sorts: Vec<&JobResult> = result.jobs.iter().collect();
    sorts.retain(|job| plan.saturating && job.sort_s.is_some() && job.exit == Some(0));
    sorts.sort_by(|one, other| {
        one.sort_s
            .unwrap_or(0.0)
            .total_cmp(&other.sort_s.unwrap_or(0.0))
    });
    match sorts[..] {
        [fastest, .., slowest] => vec![("Fastest", fastest), ("Slowest", slowest)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Row;

    fn channel(read_bytes: u64, write_bytes: u64) -> ChannelResult {
        ChannelResult {
            read_bytes,
            write_bytes,
            mb_per_s: Some(1.5),
            blocked_s: (read_bytes != 100).then_some(2.0),
            ..ChannelResult::default()
        }
    }

    #[test]
    fn work_and_utility_files_are_added_up_beside_all() {
        let channels = [
            ("input", (100, 0)),
            ("util", (100, 50)),
            ("work", (150, 100)),
        ];
        let subject = Subject {
            name: "r".to_owned(),
            channels: channels
                .map(|(name, (read, write))| (name.to_owned(), channel(read, write)))
                .into(),
            work_util_share: Some([0.5, 0.6]),
            ..Subject::default()
        };
        let table = channels_of(subject);
        let sums: Vec<&Row> = table.rows.iter().filter(|row| row.summary).collect();
        let numbers = |row: &Row| row.cells[2..].iter().map(Cell::number).collect::<Vec<_>>();
        // 250 read and 150 written are four fifths of 500; time in I/O is not known of one of the two.
        assert_eq!(sums[0].cells[1], Cell::text("work + util"));
        assert_eq!(
            numbers(sums[0]),
            [
                Some(250.0),
                Some(150.0),
                Some(80.0),
                Some(250.0 / 150.0),
                Some(3.0),
                None
            ]
        );
        assert_eq!(
            numbers(sums[1])[..4],
            [Some(350.0), Some(150.0), Some(100.0), Some(350.0 / 150.0)]
        );
        let stated = "the paper states 50 to 60 % of all bytes for WORK and utility files";
        assert!(
            table.notes.iter().any(|note| note == stated),
            "{:?}",
            table.notes
        );
    }

    fn channels_of(subject: Subject) -> Table {
        channels(&[subject]).unwrap()
    }
}
