//! The work on files, handed out to threads: each file is read once, from its beginning to its end, whatever is
//! asked for.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::blocks::{Blocks, Hashes, KEPT, Shares};
use super::chunk::{CHUNK_BYTES, Compressor, DEFLATE_STORED, Left, PER_METHOD};
use super::estimate::Sums;
use super::rewrite::{Rewritten, rewrite};
use super::sample::Sample;
use super::{Content, Options, ReadAt, Source};
use crate::squeeze::chunk::Effort;

/// Bytes that are read at a time: eight chunks.
const PIECE_BYTES: u64 = 8 * CHUNK_BYTES as u64;
const CHUNK: u64 = CHUNK_BYTES as u64;

/// What was found out about a file.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// What is left of the chunks that were compressed.
    pub sums: Sums,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Its sizes by COMPRESS=, of a data set.
    pub rewritten: Option<Rewritten>,
    /// Why a data set has none.
    pub not_rewritten: Option<String>,
    /// Why it was not read, or not to its end.
    pub failed: Option<String>,
}

/// The pieces of all files.
pub struct Work<'a> {
    sources: &'a [Source<'a>],
    options: &'a Options,
    sample: Sample,
    /// The first chunk of each file, all files one after the other, and the end.
    firsts: Vec<u64>,
    /// Files that one thread reads from beginning to end: data sets.
    whole: Vec<usize>,
    /// What comes behind these: pieces of the other files (the first of each, and the end), or parts of the
    /// sample where nothing else is read.
    pieces: Vec<u64>,
    next: AtomicU64,
    found: Mutex<Vec<Found>>,
    blocks: Mutex<[Blocks; 3]>,
}

/// What a thread has of its own.
struct Tools {
    compressor: Compressor,
    hashes: Hashes,
    buffer: Vec<u8>,
    /// The blocks of a piece: hash, bytes, and the number of its chunk in it.
    met: [Vec<(u64, u32, usize)>; 3],
}

impl<'a> Work<'a> {
    pub(super) fn new(sources: &'a [Source<'a>], options: &'a Options) -> Self {
        let mut firsts = vec![0];
        for source in sources {
            let last = firsts.last().copied().unwrap_or(0);
            firsts.push(last + source.bytes.div_ceil(CHUNK));
        }
        let chunks = firsts.last().copied().unwrap_or(0);
        let is_whole = |file: &usize| options.rewrite && sources[*file].is_data_set;
        let mut pieces = vec![0];
        for (file, source) in sources.iter().enumerate() {
            let own = if is_whole(&file) || !options.duplicates {
                0
            } else {
                source.bytes.div_ceil(PIECE_BYTES)
            };
            pieces.push(pieces.last().copied().unwrap_or(0) + own);
        }
        Self {
            sources,
            options,
            sample: Sample::new(chunks, options.share(sources), options.seed),
            whole: (0..sources.len()).filter(is_whole).collect(),
            firsts,
            pieces,
            next: AtomicU64::new(0),
            found: Mutex::new(vec![Found::default(); sources.len()]),
            blocks: Mutex::new(Blocks::within(options.memory_bytes)),
        }
    }

    pub(super) fn into_found(self) -> (Vec<Found>, [Blocks; 3]) {
        let found = self.found.into_inner();
        let blocks = self.blocks.into_inner();
        (
            found.unwrap_or_else(PoisonError::into_inner),
            blocks.unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Works until there is nothing left to do.
    pub(super) fn carry_out(&self, progress: &(dyn Fn(u64) + Sync)) {
        let mut tools = Tools {
            compressor: Compressor::new(),
            hashes: Hashes::default(),
            buffer: Vec::new(),
            met: Default::default(),
        };
        let mut open = None;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let whole = usize::try_from(number)
                .ok()
                .and_then(|at| self.whole.get(at));
            if let Some(file) = whole {
                self.data_set(*file, &mut tools, progress);
                continue;
            }
            let Some((file, start)) = self.place(number - self.whole.len() as u64) else {
                break;
            };
            let step = if self.options.duplicates {
                PIECE_BYTES
            } else {
                CHUNK
            };
            let opened = Open::of(&mut open, file, self.sources[file].content);
            let read = opened.and_then(|open| self.piece(open, file, start, step, &mut tools));
            match read {
                Ok(bytes) => progress(bytes),
                Err(error) => self.fails(file, &error),
            }
        }
    }

    /// Where to read: a file and a place in it. None behind the end; chunks of data sets are read elsewhere.
    fn place(&self, number: u64) -> Option<(usize, u64)> {
        let file_of =
            |firsts: &[u64], number: u64| firsts.partition_point(|first| *first <= number) - 1;
        if self.options.duplicates {
            if number >= *self.pieces.last()? {
                return None;
            }
            let file = file_of(&self.pieces, number);
            return Some((file, (number - self.pieces[file]) * PIECE_BYTES));
        }
        if self.options.effort == Effort::Nothing || number >= self.sample.sampled() {
            return None;
        }
        let (chunk, _) = self.sample.at(number);
        let file = file_of(&self.firsts, chunk);
        Some((file, (chunk - self.firsts[file]) * CHUNK))
    }

    fn piece(
        &self,
        open: &Open<'_>,
        file: usize,
        start: u64,
        step: u64,
        tools: &mut Tools,
    ) -> io::Result<u64> {
        // The sample's chunks of a data set are met while that is read.
        if self.options.rewrite && self.sources[file].is_data_set {
            return Ok(0);
        }
        let bytes = (self.sources[file].bytes - start).min(step);
        let mut buffer = std::mem::take(&mut tools.buffer);
        buffer.resize(usize::try_from(bytes).unwrap_or(0), 0);
        let read = open.content.read_at(start, &mut buffer);
        if read.is_ok() {
            self.look(file, start, &buffer, tools);
        }
        tools.buffer = buffer;
        read.map(|()| bytes)
    }

    fn fails(&self, file: usize, error: &io::Error) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found[file]
            .failed
            .get_or_insert_with(|| match error.kind() {
                io::ErrorKind::UnexpectedEof => "it became shorter while it was read".to_owned(),
                _ => error.to_string(),
            });
    }

    /// Compresses and hashes bytes that begin a chunk.
    fn look(&self, file: usize, start: u64, bytes: &[u8], tools: &mut Tools) {
        let first = self.firsts[file] + start / CHUNK;
        let mut sums = Sums::default();
        let mut shares: Vec<Option<(Shares, f64)>> = Vec::new();
        for met in &mut tools.met {
            met.clear();
        }
        for (number, chunk) in bytes.chunks(CHUNK_BYTES).enumerate() {
            let weight = match self.options.effort {
                Effort::Nothing => None,
                _ => self.sample.weight(first + number as u64),
            };
            shares.push(weight.map(|weight| {
                let left = tools.compressor.compress(chunk, self.options.effort);
                sums.add(chunk.len(), &left, weight as f64);
                (shares_of(&left, chunk.len()), weight as f64)
            }));
            if self.options.duplicates {
                for (met, hashes) in tools.met.iter_mut().zip(tools.hashes.of(chunk)) {
                    met.extend(hashes.iter().map(|(hash, bytes)| (*hash, *bytes, number)));
                }
            }
        }
        if self.options.duplicates {
            let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
            for (blocks, met) in blocks.iter_mut().zip(&tools.met) {
                for (hash, bytes, chunk) in met {
                    blocks.add(*hash, *bytes, shares[*chunk].as_ref());
                }
            }
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found[file].sums.merge(&sums);
        found[file].read_bytes += bytes.len() as u64;
    }

    /// Reads a data set from beginning to end, its rows and its blocks.
    fn data_set(&self, file: usize, tools: &mut Tools, progress: &(dyn Fn(u64) + Sync)) {
        let mut open = None;
        let opened = match Open::of(&mut open, file, self.sources[file].content) {
            Ok(open) => open,
            Err(error) => return self.fails(file, &error),
        };
        let mut compressor = Compressor::new();
        let mut reading = Reading {
            work: self,
            file,
            content: &*opened.content,
            bytes: self.sources[file].bytes,
            window: Vec::new(),
            start: 0,
            tools,
            progress,
        };
        let share = match self.options.effort {
            Effort::Nothing => 0.0,
            _ => self.options.share(self.sources),
        };
        let rewritten = rewrite(&mut reading, &mut compressor, share);
        // What no row needed, or what is behind an error.
        if let Err(error) = reading.pass(reading.bytes) {
            return self.fails(file, &error);
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        match rewritten {
            Ok(rewritten) => found[file].rewritten = Some(rewritten),
            Err(error) => found[file].not_rewritten = Some(format!("failed to {error}")),
        }
    }
}

/// What is left of each byte of a chunk, of those kinds that are kept for blocks.
fn shares_of(left: &Left, bytes: usize) -> Shares {
    let mut shares = [0.0; KEPT];
    for (method, left) in left.chunks_exact(PER_METHOD).enumerate() {
        let of = |kind: usize| f64::from(left[kind]) / bytes.max(1) as f64;
        shares[2 * method] = of(DEFLATE_STORED - 1);
        shares[2 * method + 1] = of(DEFLATE_STORED);
    }
    shares
}

/// A file that a thread has open: the next piece is mostly one of the same.
struct Open<'a> {
    file: usize,
    content: Box<dyn ReadAt + 'a>,
}

impl<'a> Open<'a> {
    fn of<'o>(
        open: &'o mut Option<Self>,
        file: usize,
        content: &'a dyn Content,
    ) -> io::Result<&'o Self> {
        let kept = open.take().filter(|open| open.file == file);
        let opened = match kept {
            Some(kept) => kept,
            None => Self {
                file,
                content: content.open()?,
            },
        };
        Ok(open.insert(opened))
    }
}

/// A data set that is read by its pages, and looked at by pieces on the way.
struct Reading<'w, 'a> {
    work: &'w Work<'a>,
    file: usize,
    content: &'w dyn ReadAt,
    bytes: u64,
    /// The piece at hand, and where it begins; what is before it was looked at.
    window: Vec<u8>,
    start: u64,
    tools: &'w mut Tools,
    progress: &'w (dyn Fn(u64) + Sync),
}

impl Reading<'_, '_> {
    fn end(&self) -> u64 {
        self.start + self.window.len() as u64
    }

    /// Goes on until the piece at hand holds the byte at `offset`, or to the end.
    fn pass(&mut self, offset: u64) -> io::Result<()> {
        while self.end() <= offset && self.end() < self.bytes {
            let (start, mut window) = (self.end(), std::mem::take(&mut self.window));
            let length = (self.bytes - start).min(PIECE_BYTES);
            window.resize(usize::try_from(length).unwrap_or(0), 0);
            let read = self.content.read_at(start, &mut window);
            if let Err(error) = read {
                self.start = start;
                return Err(error);
            }
            self.work.look(self.file, start, &window, self.tools);
            (self.progress)(length);
            (self.start, self.window) = (start, window);
        }
        Ok(())
    }
}

impl sas7bdat::Source for Reading<'_, '_> {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let buffer = &mut buffer[..wanted];
        if offset < self.start {
            // A page that is read again.
            self.content.read_at(offset, buffer)?;
            return Ok(wanted);
        }
        let mut done = 0;
        while done < wanted {
            let offset = offset + done as u64;
            self.pass(offset)?;
            let at = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
            let there = self.window.get(at..).unwrap_or_default();
            let count = there.len().min(wanted - done);
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buffer[done..done + count].copy_from_slice(&there[..count]);
            done += count;
        }
        Ok(wanted)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.bytes)
    }
}
