//! BY groups: keys as bytes whose order is SAS's, FIRST. and LAST., and the check of the order.

use sas7bdat::Kind;

use super::{Feed, truth};
use crate::dataset::copy::store_number;
use crate::expr::Slot;
use crate::expr::evaluate::order_key;
use crate::failure::{Failure, Outcome};

/// A BY statement.
pub(super) struct By {
    /// Where the BY values lie in the rows of each data set.
    keys: Vec<Vec<KeyPart>>,
    /// Where each value ends in a key.
    ends: Vec<usize>,
    first: Vec<Slot>,
    last: Vec<Slot>,
    not_sorted: bool,
    /// Values of the present group.
    key: Vec<u8>,
    started: bool,
    primed: bool,
}

/// A BY value in the rows of a data set.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyPart {
    pub(super) slot: Slot,
    /// Bytes in the key: 8, or as many as the longest of these variables has.
    pub(super) bytes: usize,
    pub(super) descending: bool,
}

impl KeyPart {
    fn encode(self, row: &[u8], key: &mut Vec<u8>) {
        let start = key.len();
        match self.slot.kind {
            Kind::Numeric => {
                key.extend_from_slice(&order_key(self.slot.number(row)).to_be_bytes());
            }
            Kind::Character => {
                key.extend_from_slice(self.slot.bytes(row));
                key.resize(start + self.bytes, b' ');
            }
        }
        if self.descending {
            for byte in &mut key[start..] {
                *byte = !*byte;
            }
        }
    }
}

/// The feed with the smallest key, the first of equals.
pub(super) fn smallest(feeds: &[Feed]) -> Option<usize> {
    let held = feeds.iter().enumerate().filter(|(_, feed)| feed.held);
    held.min_by(|(_, left), (_, right)| left.key.cmp(&right.key))
        .map(|(index, _)| index)
}

impl By {
    /// A statement over `keys`, one list for each data set.
    pub(super) fn new(
        keys: Vec<Vec<KeyPart>>,
        first: Vec<Slot>,
        last: Vec<Slot>,
        not_sorted: bool,
    ) -> Self {
        let mut end = 0;
        let parts = keys.first().map_or(&[][..], Vec::as_slice);
        let ends = parts
            .iter()
            .map(|part| {
                end += part.bytes;
                end
            })
            .collect();
        Self {
            keys,
            ends,
            first,
            last,
            not_sorted,
            key: Vec::new(),
            started: false,
            primed: false,
        }
    }

    /// How many BY variables there are.
    pub(super) fn parts(&self) -> usize {
        self.ends.len()
    }

    /// Values of the present group.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Reads the first row of every data set.
    pub(super) fn prime(&mut self, feeds: &mut [Feed]) -> Outcome<()> {
        if std::mem::replace(&mut self.primed, true) {
            return Ok(());
        }
        for (index, feed) in feeds.iter_mut().enumerate() {
            feed.number = index;
            self.read(feed)?;
        }
        Ok(())
    }

    fn read(&self, feed: &mut Feed) -> Outcome<bool> {
        if !feed.look_ahead()? {
            return Ok(false);
        }
        feed.spare.clear();
        for part in &self.keys[feed.number] {
            part.encode(feed.input.last_row(), &mut feed.spare);
        }
        std::mem::swap(&mut feed.key, &mut feed.spare);
        Ok(true)
    }

    /// Reads the next row of a data set and checks its order.
    pub(super) fn advance(&self, feed: &mut Feed) -> Outcome<()> {
        // After reading, `spare` holds the key before.
        if self.read(feed)? && !self.not_sorted && feed.key < feed.spare {
            let name = feed.input.member().full_name();
            return Err(Failure::world(format!(
                "BY variables are not properly sorted on data set {name}."
            )));
        }
        Ok(())
    }

    /// Goes to `key`; returns the first BY variable that changed, or their number.
    pub(super) fn begin(&mut self, key: &[u8]) -> usize {
        let changed = if std::mem::replace(&mut self.started, true) {
            self.difference(key)
        } else {
            0
        };
        if changed < self.parts() {
            self.key.clear();
            self.key.extend_from_slice(key);
        }
        changed
    }

    fn difference(&self, key: &[u8]) -> usize {
        if self.key == key {
            return self.parts();
        }
        let same = self.key.iter().zip(key).take_while(|(a, b)| a == b).count();
        self.ends.partition_point(|end| *end <= same)
    }

    /// Sets FIRST. and LAST., given what changed before this row and the key that follows.
    pub(super) fn show(&self, changed: usize, next: Option<&Vec<u8>>, row: &mut [u8]) {
        let changes = next.map_or(0, |next| self.difference(next));
        for (index, (first, last)) in self.first.iter().zip(&self.last).enumerate() {
            store_number(first, row, truth(index >= changed));
            store_number(last, row, truth(index >= changes));
        }
    }
}
