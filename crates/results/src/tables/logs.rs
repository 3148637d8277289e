//! Tables of SAS logs: by folder, by log, by procedure and by step.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::log::action::CasAction;
use crate::log::{LogDataset, LogStep, SasLog, Severity};
use crate::table::{Cell, Table, Unit};

/// Characters of a message or a list of data sets that a table shows.
const TEXT_MAX: usize = 100;

/// All tables of some logs, whole.
pub fn of_logs(logs: &[SasLog]) -> Vec<Table> {
    let tables = [
        folders(logs, usize::MAX),
        files(logs, usize::MAX),
        procedures(logs, usize::MAX),
        actions(logs, usize::MAX),
        slowest(logs, usize::MAX),
        messages(logs, usize::MAX),
        datasets(logs, usize::MAX),
        steps(logs),
    ];
    tables.into_iter().flatten().collect()
}

/// Sums over steps. A figure that no step has is absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    pub(crate) steps: u64,
    pub(crate) real_s: Option<f64>,
    pub(crate) real_max_s: Option<f64>,
    pub(crate) cpu_s: Option<f64>,
    /// CPU and elapsed time of the steps that have both.
    both: Option<(f64, f64)>,
    memory_bytes: Option<u64>,
    rows: (Option<u64>, Option<u64>),
    physical: Option<(u64, u64)>,
    /// Elapsed time of the steps whose bytes are known.
    physical_s: f64,
    errors: u64,
    warnings: u64,
}

impl Sums {
    pub(crate) fn add(&mut self, step: &LogStep, block_bytes: Option<u64>) {
        fn plus<T: std::ops::Add<Output = T> + Default>(sum: &mut Option<T>, value: Option<T>) {
            if let Some(value) = value {
                *sum = Some(sum.take().unwrap_or_default() + value);
            }
        }
        let used = &step.used;
        self.steps += 1;
        plus(&mut self.real_s, used.real_s);
        plus(&mut self.cpu_s, used.cpu_s);
        self.real_max_s = self
            .real_max_s
            .into_iter()
            .chain(used.real_s)
            .reduce(f64::max);
        if let (Some(cpu_s), Some(real_s)) = (used.cpu_s, used.real_s) {
            let (cpu, real) = self.both.unwrap_or_default();
            self.both = Some((cpu + cpu_s, real + real_s));
        }
        self.memory_bytes = self.memory_bytes.max(used.memory_bytes);
        plus(&mut self.rows.0, step.observations_read);
        plus(&mut self.rows.1, step.observations_written);
        let physical = used.physical_bytes(block_bytes).zip(used.real_s);
        if let Some(((read, written), real_s)) = physical {
            let (sum_read, sum_written) = self.physical.unwrap_or_default();
            self.physical = Some((sum_read + read, sum_written + written));
            self.physical_s += real_s;
        }
    }

    pub(crate) fn of(log: &SasLog) -> Self {
        let mut sums = Self::default();
        for step in &log.steps {
            sums.add(step, log.about.block_bytes);
        }
        // Those between steps and after the last one count too.
        (sums.errors, sums.warnings) = (log.about.errors, log.about.warnings);
        sums
    }

    fn merge(&mut self, other: &Self) {
        fn plus<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            }
        }
        self.steps += other.steps;
        self.real_s = plus(self.real_s, other.real_s);
        self.cpu_s = plus(self.cpu_s, other.cpu_s);
        self.real_max_s = self
            .real_max_s
            .into_iter()
            .chain(other.real_max_s)
            .reduce(f64::max);
        self.both = match (self.both, other.both) {
            (Some(a), Some(b)) => Some((a.0 + b.0, a.1 + b.1)),
            (a, b) => a.or(b),
        };
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
        self.rows = (
            plus(self.rows.0, other.rows.0),
            plus(self.rows.1, other.rows.1),
        );
        self.physical = match (self.physical, other.physical) {
            (Some(a), Some(b)) => Some((a.0 + b.0, a.1 + b.1)),
            (a, b) => a.or(b),
        };
        self.physical_s += other.physical_s;
        self.errors += other.errors;
        self.warnings += other.warnings;
    }

    fn cpu_real(&self) -> Option<f64> {
        let (cpu_s, real_s) = self.both?;
        (real_s > 0.0).then(|| cpu_s / real_s)
    }

    pub(crate) fn mb_per_s(&self) -> Option<f64> {
        let (read, written) = self.physical?;
        (self.physical_s > 0.0).then(|| (read + written) as f64 / 1e6 / self.physical_s)
    }
}

/// Logs with the sums of each, the ones that took longest first.
fn summed(logs: &[SasLog]) -> Vec<(&SasLog, Sums)> {
    let mut all: Vec<(&SasLog, Sums)> = logs.iter().map(|log| (log, Sums::of(log))).collect();
    let time = |(log, sums): &(&SasLog, Sums)| session_s(log).or(sums.real_s).unwrap_or(-1.0);
    all.sort_by(|a, b| time(b).total_cmp(&time(a)));
    all
}

fn session_s(log: &SasLog) -> Option<f64> {
    log.about.session.as_ref()?.used.real_s
}

/// A row for each log, of `most` those that took longest.
pub fn files(logs: &[SasLog], most: usize) -> Option<Table> {
    let all = summed(logs);
    let mut table = Table::new(
        "log-files",
        "Logs, the longest first",
        &[
            ("Log", Unit::Text),
            ("SAS", Unit::Text),
            ("Steps", Unit::Count),
            ("session", Unit::Stimer),
            ("in steps", Unit::Stimer),
            ("CPU", Unit::Stimer),
            ("CPU/real", Unit::Ratio),
            ("memory", Unit::Bytes),
            ("read", Unit::Bytes),
            ("written", Unit::Bytes),
            ("MB/s", Unit::MegabytesPerSecond),
            ("Errors", Unit::Count),
            ("Warnings", Unit::Count),
            ("End", Unit::Text),
        ],
    );
    for (log, sums) in all.iter().take(most) {
        table.row(vec![
            Cell::text(&log.file),
            Cell::text(release(log)),
            Cell::count(sums.steps),
            session_s(log).into(),
            sums.real_s.into(),
            sums.cpu_s.into(),
            sums.cpu_real().into(),
            sums.memory_bytes.into(),
            sums.physical.map(|(read, _)| read).into(),
            sums.physical.map(|(_, written)| written).into(),
            sums.mb_per_s().into(),
            Cell::count(sums.errors),
            Cell::count(sums.warnings),
            Cell::text(end(log)),
        ]);
    }
    left_out(&mut table, all.len(), most, "logs");
    note_blocks(&mut table, logs);
    (!table.rows.is_empty()).then_some(table)
}

/// The version without what was shipped with it.
fn release(log: &SasLog) -> &str {
    let version = log.about.version.as_deref().unwrap_or_default();
    version.split(' ').next().unwrap_or_default()
}

/// Whether the session's end was seen.
fn end(log: &SasLog) -> &'static str {
    match log.about.complete {
        _ if log.about.unread_line.is_some() => "not read",
        Some(true) => "yes",
        Some(false) => "MISSING",
        None => "",
    }
}

/// A row for each folder, if there are several; of more than `most`, those whose steps took longest.
pub fn folders(logs: &[SasLog], most: usize) -> Option<Table> {
    let mut all: BTreeMap<String, (u64, u64, Sums)> = BTreeMap::new();
    for log in logs {
        let folder = Path::new(&log.file).parent().unwrap_or(Path::new(""));
        let folder = match folder.display().to_string() {
            empty if empty.is_empty() => ".".to_owned(),
            folder => folder,
        };
        let (count, cut, sums) = all.entry(folder).or_default();
        *count += 1;
        *cut += u64::from(log.about.complete == Some(false));
        sums.merge(&Sums::of(log));
    }
    let mut table = Table::new(
        "log-folders",
        "Folders",
        &[
            ("Folder", Unit::Text),
            ("Logs", Unit::Count),
            ("Steps", Unit::Count),
            ("in steps", Unit::Stimer),
            ("CPU", Unit::Stimer),
            ("CPU/real", Unit::Ratio),
            ("read", Unit::Bytes),
            ("written", Unit::Bytes),
            ("MB/s", Unit::MegabytesPerSecond),
            ("Errors", Unit::Count),
            ("Warnings", Unit::Count),
            ("No end", Unit::Count),
        ],
    );
    let mut rows: Vec<(String, (u64, u64, Sums))> = all.into_iter().collect();
    let found = rows.len();
    if found > most {
        let time = |sums: &Sums| sums.real_s.unwrap_or(-1.0);
        rows.sort_by(|(_, a), (_, b)| time(&b.2).total_cmp(&time(&a.2)));
        rows.truncate(most);
    }
    for (folder, (count, cut, sums)) in &rows {
        table.row(vec![
            Cell::text(folder),
            Cell::count(*count),
            Cell::count(sums.steps),
            sums.real_s.into(),
            sums.cpu_s.into(),
            sums.cpu_real().into(),
            sums.physical.map(|(read, _)| read).into(),
            sums.physical.map(|(_, written)| written).into(),
            sums.mb_per_s().into(),
            Cell::count(sums.errors),
            Cell::count(sums.warnings),
            Cell::count(*cut),
        ]);
    }
    left_out(&mut table, found, most, "folders");
    (found > 1).then_some(table)
}

/// A row for DATA steps and for each procedure, the longest first.
pub fn procedures(logs: &[SasLog], most: usize) -> Option<Table> {
    let mut all: BTreeMap<&str, Sums> = BTreeMap::new();
    for log in logs {
        for step in &log.steps {
            let sums = all.entry(&step.name).or_default();
            sums.add(step, log.about.block_bytes);
        }
    }
    let total: f64 = all.values().filter_map(|sums| sums.real_s).sum();
    let mut rows: Vec<(&str, Sums)> = all.into_iter().collect();
    rows.sort_by(|(_, a), (_, b)| {
        b.real_s
            .unwrap_or(-1.0)
            .total_cmp(&a.real_s.unwrap_or(-1.0))
    });
    let mut table = Table::new(
        "log-procedures",
        "DATA steps and procedures, the longest first",
        &[
            ("Name", Unit::Text),
            ("Steps", Unit::Count),
            ("real", Unit::Stimer),
            ("of all", Unit::Percent),
            ("longest", Unit::Stimer),
            ("CPU", Unit::Stimer),
            ("CPU/real", Unit::Ratio),
            ("memory", Unit::Bytes),
            ("rows read", Unit::Count),
            ("rows written", Unit::Count),
            ("read", Unit::Bytes),
            ("written", Unit::Bytes),
            ("MB/s", Unit::MegabytesPerSecond),
        ],
    );
    for (name, sums) in rows.iter().take(most) {
        let share = sums.real_s.filter(|_| total > 0.0);
        table.row(vec![
            Cell::text(*name),
            Cell::count(sums.steps),
            sums.real_s.into(),
            share.map(|real_s| 100.0 * real_s / total).into(),
            sums.real_max_s.into(),
            sums.cpu_s.into(),
            sums.cpu_real().into(),
            sums.memory_bytes.into(),
            sums.rows.0.into(),
            sums.rows.1.into(),
            sums.physical.map(|(read, _)| read).into(),
            sums.physical.map(|(_, written)| written).into(),
            sums.mb_per_s().into(),
        ]);
    }
    left_out(&mut table, rows.len(), most, "procedures");
    (!table.rows.is_empty()).then_some(table)
}

/// A row for each action of Cloud Analytic Services, the longest first.
pub fn actions(logs: &[SasLog], most: usize) -> Option<Table> {
    let mut all: BTreeMap<&str, CasAction> = BTreeMap::new();
    for action in logs.iter().flat_map(|log| &log.about.actions) {
        all.entry(&action.name).or_default().merge(action);
    }
    let mut rows: Vec<(&str, CasAction)> = all.into_iter().collect();
    let time = |action: &CasAction| action.real_s.unwrap_or(-1.0);
    rows.sort_by(|(_, a), (_, b)| time(b).total_cmp(&time(a)));
    let mut table = Table::new(
        "log-actions",
        "Actions of Cloud Analytic Services, the longest first",
        &[
            ("Action", Unit::Text),
            ("Actions", Unit::Count),
            ("real", Unit::Stimer),
            ("longest", Unit::Stimer),
            ("CPU", Unit::Stimer),
            ("CPU/real", Unit::Ratio),
            ("moving data", Unit::Stimer),
            ("moved", Unit::Bytes),
            ("memory", Unit::Bytes),
            ("Nodes", Unit::Count),
            ("Cores", Unit::Count),
        ],
    );
    for (name, action) in rows.iter().take(most) {
        table.row(vec![
            Cell::text(*name),
            Cell::count(action.count),
            action.real_s.into(),
            action.real_max_s.into(),
            action.cpu_s.into(),
            action.cpu_real().into(),
            action.data_movement_s.into(),
            action.moved_bytes.into(),
            action.memory_bytes.into(),
            action.nodes.into(),
            action.cores.into(),
        ]);
    }
    left_out(&mut table, rows.len(), most, "actions");
    table.note("an action that calls others contains their times; CPU time is that of all nodes");
    (!table.rows.is_empty()).then_some(table)
}

/// The steps that took longest.
pub fn slowest(logs: &[SasLog], most: usize) -> Option<Table> {
    let mut all: Vec<(&SasLog, &LogStep)> = logs
        .iter()
        .flat_map(|log| log.steps.iter().map(move |step| (log, step)))
        .filter(|(_, step)| step.used.real_s.is_some())
        .collect();
    let time = |step: &LogStep| step.used.real_s.unwrap_or_default();
    all.sort_by(|(_, a), (_, b)| time(b).total_cmp(&time(a)));
    let count = all.len();
    all.truncate(most);
    let mut table = table_of_steps("log-slowest", "Slowest steps", &all);
    left_out(&mut table, count, most, "steps");
    (!table.rows.is_empty()).then_some(table)
}

/// Every step in the order of the logs.
pub fn steps(logs: &[SasLog]) -> Option<Table> {
    let all: Vec<(&SasLog, &LogStep)> = logs
        .iter()
        .flat_map(|log| log.steps.iter().map(move |step| (log, step)))
        .collect();
    let table = table_of_steps("log-steps", "Steps", &all);
    (!table.rows.is_empty()).then_some(table)
}

fn table_of_steps(id: &str, title: &str, all: &[(&SasLog, &LogStep)]) -> Table {
    let mut table = Table::new(
        id,
        title,
        &[
            ("Log, line", Unit::Text),
            ("Step", Unit::Count),
            ("Name", Unit::Text),
            ("real", Unit::Stimer),
            ("CPU", Unit::Stimer),
            ("CPU/real", Unit::Ratio),
            ("memory", Unit::Bytes),
            ("rows read", Unit::Count),
            ("rows written", Unit::Count),
            ("read", Unit::Bytes),
            ("written", Unit::Bytes),
            ("MB/s", Unit::MegabytesPerSecond),
            ("Errors", Unit::Count),
            ("Warnings", Unit::Count),
            ("Ended", Unit::Text),
            ("From", Unit::Text),
            ("To", Unit::Text),
        ],
    );
    for (log, step) in all {
        let used = &step.used;
        let physical = used.physical_bytes(log.about.block_bytes);
        let mut sums = Sums::default();
        sums.add(step, log.about.block_bytes);
        // Zero errors are the rule, and would fill a column.
        let some = |count: u64| (count > 0).then_some(count);
        let cut = if step.complete { "" } else { " (cut)" };
        table.row(vec![
            Cell::text(format!("{}:{}", log.file, step.line)),
            Cell::count(step.step),
            Cell::text(format!("{}{cut}", step.name)),
            used.real_s.into(),
            used.cpu_s.into(),
            used.cpu_real().into(),
            used.memory_bytes.into(),
            step.observations_read.into(),
            step.observations_written.into(),
            physical.map(|(read, _)| read).into(),
            physical.map(|(_, written)| written).into(),
            sums.mb_per_s().into(),
            some(step.errors).into(),
            some(step.warnings).into(),
            Cell::text(used.ended.as_deref().unwrap_or_default()),
            Cell::text(names(&step.inputs)),
            Cell::text(names(&step.outputs)),
        ]);
    }
    table
}

/// Names, each once, apart by blanks.
fn names(datasets: &[LogDataset]) -> String {
    let mut seen = BTreeSet::new();
    let once = datasets.iter().filter(|one| seen.insert(&one.name));
    let all: Vec<&str> = once.map(|one| &*one.name).collect();
    all.join(" ")
}

/// Errors first, then warnings; those with the same text together.
pub fn messages(logs: &[SasLog], most: usize) -> Option<Table> {
    let mut all: BTreeMap<(Severity, &str), (u64, BTreeSet<&str>, String)> = BTreeMap::new();
    let mut kept = 0;
    for log in logs {
        for message in &log.about.messages {
            let first = || format!("{}:{}", log.file, message.line);
            let key = (message.kind, &*message.text);
            let (count, files, _) = all
                .entry(key)
                .or_insert_with(|| (0, BTreeSet::new(), first()));
            *count += 1;
            files.insert(&log.file);
            kept += 1;
        }
    }
    let total: u64 = logs
        .iter()
        .map(|log| log.about.errors + log.about.warnings)
        .sum();
    let mut rows: Vec<_> = all.into_iter().collect();
    rows.sort_by_key(|((kind, _), (count, _, _))| (*kind, std::cmp::Reverse(*count)));
    let mut table = Table::new(
        "log-messages",
        "Errors and warnings",
        &[
            ("Count", Unit::Count),
            ("Logs", Unit::Count),
            ("First at", Unit::Text),
            ("Text", Unit::Text),
        ],
    );
    for ((_, text), (count, files, first)) in rows.iter().take(most) {
        table.row(vec![
            Cell::count(*count),
            Cell::count(files.len() as u64),
            Cell::text(first),
            Cell::text(shortened(text)),
        ]);
    }
    left_out(&mut table, rows.len(), most, "messages");
    if kept < total {
        table.note(format!(
            "{kept} of {total} lines with ERROR or WARNING are shown: a message that goes on is one, and of a log \
             with very many the first are kept"
        ));
    }
    (!table.rows.is_empty()).then_some(table)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What steps made of a data set and did with it.
#[derive(Debug, Default)]
struct Lineage<'a> {
    written: u64,
    rows_written: Option<u64>,
    read: u64,
    rows_read: Option<u64>,
    writers: BTreeSet<String>,
    readers: BTreeSet<String>,
    logs: BTreeSet<&'a str>,
}

/// A row for each data set and file, those of which most rows were read and written first.
pub fn datasets(logs: &[SasLog], most: usize) -> Option<Table> {
    let mut all: BTreeMap<&str, Lineage<'_>> = BTreeMap::new();
    let rows_more = |sum: &mut Option<u64>, one: &LogDataset| {
        if let Some(rows) = one.observations {
            *sum = Some(sum.unwrap_or_default().saturating_add(rows));
        }
    };
    for log in logs {
        for step in &log.steps {
            for one in &step.inputs {
                let entry = all.entry(&one.name).or_default();
                entry.read += 1;
                rows_more(&mut entry.rows_read, one);
                entry.readers.insert(step.name.clone());
                entry.logs.insert(&log.file);
            }
            for one in &step.outputs {
                let entry = all.entry(&one.name).or_default();
                entry.written += 1;
                rows_more(&mut entry.rows_written, one);
                entry.writers.insert(step.name.clone());
                entry.logs.insert(&log.file);
            }
        }
    }
    let mut rows: Vec<(&str, Lineage<'_>)> = all.into_iter().collect();
    let moved = |one: &Lineage<'_>| {
        let (read, written) = (one.rows_read.unwrap_or(0), one.rows_written.unwrap_or(0));
        std::cmp::Reverse(read.saturating_add(written))
    };
    rows.sort_by_key(|(_, one)| moved(one));
    let mut table = Table::new(
        "log-datasets",
        "Data sets and files, those with most rows first",
        &[
            ("Name", Unit::Text),
            ("Logs", Unit::Count),
            ("Written", Unit::Count),
            ("rows written", Unit::Count),
            ("by", Unit::Text),
            ("Read", Unit::Count),
            ("rows read", Unit::Count),
            ("by", Unit::Text),
        ],
    );
    let by = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(" ");
    for (name, one) in rows.iter().take(most) {
        table.row(vec![
            Cell::text(shortened(name)),
            Cell::count(one.logs.len() as u64),
            Cell::count(one.written),
            one.rows_written.into(),
            Cell::text(by(&one.writers)),
            Cell::count(one.read),
            one.rows_read.into(),
            Cell::text(by(&one.readers)),
        ]);
    }
    left_out(&mut table, rows.len(), most, "data sets and files");
    table.note("queries (PROC SQL) do not say what they read");
    (!table.rows.is_empty()).then_some(table)
}

fn left_out(table: &mut Table, all: usize, shown: usize, what: &str) {
    if all > shown {
        table.note(format!("{} more {what}: see --top and --csv", all - shown));
    }
}

/// Says where physical bytes come from, or why they are not there.
fn note_blocks(table: &mut Table, logs: &[SasLog]) {
    let counted = |log: &&SasLog| log.steps.iter().any(|step| step.used.block_input.is_some());
    let (known, unknown): (Vec<&SasLog>, Vec<&SasLog>) = logs
        .iter()
        .filter(counted)
        .partition(|log| log.about.block_bytes.is_some());
    if !known.is_empty() {
        table.note(
            "read, written and MB/s are physical, from the block counts of FULLSTIMER (512 bytes a block on \
             Linux): what the page cache served is not in them",
        );
    }
    if !unknown.is_empty() {
        let logs = match unknown.len() {
            1 => "1 log has block counts, but does".to_owned(),
            count => format!("{count} logs have block counts, but do"),
        };
        table.note(format!(
            "{logs} not say that it is of Linux: where that is so, --block-bytes 512 gives the physical bytes"
        ));
    }
}
