//! Flushes: what it costs to have data on stable storage.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "fsync",
    title: "What a flush costs",
    shows: "the time of fsync and fdatasync after 4 KiB were appended, after 4 KiB in the middle were overwritten, \
            and when nothing was written",
    why: "programs that close data sets safely, network file systems at every close, and journals wait for it; it \
          shows what an acknowledged write costs when no memory is in between",
    papers: &[Said {
        paper: papers::RED_HAT,
        says: "runs with I/O barriers disabled were typically faster; that was safe there, for caches with \
               batteries",
    }],
    needs: "",
    run,
};

/// Bytes that are written before a flush.
const WRITTEN: usize = 4096;

/// Flushes of a kind at the most.
const FLUSHES: u32 = 200;

/// Pause between flushes of who is gentle.
const PAUSE: Duration = Duration::from_millis(20);

/// A call that no rotating disk and no network does in so short a time.
const WITHOUT_STORAGE_US: f64 = 20.0;

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    let path = ground.path("flushed");
    let failing = |source| failed("flush", &path, source);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(failing)?;
    // Something to overwrite.
    file.write_all_at(&vec![1; 64 * WRITTEN], 0)
        .map_err(failing)?;
    file.sync_all().map_err(failing)?;
    let kinds: [(&str, &str, Kind, Flush); 4] = [
        (
            "append_fsync_us",
            "fsync after an append of 4 KiB",
            Kind::Append,
            File::sync_all,
        ),
        (
            "append_fdatasync_us",
            "fdatasync after an append of 4 KiB",
            Kind::Append,
            File::sync_data,
        ),
        (
            "overwrite_fdatasync_us",
            "fdatasync after 4 KiB were overwritten",
            Kind::Overwrite,
            File::sync_data,
        ),
        (
            "clean_fsync_us",
            "fsync when nothing was written",
            Kind::Nothing,
            File::sync_all,
        ),
    ];
    let mut samples = [(); 4].map(|()| Sample::default());
    ground.rounds(ground.options.time, FLUSHES, |round| {
        for ((_, _, kind, flush), sample) in kinds.iter().zip(&mut samples) {
            let time = one(&file, *kind, *flush, round).map_err(failing)?;
            sample.push_us(time);
        }
        if ground.options.gentle {
            std::thread::sleep(PAUSE);
        }
        Ok(())
    })?;
    for ((name, detail, ..), sample) in kinds.iter().zip(&samples) {
        let tail = sample.quantile(0.99).unwrap_or_default();
        let detail = format!(
            "{detail}, 4 KiB written since the last; 99 % within {}",
            short(tail)
        );
        let detail = if *name == "clean_fsync_us" {
            "fsync when nothing was written".to_owned()
        } else {
            detail
        };
        report.sample(name, sample, "us", &detail);
    }
    interpret(report, &samples);
    Ok(())
}

/// What is done before a flush.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Append,
    Overwrite,
    Nothing,
}

type Flush = fn(&File) -> io::Result<()>;

fn one(file: &File, kind: Kind, flush: Flush, round: u32) -> io::Result<Duration> {
    let bytes = [u8::try_from(round % 251).unwrap_or(0); WRITTEN];
    match kind {
        Kind::Append => file.write_all_at(&bytes, file.metadata()?.len())?,
        Kind::Overwrite => file.write_all_at(&bytes, u64::from(round % 64) * WRITTEN as u64)?,
        Kind::Nothing => {}
    }
    let begin = Instant::now();
    flush(file)?;
    Ok(begin.elapsed())
}

fn interpret(report: &mut Report, [append, _, overwrite, clean]: &[Sample; 4]) {
    match append.apart(clean) {
        Some(ratio) if ratio > 1.0 => report.says(format!(
            "a flush of 4 KiB takes {} times as long as one of nothing",
            short(ratio)
        )),
        _ => report.not_apart("flushes of something and of nothing", append),
    }
    if overwrite
        .median()
        .is_some_and(|median| median < WITHOUT_STORAGE_US)
    {
        report.says(
            "a flush returns faster than disks and networks answer: data are then in memory that must survive \
             the loss of power by itself; whether it does cannot be seen from here",
        );
    }
    if let Some((median, tail)) = append.median().zip(append.quantile(0.99)) {
        report.says(format!(
            "a program that flushes after each append makes at most about {} appends a second; one in a hundred \
             takes {} us or more",
            short(1e6 / median.max(f64::MIN_POSITIVE)),
            short(tail)
        ));
    }
}
