//! Files that grow block by block, because nobody knows how large they will be.

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::time::Instant;

use rustix::fs::{FallocateFlags, fallocate};

use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::stream::{BLOCK_BYTES, Moved};
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "extend",
    title: "What it costs that files grow",
    shows: "rates of writing a file in blocks of 128 KiB, flush included: to its end, which grows; into space \
            that was allocated before; over blocks that are there already",
    why: "SAS does not know how large a data set will be, and extends it page by page; each new extent changes \
          metadata, which file systems that are shared coordinate between hosts",
    papers: &[Said {
        paper: papers::SURVEY,
        says: "the sizes of files are not known when they are made; each extent requested updates metadata, \
               which costs more on a shared file system than on another",
    }],
    needs: "fallocate, for space that is allocated before",
    run,
};

/// Rounds at the most.
const ROUNDS: u32 = 9;

/// The file.
const FILE: &str = "grown";

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    let bytes = (ground.options.bytes / 2).max(1 << 20);
    let path = ground.path(FILE);
    let (mut grown, mut allocated, mut over, mut allocating) =
        (Sample::new(), Sample::new(), Sample::new(), Sample::new());
    let mut refused = None;
    ground.rounds(ground.options.time, ROUNDS, |_| {
        grown.push(write(ground, &new(&path)?, bytes)?.mb_per_s());
        let file = OpenOptions::new().write(true).open(&path);
        let file = file.map_err(|source| failed("open", &path, source))?;
        over.push(write(ground, &file, bytes)?.mb_per_s());
        let file = new(&path)?;
        let begin = Instant::now();
        match fallocate(&file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => {
                allocating.push_us(begin.elapsed());
                allocated.push(write(ground, &file, bytes)?.mb_per_s());
            }
            Err(error) => refused = Some(error),
        }
        fs::remove_file(&path).map_err(|source| failed("remove", &path, source))
    })?;
    report.sample(
        "append_mb_per_s",
        &grown,
        "MB/s",
        "appended in blocks of 128 KiB to a new file",
    );
    report.sample(
        "overwrite_mb_per_s",
        &over,
        "MB/s",
        "the same blocks written over those that are there",
    );
    if let Some(error) = refused {
        report.absent(
            "allocated_mb_per_s",
            format!("fallocate is refused: {error}"),
        );
    }
    let detail = "the same blocks written into space that was allocated before";
    report.sample("allocated_mb_per_s", &allocated, "MB/s", detail);
    report.sample(
        "allocate_us",
        &allocating,
        "us",
        "allocating the space of the file",
    );
    let blocks = bytes as f64 / BLOCK_BYTES as f64;
    for (other, what) in [
        (&allocated, "blocks that were allocated before"),
        (&over, "blocks that are there"),
    ] {
        match (grown.apart(other), grown.median().zip(other.median())) {
            (Some(ratio), Some((appended, in_place))) => {
                let seconds = bytes as f64 / 1e6 * (1.0 / appended - 1.0 / in_place);
                report.says(format!(
                    "appending goes with {} times the rate of {what}: {} us for each block of 128 KiB",
                    short(ratio),
                    short(seconds * 1e6 / blocks)
                ));
            }
            (None, Some(_)) => report.not_apart(&format!("appending, and {what}"), &grown),
            _ => {}
        }
    }
    Ok(())
}

fn new(path: &Path) -> Result<File, Error> {
    if let Err(source) = fs::remove_file(path)
        && source.kind() != std::io::ErrorKind::NotFound
    {
        return Err(failed("remove", path, source));
    }
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    made.map_err(|source| failed("make", path, source))
}

fn write(ground: &Ground<'_>, file: &File, bytes: u64) -> Result<Moved, Error> {
    let moved = ground.moving().write(file, bytes);
    let moved = moved.map_err(|source| failed("write", &ground.path(FILE), source))?;
    ground.check()?;
    Ok(moved)
}
