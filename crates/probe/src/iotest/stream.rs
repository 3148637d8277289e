//! One stream: its files, and what it does in a phase.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::blocks::Blocks;
use super::buffer::Buffer;
use super::{Error, Phase, failed, open};

/// How often the others hear of what was moved.
const TOLD_BYTES: u64 = 4 << 20;

/// How often a stream that reads looks at the clock.
const TIMED_BYTES: u64 = 1 << 20;

/// What ends a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) time: Duration,
    /// A file that is written gets so much, whatever the time.
    pub(super) least: u64,
    /// It gets no more.
    pub(super) most: u64,
    /// A file that was read to its end is read again until the time is over.
    pub(super) again: bool,
}

/// What a stream moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    /// Blocks that were not what had been written there.
    pub(super) wrong_blocks: u64,
}

/// The files of a stream.
pub(super) struct Files {
    first: PathBuf,
    second: PathBuf,
}

/// The files of a phase.
pub(super) struct Opened {
    read: Option<(File, PathBuf)>,
    write: Option<(File, PathBuf)>,
}

impl Files {
    pub(super) fn of(place: &Path, stream: usize) -> Self {
        Self {
            first: Self::first(place, stream),
            second: Self::second(place, stream),
        }
    }

    /// The file that is written and read.
    pub(super) fn first(place: &Path, stream: usize) -> PathBuf {
        place.join(format!("stream{stream}"))
    }

    /// The file that mixed and copy write.
    pub(super) fn second(place: &Path, stream: usize) -> PathBuf {
        place.join(format!("stream{stream}.copy"))
    }

    pub(super) fn open(&self, phase: Phase) -> Result<Opened, Error> {
        let create = |path: &PathBuf| {
            let made = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .open(path);
            let made = made.map_err(|source| failed("create", path, source))?;
            Ok(Some((made, path.clone())))
        };
        let first = || Ok(Some((open(&self.first)?, self.first.clone())));
        let (read, write) = match phase {
            Phase::Write => (None, create(&self.first)?),
            Phase::Read => (first()?, None),
            Phase::Mixed | Phase::Copy => (first()?, create(&self.second)?),
        };
        Ok(Opened { read, write })
    }
}

impl Opened {
    /// `tell` hears of bytes that were moved, and says whether to stop.
    pub(super) fn run(
        self,
        phase: Phase,
        blocks: Blocks,
        limit: Limit,
        tell: &dyn Fn(u64) -> bool,
    ) -> Result<Moved, Error> {
        let moved = match (&self.read, &self.write) {
            (None, Some(to)) => write(to, blocks, limit, tell)?,
            (Some(from), to) => {
                let each = phase.reads_for_write().unwrap_or(u64::MAX);
                read(from, to.as_ref().map(|to| (to, each)), &blocks, limit, tell)?
            }
            (None, None) => Moved::default(),
        };
        if let Some((file, path)) = &self.write {
            file.sync_data()
                .map_err(|source| failed("flush", path, source))?;
        }
        Ok(moved)
    }
}

fn write(
    (file, path): &(File, PathBuf),
    mut blocks: Blocks,
    limit: Limit,
    tell: &dyn Fn(u64) -> bool,
) -> Result<Moved, Error> {
    let block_bytes = blocks.bytes() as u64;
    let (begin, mut at, mut told) = (Instant::now(), 0, 0);
    while at + block_bytes <= limit.most && (at < limit.least || begin.elapsed() < limit.time) {
        let block = blocks.block(at / block_bytes);
        let written = file.write_all_at(block, at);
        written.map_err(|source| failed("write", path, source))?;
        at += block_bytes;
        if at - told >= TOLD_BYTES {
            if tell(at - told) {
                break;
            }
            told = at;
        }
    }
    tell(at - told);
    Ok(Moved {
        written_bytes: at,
        ..Moved::default()
    })
}

/// Reads from the beginning; of every `each` blocks one is written as well.
fn read(
    (file, path): &(File, PathBuf),
    to: Option<(&(File, PathBuf), u64)>,
    blocks: &Blocks,
    limit: Limit,
    tell: &dyn Fn(u64) -> bool,
) -> Result<Moved, Error> {
    let about = file
        .metadata()
        .map_err(|source| failed("look at", path, source))?;
    let mut block = Buffer::new(blocks.bytes());
    let block_bytes = block.len() as u64;
    let (begin, mut told) = (Instant::now(), 0);
    let mut moved = Moved::default();
    let blocks_in_file = about.len() / block_bytes;
    let timed = (TIMED_BYTES / block_bytes).max(1);
    for step in 0_u64.. {
        let is_over = step.is_multiple_of(timed) && begin.elapsed() >= limit.time;
        if is_over || blocks_in_file == 0 || (step >= blocks_in_file && !limit.again) {
            break;
        }
        let number = step % blocks_in_file;
        let came = file.read_exact_at(&mut block, number * block_bytes);
        came.map_err(|source| failed("read", path, source))?;
        moved.read_bytes += block_bytes;
        moved.wrong_blocks += u64::from(!blocks.belongs(number, &block));
        if let Some(((to, path), _)) = to.filter(|(_, each)| number.is_multiple_of(*each)) {
            let written = to.write_all_at(&block, moved.written_bytes);
            written.map_err(|source| failed("write", path, source))?;
            moved.written_bytes += block_bytes;
        }
        let all = moved.read_bytes + moved.written_bytes;
        if all - told >= TOLD_BYTES {
            if tell(all - told) {
                break;
            }
            told = all;
        }
    }
    tell(moved.read_bytes + moved.written_bytes - told);
    Ok(moved)
}
