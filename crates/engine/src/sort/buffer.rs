//! Rows in memory with a sort entry each.

use std::ops::RangeInclusive;

use super::key::SortKey;
use super::memory::Memory;
use super::parts::PARALLEL_ROWS;

/// A row's key prefix and its number in the buffer. Ordering by the pair keeps equal prefixes in
/// the order they came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    prefix: u64,
    row: u32,
}

/// Memory of an entry, with its share of the scratch space that sorting in threads takes.
const ENTRY_BYTES: u64 = size_of::<Entry>() as u64 * 3 / 2;

/// Rows of one length, sorted through their entries without being moved.
pub(super) struct RowBuffer {
    row_bytes: usize,
    capacity: usize,
    rows: Memory,
    entries: Vec<Entry>,
}

impl RowBuffer {
    /// Rows that fit `memory_bytes` with their entries, at least one.
    pub(super) fn rows_in(row_bytes: u32, memory_bytes: u64) -> u64 {
        let fitting = memory_bytes / (u64::from(row_bytes) + ENTRY_BYTES);
        fitting.clamp(1, u64::from(u32::MAX))
    }

    /// Room for `capacity` rows, at most 2^32 - 1.
    pub(super) fn new(row_bytes: u32, capacity: u64) -> Self {
        let capacity = usize::try_from(capacity).expect("at most 2^32 rows");
        let row_bytes = row_bytes as usize;
        Self {
            row_bytes,
            capacity,
            rows: Memory::of(capacity * row_bytes),
            entries: Vec::with_capacity(capacity),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() == self.capacity
    }

    /// Where the next row goes; the buffer must not be full.
    #[inline]
    pub(super) fn next_slot(&mut self) -> &mut [u8] {
        let start = self.entries.len() * self.row_bytes;
        self.rows.reach(start + self.row_bytes);
        &mut self.rows[start..start + self.row_bytes]
    }

    /// Makes an entry for the row in the slot.
    #[inline]
    pub(super) fn added(&mut self, key: &SortKey) {
        let number = self.entries.len();
        let start = number * self.row_bytes;
        let prefix = key.prefix(&self.rows[start..start + self.row_bytes]);
        let row = u32::try_from(number).expect("capacity is at most 2^32 rows");
        self.entries.push(Entry { prefix, row });
    }

    /// Orders the entries by key; rows with equal keys stay in the order they came.
    pub(super) fn sort(&mut self, key: &SortKey, threads: usize) {
        let order = Order {
            key,
            rows: &self.rows,
            row_bytes: self.row_bytes,
        };
        let entries = self.entries.as_mut_slice();
        if threads < 2 || (entries.len() as u64) < PARALLEL_ROWS {
            order.sort(entries);
            return;
        }
        let part = entries.len().div_ceil(threads);
        std::thread::scope(|scope| {
            for part in entries.chunks_mut(part) {
                scope.spawn(|| order.sort(part));
            }
        });
        // A merge of sorted parts: the standard stable sort finds them as runs.
        entries.sort_by(|left, right| order.compare(left, right));
    }

    /// Hands out all rows in entry order.
    pub(super) fn drain<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.entries
            .iter()
            .try_for_each(|entry| take(self.row(*entry)))
    }

    /// Forgets the rows and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// The row at a place of the order, and its prefix.
    #[inline]
    pub(super) fn at(&self, place: usize) -> Option<(u64, &[u8])> {
        let entry = self.entries.get(place)?;
        Some((entry.prefix, self.row(*entry)))
    }

    #[inline]
    fn row(&self, entry: Entry) -> &[u8] {
        let start = entry.row as usize * self.row_bytes;
        &self.rows[start..start + self.row_bytes]
    }
}

struct Order<'a> {
    key: &'a SortKey,
    rows: &'a [u8],
    row_bytes: usize,
}

/// Entries that are ordered byte by byte: fewer are compared as quickly, more take too much memory again.
const BY_BYTES: RangeInclusive<usize> = 64..=1 << 19;
/// Most bytes of the prefix that may differ for that.
const BYTES_MOST: usize = 4;

/// Orders entries, which lie in the order of their rows, by those bytes of the prefix that differ at all,
/// the least significant first; false if that does not pay. Codes, dates and small numbers differ in two or
/// three of the eight.
fn sort_by_bytes(entries: &mut [Entry]) -> bool {
    if !BY_BYTES.contains(&entries.len()) {
        return false;
    }
    let differing = entries
        .iter()
        .fold(0, |bits, one| bits | (one.prefix ^ entries[0].prefix));
    let bytes = || (0..8u32).filter(|byte| (differing >> (8 * byte)) & 0xFF != 0);
    if bytes().count() > BYTES_MOST {
        return false;
    }
    if entries.is_sorted() {
        return true;
    }
    let mut other = entries.to_vec();
    let (mut from, mut to) = (&mut *entries, other.as_mut_slice());
    for byte in bytes() {
        let digit = |one: &Entry| usize::from(one.prefix.to_le_bytes()[byte as usize]);
        let mut starts = [0; 256];
        for one in &*from {
            starts[digit(one)] += 1;
        }
        let mut start = 0;
        for place in &mut starts {
            start += std::mem::replace(place, start);
        }
        for one in &*from {
            let place = &mut starts[digit(one)];
            to[*place] = *one;
            *place += 1;
        }
        (from, to) = (to, from);
    }
    if bytes().count() % 2 == 1 {
        entries.copy_from_slice(&other);
    }
    true
}

impl Order<'_> {
    fn sort(&self, entries: &mut [Entry]) {
        if self.key.prefix_decides() {
            if !sort_by_bytes(entries) {
                entries.sort_unstable();
            }
        } else {
            entries.sort_unstable_by(|left, right| self.compare(left, right));
        }
    }

    #[inline]
    fn compare(&self, left: &Entry, right: &Entry) -> std::cmp::Ordering {
        left.prefix.cmp(&right.prefix).then_with(|| {
            let full = if self.key.prefix_decides() {
                std::cmp::Ordering::Equal
            } else {
                self.key.compare(self.row(left), self.row(right))
            };
            full.then(left.row.cmp(&right.row))
        })
    }

    fn row(&self, entry: &Entry) -> &[u8] {
        let start = entry.row as usize * self.row_bytes;
        &self.rows[start..start + self.row_bytes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_by_byte_is_the_order_of_comparisons() {
        let numbers = base::random::Stream::new(5);
        for count in [1, 63, 64, 65, 1000, 5000] {
            for mask in [0, 0xFF, 0x00FF_0F00, 0xFF00_0000_0000_0003, u64::MAX] {
                let entries: Vec<Entry> = (0..count)
                    .map(|row| Entry {
                        prefix: numbers.word(row.into()) & mask,
                        row,
                    })
                    .collect();
                let mut expected = entries.clone();
                expected.sort_unstable();
                let mut sorted = entries.clone();
                let done = sort_by_bytes(&mut sorted);
                assert_eq!(done, count >= 64 && mask != u64::MAX, "{count} {mask:x}");
                assert_eq!(sorted, if done { expected } else { entries });
            }
        }
    }
}
