//! Groups that do not fit into memory: what was accumulated so far goes to a sort by type and key
//! (a utility file, once its memory is full), and comes back merged, group by group in the order of
//! the output.

use engine::expr::Slot;
use engine::failure::Outcome;
use engine::session::World;
use engine::sort::{Expected, KeyField, SortKey, SortPlan, Sorter};
use sas7bdat::Kind;

use super::cell::Cell;
use super::groups::Groups;

/// Parts of groups on their way through a sort.
pub(super) struct Spill {
    sorter: Sorter,
    /// The wanted types, ascending, with the parts of the key that each keeps.
    types: Vec<(u64, Vec<std::ops::Range<usize>>)>,
    variables: usize,
    key_bytes: usize,
}

impl Spill {
    /// For groups over `variables` with keys of `key_bytes`, of these `types`.
    pub(super) fn new(
        world: &World,
        variables: usize,
        key_bytes: usize,
        types: Vec<(u64, Vec<std::ops::Range<usize>>)>,
        memory_bytes: u64,
    ) -> Self {
        let of_key = u32::try_from(1 + key_bytes).expect("keys are shorter than a row");
        let of_cells = u32::try_from(8 + variables * Cell::BYTES).expect("so are cells");
        let plan = SortPlan {
            key: SortKey::new(vec![KeyField {
                slot: Slot {
                    kind: Kind::Character,
                    offset: 0,
                    length: of_key,
                    big_endian: false,
                },
                descending: false,
            }]),
            row_bytes: of_key + of_cells,
            memory_bytes,
            block_bytes: world.options.ubufsize,
            threads: 1,
            unique: false,
        };
        Self {
            sorter: Sorter::new(plan, Expected::AtMost(u64::MAX)),
            types,
            variables,
            key_bytes,
        }
    }

    /// Takes everything out of `groups`, once for each type.
    pub(super) fn take(&mut self, groups: &Groups, world: &mut World) -> Outcome<()> {
        for group in 0..groups.count() {
            let key = groups.key(group);
            for (number, (_, kept)) in self.types.iter().enumerate() {
                let row = self.sorter.next_slot(world)?;
                row[0] = u8::try_from(number).expect("the caller counted the types");
                let masked = &mut row[1..=self.key_bytes];
                masked.fill(0);
                for part in kept {
                    masked[part.clone()].copy_from_slice(&key[part.clone()]);
                }
                let rest = &mut row[1 + self.key_bytes..];
                rest[..8].copy_from_slice(&groups.frequency(group).to_le_bytes());
                for variable in 0..self.variables {
                    let at = 8 + variable * Cell::BYTES;
                    groups
                        .cell(group, variable)
                        .store(&mut rest[at..at + Cell::BYTES]);
                }
                self.sorter.added();
            }
        }
        Ok(())
    }

    /// Hands out the merged groups in order, type by type, so many at a time as memory holds.
    pub(super) fn finish(
        self,
        world: &mut World,
        fresh: impl Fn() -> Groups,
        mut done: impl FnMut(u64, &mut Groups, &mut World) -> Outcome<()>,
    ) -> Outcome<()> {
        let (types, variables, key_bytes) = (self.types, self.variables, self.key_bytes);
        let mut batch = fresh();
        let mut current: Option<u8> = None;
        self.sorter.finish(world, |row, world| {
            let key = &row[1..=key_bytes];
            let last = batch.count().checked_sub(1);
            let same = current == Some(row[0]) && last.is_some_and(|last| batch.key(last) == key);
            if !same && (current.is_some_and(|known| known != row[0]) || batch.is_full()) {
                let mask = types[usize::from(current.unwrap_or(0))].0;
                done(mask, &mut std::mem::replace(&mut batch, fresh()), world)?;
            }
            current = Some(row[0]);
            let group = batch.find(key, key)?;
            let rest = &row[1 + key_bytes..];
            let number = rest.first_chunk::<8>().expect("the row has a frequency");
            let cells = rest[8..].chunks_exact(Cell::BYTES).take(variables);
            batch.merge(group, f64::from_le_bytes(*number), cells.map(Cell::load));
            Ok(())
        })?;
        match current {
            Some(number) => done(types[usize::from(number)].0, &mut batch, world),
            None => Ok(()),
        }
    }
}
