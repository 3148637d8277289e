//! Character columns: eight random bytes at a time, mapped to an alphabet.

use base::random::Stream;

use crate::draw::Piece;

/// Bytes of values drawn before they are mapped: enough that mapping runs in whole vectors.
const SCRATCH_BYTES: usize = 512;
/// Changes of distance between index and character that the arithmetic mapping can take.
const STEPS: usize = 3;

/// Character columns side by side that share an alphabet.
#[derive(Debug, Clone)]
pub(crate) struct Texts {
    alphabet: Alphabet,
    /// Each batch fits the scratch buffer.
    batches: Vec<Vec<Part>>,
}

/// Some of the characters of a column.
#[derive(Debug, Clone, Copy)]
struct Part {
    offset: usize,
    bytes: usize,
    stream: Stream,
    /// Words of the column per value, and the first of this part.
    stride: u64,
    first: u64,
}

impl Part {
    const fn words(&self) -> usize {
        self.bytes.div_ceil(8)
    }
}

/// A column to be drawn: where, how many characters, from which stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextColumn {
    pub(crate) offset: usize,
    pub(crate) used: usize,
    pub(crate) stream: Stream,
}

impl Texts {
    pub(crate) fn new(characters: &[u8], columns: &[TextColumn]) -> Self {
        let mut batches = vec![Vec::new()];
        let mut room = SCRATCH_BYTES;
        for column in columns {
            let stride = column.used.div_ceil(8) as u64;
            let mut done = 0;
            while done < column.used {
                if room == 0 {
                    batches.push(Vec::new());
                    room = SCRATCH_BYTES;
                }
                let part = Part {
                    offset: column.offset + done,
                    bytes: (column.used - done).min(room),
                    stream: column.stream,
                    stride,
                    first: done as u64 / 8,
                };
                room -= part.words() * 8;
                done += part.bytes;
                batches.last_mut().expect("starts with one").push(part);
            }
        }
        let alphabet = Alphabet::new(characters);
        Self { alphabet, batches }
    }
}

impl Piece for Texts {
    #[inline]
    fn draw(&self, identity: u64, row: &mut [u8]) {
        let mut scratch = [0; SCRATCH_BYTES];
        for parts in &self.batches {
            let mut end = 0;
            for part in parts {
                let first = identity.wrapping_mul(part.stride).wrapping_add(part.first);
                let words = part.words();
                let places = scratch[end..end + words * 8].chunks_exact_mut(8);
                for (word, place) in (0..).zip(places) {
                    let drawn = part.stream.word(first.wrapping_add(word));
                    place.copy_from_slice(&drawn.to_le_bytes());
                }
                end += words * 8;
            }
            self.alphabet.map(&mut scratch[..end]);
            let mut rest = &scratch[..end];
            for part in parts {
                let (drawn, behind) = rest.split_at(part.words() * 8);
                copy(
                    &drawn[..part.bytes],
                    &mut row[part.offset..part.offset + part.bytes],
                );
                rest = behind;
            }
        }
    }
}

/// Copies a few bytes without a call: whole words, the last one overlapping the one before.
#[inline]
fn copy(from: &[u8], to: &mut [u8]) {
    let length = from.len().min(to.len());
    let (from, to) = (&from[..length], &mut to[..length]);
    if let (Some(last), Some(last_to)) = (from.last_chunk::<8>(), to.last_chunk_mut::<8>()) {
        *last_to = *last;
        for (from, to) in from.chunks_exact(8).zip(to.chunks_exact_mut(8)) {
            to.copy_from_slice(from);
        }
    } else if let (Some(last), Some(last_to)) = (from.last_chunk::<4>(), to.last_chunk_mut::<4>()) {
        *last_to = *last;
        for (from, to) in from.chunks_exact(4).zip(to.chunks_exact_mut(4)) {
            to.copy_from_slice(from);
        }
    } else {
        for (from, to) in from.iter().zip(to) {
            *to = *from;
        }
    }
}

/// Maps a random byte `b` to character `b * count / 256` of an alphabet.
#[derive(Debug, Clone)]
enum Alphabet {
    /// The characters lie in few ranges: arithmetic, which runs sixteen bytes at a time.
    Ranges {
        count: u16,
        base: u8,
        /// From this index on, this much is added.
        steps: [(u8, u8); STEPS],
    },
    /// Any characters.
    Table(Box<[u8; 256]>),
}

impl Alphabet {
    /// `characters` are 1 to 256.
    fn new(characters: &[u8]) -> Self {
        let count = u16::try_from(characters.len()).expect("at most 256 characters");
        let mut steps = Vec::new();
        for (index, pair) in (1..=u8::MAX).zip(characters.windows(2)) {
            let jump = pair[1].wrapping_sub(pair[0]).wrapping_sub(1);
            if jump != 0 {
                steps.push((index, jump));
            }
        }
        // Index 255 is reached only by an alphabet of 256, which has no such steps to spare.
        steps.resize(steps.len().max(STEPS), (u8::MAX, 0));
        if let Ok(steps) = steps.try_into() {
            let base = characters[0];
            return Self::Ranges { count, base, steps };
        }
        let mut table = Box::new([0; 256]);
        for (byte, entry) in (0u16..).zip(table.iter_mut()) {
            *entry = characters[usize::from(index(byte, count))];
        }
        Self::Table(table)
    }

    #[inline]
    fn map(&self, bytes: &mut [u8]) {
        match self {
            Self::Ranges { count, base, steps } => {
                for byte in bytes {
                    let index = index(u16::from(*byte), *count);
                    let mut character = index.wrapping_add(*base);
                    for (from, jump) in steps {
                        character = character.wrapping_add(if index >= *from { *jump } else { 0 });
                    }
                    *byte = character;
                }
            }
            Self::Table(table) => {
                for byte in bytes {
                    *byte = table[usize::from(*byte)];
                }
            }
        }
    }
}

#[inline]
const fn index(byte: u16, count: u16) -> u8 {
    // At most 255 * 256 / 256.
    (byte * count).to_le_bytes()[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_and_table_map_the_same() {
        for characters in [
            &b"a"[..],
            b"ABCabc012",
            b"zyx",
            b"a-c-",
            b"aaab",
            b"acegikmo",
            &(0..=255).collect::<Vec<u8>>(),
        ] {
            let mut bytes: Vec<u8> = (0..=255).collect();
            Alphabet::new(characters).map(&mut bytes);
            for (byte, mapped) in bytes.iter().enumerate() {
                assert_eq!(*mapped, characters[byte * characters.len() / 256]);
            }
        }
    }

    #[test]
    fn copies_of_every_length_are_exact() {
        let from: Vec<u8> = (1..=40).collect();
        for length in 0..=40 {
            let mut to = [0; 41];
            copy(&from[..length], &mut to[..length]);
            assert_eq!(to[..length], from[..length]);
            assert_eq!(to[length], 0);
        }
    }
}
