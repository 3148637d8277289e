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
temporary files and 100 permanent data sets each, steps recorded, rows hashed, unpaced. Each job ran once under
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

One job alone at the paper's size, by perf, before the changes below: 48 % of its CPU time were the file calls
themselves (writes 23, reads 8, unlinks 6, opens 4, renames 4, closes 2), 5 % its other calls, and 42 % its own
computing: rows of DATA steps 7, sorts 5, allocation 5, descriptions of data sets read and written 5, row hashes
4, macro language and parsing 3, records of steps 3, regressions 3, indexes 2, means 2. A job has 7,911 steps,
0.25 ms of its own computing each, of which rows take more than half.

Changed since: `/proc/self/status` is read with one call from a file that stays open, and not with twelve; freed
buffers are kept, where each step of a small program had 65 page faults; the header of a data set is not copied
before it is written; CALL STREAMINIT asks for the time only if its seed does not decide; keys of an index are
sorted by their values alone, since rows come in the order of their places; latencies are kept one by one while
they are few. User CPU time went from 2.05 to 1.75 s a job.

The calls were looked at with an eye for what SAS would not do: each open file is asked for its length once, and
a permanent data set is opened in vain once before it is made (it may have to be locked). No file is opened or
read twice. Both contestants pay for these calls.

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
