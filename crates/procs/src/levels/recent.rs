//! Which group the values of rows led to lately, by the bytes that the class variables have in a row:
//! most rows need no key made, no format applied and no table searched.

use super::ClassVariable;

/// Rows that are remembered at first, since most steps have few groups, and at most.
const PLACES: usize = 1 << 7;
const PLACES_MAX: usize = 1 << 13;
/// So many places side by side are tried for a row.
const TRIED: usize = 4;
/// Eight bytes each of a row's values; longer ones are not remembered.
const WORDS_MAX: usize = 4;
/// In the place of a group: the row is left out.
const LEFT_OUT: u32 = u32::MAX;

/// One to eight bytes of a row.
struct Piece {
    start: usize,
    length: usize,
    mask: u64,
}

/// Answers to rows seen before.
pub(crate) struct Recent {
    /// Pieces of a row that decide.
    pieces: Vec<Piece>,
    /// By place: a word of each piece, then the age and the group.
    seen: Vec<u64>,
    places: usize,
    /// Rows that came to be remembered.
    remembered: usize,
    /// Answers of another age were forgotten.
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
            pieces.extend((start..end).step_by(8).map(|start| {
                let length = (end - start).min(8);
                let mask = u64::MAX >> (64 - 8 * length);
                Piece {
                    start,
                    length,
                    mask,
                }
            }));
        }
        (pieces.len() <= WORDS_MAX).then(|| Self {
            seen: vec![0; PLACES * (pieces.len() + 1)],
            places: PLACES,
            remembered: 0,
            pieces,
            age: 1,
        })
    }

    /// The group of a row, or that it is left out, if that is remembered.
    #[inline]
    pub(crate) fn group(&self, row: &[u8]) -> Result<Option<usize>, Unseen> {
        let mut words = [0; WORDS_MAX];
        let mut hash = 0u64;
        for (word, piece) in words.iter_mut().zip(&self.pieces) {
            *word = piece.word(row);
            hash = (hash.rotate_left(29) ^ *word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the upper bits of a hash are a place"
        )]
        let place = (hash >> (64 - PLACES_MAX.trailing_zeros())) as usize & (self.places - 1);
        for place in (0..TRIED).map(|step| place ^ step) {
            let (known, answer) = self.at(place);
            let same = known.iter().zip(&words).all(|(known, word)| known == word);
            if same && let Some(group) = self.answer(answer) {
                return Ok((group != LEFT_OUT).then_some(group as usize));
            }
        }
        Err(Unseen { words, place })
    }

    /// Remembers what a row led to.
    pub(crate) fn remember(&mut self, unseen: &Unseen, group: Option<usize>) {
        let Ok(group) = u32::try_from(group.unwrap_or(LEFT_OUT as usize)) else {
            return;
        };
        self.remembered += 1;
        if self.remembered * 2 > self.places && self.places < PLACES_MAX {
            // What is known is learned again soon.
            self.places *= 4;
            self.remembered = 0;
            self.seen = vec![0; self.places * (self.pieces.len() + 1)];
            return;
        }
        let mut tried = (0..TRIED).map(|step| unseen.place ^ step);
        let free = tried.find(|place| self.answer(self.at(*place).1).is_none());
        let place = free.unwrap_or(unseen.place);
        let words = self.pieces.len();
        let start = place * (words + 1);
        self.seen[start..start + words].copy_from_slice(&unseen.words[..words]);
        self.seen[start + words] = u64::from(self.age) << 32 | u64::from(group);
    }

    /// Groups have other numbers from now on.
    pub(crate) fn forget(&mut self) {
        self.age = self.age.wrapping_add(1);
        if self.age == 0 {
            self.seen.fill(0);
            self.age = 1;
        }
    }

    #[inline]
    fn at(&self, place: usize) -> (&[u64], u64) {
        let words = self.pieces.len();
        let start = place * (words + 1);
        (&self.seen[start..start + words], self.seen[start + words])
    }

    /// The group of an answer that was not forgotten.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the lower half is the group"
    )]
    fn answer(&self, answer: u64) -> Option<u32> {
        (answer >> 32 == u64::from(self.age)).then_some(answer as u32)
    }
}

impl Piece {
    /// Its bytes in a row as a number. Eight are read where there are as many, and those behind it
    /// blanked out.
    #[inline]
    fn word(&self, row: &[u8]) -> u64 {
        let here = &row[self.start..];
        if let Some(all) = here.first_chunk() {
            return u64::from_le_bytes(*all) & self.mask;
        }
        let mut all = [0; 8];
        all[..self.length].copy_from_slice(&here[..self.length]);
        u64::from_le_bytes(all)
    }
}
