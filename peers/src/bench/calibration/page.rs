//! The figures as Markdown.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;

use super::super::page;
use super::super::{Options, Sample};
use super::{Beside, FILE_SYSTEMS, MODELS, WANTED};

/// What stands above the figures.
pub(in super::super) const INTRODUCTION: &str = "\
Two jobs of the suite `demand-calibration` at a time, as a run starts them on one core of two threads: 7,000
temporary files and 100 permanent data sets each, steps recorded, outputs hashed, unpaced. Each job ran once under
`strace -f` before; the replay makes the calls that it made below the file system's directory again, in
the same order, with the same names, offsets and lengths, and compares what they answer. It reads into and writes from
one buffer of each process, computes nothing, and its time begins when the recorded calls lie in memory. The
job's log and its records of steps lie elsewhere; only the job pays for them. The file systems have their journals and
lie on a loop device whose image is read and written past the page cache; inputs are in the page cache. Contestants
take turns, each rotation begins with the other one; before every run the mart and WORK are emptied, the file system
is flushed and 6 GiB of free memory are touched. CPU seconds are those of both processes, user and system. Others'
load is what all else kept busy meanwhile, in cores, the kernel's own writing included. After every run the mart held
the same files of the same lengths.";

/// What stands below them.
const FINDINGS: &str = "\
## Where the time goes

One job alone at the paper's size, by perf: 57 % of its CPU time are its calls (writes 25, reads 9, unlinks 7,
renames 5, opens 5, closes and stats 1, all others, the log and the records of steps among them, 4), and 43 %
its own computing: rows of DATA steps 8, allocation 6, row hashes 4, descriptions of data sets read and written
4, macro language and parsing 4, means 3, compiling steps 2, records of steps 2, regressions 2, indexes 2, sorts
2, the rest 4.

One job alone took 3.53 s of CPU time before the last changes and takes 2.75 after them, the least of six runs
each, which took turns; its steps computed 160 us each between their calls, by their records, and compute 133.
By kind, in us:

| step | before | after |
|---|---:|---:|
| DATA: a tenth of the sales and a row of parameters | 347 | 303 |
| REG, 13 columns by 104 rows, two outputs | 281 | 193 |
| SORT, 1,300 rows | 175 | 153 |
| MEANS by week | 149 | 134 |
| DATA: lags and seasons | 117 | 96 |
| DATA: merge of three | 103 | 76 |
| DATA: merge of two | 87 | 70 |
| MEANS of residuals | 54 | 42 |
| APPEND | 49 | 34 |
| SORT, 104 rows | 49 | 38 |
| DATASETS, five deleted | 16 | 13 |
| a published data set of 267,000 rows, with its index | 32,400 | 23,000 |
| a published data set read once more, mean of a hundred | 448 | 463 |

What was changed:

- Pages lie in a few buffers that are used again, the last used one first, and are not cleared where they are
  overwritten; headers keep their zeros.
- Data sets are described and descriptions read with fewer allocations; names are compared, not hashed, where
  they are few; what the log may have to show of the variables of a step is put together when it is shown.
- `if _n_ = 1 then set a; set b;` goes by blocks of rows.
- Keys that differ in few of their bytes are sorted byte by byte; indexes copy neither rows nor their own state
  for each row.
- Sums of products with twice the digits are made four at a time, which is most of what REG gained.
- `/proc/self/status` (7.2 us) is read only after steps in which memory came in; what tells that takes 2.8 us.
- A step's block in the log is written in one piece, and its record into the same memory.

Tried and left: other settings of the allocator and more of its thread's cache (nothing); another allocator (0.1
s of user CPU time less, 4 % of the job, for a dependency and other figures of memory); buffers at other
alignments (nothing: reading and writing 128 KiB takes the same time at any). Earlier changes: files of `/proc`
stay open, freed memory is kept, headers are not copied, a seed decides without the clock, latencies are kept
one by one while they are few.

Rows of staged inputs are hashed as they are read, which is what verification compares; those of WORK are not.

The calls were looked at with an eye for what SAS would not do: each open file is asked for its length once, and
a permanent data set is opened in vain once before it is made (it may have to be locked). No file is opened or
read twice but REG's input, which is read again for the residuals. Both contestants pay for these calls; the
same calls take about a sixth more time in the job, between whose calls rows and pages of other files go through
the caches.

A set that goes on is no different: 20 models, two at a time, reach 0.48 on ext4 (39.8 and 43.1 s, the replay 16.0 and
20.9 s, two rotations of this benchmark with more models), since what they write is deleted before it reaches the
drive. Optimising across all crates at once, rather than thinly, changes nothing (1.36 s of user CPU time for 1.38,
means of six runs).

What is left is spread thinly: to reach 0.70 the job would have to compute all its rows and steps in 0.43 of the
time that its file calls take.
";

fn values(samples: &[Sample], value: fn(&Sample) -> f64) -> [f64; 3] {
    let mut values: Vec<f64> = samples.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    [
        at(0),
        at(values.len() / 2),
        at(values.len().wrapping_sub(1)),
    ]
}

/// The tables of a file system, and whether ours reaches what it must.
pub(super) fn file_system(beside: &Beside) -> String {
    let mut text = format!("## {}\n\n", beside.file_system);
    text.push_str(
        "| | wall s: min, median, max | CPU s: min, median, max | models per hour | others' load, cores |\n\
        |---|---|---|---:|---:|\n",
    );
    let three = |[least, median, most]: [f64; 3]| format!("{least:.2}, {median:.2}, {most:.2}");
    let contestants = [("ours", &beside.ours), ("replay", &beside.replay)];
    for (name, samples) in contestants {
        let wall = values(samples, |sample| sample.wall_s);
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {:.0} | {:.2} |",
            three(wall),
            three(values(samples, |sample| sample.cpu_s)),
            MODELS.len() as f64 * 3600.0 / wall[1],
            values(samples, |sample| sample.foreign_cores)[1],
        );
    }
    let ratio = |value| values(&beside.replay, value)[1] / values(&beside.ours, value)[1];
    let by_wall = ratio(|sample: &Sample| sample.wall_s);
    let _ = writeln!(
        text,
        "\nBy the clock, medians: {by_wall:.2} of the replay, wanted {WANTED:.2}: {}. By CPU seconds: {:.2}.\n",
        page::verdict(by_wall >= WANTED),
        ratio(|sample: &Sample| sample.cpu_s),
    );
    text.push_str("| calls of the first job | | MB |\n|---|---:|---:|\n");
    for (name, (calls, bytes)) in beside.trace.counts() {
        let moved = if bytes > 0 {
            format!("{:.1}", bytes as f64 / 1e6)
        } else {
            String::new()
        };
        let _ = writeln!(text, "| {name} | {calls} | {moved} |");
    }
    text
}

/// Keeps the figures of a file system: they may be measured one after the other.
pub(super) fn keep(notes: &Path, name: &str, commit: &str, text: &str) -> Result<()> {
    fs::write(notes.join(format!("{name}-{commit}.md")), text)?;
    Ok(())
}

/// Writes the page, as soon as every file system was measured with the same commit.
pub(super) fn write(options: &Options, notes: &Path, commit: &str) -> Result<()> {
    let kept =
        FILE_SYSTEMS.map(|name| fs::read_to_string(notes.join(format!("{name}-{commit}.md"))));
    let texts: Result<Vec<String>, _> = kept.into_iter().collect();
    match texts {
        Ok(mut texts) => {
            texts.push(FINDINGS.to_owned());
            page::write(options, commit, &texts)
        }
        Err(_) => Ok(()),
    }
}
