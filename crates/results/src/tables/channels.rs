//! Tables of channels and of a run as a whole.

use crate::run::{RunPlan, RunResult};
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
        let moved = |of: &crate::run::ChannelResult| of.read_bytes + of.write_bytes;
        let all: u64 = subject.channels.values().map(moved).sum();
        for (name, channel) in &subject.channels {
            let share = (all > 0).then(|| moved(channel) as f64 / all as f64 * 100.0);
            let ratio = (channel.write_bytes > 0)
                .then(|| channel.read_bytes as f64 / channel.write_bytes as f64);
            table.row(vec![
                Cell::text(&subject.name),
                Cell::text(name),
                Cell::count(channel.read_bytes),
                Cell::count(channel.write_bytes),
                share.into(),
                ratio.into(),
                channel.mb_per_s.into(),
                channel.blocked_s.into(),
            ]);
        }
    }
    table.note(
        "input and output are permanent data, work is WORK, util utility files; \
                bytes are those that programs read and wrote, cached or not",
    );
    (!table.rows.is_empty()).then_some(table)
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
    let rows = [
        ("Elapsed, first launch to last end", all.elapsed_s, "s"),
        ("First job done after", all.first_done_s, "s"),
        ("Throughput", all.mb_per_s, "MB/s"),
        ("Flush after the last end", all.flush_s, "s"),
        ("Throughput, flush included", all.mb_per_s_flushed, "MB/s"),
        (
            "Throughput per core, flush included",
            all.mb_per_s_per_core,
            "MB/s",
        ),
        (
            "Bytes moved per byte sorted",
            all.moved_per_sorted,
            "(4 when sorts spill)",
        ),
        (
            "Read from devices, of all reads",
            percent(device),
            "% (as the kernel counts; the rest came from caches)",
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
    Some(table)
}
