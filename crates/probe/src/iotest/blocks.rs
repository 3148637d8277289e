//! What is written, and whether it is what is read.

use base::random::Stream;

use super::buffer::Buffer;

/// Each so many bytes of a block begin with a stamp: words that belong to this place of this file of this run alone.
const STAMPED_BYTES: usize = 4096;

/// Bytes of a word.
const WORD_BYTES: usize = 8;

/// Bytes of a row of SAS-like data.
const ROW_BYTES: usize = 128;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Random bytes: nothing to compress, nothing twice, however far storage looks.
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

/// The blocks of a file.
pub(crate) struct Blocks {
    content: Content,
    numbers: Stream,
    block: Buffer,
}

impl Blocks {
    /// Files of other numbers have other blocks.
    pub(crate) fn new(content: Content, block_bytes: usize, numbers: Stream) -> Self {
        Self {
            content,
            numbers,
            block: Buffer::new(block_bytes),
        }
    }

    /// Bytes of a block.
    pub(crate) fn bytes(&self) -> usize {
        self.block.len()
    }

    /// The block that belongs at a place of the file, counted in blocks. It is made anew: blocks that come again, even
    /// if a few bytes differ, are what storage finds that compresses or deduplicates.
    pub(crate) fn block(&mut self, number: u64) -> &[u8] {
        let numbers = self.numbers.child(number);
        let key = key(numbers);
        match self.content {
            Content::Zeros => {}
            Content::Random => {
                for (place, at) in self.block.chunks_exact_mut(WORD_BYTES).zip(0..) {
                    place.copy_from_slice(&word(key, at).to_le_bytes());
                }
            }
            Content::Sas => {
                let first = number * (self.block.len() / ROW_BYTES) as u64;
                for (row, at) in self.block.chunks_exact_mut(ROW_BYTES).zip(0..) {
                    fill_row(row, numbers, at, first + at);
                }
                for (part, bytes) in self.block.chunks_mut(STAMPED_BYTES).enumerate() {
                    if let Some(place) = bytes.first_chunk_mut() {
                        *place = stamp(key, part).to_le_bytes();
                    }
                }
            }
        }
        &self.block
    }

    /// Whether this was read from there: all stamps are looked at, without a branch for each, as it is done
    /// between reads that are measured.
    pub(crate) fn belongs(&self, number: u64, block: &[u8]) -> bool {
        if self.content == Content::Zeros {
            return true;
        }
        let key = key(self.numbers.child(number));
        let parts = block.chunks(STAMPED_BYTES).enumerate();
        let differing = parts.fold(0, |differing, (part, bytes)| {
            let found = bytes.first_chunk().copied().map(u128::from_le_bytes);
            // A part too short for a stamp belongs nowhere.
            differing | found.map_or(u128::MAX, |found| found ^ stamp(key, part))
        });
        differing == 0
    }
}

/// What the random words of a block are made of.
fn key(numbers: Stream) -> u64 {
    numbers.word(0)
}

/// A random word of a block: the step and the mixer of `wyrand` (Wang Yi), which takes one multiplication, since
/// words are made between writes that are measured.
#[inline]
fn word(key: u64, at: u64) -> u64 {
    const STEP: u64 = 0xA076_1D64_78BD_642F;
    const OTHER: u64 = 0xE703_7ED1_A0B4_28DB;
    let state = key.wrapping_add(at.wrapping_add(1).wrapping_mul(STEP));
    let (low, high) = state.carrying_mul(state ^ OTHER, 0);
    low ^ high
}

/// The random words at the beginning of a part of a block, as 16 bytes in Intel's order.
fn stamp(key: u64, part: usize) -> u128 {
    let at = (part * STAMPED_BYTES / WORD_BYTES) as u64;
    u128::from(word(key, at + 1)) << 64 | u128::from(word(key, at))
}

/// A row: eight doubles with few digits, and texts that fill part of their lengths. `at` is its place in the block,
/// `observation` in the file.
fn fill_row(row: &mut [u8], numbers: Stream, at: u64, observation: u64) {
    /// Words that a row takes at the most.
    const WORDS: u64 = 16;
    row.fill(b' ');
    let at = at * WORDS;
    for (column, place) in (0..8).zip(row.chunks_exact_mut(WORD_BYTES)) {
        let below = |bound| numbers.below(at + column, bound) as f64;
        let value = match column {
            0 => observation as f64,
            1..4 => below(100),
            4..6 => 21_915.0 + below(3_650),
            _ => below(1_000_000) / 100.0,
        };
        place.copy_from_slice(&value.to_le_bytes());
    }
    for (word, (place, length)) in (8..).zip([(64, 2), (72, 6), (88, 8), (96, 3), (112, 4)]) {
        let bits = numbers.word(at + word).to_le_bytes();
        for (letter, bits) in row[place..place + length].iter_mut().zip(bits) {
            *letter = b'A' + ((u16::from(bits) * 26) >> 8) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const BLOCK_BYTES: usize = 65_536;

    fn blocks(content: Content, file: u64) -> Blocks {
        Blocks::new(content, BLOCK_BYTES, Stream::new(file))
    }

    fn many(content: Content, file: u64) -> Vec<u8> {
        let mut blocks = blocks(content, file);
        let all = (0..48).flat_map(|number| blocks.block(number).to_vec());
        all.collect()
    }

    #[test]
    fn a_block_is_known_by_its_place() {
        for content in [Content::Random, Content::Sas] {
            let mut of_file = blocks(content, 3);
            let mut block = of_file.block(70).to_vec();
            assert!(of_file.belongs(70, &block));
            assert!(!of_file.belongs(62, &block));
            assert!(!blocks(content, 4).belongs(70, &block));
            block[40_960] ^= 1;
            assert!(!of_file.belongs(70, &block));
        }
    }

    #[test]
    fn random_data_do_not_compress_and_rows_do() {
        let left = |content| {
            let all = many(content, 0);
            lz4_flex::compress(&all).len() as f64 / all.len() as f64
        };
        assert!(left(Content::Random) > 0.99, "{}", left(Content::Random));
        let rows = left(Content::Sas);
        assert!((0.3..0.8).contains(&rows), "{rows}");
        assert!(left(Content::Zeros) < 0.01);
    }

    #[test]
    fn blocks_do_not_come_again() {
        // Looked for over all of a file, not only within blocks.
        let left = |content| {
            let mut compressor = zstd::bulk::Compressor::new(3).unwrap();
            compressor.long_distance_matching(true).unwrap();
            compressor.window_log(27).unwrap();
            let all = many(content, 0);
            compressor.compress(&all).unwrap().len() as f64 / all.len() as f64
        };
        assert!(left(Content::Random) > 0.99, "{}", left(Content::Random));
        assert!(left(Content::Sas) > 0.2, "{}", left(Content::Sas));
    }

    #[test]
    fn no_sector_is_there_twice_in_files_of_any_number() {
        for content in [Content::Random, Content::Sas] {
            let files = [many(content, 0), many(content, 1)];
            let sectors = || files.iter().flat_map(|file| file.chunks(512));
            let distinct: BTreeSet<&[u8]> = sectors().collect();
            assert_eq!(distinct.len(), sectors().count(), "{content:?}");
        }
    }
}
