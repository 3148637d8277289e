//! Joins on equal keys: by a table of the smaller side in memory if it fits there, otherwise both sides
//! are sorted and merged. Without a key every row meets every other one.

mod merge;

use engine::dataset::copy::RowCopy;
use engine::expr::Slot;
use engine::failure::Outcome;
use engine::hash_table::Table;
use engine::session::World;
use engine::sort::{Sorted, Sorter};

use self::merge::Merged;
use super::key::{Key, sorted, sorter};
use super::machine::{Machine, Program};
use super::rows::{Rows, fill_missing, out_of_memory};

/// Memory of the smallest table, bytes.
const TABLE_LEAST: u64 = 2 << 20;

/// One side of a join.
pub(super) struct Side {
    pub(super) rows: Box<dyn Rows>,
    pub(super) machine: Machine,
    pub(super) key: Key,
    /// What is taken over from its rows.
    pub(super) copy: RowCopy,
    pub(super) bytes: usize,
    /// Places of its columns among the bytes taken over.
    pub(super) slots: Vec<Slot>,
    /// There are not more rows than this; exactly so many if the flag says so.
    pub(super) most: u64,
    /// There are perhaps so many.
    pub(super) guess: u64,
    pub(super) exact: bool,
    /// Its rows come also if they match nothing.
    pub(super) preserved: bool,
}

impl Side {
    /// Memory of all its rows in a table, about.
    fn table_bytes(&self) -> u64 {
        let each = self.key.bytes + self.bytes + 28;
        self.guess.saturating_mul(each as u64)
    }

    fn sorter(&self, memory: u64, world: &World) -> Sorter {
        let bytes = self.key.bytes + self.bytes;
        sorter(world, self.key.bytes, bytes, memory, self.most, false)
    }

    /// Takes all rows that are left into a sort.
    fn sort(&mut self, mut sorter: Sorter, world: &mut World) -> Outcome<Sorted> {
        let mut held = vec![0; self.key.bytes + self.bytes];
        while let Some(row) = self.rows.next(world)? {
            self.machine.begin(row);
            let (key, kept) = held.split_at_mut(self.key.bytes);
            self.key.encode(&mut self.machine, row, world, key)?;
            self.copy.apply(row, kept);
            sorter.next_slot(world)?.copy_from_slice(&held);
            sorter.added();
        }
        self.rows.close(world)?;
        sorted(sorter, world)
    }
}

/// Conditions on joined rows beyond the key.
pub(super) struct Residual {
    pub(super) machine: Machine,
    pub(super) conditions: Vec<Program>,
}

impl Residual {
    fn holds(this: Option<&mut Self>, row: &[u8], world: &mut World) -> Outcome<bool> {
        let Some(this) = this else { return Ok(true) };
        this.machine.begin(row);
        for condition in &mut this.conditions {
            if !this.machine.holds(condition, row, world)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A join; its rows are those of the left side, behind them those of the right side.
pub(super) struct Join {
    pub(super) left: Side,
    pub(super) right: Side,
    pub(super) residual: Option<Residual>,
    pub(super) memory: u64,
    state: State,
    out: Vec<u8>,
}

enum State {
    Start,
    Table(Box<Hashed>),
    Merge(Box<Merged>),
}

/// A join by a table.
struct Hashed {
    table: Table,
    build_left: bool,
    key: Vec<u8>,
    /// Items of the table that met a row, if that must be known.
    matched: Vec<bool>,
    /// The next item for the row in work.
    chain: Option<u32>,
    in_row: bool,
    row_matched: bool,
    /// All rows of the other side came; the next item to look at.
    rest: Option<u32>,
}

impl Join {
    pub(super) fn new(left: Side, right: Side, residual: Option<Residual>, memory: u64) -> Self {
        let out = vec![0; left.bytes + right.bytes];
        Self {
            left,
            right,
            residual,
            memory,
            state: State::Start,
            out,
        }
    }

    /// Reads the smaller side into a table, or sorts both sides if it does not fit.
    fn start(&mut self, world: &mut World) -> Outcome<State> {
        let build_left = self.left.table_bytes() < self.right.table_bytes();
        let mut limit = self.memory / 2;
        let build = if build_left {
            &mut self.left
        } else {
            &mut self.right
        };
        let crossed = build.key.bytes == 0;
        if crossed {
            // There is no other way: a table takes at least one chunk.
            limit = limit.max(TABLE_LEAST);
        }
        let hopeless = build.exact && build.table_bytes() > limit;
        let mut table = Table::new(build.key.bytes, build.bytes);
        if crossed || !hopeless {
            let fits = fill(build, &mut table, limit, world)?;
            if fits {
                let items = if build.preserved { table.items() } else { 0 };
                return Ok(State::Table(Box::new(Hashed {
                    key: vec![0; build.key.bytes],
                    matched: vec![false; items],
                    table,
                    build_left,
                    chain: None,
                    in_row: false,
                    row_matched: false,
                    rest: None,
                })));
            }
            if crossed {
                return Err(out_of_memory(
                    "a side of a join without equal columns",
                    limit,
                ));
            }
        }
        let mut first = build.sorter(limit, world);
        for item in 0..u32::try_from(table.items()).unwrap_or(u32::MAX) {
            let slot = first.next_slot(world)?;
            let (key, kept) = slot.split_at_mut(build.key.bytes);
            key.copy_from_slice(table.key(item));
            kept.copy_from_slice(&table.data(item)[..build.bytes]);
            first.added();
        }
        drop(table);
        let first = build.sort(first, world)?;
        let other = if build_left {
            &mut self.right
        } else {
            &mut self.left
        };
        let second = other.sorter(limit, world);
        let second = other.sort(second, world)?;
        let (left, right) = if build_left {
            (first, second)
        } else {
            (second, first)
        };
        let key_bytes = self.left.key.bytes;
        let merged = Merged::new(left, right, key_bytes, self.memory / 4, world)?;
        Ok(State::Merge(Box::new(merged)))
    }
}

/// Takes rows into a table; false if there is no room for the next one, which is in no table then.
fn fill(build: &mut Side, table: &mut Table, limit: u64, world: &mut World) -> Outcome<bool> {
    if table.growth() > limit {
        return Ok(false);
    }
    let mut key = vec![0; build.key.bytes];
    let mut kept = vec![0; build.bytes];
    while let Some(row) = build.rows.next(world)? {
        build.machine.begin(row);
        build.key.encode(&mut build.machine, row, world, &mut key)?;
        build.copy.apply(row, &mut kept);
        let added = table.add(&key, &kept);
        // The row above is in; room is needed for one more.
        let growth = table.growth();
        let flags = table.items() as u64;
        if added.is_none() || (growth > 0 && table.bytes() + growth + flags > limit) {
            return Ok(false);
        }
    }
    build.rows.close(world)?;
    Ok(true)
}

impl Hashed {
    /// Whether there is a next row in `out`.
    fn next(
        &mut self,
        sides: (&mut Side, &mut Side),
        mut residual: Option<&mut Residual>,
        out: &mut [u8],
        world: &mut World,
    ) -> Outcome<bool> {
        let (left, right) = sides;
        let (left_part, right_part) = (0..left.bytes, left.bytes..left.bytes + right.bytes);
        let (build, probe, build_part, probe_part) = if self.build_left {
            (left, right, left_part, right_part)
        } else {
            (right, left, right_part, left_part)
        };
        while self.rest.is_none() {
            if let Some(item) = self.chain {
                self.chain = self.table.next_of_key(item);
                let data = &self.table.data(item)[..build.bytes];
                out[build_part.clone()].copy_from_slice(data);
                if Residual::holds(residual.as_deref_mut(), out, world)? {
                    if let Some(matched) = self.matched.get_mut(item as usize) {
                        *matched = true;
                    }
                    self.row_matched = true;
                    return Ok(true);
                }
                continue;
            }
            if std::mem::take(&mut self.in_row) && !self.row_matched && probe.preserved {
                fill_missing(&build.slots, &mut out[build_part.clone()]);
                return Ok(true);
            }
            let Some(row) = probe.rows.next(world)? else {
                probe.rows.close(world)?;
                self.rest = Some(0);
                break;
            };
            probe.machine.begin(row);
            probe
                .key
                .encode(&mut probe.machine, row, world, &mut self.key)?;
            self.chain = self.table.find(&self.key);
            if self.chain.is_some() || probe.preserved {
                probe.copy.apply(row, &mut out[probe_part.clone()]);
                self.in_row = true;
                self.row_matched = false;
            }
        }
        let Some(rest) = &mut self.rest else {
            return Ok(false);
        };
        while let Some(matched) = self.matched.get(*rest as usize) {
            *rest += 1;
            if !matched {
                let data = &self.table.data(*rest - 1)[..build.bytes];
                out[build_part.clone()].copy_from_slice(data);
                fill_missing(&probe.slots, &mut out[probe_part]);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Rows for Join {
    fn next(&mut self, world: &mut World) -> Outcome<Option<&[u8]>> {
        if matches!(self.state, State::Start) {
            self.state = self.start(world)?;
        }
        let residual = self.residual.as_mut();
        let sides = (&mut self.left, &mut self.right);
        let more = match &mut self.state {
            State::Start => false,
            State::Table(hashed) => hashed.next(sides, residual, &mut self.out, world)?,
            State::Merge(merged) => {
                merged.next((&self.left, &self.right), residual, &mut self.out, world)?
            }
        };
        Ok(more.then_some(self.out.as_slice()))
    }

    fn close(&mut self, world: &mut World) -> Outcome<()> {
        self.left.rows.close(world)?;
        self.right.rows.close(world)
    }
}
