//! What is written, and whether it is what is read.

use base::random::Stream;

use super::buffer::Buffer;

/// Each so many bytes of a block begin with a stamp of their own, so that no two are the same and each
/// says where it belongs.
const STAMPED_BYTES: usize = 4096;

/// Blocks that are made beforehand and written in turn.
const POOL: usize = 8;

/// Bytes of a row of SAS-like data.
const ROW_BYTES: usize = 128;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Random bytes: nothing to compress, nothing twice.
    Random,
    /// Rows as SAS keeps them: small whole numbers as doubles, dates, codes and names padded with blanks.
    Sas,
    /// Zeros and no stamps: what compresses and deduplicates away, and cannot be checked.
    Zeros,
}

impl Content {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Sas => "sas",
            Self::Zeros => "zeros",
        }
    }
}

/// The blocks of a stream.
pub(crate) struct Blocks {
    content: Content,
    block_bytes: usize,
    stream: u64,
    pool: Buffer,
}

impl Blocks {
    pub(crate) fn new(content: Content, block_bytes: usize, stream: u64) -> Self {
        let bytes = block_bytes * POOL;
        let numbers = Stream::new(stream);
        let pool = match content {
            Content::Zeros => Buffer::new(block_bytes),
            Content::Random => {
                let words = (0..).flat_map(|at| numbers.word(at).to_le_bytes());
                Buffer::of(bytes, words)
            }
            Content::Sas => Buffer::of(bytes, (0..).flat_map(|at| row(numbers, at))),
        };
        Self {
            content,
            block_bytes,
            stream,
            pool,
        }
    }

    /// Bytes of a block.
    pub(crate) fn bytes(&self) -> usize {
        self.block_bytes
    }

    /// The block that belongs at a place of the file, counted in blocks.
    pub(crate) fn block(&mut self, number: u64) -> &[u8] {
        let kept = (self.pool.len() / self.block_bytes) as u64;
        let place = usize::try_from(number % kept).unwrap_or(0) * self.block_bytes;
        let block = &mut self.pool[place..place + self.block_bytes];
        if self.content != Content::Zeros {
            for (part, bytes) in block.chunks_mut(STAMPED_BYTES).enumerate() {
                if let Some(place) = bytes.first_chunk_mut() {
                    *place = stamp(self.stream, number, part).to_le_bytes();
                }
            }
        }
        block
    }

    /// Whether this was read from there: all stamps are looked at, without a branch for each, as it is done
    /// between reads that are measured.
    pub(crate) fn belongs(&self, number: u64, block: &[u8]) -> bool {
        if self.content == Content::Zeros {
            return true;
        }
        let parts = block.chunks(STAMPED_BYTES).enumerate();
        let differing = parts.fold(0, |differing, (part, bytes)| {
            let found = bytes.first_chunk().copied().map(u128::from_le_bytes);
            // A part too short for a stamp belongs nowhere.
            let wanted = stamp(self.stream, number, part);
            differing | found.map_or(u128::MAX, |found| found ^ wanted)
        });
        differing == 0
    }
}

/// The stream, the place in the block and that of the block, as 16 bytes in Intel's order.
fn stamp(stream: u64, number: u64, part: usize) -> u128 {
    u128::from(number) << 64 | u128::from((stream << 16) | part as u64)
}

/// A row: eight doubles with few digits, and texts that fill part of their lengths.
fn row(numbers: Stream, at: u64) -> [u8; ROW_BYTES] {
    let mut row = [b' '; ROW_BYTES];
    for (column, place) in (0..8).zip((0..).step_by(8)) {
        let bits = numbers.word(at * 16 + column);
        let value = match column {
            0 => at as f64,
            1..4 => (bits % 100) as f64,
            4..6 => 21_915.0 + (bits % 3_650) as f64,
            _ => (bits % 1_000_000) as f64 / 100.0,
        };
        row[place..place + 8].copy_from_slice(&value.to_le_bytes());
    }
    for (place, length) in [(64, 2), (72, 6), (88, 11), (112, 4)] {
        for letter in 0..length {
            let bits = numbers.word(at * 16 + 8 + (place + letter) as u64 % 8) >> (letter % 8 * 8);
            row[place + letter] = b'A' + (bits % 26) as u8;
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_known_by_its_place() {
        for content in [Content::Random, Content::Sas] {
            let mut blocks = Blocks::new(content, 65_536, 3);
            let mut block = blocks.block(70).to_vec();
            assert!(blocks.belongs(70, &block));
            assert!(!blocks.belongs(62, &block), "the same of the pool");
            assert!(!Blocks::new(content, 65_536, 4).belongs(70, &block));
            block[40_960] ^= 1;
            assert!(!blocks.belongs(70, &block));
        }
    }

    #[test]
    fn random_data_do_not_compress_and_rows_do() {
        let left = |content| {
            let mut blocks = Blocks::new(content, 131_072, 0);
            let all: Vec<u8> = (0..8)
                .flat_map(|number| blocks.block(number).to_vec())
                .collect();
            lz4_flex::compress(&all).len() as f64 / all.len() as f64
        };
        assert!(left(Content::Random) > 0.99, "{}", left(Content::Random));
        let rows = left(Content::Sas);
        assert!((0.3..0.8).contains(&rows), "{rows}");
        assert!(left(Content::Zeros) < 0.01);
    }
}
