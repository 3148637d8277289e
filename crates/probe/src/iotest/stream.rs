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

/// Where a stream begins, and what ends it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Bytes that it read of its file in the phases before: where they ended it goes on.
    pub(super) read_before: u64,
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

/// The file that is written where another one is read.
struct Second<'a> {
    to: &'a (File, PathBuf),
    /// What is written, which is not what was read: storage that deduplicates would keep no second copy of that.
    blocks: Blocks,
    /// Of so many blocks read one is written.
    each: u64,
}

impl Opened {
    /// `content` is what belongs in the first file, or in the second one of a phase. `tell` hears of bytes that were
    /// moved, and says whether to stop.
    pub(super) fn run(
        self,
        phase: Phase,
        content: impl Fn(Option<Phase>) -> Blocks,
        bounds: Bounds,
        tell: &dyn Fn(u64) -> bool,
    ) -> Result<Moved, Error> {
        let blocks = content(None);
        let moved = match (&self.read, &self.write) {
            (None, Some(to)) => write(to, blocks, bounds, tell)?,
            (Some(from), to) => {
                let second = to.as_ref().map(|to| Second {
                    to,
                    blocks: content(Some(phase)),
                    each: phase.reads_for_write().unwrap_or(u64::MAX),
                });
                read(from, second, &blocks, bounds, tell)?
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
    bounds: Bounds,
    tell: &dyn Fn(u64) -> bool,
) -> Result<Moved, Error> {
    let block_bytes = blocks.bytes() as u64;
    let (begin, mut at, mut told) = (Instant::now(), 0, 0);
    while at + block_bytes <= bounds.most && (at < bounds.least || begin.elapsed() < bounds.time) {
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

/// Reads on from where the phase before ended, from the beginning after the end; of every `each` blocks one is written
/// as well. A phase that read again what the one before had read would find that in caches which cannot be emptied,
/// however large the file: of the file system, of a server, of the storage.
fn read(
    (file, path): &(File, PathBuf),
    mut second: Option<Second<'_>>,
    blocks: &Blocks,
    bounds: Bounds,
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
    let first = bounds.read_before / block_bytes;
    let timed = (TIMED_BYTES / block_bytes).max(1);
    for step in 0_u64.. {
        let is_over = step.is_multiple_of(timed) && begin.elapsed() >= bounds.time;
        if is_over || blocks_in_file == 0 || (step >= blocks_in_file && !bounds.again) {
            break;
        }
        let number = (first + step) % blocks_in_file;
        let came = file.read_exact_at(&mut block, number * block_bytes);
        came.map_err(|source| failed("read", path, source))?;
        moved.read_bytes += block_bytes;
        moved.wrong_blocks += u64::from(!blocks.belongs(number, &block));
        if let Some(second) = &mut second
            && step.is_multiple_of(second.each)
        {
            let block = second.blocks.block(moved.written_bytes / block_bytes);
            let (to, path) = second.to;
            let written = to.write_all_at(block, moved.written_bytes);
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use base::random::Stream;

    use super::super::Content;
    use super::*;

    const BLOCK: usize = 4096;

    fn bounds(read_before: u64, block: usize) -> Bounds {
        Bounds {
            read_before,
            time: Duration::from_secs(30),
            least: 0,
            most: 8 * block as u64,
            again: false,
        }
    }

    fn content(file: Option<Phase>, block: usize) -> Blocks {
        let number = file.map_or(0, |phase| 1 + phase as u64);
        Blocks::new(Content::Random, block, Stream::new(number))
    }

    fn run(files: &Files, phase: Phase, bounds: Bounds, stop: bool) -> Moved {
        let block = usize::try_from(bounds.most / 8).unwrap();
        let opened = files.open(phase).unwrap();
        let moved = opened.run(phase, |file| content(file, block), bounds, &|_| stop);
        moved.unwrap()
    }

    #[test]
    fn a_phase_goes_on_where_the_one_before_ended() {
        // Whoever is told to stop does so after a block of this size.
        const LARGE: usize = 4 << 20;
        let place = tempfile::tempdir().unwrap();
        let files = Files::of(place.path(), 0);
        run(&files, Phase::Write, bounds(0, LARGE), false);
        let first = File::options().write(true).open(&files.first).unwrap();
        first.write_all_at(b"other", 5 * LARGE as u64).unwrap();
        // The second time round, five blocks in.
        for (before, wrong_blocks) in [(13, 1), (12, 0), (14, 0)] {
            let from = bounds(before * LARGE as u64, LARGE);
            let moved = run(&files, Phase::Read, from, true);
            assert_eq!(moved.read_bytes, LARGE as u64);
            assert_eq!(moved.wrong_blocks, wrong_blocks, "{before}");
        }
    }

    #[test]
    fn second_files_hold_what_is_nowhere_else() {
        let place = tempfile::tempdir().unwrap();
        let files = Files::of(place.path(), 0);
        run(&files, Phase::Write, bounds(0, BLOCK), false);
        let mut written = vec![fs::read(&files.first).unwrap()];
        for (phase, blocks) in [(Phase::Mixed, 3), (Phase::Copy, 8)] {
            let moved = run(&files, phase, bounds(BLOCK as u64, BLOCK), false);
            assert_eq!(
                (moved.read_bytes, moved.wrong_blocks),
                (8 * BLOCK as u64, 0)
            );
            let second = fs::read(&files.second).unwrap();
            assert_eq!(moved.written_bytes, second.len() as u64);
            assert_eq!(second.len(), blocks * BLOCK);
            let own = content(Some(phase), BLOCK);
            let mut found = (0..).zip(second.chunks(BLOCK));
            assert!(found.all(|(number, block)| own.belongs(number, block)));
            written.push(second);
        }
        let sectors = || written.iter().flat_map(|file| file.chunks(512));
        let distinct: BTreeSet<&[u8]> = sectors().collect();
        assert_eq!(distinct.len(), sectors().count());
    }
}
