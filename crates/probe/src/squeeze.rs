//! How far files compress, and how much of them is there more than once: what storage that compresses and
//! deduplicates would save on them.
//!
//! Each chunk of 128 KiB is compressed by itself, as storage does, by deflate and by LZ4. What is left is
//! given twice: in bytes, and as storage gives out space, in units of 8 KiB and never less than an eighth of
//! the chunk. Duplicates are blocks of 8, 16 or 128 KiB at multiples of their size with the same hash. Both
//! together are what is left of the different blocks.
//!
//! Large files are compressed in samples, and many different blocks are counted in samples; figures from
//! samples say so. Memory is bounded whatever the files are.

mod blocks;
mod chunk;
mod figures;
mod sample;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use base::rowhash::hash_bytes;

pub use blocks::Shares;
pub use chunk::{CHUNK_BYTES, FLOOR, UNIT_BYTES};
pub use figures::{Duplicates, FileFigures, Squeezed};

use blocks::{Blocks, Met};
use chunk::{Compressor, Left};
use sample::{PIECE_BYTES, Sample};

/// Sizes of blocks that are looked up.
pub const BLOCK_BYTES: [usize; 3] = [8 << 10, 16 << 10, 128 << 10];

/// Different blocks that are remembered of each size: about 100 MB each.
pub const BLOCKS_MAX: usize = 1 << 20;

/// Something that can be read at any place.
pub trait ReadAt: Sync {
    /// Fills `into` from `offset` on; an error if there is less.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for File {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.read_exact_at(into, offset)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let there = self.get(start..).and_then(|rest| rest.get(..into.len()));
        let there = there.ok_or(io::ErrorKind::UnexpectedEof)?;
        into.copy_from_slice(there);
        Ok(())
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
    /// Its content.
    pub content: &'a dyn ReadAt,
}

/// How to look.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Threads.
    pub threads: usize,
    /// Of a file that is longer, only about so many bytes are compressed.
    pub sample_bytes: Option<u64>,
    /// Read all of each file and look for duplicates; otherwise only the sample is read.
    pub duplicates: bool,
    /// Most different blocks that are remembered of each size.
    pub blocks_max: usize,
}

/// A file that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("failed to read {name}")]
pub struct Error {
    /// Which.
    pub name: String,
    /// Why not.
    pub source: io::Error,
}

/// Looks at files; `progress` is told bytes that were read.
pub fn squeeze(
    sources: &[Source<'_>],
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Squeezed, Error> {
    let work = Work::new(sources, options);
    let threads = options.threads.max(1);
    let sums = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| work.carry_out(progress)))
            .collect();
        let sums = workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker does not panic"));
        sums.collect::<Vec<_>>()
    });
    let mut all = vec![Sums::default(); sources.len()];
    for sums in sums {
        for (whole, part) in all.iter_mut().zip(sums?) {
            whole.add(part);
        }
    }
    let blocks = work.blocks.into_inner();
    let blocks = blocks.unwrap_or_else(PoisonError::into_inner);
    let blocks = if options.duplicates { &blocks[..] } else { &[] };
    Ok(Squeezed::new(sources, &all, blocks))
}

/// Bytes to be read, for progress.
pub fn bytes_to_read(sources: &[Source<'_>], options: &Options) -> u64 {
    let of = |source: &Source<'_>| {
        let sample = Sample::new(source.bytes, options.sample_bytes);
        if options.duplicates {
            source.bytes
        } else {
            (sample.sampled() * PIECE_BYTES).min(source.bytes)
        }
    };
    sources.iter().map(of).sum()
}

/// What is left of the sample of a file.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    bytes: u64,
    deflate: u64,
    deflate_stored: u64,
    lz4: u64,
    lz4_stored: u64,
}

impl Sums {
    fn add_chunk(&mut self, bytes: usize, left: Left) {
        self.add(Self {
            bytes: bytes as u64,
            deflate: left.deflate as u64,
            deflate_stored: left.deflate_stored as u64,
            lz4: left.lz4 as u64,
            lz4_stored: left.lz4_stored as u64,
        });
    }

    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.deflate += other.deflate;
        self.deflate_stored += other.deflate_stored;
        self.lz4 += other.lz4;
        self.lz4_stored += other.lz4_stored;
    }
}

/// The pieces of all files, handed out to threads.
struct Work<'a> {
    sources: &'a [Source<'a>],
    samples: Vec<Sample>,
    duplicates: bool,
    next: AtomicU64,
    failed: AtomicBool,
    blocks: Mutex<[Blocks; 3]>,
}

impl<'a> Work<'a> {
    fn new(sources: &'a [Source<'a>], options: &Options) -> Self {
        let sample = |source: &Source<'_>| Sample::new(source.bytes, options.sample_bytes);
        Self {
            sources,
            samples: sources.iter().map(sample).collect(),
            duplicates: options.duplicates,
            next: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            blocks: Mutex::new(BLOCK_BYTES.map(|_| Blocks::new(options.blocks_max))),
        }
    }

    /// The piece of a number: its file and its number in it.
    fn piece(&self, mut number: u64) -> Option<(usize, u64)> {
        for (file, sample) in self.samples.iter().enumerate() {
            let pieces = if self.duplicates {
                sample.pieces()
            } else {
                sample.sampled()
            };
            if number < pieces {
                let piece = if self.duplicates {
                    number
                } else {
                    sample.at(number)
                };
                return Some((file, piece));
            }
            number -= pieces;
        }
        None
    }

    /// Works on pieces until there are none.
    fn carry_out(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<Vec<Sums>, Error> {
        let mut sums = vec![Sums::default(); self.sources.len()];
        let mut compressor = Compressor::new();
        let mut buffer = Vec::new();
        while !self.failed.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((file, piece)) = self.piece(number) else {
                break;
            };
            let (start, length) = self.samples[file].range(piece);
            buffer.resize(length, 0);
            let read = self.sources[file].content.read_at(start, &mut buffer);
            if let Err(source) = read {
                self.failed.store(true, Ordering::Relaxed);
                let name = self.sources[file].name.clone();
                return Err(Error { name, source });
            }
            self.look(file, piece, &buffer, &mut compressor, &mut sums[file]);
            progress(length as u64);
        }
        Ok(sums)
    }

    fn look(
        &self,
        file: usize,
        piece: u64,
        bytes: &[u8],
        compressor: &mut Compressor,
        sums: &mut Sums,
    ) {
        let sample = &self.samples[file];
        let weight = sample.pieces() as f64 / sample.sampled().max(1) as f64;
        let is_sampled = sample.holds(piece);
        let mut met: [Vec<Met>; 3] = Default::default();
        for chunk in bytes.chunks(CHUNK_BYTES) {
            let mut shares = None;
            if is_sampled {
                let left = compressor.compress(chunk);
                sums.add_chunk(chunk.len(), left);
                shares = Some((Shares::of(left, chunk.len()), weight));
            }
            if !self.duplicates {
                continue;
            }
            for (size, met) in BLOCK_BYTES.iter().zip(&mut met) {
                met.extend(chunk.chunks(*size).map(|block| Met {
                    hash: hash_bytes(block),
                    bytes: u32::try_from(block.len()).expect("a block is small"),
                    shares,
                }));
            }
        }
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        for (blocks, met) in blocks.iter_mut().zip(met) {
            for met in &met {
                blocks.add(met);
            }
        }
    }
}
