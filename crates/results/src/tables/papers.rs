//! Tables in the forms of the papers' own.

use crate::reference::{Sizes, TradeOff, discrepancies};
use crate::run::FileSize;
use crate::statistics::summarize;
use crate::subject::{Figures, Subject};
use crate::table::{Cell, Table, Unit};

use super::jobs::time_unit;

/// Run times and sustained throughput as nodes are added (Isilon, Table 2).
pub fn scalability(subjects: &[Subject]) -> Option<Table> {
    let shown = |one: &&Subject| one.figures.real_mean_s.is_some() && one.nodes.is_some();
    let shown: Vec<&Subject> = subjects.iter().filter(shown).collect();
    let unit = match time_unit(shown.iter().map(|one| one.figures.real_max_s)) {
        Unit::HoursMinutesSeconds => Unit::MinutesSeconds,
        unit => unit,
    };
    let mut table = Table::new(
        "scalability",
        "Run times as nodes are added",
        &[
            ("Run", Unit::Text),
            ("Programs", Unit::Count),
            ("Nodes", Unit::Count),
            ("Mean", unit),
            ("Longest", unit),
            ("Std. dev.", unit),
            ("Shared MB/s", Unit::MegabytesPerSecond),
            ("Total MB/s", Unit::MegabytesPerSecond),
        ],
    )
    .in_form("Isilon, Table 2");
    for subject in &shown {
        table.row(vec![
            Cell::text(&subject.name),
            subject.programs.into(),
            subject.nodes.map(u64::from).into(),
            subject.figures.real_mean_s.into(),
            subject.figures.real_max_s.into(),
            subject.figures.real_deviation_s.into(),
            range(subject.figures.shared_mb_per_s),
            range(subject.figures.total_mb_per_s),
        ]);
    }
    table
        .note("standard deviations are those of the population (divided by n), as the paper's are");
    let measured = |one: &&&Subject| one.source.is_none() && one.figures.total_mb_per_s.is_some();
    if shown.iter().any(|one| measured(&one)) {
        table.note(
            "the paper's throughput is that of its array at peak times; that of a run is the highest mean over 60 s, \
             or 2 % of the run if that is longer, of what storage moved for the jobs, without what the page cache \
             served and took",
        );
    }
    (!shown.is_empty()).then_some(table)
}

/// A single number if both ends are the same.
fn range(range: Option<(f64, f64)>) -> Cell {
    match range {
        Some((from, to)) if (to - from).abs() < f64::EPSILON => Cell::Number(from),
        other => other.into(),
    }
}

/// The slowest job on each node (Isilon, Table 3).
pub fn slowest(subjects: &[Subject]) -> Option<Table> {
    let shown: Vec<_> = subjects
        .iter()
        .filter_map(|one| Some((one, one.slowest.as_ref()?)))
        .collect();
    let unit = if shown.iter().any(|(_, slowest)| slowest.minutes) {
        Unit::HoursMinutes
    } else {
        time_unit(shown.iter().map(|(one, _)| one.figures.real_max_s))
    };
    let mut table = Table::new(
        "slowest-per-node",
        "Slowest job on each node",
        &[
            ("Run", Unit::Text),
            ("Nodes", Unit::Count),
            ("Job", Unit::Text),
            ("On each node", unit),
            ("Mean", unit),
            ("Std. dev.", Unit::Seconds),
            ("Longest/shortest", Unit::Ratio),
        ],
    )
    .in_form("Isilon, Table 3");
    for (subject, slowest) in &shown {
        let Some(times) = summarize(&slowest.real_s) else {
            continue;
        };
        let spread = (times.min > 0.0).then(|| times.max / times.min);
        table.row(vec![
            Cell::text(&subject.name),
            subject.nodes.map(u64::from).into(),
            Cell::text(&slowest.job),
            Cell::List(slowest.real_s.clone()),
            Cell::Number(times.mean),
            Cell::Number(times.deviation),
            spread.into(),
        ]);
        if subject
            .nodes
            .is_some_and(|nodes| nodes as usize > times.count)
        {
            table.note(format!(
                "{} has {} times for {} nodes",
                subject.name,
                times.count,
                subject.nodes.unwrap_or_default()
            ));
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Sums of real, user and system time and of memory, with the difference to the first (Pure, Table 2).
pub fn aggregate(subjects: &[Subject]) -> Option<Table> {
    let known = |one: &&Subject| one.figures.real_sum_s.is_some() && one.figures.user_s.is_some();
    let shown: Vec<&Subject> = subjects.iter().filter(known).collect();
    let first = shown.first()?;
    let unit = match time_unit(shown.iter().map(|one| one.figures.real_sum_s)) {
        Unit::HoursMinutesSeconds => Unit::Minutes,
        unit => unit,
    };
    let mut table = Table::new(
        "aggregate",
        "All jobs together",
        &[
            ("Run", Unit::Text),
            ("Real", unit),
            ("Memory GB", Unit::Gigabytes),
            ("User CPU", unit),
            ("System CPU", unit),
        ],
    )
    .in_form("Pure, Table 2");
    let figures: [fn(&Figures) -> Option<f64>; 4] = [
        |all| all.real_sum_s,
        |all| all.memory_bytes,
        |all| all.user_s,
        |all| all.system_s,
    ];
    for subject in &shown {
        let cells = figures.map(|figure| Cell::from(figure(&subject.figures)));
        table.row(
            std::iter::once(Cell::text(&subject.name))
                .chain(cells)
                .collect(),
        );
    }
    for subject in &shown[1..] {
        let delta = figures.map(|figure| {
            let pair = figure(&subject.figures).zip(figure(&first.figures));
            pair.map_or(Cell::Absent, |(to, from)| Cell::Difference(to - from))
        });
        let label = Cell::text(format!("DELTA {} less {}", subject.name, first.name));
        table.summary(std::iter::once(label).chain(delta).collect());
    }
    table.note("sums over all jobs; memory is the largest resident size of a step of each job");
    Some(table)
}

/// CPU time over elapsed time: mean of the jobs' ratios, and ratio of the sums (Pure, Table 3).
pub fn cpu_real(subjects: &[Subject]) -> Option<Table> {
    let known = |one: &&Subject| one.figures.cpu_real_of_sums.is_some();
    let mut table = Table::new(
        "cpu-real",
        "CPU time over elapsed time",
        &[
            ("Run", Unit::Text),
            ("Mean of ratios", Unit::Ratio),
            ("Std. dev.", Unit::Ratio),
            ("Range", Unit::Ratio),
            ("Ratio of sums", Unit::Ratio),
        ],
    )
    .in_form("Pure, Table 3");
    for subject in subjects.iter().filter(known) {
        table.row(vec![
            Cell::text(&subject.name),
            subject.figures.cpu_real_mean.into(),
            subject.figures.cpu_real_deviation.into(),
            subject.figures.cpu_real_range.into(),
            subject.figures.cpu_real_of_sums.into(),
        ]);
    }
    table.note("below 1 jobs wait, usually for I/O; above 1 several threads compute at once");
    table
        .note("the mean of ratios counts every job alike, the ratio of sums counts long jobs more");
    (!table.rows.is_empty()).then_some(table)
}

/// Sums of elapsed and of system time by configuration (RHEL, figures 1 and 2).
pub fn wall_and_system(subjects: &[Subject]) -> Option<Table> {
    let mut table = Table::new(
        "wall-and-system",
        "Sums of elapsed and system time",
        &[
            ("Run", Unit::Text),
            ("Wall s", Unit::Seconds),
            ("System s", Unit::Seconds),
            ("System/wall", Unit::Percent),
        ],
    )
    .in_form("RHEL, figures 1 and 2");
    for subject in subjects {
        let figures = &subject.figures;
        let Some((wall, system)) = figures.real_sum_s.zip(figures.system_s) else {
            continue;
        };
        let share = (wall > 0.0).then(|| system / wall * 100.0);
        table.row(vec![
            Cell::text(&subject.name),
            Cell::Number(wall),
            Cell::Number(system),
            share.into(),
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Sizes of the staged files by kind of compression (Isilon, Table 4).
pub fn sizes(files: &[FileSize]) -> Option<Table> {
    let mut table = Table::new(
        "sizes",
        "Sizes of the input files",
        &[
            ("File", Unit::Text),
            ("No compression", Unit::BinaryBytes),
            ("SAS compression", Unit::BinaryBytes),
            ("SAS/none", Unit::Percent),
            ("SAS and hardware, estimated", Unit::BinaryBytes),
            ("Allocated", Unit::BinaryBytes),
        ],
    )
    .in_form("Isilon, Table 4");
    let percent = |part: Option<u64>, whole: Option<u64>| {
        let (part, whole) = part.zip(whole.filter(|whole| *whole > 0))?;
        Some(part as f64 / whole as f64 * 100.0)
    };
    for file in files {
        table.row(vec![
            Cell::text(&file.name),
            file.plain_bytes.into(),
            file.binary_bytes.into(),
            percent(file.binary_bytes, file.plain_bytes).into(),
            file.hardware_bytes.into(),
            file.allocated_bytes.into(),
        ]);
    }
    // A total of some of the files would be taken for one of all.
    let total = |of: fn(&FileSize) -> Option<u64>| files.iter().map(of).sum::<Option<u64>>();
    let (plain, binary) = (
        total(|file| file.plain_bytes),
        total(|file| file.binary_bytes),
    );
    table.summary(vec![
        Cell::text("Total"),
        plain.into(),
        binary.into(),
        percent(binary, plain).into(),
        total(|file| file.hardware_bytes).into(),
        total(|file| file.allocated_bytes).into(),
    ]);
    (!files.is_empty()).then_some(table)
}

/// The paper's own sizes, with its totals beside those of the rows.
pub fn published_sizes(sizes: &Sizes) -> Table {
    let [none, sas, hardware] = &sizes.columns;
    let mut table = Table::new(
        "sizes",
        "Sizes of the input files",
        &[
            ("File", Unit::Text),
            (none, Unit::BinaryBytes),
            (sas, Unit::BinaryBytes),
            (hardware, Unit::BinaryBytes),
        ],
    )
    .in_form(&sizes.place);
    let line = |label: &str, bytes: [Option<f64>; 3]| {
        let cells = bytes.map(Cell::from);
        std::iter::once(Cell::text(label)).chain(cells).collect()
    };
    for (name, bytes) in sizes.files() {
        table.row(line(name, bytes));
    }
    let sum = |at: usize| {
        sizes
            .files()
            .map(|(_, bytes)| bytes[at])
            .sum::<Option<f64>>()
    };
    table.summary(line("Sum of the rows", [0, 1, 2].map(sum)));
    table.summary(line("Total as printed", sizes.printed_totals()));
    table
}

/// One way to store the same data, and what it cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StorageWay {
    /// Which storage.
    pub storage: String,
    /// COMPRESS=BINARY.
    pub sas: bool,
    /// The storage compresses.
    pub hardware: bool,
    /// Bytes as `ls` counts them.
    pub apparent_bytes: Option<f64>,
    /// Bytes as `du` counts them.
    pub allocated_bytes: Option<f64>,
    /// Seconds to create the file.
    pub create_s: Option<f64>,
    /// Seconds to copy it.
    pub copy_s: Option<f64>,
    /// Seconds of all steps of the job.
    pub all_s: Option<f64>,
}

/// What compression costs and saves (Isilon, Table 5).
pub fn trade_off(ways: &[StorageWay]) -> Option<Table> {
    let unit = match time_unit(ways.iter().map(|way| way.all_s)) {
        Unit::HoursMinutesSeconds => Unit::MinutesSeconds,
        unit => unit,
    };
    let mut table = Table::new(
        "compression",
        "What compression costs and saves",
        &[
            ("Storage", Unit::Text),
            ("SAS", Unit::Text),
            ("Hardware", Unit::Text),
            ("Apparent", Unit::BinaryBytes),
            ("Allocated", Unit::BinaryBytes),
            ("Create", unit),
            ("Copy", unit),
            ("All steps", unit),
        ],
    )
    .in_form("Isilon, Table 5");
    let mark = |yes: bool| Cell::text(if yes { "yes" } else { "no" });
    for way in ways {
        table.row(vec![
            Cell::text(&way.storage),
            mark(way.sas),
            mark(way.hardware),
            way.apparent_bytes.into(),
            way.allocated_bytes.into(),
            way.create_s.into(),
            way.copy_s.into(),
            way.all_s.into(),
        ]);
    }
    (!ways.is_empty()).then_some(table)
}

/// The paper's own; its sizes are those of `du`.
pub fn published_trade_off(table: &TradeOff) -> Table {
    let way = |row: &crate::reference::TradeOffRow| {
        let [create_s, copy_s, all_s] = row.seconds();
        StorageWay {
            storage: row.storage.clone(),
            sas: row.sas,
            hardware: row.hardware,
            apparent_bytes: None,
            allocated_bytes: row.bytes(),
            create_s,
            copy_s,
            all_s,
        }
    };
    let ways: Vec<StorageWay> = table.rows.iter().map(way).collect();
    trade_off(&ways).expect("a published table has rows")
}

/// Where a paper contradicts itself.
pub fn contradictions(document: &str) -> Option<Table> {
    let mut table = Table::new(
        "contradictions",
        "Where the paper contradicts itself",
        &[
            ("Place", Unit::Text),
            ("Of what", Unit::Text),
            ("Printed", Unit::Text),
            ("But", Unit::Text),
            ("Why", Unit::Text),
        ],
    );
    for one in discrepancies() {
        if one.document == document {
            let texts = [one.place, one.what, one.printed, one.found, one.why];
            table.row(texts.into_iter().map(Cell::Text).collect());
        }
    }
    (!table.rows.is_empty()).then_some(table)
}
