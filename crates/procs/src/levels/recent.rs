//! Which group the values of rows led to lately, by the bytes that the class variables have in a row:
//! most rows need no key made, no format applied and no table searched.

use super::ClassVariable;

/// Rows that are remembered; each takes the place of the one before it there.
const PLACES: usize = 1 << 12;
/// Eight bytes each of a row's values; longer ones are not remembered.
const WORDS_MAX: usize = 4;

/// Answers to rows seen before.
pub(crate) struct Recent {
    /// Pieces of a row that decide: first byte and how many, up to eight.
    pieces: Vec<(usize, usize)>,
    places: Vec<Seen>,
    /// Answers of before [`forget`](Self::forget) have another one.
    age: u32,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    words: [u64; WORDS_MAX],
    /// The group, or that the row is left out.
    group: Option<u32>,
    age: u32,
}

/// A row that was not found.
pub(crate) struct Unseen {
    words: [u64; WORDS_MAX],
    place: usize,
}

impl Recent {
    /// For rows of these class variables; `None` if their values are too long.
    pub(crate) fn new(variables: &[ClassVariable]) -> Option<Self> {
        let mut pieces = Vec::new();
        for variable in variables {
            let slot = &variable.field.slot;
            let (start, end) = (slot.offset as usize, (slot.offset + slot.length) as usize);
            pieces.extend((start..end).step_by(8).map(|at| (at, (end - at).min(8))));
        }
        (pieces.len() <= WORDS_MAX).then(|| Self {
            pieces,
            places: vec![Seen::default(); PLACES],
            age: 1,
        })
    }

    /// The group of a row, or that it is left out, if that is remembered.
    #[inline]
    pub(crate) fn group(&self, row: &[u8]) -> Result<Option<usize>, Unseen> {
        let mut words = [0; WORDS_MAX];
        let mut hash = 0u64;
        for (word, (start, length)) in words.iter_mut().zip(&self.pieces) {
            *word = word_of(&row[*start..*start + *length]);
            hash = (hash.rotate_left(29) ^ *word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the upper bits of a hash are a place"
        )]
        let place = (hash >> (64 - PLACES.trailing_zeros())) as usize;
        let seen = &self.places[place];
        if seen.age == self.age && seen.words == words {
            return Ok(seen.group.map(|group| group as usize));
        }
        Err(Unseen { words, place })
    }

    /// Remembers what a row led to.
    pub(crate) fn remember(&mut self, unseen: &Unseen, group: Option<usize>) {
        let group = match group.map(u32::try_from) {
            None => None,
            Some(Ok(group)) => Some(group),
            Some(Err(_)) => return,
        };
        self.places[unseen.place] = Seen {
            words: unseen.words,
            group,
            age: self.age,
        };
    }

    /// Groups have other numbers from now on.
    pub(crate) fn forget(&mut self) {
        self.age = self.age.wrapping_add(1);
        if self.age == 0 {
            self.places.fill(Seen::default());
            self.age = 1;
        }
    }
}

/// Up to eight bytes as a number that no others of that length have.
#[inline]
fn word_of(bytes: &[u8]) -> u64 {
    let four = |bytes: &[u8]| bytes.first_chunk().copied().map(u32::from_le_bytes);
    match bytes.len() {
        8.. => bytes.first_chunk().copied().map_or(0, u64::from_le_bytes),
        4..8 => {
            let last = four(&bytes[bytes.len() - 4..]);
            u64::from(four(bytes).unwrap_or(0)) | u64::from(last.unwrap_or(0)) << 32
        }
        _ => bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}
