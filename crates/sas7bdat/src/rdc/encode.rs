//! The encoder: Ross's routine with its hash table kept from row to row, as SAS keeps it.

const HASHES: usize = 4096;
const NOWHERE: u32 = u32::MAX;
const LONGEST_RUN: usize = 4114;
const LONGEST_MATCH: usize = 271;
/// A match begins at least so far back, and the distance beyond that takes so many bits.
const NEAREST: usize = 3;
const DISTANCE_BITS: u32 = 12;
/// Rows up to this length are stored as they are.
const TOO_SHORT: usize = 18;
/// Ross's routine gives up when a group may begin so near to the end of the row.
const SLACK: usize = 48;

/// Set in a mark where three equal bytes begin; the rest is the hash.
const RUN: u16 = 0x8000;
/// Literals are copied in chunks of what a group holds.
const CHUNK: usize = 16;

/// Turns rows into stored rows. Rows must come in the order of the file: what was seen in one row
/// decides which matches are found in the next.
#[derive(Debug)]
pub struct Encoder {
    table: Box<[u32; HASHES]>,
    /// The row, and zeros behind it, so that chunks can be taken anywhere.
    row: Vec<u8>,
    /// Hash of the three bytes that begin at each place of the row, or that they are equal.
    marks: Vec<u16>,
    out: Vec<u8>,
}

/// What comes behind some literals.
enum Next {
    Literal,
    Run,
    /// A match, so far back.
    Match(usize),
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// An encoder before the first row of a data set.
    pub fn new() -> Self {
        let table = Box::new([NOWHERE; HASHES]);
        Self {
            table,
            row: Vec::new(),
            marks: Vec::new(),
            out: Vec::new(),
        }
    }

    /// The stored form of a row, `None` if the row is stored as it is.
    pub fn encode(&mut self, row: &[u8]) -> Option<&[u8]> {
        let end = row.len();
        if end <= TOO_SHORT {
            return None;
        }
        self.mark(row);
        // A group takes at most 50 bytes, and none begins in the last 48 of the row.
        self.out.resize(end + 64 + CHUNK, 0);
        let (row, out) = (self.row.as_slice(), self.out.as_mut_slice());
        let mut group = Group {
            at: 0,
            bits: 0,
            items: 0,
            end: 2,
        };
        let mut at = 0;
        while at < end {
            if group.items == 16 {
                group.close(out);
                if group.end > end.saturating_sub(SLACK) {
                    return None;
                }
            }
            let room = 16 - group.items as usize;
            let (literals, next) = match self.marks.get(at..self.marks.len().min(at + room)) {
                Some(marks) if !marks.is_empty() => scan(&mut self.table, row, marks, at),
                _ => (room.min(end - at), Next::Literal),
            };
            group.literals(out, row, at, literals);
            at += literals;
            match next {
                Next::Literal => {}
                Next::Run => {
                    let run = run_length(row, at, end);
                    group.repeat(out, word(row, at), run);
                    at += run;
                }
                Next::Match(back) => {
                    let length = match_length(row, at - back, at, end);
                    group.back(out, back, length);
                    at += length;
                }
            }
        }
        group.finish(out);
        let stored = self.out.get(..group.end)?;
        (stored.len() < end).then_some(stored)
    }

    /// Copies the row and marks its places; the last two have no mark.
    fn mark(&mut self, row: &[u8]) {
        self.row.clear();
        self.row.extend_from_slice(row);
        self.row.extend_from_slice(&[0; CHUNK]);
        let (second, third) = (row.get(1..).unwrap_or(&[]), row.get(2..).unwrap_or(&[]));
        self.marks.clear();
        self.marks.extend(
            row.iter()
                .zip(second)
                .zip(third)
                .map(|((first, second), third)| {
                    let run = u16::from(first == second) & u16::from(second == third);
                    hash(*first, *second, *third) | (run << 15)
                }),
        );
    }
}

/// Goes on to the next code: how many literals come before it. The places where a match was looked for
/// are kept in the table.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a row has less than 2^32 bytes"
)]
fn scan(table: &mut [u32; HASHES], row: &[u8], marks: &[u16], start: usize) -> (usize, Next) {
    let words = row.get(start..).unwrap_or(&[]).windows(4);
    let last = row.len().saturating_sub(4);
    for (count, (mark, these)) in marks.iter().zip(words).enumerate() {
        if mark & RUN != 0 {
            return (count, Next::Run);
        }
        let at = start + count;
        let Some(entry) = table.get_mut(usize::from(*mark) & (HASHES - 1)) else {
            continue;
        };
        let place = std::mem::replace(entry, at as u32) as usize;
        // Entries of earlier rows may lie anywhere, even behind, so that the comparisons come out at
        // random: one branch for all of them. A match ends before `at`.
        let back = at.wrapping_sub(place);
        let far = back.wrapping_sub(NEAREST) >> DISTANCE_BITS;
        let differs = (word(row, place.min(last)) ^ word(these, 0)) << 8;
        if differs as usize | far == 0 {
            return (count, Next::Match(back));
        }
    }
    (marks.len(), Next::Literal)
}

/// Four bytes, the first one lowest.
#[inline]
fn word(row: &[u8], at: usize) -> u32 {
    let bytes = row.get(at..).and_then(<[u8]>::first_chunk::<4>);
    u32::from_le_bytes(bytes.copied().unwrap_or([0; 4]))
}

/// Ross's hash of three bytes, 12 bits.
#[inline]
fn hash(first: u8, second: u8, third: u8) -> u16 {
    let high = (u16::from(first & 15) << 8) | u16::from(second);
    high ^ (u16::from(first >> 4) | (u16::from(third) << 4))
}

/// How far the row at `at` goes on like that at `place`.
#[inline]
fn match_length(row: &[u8], place: usize, at: usize, end: usize) -> usize {
    let longest = LONGEST_MATCH.min(at - place).min(end - at);
    common(longest, |done| {
        eight(row, place + done) ^ eight(row, at + done)
    })
}

/// The group of items being filled.
struct Group {
    /// Where its control word goes.
    at: usize,
    bits: u32,
    items: u32,
    /// Behind what was stored so far.
    end: usize,
}

impl Group {
    fn close(&mut self, out: &mut [u8]) {
        self.finish(out);
        self.at = self.end;
        self.end += 2;
        self.bits = 0;
        self.items = 0;
    }

    fn finish(&mut self, out: &mut [u8]) {
        let bits = self.bits << (16 - self.items);
        let [_, _, high, low] = bits.to_be_bytes();
        if let Some(place) = out.get_mut(self.at..self.at + 2) {
            place.copy_from_slice(&[high, low]);
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "at most 16")]
    fn literals(&mut self, out: &mut [u8], row: &[u8], at: usize, count: usize) {
        let chunk = row.get(at..).and_then(<[u8]>::first_chunk::<CHUNK>);
        let place = out
            .get_mut(self.end..)
            .and_then(<[u8]>::first_chunk_mut::<CHUNK>);
        if let (Some(place), Some(chunk)) = (place, chunk) {
            *place = *chunk;
        }
        self.end += count;
        self.bits <<= count;
        self.items += count as u32;
    }

    #[inline]
    fn code(&mut self, out: &mut [u8], code: [u8; 3], used: usize) {
        if let Some(place) = out.get_mut(self.end..self.end + 3) {
            place.copy_from_slice(&code);
        }
        self.end += used;
        self.bits = (self.bits << 1) | 1;
        self.items += 1;
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "counts are limited to 12 bits"
    )]
    fn repeat(&mut self, out: &mut [u8], bytes: u32, length: usize) {
        let [byte, ..] = bytes.to_le_bytes();
        if length <= 18 {
            self.code(out, [(length - 3) as u8, byte, 0], 2);
        } else {
            let count = length - 19;
            self.code(out, [16 + (count & 15) as u8, (count >> 4) as u8, byte], 3);
        }
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "distances are limited to 12 bits"
    )]
    fn back(&mut self, out: &mut [u8], back: usize, length: usize) {
        let gap = back - NEAREST;
        let (low, high) = ((gap & 15) as u8, (gap >> 4) as u8);
        if length <= 15 {
            self.code(out, [((length as u8) << 4) + low, high, 0], 2);
        } else {
            self.code(out, [32 + low, high, (length - 16) as u8], 3);
        }
    }
}

/// How often the byte at `at` is repeated, itself included.
#[inline]
fn run_length(row: &[u8], at: usize, end: usize) -> usize {
    let longest = LONGEST_RUN.min(end - at);
    let pattern = (eight(row, at) & 0xff) * 0x0101_0101_0101_0101;
    common(longest, |done| eight(row, at + done) ^ pattern)
}

/// How many bytes agree, at most `longest`; `differing` has the bits in which the next eight differ.
#[inline]
fn common(longest: usize, differing: impl Fn(usize) -> u64) -> usize {
    let mut done = 0;
    while done < longest {
        let bits = differing(done);
        if bits != 0 {
            return longest.min(done + bits.trailing_zeros() as usize / 8);
        }
        done += 8;
    }
    longest
}

/// Eight bytes, the first one lowest; the row has zeros behind it.
#[inline]
fn eight(row: &[u8], at: usize) -> u64 {
    let bytes = row.get(at..).and_then(<[u8]>::first_chunk::<8>);
    u64::from_le_bytes(bytes.copied().unwrap_or([0; 8]))
}
