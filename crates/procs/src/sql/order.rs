//! ORDER BY and DISTINCT: rows through the engine's sort.

use engine::expr::Slot;
use engine::failure::Outcome;
use engine::session::World;
use engine::sort::{Sorted, Sorter};

use super::key::{Key, decode, sorted, sorter};
use super::machine::Machine;
use super::rows::{Projection, Rows};

/// Rows in the order of a key, each made by a projection.
pub(super) struct Ordered {
    pub(super) rows: Box<dyn Rows>,
    pub(super) machine: Machine,
    pub(super) key: Key,
    /// What is kept of a row; the row itself without it.
    pub(super) projection: Option<Projection>,
    pub(super) row_bytes: usize,
    pub(super) memory: u64,
    pub(super) most: u64,
    pub(super) sorted: Option<Sorted>,
}

impl Ordered {
    fn read(&mut self, world: &mut World) -> Outcome<Sorted> {
        let bytes = self.key.bytes + self.row_bytes;
        let mut sorter: Sorter =
            sorter(world, self.key.bytes, bytes, self.memory, self.most, false);
        let mut held = vec![0; bytes];
        while let Some(row) = self.rows.next(world)? {
            self.machine.begin(row);
            let (key, kept) = held.split_at_mut(self.key.bytes);
            self.key.encode(&mut self.machine, row, world, key)?;
            match &mut self.projection {
                Some(projection) => projection.apply(row, kept, world)?,
                None => kept.copy_from_slice(&row[..self.row_bytes]),
            }
            sorter.next_slot(world)?.copy_from_slice(&held);
            sorter.added();
        }
        self.rows.close(world)?;
        sorted(sorter, world)
    }
}

impl Rows for Ordered {
    fn next(&mut self, world: &mut World) -> Outcome<Option<&[u8]>> {
        if self.sorted.is_none() {
            self.sorted = Some(self.read(world)?);
        }
        let Some(sorted) = &mut self.sorted else {
            return Ok(None);
        };
        let row = sorted.next_row(world)?;
        Ok(row.map(|row| &row[self.key.bytes..]))
    }

    fn close(&mut self, world: &mut World) -> Outcome<()> {
        if let Some(sorted) = &mut self.sorted {
            sorted.close(world)?;
        }
        self.rows.close(world)
    }
}

/// Sorts whole rows as keys, for the set operators.
pub(super) fn sorted_rows(
    rows: &mut dyn Rows,
    machine: &mut Machine,
    key: &mut Key,
    memory: u64,
    most: u64,
    world: &mut World,
) -> Outcome<Sorted> {
    let mut sorter = sorter(world, key.bytes, key.bytes, memory, most, false);
    let mut held = vec![0; key.bytes];
    while let Some(row) = rows.next(world)? {
        machine.begin(row);
        key.encode(machine, row, world, &mut held)?;
        sorter.next_slot(world)?.copy_from_slice(&held);
        sorter.added();
    }
    rows.close(world)?;
    sorted(sorter, world)
}

/// One side of EXCEPT and INTERSECT: keys with how often each comes.
pub(super) struct Counted {
    sorted: Sorted,
    next: Option<Vec<u8>>,
}

impl Counted {
    pub(super) fn new(mut sorted: Sorted, world: &mut World) -> Outcome<Self> {
        let next = sorted.next_row(world)?.map(<[u8]>::to_vec);
        Ok(Self { sorted, next })
    }

    pub(super) fn key(&self) -> Option<&[u8]> {
        self.next.as_deref()
    }

    /// Passes all rows of the key and counts them.
    pub(super) fn pass(&mut self, world: &mut World) -> Outcome<u64> {
        let Some(key) = &mut self.next else {
            return Ok(0);
        };
        let mut count = 1;
        loop {
            match self.sorted.next_row(world)? {
                Some(row) if row == key.as_slice() => count += 1,
                Some(row) => {
                    key.copy_from_slice(row);
                    return Ok(count);
                }
                None => {
                    self.next = None;
                    return Ok(count);
                }
            }
        }
    }
}

/// A side that is still to be read.
pub(super) struct Side {
    pub(super) rows: Box<dyn Rows>,
    pub(super) machine: Machine,
    pub(super) key: Key,
    pub(super) most: u64,
}

/// EXCEPT and INTERSECT.
pub(super) struct Compared {
    pub(super) left: Side,
    pub(super) right: Side,
    pub(super) memory: u64,
    pub(super) intersect: bool,
    pub(super) all: bool,
    pub(super) slots: Vec<Slot>,
    pub(super) state: Option<(Counted, Counted)>,
    pub(super) row: Vec<u8>,
    /// How often the row is still to be given.
    pub(super) repeat: u64,
}

impl Compared {
    fn read(side: &mut Side, memory: u64, world: &mut World) -> Outcome<Counted> {
        let sorted = sorted_rows(
            side.rows.as_mut(),
            &mut side.machine,
            &mut side.key,
            memory,
            side.most,
            world,
        )?;
        Counted::new(sorted, world)
    }

    /// How often a row comes that is `left` times on the left and `right` times on the right.
    fn times(&self, left: u64, right: u64) -> u64 {
        match (self.intersect, self.all) {
            (true, true) => left.min(right),
            (false, true) => left.saturating_sub(right),
            (true, false) => u64::from(right > 0),
            (false, false) => u64::from(right == 0),
        }
    }
}

impl Rows for Compared {
    fn next(&mut self, world: &mut World) -> Outcome<Option<&[u8]>> {
        if self.state.is_none() {
            let left = Self::read(&mut self.left, self.memory / 2, world)?;
            let right = Self::read(&mut self.right, self.memory / 2, world)?;
            self.state = Some((left, right));
        }
        while self.repeat == 0 {
            let Some((left, right)) = &mut self.state else {
                return Ok(None);
            };
            let Some(key) = left.key().map(<[u8]>::to_vec) else {
                return Ok(None);
            };
            let count = left.pass(world)?;
            while right.key().is_some_and(|other| other < key.as_slice()) {
                right.pass(world)?;
            }
            let same = right.key() == Some(key.as_slice());
            let others = if same { right.pass(world)? } else { 0 };
            decode(&key, &self.slots, &mut self.row);
            self.repeat = self.times(count, others);
        }
        self.repeat -= 1;
        Ok(Some(&self.row))
    }

    fn close(&mut self, world: &mut World) -> Outcome<()> {
        self.left.rows.close(world)?;
        self.right.rows.close(world)
    }
}
