//! GROUP BY: groups are kept in a table in memory as long as they fit; rows of further groups go to a
//! sort. Both come out in the order of the keys and are merged. DISTINCT is grouping by all columns.

use engine::expr::Slot;
use engine::failure::Outcome;
use engine::hash_table::Table;
use engine::session::World;
use engine::sort::{Sorted, Sorter};
use sas7bdat::Kind;

use super::key::{Key, decode, sorted, sorter};
use super::machine::{Machine, Program};
use super::rows::Rows;
use super::summary::Summarizer;

/// A summary function with its argument.
pub(super) struct Column {
    pub(super) summarizer: Summarizer,
    pub(super) argument: Option<Program>,
    pub(super) distinct: bool,
    /// Where the result goes.
    pub(super) slot: Slot,
}

/// Groups being gathered and handed out.
pub(super) struct Groups {
    pub(super) machine: Machine,
    key: Key,
    key_slots: Vec<Slot>,
    columns: Vec<Column>,
    /// Half of it for groups, half for rows of groups that do not fit.
    memory: u64,
    most: u64,
    state_bytes: usize,
    /// The key and the arguments of the row in work.
    held: Vec<u8>,
    table: Table,
    /// The key of the row before, and its group.
    last: Option<(Vec<u8>, u32)>,
    /// Rows of groups that did not fit.
    spill: Option<Sorter>,
    /// Values of DISTINCT arguments by group, one sort for each such column.
    distinct: Vec<Option<Sorter>>,
    output: Option<Output>,
}

/// Groups in the order of their keys.
struct Output {
    /// The first bytes of their keys, and their numbers.
    order: Vec<(u64, u32)>,
    place: usize,
    spill: Option<Spilled>,
    distinct: Vec<Option<Values>>,
    key: Vec<u8>,
    state: Vec<u8>,
    row: Vec<u8>,
    /// Without GROUP BY there is one group even of no rows.
    single: bool,
}

struct Spilled {
    sorted: Sorted,
    next: Option<Vec<u8>>,
}

struct Values {
    sorted: Sorted,
    next: Option<Vec<u8>>,
}

impl Groups {
    pub(super) fn new(
        machine: Machine,
        key: Key,
        key_slots: Vec<Slot>,
        columns: Vec<Column>,
        (memory, most): (u64, u64),
    ) -> Self {
        let state_bytes = columns.iter().map(|one| one.summarizer.state_bytes()).sum();
        let argument_bytes: usize = columns.iter().map(Column::argument_bytes).sum();
        Self {
            held: vec![0; key.bytes + argument_bytes],
            table: Table::new(key.bytes, state_bytes),
            distinct: columns.iter().map(|_| None).collect(),
            machine,
            key,
            key_slots,
            columns,
            memory,
            most,
            state_bytes,
            last: None,
            spill: None,
            output: None,
        }
    }

    /// Bytes of a key.
    pub(super) const fn key_bytes(&self) -> usize {
        self.key.bytes
    }

    /// The key of the row that was taken last.
    pub(super) fn last_key(&self) -> &[u8] {
        &self.held[..self.key.bytes]
    }

    /// Takes a row in.
    #[inline]
    pub(super) fn take(&mut self, row: &[u8], world: &mut World) -> Outcome<()> {
        self.machine.begin(row);
        let (key, arguments) = self.held.split_at_mut(self.key.bytes);
        self.key.encode(&mut self.machine, row, world, key)?;
        let mut at = 0;
        for (column, distinct) in self.columns.iter_mut().zip(&mut self.distinct) {
            let bytes = column.argument_bytes();
            let place = &mut arguments[at..at + bytes];
            if let Some(program) = &mut column.argument {
                self.machine.encode(program, row, world, place)?;
            }
            at += bytes;
            if column.distinct {
                let width = key.len() + bytes;
                let values = distinct.get_or_insert_with(|| {
                    sorter(world, width, width, self.memory, self.most, true)
                });
                let slot = values.next_slot(world)?;
                slot[..key.len()].copy_from_slice(key);
                slot[key.len()..].copy_from_slice(place);
                values.added();
            }
        }
        match self.group() {
            Some(group) => {
                let arguments = &self.held[self.key.bytes..];
                add(&self.columns, self.table.data_mut(group), arguments);
                Ok(())
            }
            None => self.spill(world),
        }
    }

    /// The group of the row in work, made if there is room for it.
    #[inline]
    fn group(&mut self) -> Option<u32> {
        let key = &self.held[..self.key.bytes];
        if let Some((last, group)) = &self.last
            && last.as_slice() == key
        {
            return Some(*group);
        }
        let mut group = self.table.find(key);
        if group.is_none() && self.spill.is_none() {
            let growth = self.table.growth();
            // The order in which groups come out needs memory, too.
            let ordered = (size_of::<(u64, u32)>() * self.table.items()) as u64;
            let fits = growth == 0
                || key.is_empty()
                || self.table.bytes() + growth + ordered <= self.memory / 2;
            if fits {
                group = self.table.add(key, &vec![0; self.state_bytes]);
            }
        }
        if let Some(group) = group {
            match &mut self.last {
                Some((last, number)) => {
                    last.copy_from_slice(key);
                    *number = group;
                }
                None => self.last = Some((key.to_vec(), group)),
            }
        }
        group
    }

    #[cold]
    fn spill(&mut self, world: &mut World) -> Outcome<()> {
        let bytes = self.held.len();
        let spill = self.spill.get_or_insert_with(|| {
            sorter(
                world,
                self.key.bytes,
                bytes,
                self.memory / 2,
                self.most,
                false,
            )
        });
        spill.next_slot(world)?.copy_from_slice(&self.held);
        spill.added();
        Ok(())
    }

    /// All rows were taken.
    pub(super) fn finish(&mut self, world: &mut World) -> Outcome<()> {
        let order = in_order(&self.table);
        let spill = match self.spill.take() {
            None => None,
            Some(spill) => {
                let mut sorted = sorted(spill, world)?;
                let next = sorted.next_row(world)?.map(<[u8]>::to_vec);
                Some(Spilled { sorted, next })
            }
        };
        let mut distinct = Vec::new();
        for values in self.distinct.drain(..) {
            distinct.push(match values {
                None => None,
                Some(values) => {
                    let mut sorted = sorted(values, world)?;
                    let next = sorted.next_row(world)?.map(<[u8]>::to_vec);
                    Some(Values { sorted, next })
                }
            });
        }
        let ends = |slot: &Slot| (slot.offset + slot.length) as usize;
        let results = self.columns.iter().map(|column| &column.slot);
        let row_bytes = self.key_slots.iter().chain(results).map(ends).max();
        self.output = Some(Output {
            single: self.key.bytes == 0 && order.is_empty(),
            order,
            place: 0,
            spill,
            distinct,
            key: vec![0; self.key.bytes],
            state: vec![0; self.state_bytes],
            row: vec![0; row_bytes.unwrap_or(0)],
        });
        Ok(())
    }

    /// The next group: its key and its row.
    pub(super) fn next_group(&mut self, world: &mut World) -> Outcome<Option<(&[u8], &[u8])>> {
        let Some(output) = &mut self.output else {
            return Ok(None);
        };
        let first = output.order.get(output.place).map(|(_, group)| *group);
        let spilled = output
            .spill
            .as_ref()
            .and_then(|spill| spill.next.as_deref());
        let in_table = match (first, spilled) {
            (Some(first), Some(spilled)) => self.table.key(first) < &spilled[..self.key.bytes],
            (first, _) => first.is_some(),
        };
        if let (true, Some(first)) = (in_table, first) {
            output.place += 1;
            output.key.copy_from_slice(self.table.key(first));
            let state = &self.table.data(first)[..self.state_bytes];
            output.state.copy_from_slice(state);
        } else if output
            .spill
            .as_ref()
            .is_some_and(|spill| spill.next.is_some())
        {
            output.gather(&self.columns, self.key.bytes, world)?;
        } else if std::mem::take(&mut output.single) {
            output.state.fill(0);
        } else {
            return Ok(None);
        }
        output.add_distinct(&self.columns, world)?;
        decode(&output.key, &self.key_slots, &mut output.row);
        let mut at = 0;
        for column in &self.columns {
            let end = at + column.summarizer.state_bytes();
            let state = &output.state[at..end];
            column
                .summarizer
                .finish(state, &column.slot, &mut output.row);
            at = end;
        }
        Ok(Some((&output.key, &output.row)))
    }
}

/// The groups of a table in the order of their keys.
fn in_order(table: &Table) -> Vec<(u64, u32)> {
    let first = |key: &[u8]| {
        let mut head = [0; 8];
        let used = key.len().min(8);
        head[..used].copy_from_slice(&key[..used]);
        u64::from_be_bytes(head)
    };
    let groups = 0..u32::try_from(table.items()).unwrap_or(u32::MAX);
    let mut order: Vec<(u64, u32)> = groups
        .map(|group| (first(table.key(group)), group))
        .collect();
    order.sort_unstable_by(|(left, one), (right, other)| {
        left.cmp(right)
            .then_with(|| table.key(*one).cmp(table.key(*other)))
    });
    order
}

/// Adds the arguments of a row to what is kept of its group.
#[inline]
fn add(columns: &[Column], state: &mut [u8], arguments: &[u8]) {
    let (mut at, mut from) = (0, 0);
    for column in columns {
        let (end, to) = (
            at + column.summarizer.state_bytes(),
            from + column.argument_bytes(),
        );
        if !column.distinct {
            let argument = &arguments[from..to];
            column.summarizer.add_encoded(&mut state[at..end], argument);
        }
        (at, from) = (end, to);
    }
}

impl Column {
    fn argument_bytes(&self) -> usize {
        if self.argument.is_some() {
            self.summarizer.bytes
        } else {
            0
        }
    }
}

impl Output {
    /// The next group of the rows that did not fit.
    fn gather(&mut self, columns: &[Column], key_bytes: usize, world: &mut World) -> Outcome<()> {
        let Some(spill) = &mut self.spill else {
            return Ok(());
        };
        // Filling nothing takes time where its address is no memory.
        if !self.state.is_empty() {
            self.state.fill(0);
        }
        if let Some(next) = &spill.next {
            self.key.copy_from_slice(&next[..key_bytes]);
        }
        while let Some(next) = &mut spill.next {
            if next[..key_bytes] != *self.key {
                break;
            }
            add(columns, &mut self.state, &next[key_bytes..]);
            match spill.sorted.next_row(world)? {
                Some(row) => next.copy_from_slice(row),
                None => spill.next = None,
            }
        }
        Ok(())
    }

    /// Adds the different values of the group to the functions that want those.
    fn add_distinct(&mut self, columns: &[Column], world: &mut World) -> Outcome<()> {
        let mut at = 0;
        for (column, values) in columns.iter().zip(&mut self.distinct) {
            let end = at + column.summarizer.state_bytes();
            let state = &mut self.state[at..end];
            at = end;
            let Some(values) = values else { continue };
            while let Some(next) = &mut values.next {
                if next[..self.key.len()] != *self.key {
                    break;
                }
                column
                    .summarizer
                    .add_encoded(state, &next[self.key.len()..]);
                match values.sorted.next_row(world)? {
                    Some(row) => next.copy_from_slice(row),
                    None => values.next = None,
                }
            }
        }
        Ok(())
    }
}

/// Rows of groups.
pub(super) struct Grouped {
    pub(super) rows: Box<dyn Rows>,
    pub(super) groups: Groups,
    pub(super) read: bool,
}

impl Rows for Grouped {
    fn next(&mut self, world: &mut World) -> Outcome<Option<&[u8]>> {
        if !std::mem::replace(&mut self.read, true) {
            while let Some(row) = self.rows.next(world)? {
                self.groups.take(row, world)?;
            }
            self.rows.close(world)?;
            self.groups.finish(world)?;
        }
        let group = self.groups.next_group(world)?;
        Ok(group.map(|(_, row)| row))
    }

    fn close(&mut self, world: &mut World) -> Outcome<()> {
        self.rows.close(world)
    }
}

/// Rows with the summary of their group behind them: the rows are sorted by group and meet their
/// groups in a second pass.
pub(super) struct Remerged {
    pub(super) rows: Box<dyn Rows>,
    pub(super) groups: Groups,
    /// What is kept of a row.
    pub(super) copy: engine::dataset::copy::RowCopy,
    pub(super) row_bytes: usize,
    pub(super) memory: u64,
    pub(super) most: u64,
    pub(super) sorted: Option<Sorted>,
    /// The row, behind it that of its group.
    pub(super) row: Vec<u8>,
    pub(super) key: Option<Vec<u8>>,
}

impl Remerged {
    fn read(&mut self, world: &mut World) -> Outcome<Sorted> {
        let width = self.groups.key_bytes().max(1);
        let bytes = width + self.row_bytes;
        let mut sorter = sorter(world, width, bytes, self.memory, self.most, false);
        while let Some(row) = self.rows.next(world)? {
            self.groups.take(row, world)?;
            let slot = sorter.next_slot(world)?;
            let (key, kept) = slot.split_at_mut(width);
            key.fill(0);
            key[..self.groups.key_bytes()].copy_from_slice(self.groups.last_key());
            self.copy.apply(row, kept);
            sorter.added();
        }
        self.rows.close(world)?;
        self.groups.finish(world)?;
        sorted(sorter, world)
    }
}

impl Rows for Remerged {
    fn next(&mut self, world: &mut World) -> Outcome<Option<&[u8]>> {
        if self.sorted.is_none() {
            self.sorted = Some(self.read(world)?);
        }
        let Some(sorted) = &mut self.sorted else {
            return Ok(None);
        };
        let Some(row) = sorted.next_row(world)? else {
            return Ok(None);
        };
        let (key, kept) = row.split_at(self.groups.key_bytes().max(1));
        let key = &key[..self.groups.key_bytes()];
        self.row[..self.row_bytes].copy_from_slice(kept);
        while self.key.as_deref() != Some(key) {
            let Some((group, summary)) = self.groups.next_group(world)? else {
                break;
            };
            self.row[self.row_bytes..].copy_from_slice(summary);
            self.key = Some(group.to_vec());
        }
        Ok(Some(&self.row))
    }

    fn close(&mut self, world: &mut World) -> Outcome<()> {
        self.rows.close(world)
    }
}

/// Whether an argument has values of this kind, for the error of functions that need numbers.
pub(super) const fn needs_numbers(summarizer: &Summarizer) -> bool {
    use super::syntax::Function;
    matches!(summarizer.kind, Some(Kind::Character))
        && !matches!(
            summarizer.function,
            Function::Count | Function::NMiss | Function::Min | Function::Max
        )
}
