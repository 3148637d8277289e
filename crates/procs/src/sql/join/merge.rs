//! The merge of two sorted sides. The right rows of the key in work are in memory.

use std::cmp::Ordering;

use engine::failure::Outcome;
use engine::session::World;
use engine::sort::Sorted;

use super::super::rows::{fill_missing, out_of_memory};
use super::{Residual, Side};

/// A sorted side, standing on a row: its key, then what is taken over.
struct Stream {
    sorted: Sorted,
    row: Vec<u8>,
    live: bool,
    key_bytes: usize,
}

impl Stream {
    fn new(sorted: Sorted, key_bytes: usize, world: &mut World) -> Outcome<Self> {
        let mut stream = Self {
            sorted,
            row: Vec::new(),
            live: true,
            key_bytes,
        };
        stream.advance(world)?;
        Ok(stream)
    }

    fn advance(&mut self, world: &mut World) -> Outcome<()> {
        match self.sorted.next_row(world)? {
            Some(row) => {
                self.row.clear();
                self.row.extend_from_slice(row);
            }
            None => self.live = false,
        }
        Ok(())
    }

    fn key(&self) -> &[u8] {
        &self.row[..self.key_bytes]
    }

    fn kept(&self) -> &[u8] {
        &self.row[self.key_bytes..]
    }
}

/// Both sides, and the right rows of one key.
pub(super) struct Merged {
    left: Stream,
    right: Stream,
    group_key: Vec<u8>,
    group: Vec<u8>,
    matched: Vec<bool>,
    /// The next right row for the left row in work.
    at: usize,
    in_row: bool,
    row_matched: bool,
    /// The next right row to be looked at once its key is done.
    leaving: usize,
    limit: u64,
}

impl Merged {
    pub(super) fn new(
        left: Sorted,
        right: Sorted,
        key_bytes: usize,
        limit: u64,
        world: &mut World,
    ) -> Outcome<Self> {
        Ok(Self {
            left: Stream::new(left, key_bytes, world)?,
            right: Stream::new(right, key_bytes, world)?,
            group_key: Vec::new(),
            group: Vec::new(),
            matched: Vec::new(),
            at: 0,
            in_row: false,
            row_matched: false,
            leaving: 0,
            limit,
        })
    }

    /// Whether there is a next row in `out`.
    pub(super) fn next(
        &mut self,
        (left, right): (&Side, &Side),
        mut residual: Option<&mut Residual>,
        out: &mut [u8],
        world: &mut World,
    ) -> Outcome<bool> {
        loop {
            if self.in_row {
                if self.next_match(right.bytes, residual.as_deref_mut(), out, left.bytes, world)? {
                    return Ok(true);
                }
                self.in_row = false;
                self.left.advance(world)?;
                if !self.row_matched && left.preserved {
                    fill_missing(&right.slots, &mut out[left.bytes..]);
                    return Ok(true);
                }
            }
            if self.left.live && !self.matched.is_empty() && self.group_key == self.left.key() {
                out[..left.bytes].copy_from_slice(self.left.kept());
                (self.at, self.in_row, self.row_matched) = (0, true, false);
                continue;
            }
            if self.leave(left, right, out) {
                return Ok(true);
            }
            match self.order() {
                None => return Ok(false),
                Some(Ordering::Equal) => self.load(world)?,
                Some(Ordering::Less) => {
                    out[..left.bytes].copy_from_slice(self.left.kept());
                    self.left.advance(world)?;
                    if left.preserved {
                        fill_missing(&right.slots, &mut out[left.bytes..]);
                        return Ok(true);
                    }
                    // Nothing can match any more.
                    if !self.right.live {
                        self.left.sorted.close(world)?;
                        self.left.live = false;
                    }
                }
                Some(Ordering::Greater) => {
                    out[left.bytes..].copy_from_slice(self.right.kept());
                    self.right.advance(world)?;
                    if right.preserved {
                        fill_missing(&left.slots, &mut out[..left.bytes]);
                        return Ok(true);
                    }
                    if !self.left.live {
                        self.right.sorted.close(world)?;
                        self.right.live = false;
                    }
                }
            }
        }
    }

    /// The next right row that goes with the left row in work.
    fn next_match(
        &mut self,
        bytes: usize,
        mut residual: Option<&mut Residual>,
        out: &mut [u8],
        start: usize,
        world: &mut World,
    ) -> Outcome<bool> {
        while self.at < self.matched.len() {
            let row = &self.group[self.at * bytes..(self.at + 1) * bytes];
            out[start..].copy_from_slice(row);
            self.at += 1;
            if Residual::holds(residual.as_deref_mut(), out, world)? {
                self.matched[self.at - 1] = true;
                self.row_matched = true;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The key in work is done: hands out its right rows that met nothing, then forgets them.
    fn leave(&mut self, left: &Side, right: &Side, out: &mut [u8]) -> bool {
        while right.preserved && self.leaving < self.matched.len() {
            let at = self.leaving;
            self.leaving += 1;
            if !self.matched[at] {
                fill_missing(&left.slots, &mut out[..left.bytes]);
                let row = &self.group[at * right.bytes..(at + 1) * right.bytes];
                out[left.bytes..].copy_from_slice(row);
                return true;
            }
        }
        self.group.clear();
        self.matched.clear();
        self.leaving = 0;
        false
    }

    /// How the rows on which both sides stand compare; an ended side comes last.
    fn order(&self) -> Option<Ordering> {
        match (self.left.live, self.right.live) {
            (false, false) => None,
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (true, true) => Some(self.left.key().cmp(self.right.key())),
        }
    }

    fn load(&mut self, world: &mut World) -> Outcome<()> {
        self.group_key.clear();
        self.group_key.extend_from_slice(self.right.key());
        while self.right.live && self.right.key() == self.group_key {
            self.group.extend_from_slice(self.right.kept());
            self.matched.push(false);
            if (self.group.capacity() + self.matched.capacity()) as u64 > self.limit {
                return Err(out_of_memory("the rows of one key of a join", self.limit));
            }
            self.right.advance(world)?;
        }
        Ok(())
    }
}
