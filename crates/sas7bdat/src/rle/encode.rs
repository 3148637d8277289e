//! The encoder: greedy from left to right, byte for byte what SAS stores.

/// Turns rows into stored rows.
///
/// A run of NUL, blank or `@` of 2 bytes or of any other byte of 3 becomes a repeat, the rest is copied.
/// Widespread readers misread a repeat of more than 273 ordinary bytes or 17 `@`; unless `strict`, such
/// runs are split, which costs at most 2 bytes each.
#[derive(Debug)]
pub struct Encoder {
    longest_at: usize,
    longest_other: usize,
    /// Bit k: byte k of the row equals byte k + 1.
    equal: Vec<u64>,
    out: Vec<u8>,
}

const CHUNK: usize = 32;
const LONGEST_SPECIAL: usize = 17 + 4095;
const LONGEST_OTHER: usize = 18 + 4095;
const LONGEST_COPY: usize = 64 + 4095;

impl Encoder {
    /// An encoder; `strict` gives the bytes that SAS gives even where widespread readers fail.
    pub fn new(strict: bool) -> Self {
        let (longest_at, longest_other) = if strict {
            (LONGEST_SPECIAL, LONGEST_OTHER)
        } else {
            (17, 273)
        };
        Self {
            longest_at,
            longest_other,
            equal: Vec::new(),
            out: Vec::new(),
        }
    }

    /// The stored form of a row, `None` if it is not shorter and the row is stored as it is.
    pub fn encode(&mut self, row: &[u8]) -> Option<&[u8]> {
        self.mark_equal(row);
        // Everything is stored in whole chunks; what overhangs is overwritten or cut off.
        self.out.resize(row.len() + CHUNK * 3, 0);
        let (mut copied, mut at, mut end) = (0, 0, 0);
        while let Some(start) = self.next_run(at, row.len()) {
            let stop = self.run_end(start, row.len());
            at = stop;
            let byte = row.get(start).copied().unwrap_or(0);
            let special = matches!(byte, 0 | b' ' | b'@');
            // SAS leaves two special bytes at the end of a row as they are.
            let short = if special && stop < row.len() { 2 } else { 3 };
            if stop - start < short {
                continue;
            }
            end = self.copy(row.get(copied..start).unwrap_or(&[]), end)?;
            (end, copied) = self.repeat(byte, special, start, stop, end);
            if end >= row.len() {
                return None;
            }
        }
        end = self.copy(row.get(copied..).unwrap_or(&[]), end)?;
        if end < row.len() {
            self.out.get(..end)
        } else {
            None
        }
    }

    fn mark_equal(&mut self, row: &[u8]) {
        self.equal.clear();
        let mut rest = row;
        while let (Some(these), Some(next)) = (
            rest.first_chunk::<64>(),
            rest.get(1..).and_then(<[u8]>::first_chunk::<64>),
        ) {
            self.equal.push(equal_bits(these, next));
            rest = rest.get(64..).unwrap_or(&[]);
        }
        if rest.len() > 1 {
            let (mut these, mut next) = ([0; 64], [0; 64]);
            for (place, byte) in these.iter_mut().zip(rest) {
                *place = *byte;
            }
            for (place, byte) in next.iter_mut().zip(rest.get(1..).unwrap_or(&[])) {
                *place = *byte;
            }
            let valid = (1u64 << (rest.len() - 1)) - 1;
            self.equal.push(equal_bits(&these, &next) & valid);
        }
    }

    /// The first byte at or behind `at` that equals its successor.
    #[inline]
    fn next_run(&self, at: usize, bytes: usize) -> Option<usize> {
        if at >= bytes {
            return None;
        }
        let mut word = at / 64;
        let mut bits = self.equal.get(word)? & (u64::MAX << (at % 64));
        while bits == 0 {
            word += 1;
            bits = *self.equal.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// Behind the last byte of the run that begins at `start`.
    #[inline]
    fn run_end(&self, start: usize, bytes: usize) -> usize {
        let mut word = start / 64;
        let mut bits = !self.equal.get(word).copied().unwrap_or(0) & (u64::MAX << (start % 64));
        while bits == 0 {
            word += 1;
            bits = !self.equal.get(word).copied().unwrap_or(0);
        }
        (word * 64 + bits.trailing_zeros() as usize + 1).min(bytes)
    }

    /// Appends literals; `None` once the stored row cannot become shorter than the row.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "counts are split to fit their bytes"
    )]
    fn copy(&mut self, mut literals: &[u8], mut end: usize) -> Option<usize> {
        while literals.len() > 64 {
            let (these, rest) = literals.split_at(literals.len().min(LONGEST_COPY));
            let count = these.len() - 64;
            let place = self.out.get_mut(end..end + 2 + these.len())?;
            place
                .first_chunk_mut::<2>()?
                .copy_from_slice(&[(count >> 8) as u8, count as u8]);
            place.get_mut(2..)?.copy_from_slice(these);
            end += 2 + these.len();
            literals = rest;
        }
        if literals.is_empty() {
            return Some(end);
        }
        *self.out.get_mut(end)? = 0x7F + literals.len() as u8;
        self.out
            .get_mut(end + 1..end + 1 + literals.len())?
            .copy_from_slice(literals);
        Some(end + 1 + literals.len())
    }

    /// Appends the repeats of a run; says what is left of it to be copied.
    #[inline]
    fn repeat(
        &mut self,
        byte: u8,
        special: bool,
        mut start: usize,
        stop: usize,
        mut end: usize,
    ) -> (usize, usize) {
        let longest = match byte {
            b'@' => self.longest_at,
            _ if special => LONGEST_SPECIAL,
            _ => self.longest_other,
        };
        let shortest = if special { 2 } else { 3 };
        while stop - start >= shortest {
            let count = (stop - start).min(longest);
            let (control, used) = control(byte, special, count);
            if let Some(place) = self.out.get_mut(end..end + 3) {
                place.copy_from_slice(&control);
            }
            end += used;
            start += count;
        }
        (end, start)
    }
}

/// The control of a repeat, and how many of the bytes count.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "counts fit 12 bits")]
fn control(byte: u8, special: bool, count: usize) -> ([u8; 3], usize) {
    if !special {
        if count <= 18 {
            return ([0xC0 + (count as u8 - 3), byte, 0], 2);
        }
        let rest = count - 18;
        return ([0x40 + (rest >> 8) as u8, rest as u8, byte], 3);
    }
    let (short, long) = match byte {
        b'@' => (0xD0, 0x50),
        b' ' => (0xE0, 0x60),
        _ => (0xF0, 0x70),
    };
    if count <= 17 {
        return ([short + (count as u8 - 2), 0, 0], 1);
    }
    let rest = count - 17;
    ([long + (rest >> 8) as u8, rest as u8, 0], 2)
}

/// Bit k: byte k of both is the same.
#[inline]
fn equal_bits(these: &[u8; 64], next: &[u8; 64]) -> u64 {
    let mut same = [0u8; 64];
    for ((same, this), next) in same.iter_mut().zip(these).zip(next) {
        *same = u8::from(this == next);
    }
    let mut bits = 0;
    for (group, eight) in same.as_chunks::<8>().0.iter().enumerate() {
        // The multiplication gathers the low bits of eight bytes in the highest byte.
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= gathered << (8 * group);
    }
    bits
}
