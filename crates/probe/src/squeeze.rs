//! How far files compress, and how much of them is there more than once: what SAS, and storage that compresses and
//! deduplicates, would save on them.
//!
//! - Of a SAS data set: the size that SAS would give it without compression, with COMPRESS=CHAR and with
//!   COMPRESS=BINARY, to the byte; and what an array that compresses leaves of the last one.
//! - Chunks of 128 KiB are compressed as storage does, in blocks of 4, 8, 32 and 128 KiB by themselves, by deflate,
//!   LZ4 and zstd. Those of 128 KiB are given twice: in bytes, and as storage gives out space, in units of 8 KiB
//!   and never less than an eighth of the chunk.
//! - Duplicates are blocks of 4, 8 or 128 KiB at multiples of their size with the same hash. Both together are what
//!   is left of the different blocks.
//!
//! Every file is read once. Large ones are compressed in samples, and many different blocks are counted in samples;
//! figures from samples come with their 95 % confidence interval. Memory is bounded whatever the files are.

mod blocks;
mod chunk;
mod estimate;
mod figures;
mod rewrite;
mod sample;
mod work;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;

pub use blocks::{BLOCK_BYTES, LEAST_MEMORY};
pub use chunk::{CHUNK_BYTES, COMPRESSED_BYTES, Effort, FLOOR, METHODS, UNIT_BYTES};
pub use estimate::Estimate;
pub use figures::{Duplicates, FileFigures, Kind, Squeezed, kinds};
pub use rewrite::Rewritten;

use work::Work;

/// Memory of the tables of blocks, where none is asked for.
pub const MEMORY_BYTES: u64 = 512 << 20;

/// Something that can be read at any place.
pub trait ReadAt {
    /// Fills `into` from `offset` on; an error if there is less.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for File {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.read_exact_at(into, offset)
    }
}

impl ReadAt for &[u8] {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let there = self.get(start..).and_then(|rest| rest.get(..into.len()));
        let there = there.ok_or(io::ErrorKind::UnexpectedEof)?;
        into.copy_from_slice(there);
        Ok(())
    }
}

/// Something that can be opened: there may be more files than a process may have open.
pub trait Content: Sync {
    /// Opens it for reading.
    fn open(&self) -> io::Result<Box<dyn ReadAt + '_>>;
}

impl Content for PathBuf {
    fn open(&self) -> io::Result<Box<dyn ReadAt + '_>> {
        Ok(Box::new(File::open(self)?))
    }
}

impl Content for Vec<u8> {
    fn open(&self) -> io::Result<Box<dyn ReadAt + '_>> {
        Ok(Box::new(&self[..]))
    }
}

/// A file to look at.
pub struct Source<'a> {
    /// Its name, for the table.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// What the file system says that it takes, if it is known.
    pub allocated_bytes: Option<u64>,
    /// Whether it begins as a SAS data set does.
    pub is_data_set: bool,
    /// Its content.
    pub content: &'a dyn Content,
}

/// How many bytes of all files are compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sampled {
    /// All.
    All,
    /// About so many.
    Bytes(u64),
    /// About this share, 0 to 1.
    Share(f64),
}

/// How to look.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Threads.
    pub threads: usize,
    /// How much is compressed.
    pub sampled: Sampled,
    /// What is done to it.
    pub effort: Effort,
    /// Decides which chunks are compressed.
    pub seed: u64,
    /// Read all of each file and look for duplicates; otherwise only the sample is read, and data sets.
    pub duplicates: bool,
    /// Find the sizes of data sets by COMPRESS=.
    pub rewrite: bool,
    /// Memory of the tables of blocks, bytes.
    pub memory_bytes: u64,
}

impl Options {
    /// Everything, compressed whole.
    pub const WHOLE: Self = Self {
        threads: 1,
        sampled: Sampled::All,
        effort: Effort::Full,
        seed: 1,
        duplicates: true,
        rewrite: true,
        memory_bytes: MEMORY_BYTES,
    };

    /// The share of chunks that is compressed.
    fn share(&self, sources: &[Source<'_>]) -> f64 {
        match self.sampled {
            Sampled::All => 1.0,
            Sampled::Share(share) => share,
            Sampled::Bytes(wanted) => {
                let bytes: u64 = sources.iter().map(|source| source.bytes).sum();
                (wanted as f64 / bytes.max(1) as f64).min(1.0)
            }
        }
    }
}

/// Looks at files; `progress` is told bytes that were read.
pub fn squeeze(
    sources: &[Source<'_>],
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> Squeezed {
    let work = Work::new(sources, options);
    thread::scope(|scope| {
        for _ in 0..options.threads.max(1) {
            scope.spawn(|| work.carry_out(progress));
        }
    });
    let (found, blocks) = work.into_found();
    let blocks = if options.duplicates { &blocks[..] } else { &[] };
    Squeezed::new(sources, found, blocks, options)
}

/// Bytes to be read, for progress.
pub fn bytes_to_read(sources: &[Source<'_>], options: &Options) -> u64 {
    let share = match options.effort {
        Effort::Nothing => 0.0,
        _ => options.share(sources),
    };
    let of = |source: &Source<'_>| {
        if options.duplicates || (options.rewrite && source.is_data_set) {
            return source.bytes as f64;
        }
        source.bytes as f64 * share
    };
    let sum: f64 = sources.iter().map(of).sum();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes of files, not negative"
    )]
    let bytes = sum as u64;
    bytes
}
