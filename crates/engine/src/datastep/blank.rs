//! Making variables missing: few long copies from a row in which everything is.

use crate::expr::Slot;

/// Byte ranges of a PDV and what they hold when their variables are missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Blank {
    ranges: Vec<(usize, usize)>,
    bytes: Vec<u8>,
}

impl Blank {
    /// Of `slots`, given a row in which every variable is missing.
    pub(super) fn new(slots: &[Slot], missing: &[u8]) -> Self {
        let mut slots: Vec<(usize, usize)> = slots
            .iter()
            .map(|slot| (slot.offset as usize, (slot.offset + slot.length) as usize))
            .collect();
        slots.sort_unstable();
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for (start, end) in slots {
            match ranges.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => ranges.push((start, end)),
            }
        }
        let bytes = ranges
            .iter()
            .flat_map(|(start, end)| &missing[*start..*end])
            .copied()
            .collect();
        Self { ranges, bytes }
    }

    /// Makes the variables missing.
    #[inline]
    pub(super) fn apply(&self, row: &mut [u8]) {
        let mut from = 0;
        for (start, end) in &self.ranges {
            let length = end - start;
            row[*start..*end].copy_from_slice(&self.bytes[from..from + length]);
            from += length;
        }
    }
}
