//! Keys of joins, groups and orders as bytes whose order is that of the values.

use engine::accounting::SortSummary;
use engine::dataset::copy::{store_number, store_text};
use engine::expr::Slot;
use engine::failure::Outcome;
use engine::session::World;
use engine::sort::{Expected, KeyField, SortKey, SortPlan, Sorted, Sorter};
use sas7bdat::Kind;

use super::machine::{Machine, Program};

/// One value of a key.
pub(super) struct KeyPart {
    pub(super) program: Program,
    /// Bytes in the key: 8 for numbers.
    pub(super) bytes: usize,
    pub(super) descending: bool,
}

/// A key of several values.
pub(super) struct Key {
    pub(super) parts: Vec<KeyPart>,
    pub(super) bytes: usize,
}

impl Key {
    /// In ascending order; texts have the length of the program, or the one given.
    pub(super) fn new(parts: Vec<KeyPart>) -> Self {
        let bytes = parts.iter().map(|part| part.bytes).sum();
        Self { parts, bytes }
    }

    /// The key of a row, for which `machine` has begun.
    #[inline]
    pub(super) fn encode(
        &mut self,
        machine: &mut Machine,
        row: &[u8],
        world: &mut World,
        target: &mut [u8],
    ) -> Outcome<()> {
        let mut at = 0;
        for part in &mut self.parts {
            let place = &mut target[at..at + part.bytes];
            machine.encode(&mut part.program, row, world, place)?;
            if part.descending {
                for byte in place.iter_mut() {
                    *byte = !*byte;
                }
            }
            at += part.bytes;
        }
        Ok(())
    }
}

/// The number of a key part.
pub(super) fn decoded(part: &[u8]) -> f64 {
    let mut whole = [0; 8];
    whole.copy_from_slice(part);
    let bits = u64::from_be_bytes(whole);
    f64::from_bits(if bits >> 63 == 1 {
        bits & !(1 << 63)
    } else {
        !bits
    })
}

/// Puts the values of a key into slots.
pub(super) fn decode(key: &[u8], slots: &[Slot], row: &mut [u8]) {
    let mut at = 0;
    for slot in slots {
        let bytes = match slot.kind {
            Kind::Numeric => 8,
            Kind::Character => slot.length as usize,
        };
        let part = &key[at..at + bytes];
        match slot.kind {
            Kind::Numeric => store_number(slot, row, decoded(part)),
            Kind::Character => store_text(slot, row, part),
        }
        at += bytes;
    }
}

/// A sort of rows that begin with `key_bytes` of an encoded key.
pub(super) fn sorter(
    world: &World,
    key_bytes: usize,
    row_bytes: usize,
    memory: u64,
    most: u64,
    unique: bool,
) -> Sorter {
    let slot = Slot {
        kind: Kind::Character,
        offset: 0,
        length: u32::try_from(key_bytes).unwrap_or(u32::MAX),
        big_endian: false,
    };
    let plan = SortPlan {
        key: SortKey::new(vec![KeyField {
            slot,
            descending: false,
        }]),
        row_bytes: u32::try_from(row_bytes).unwrap_or(u32::MAX),
        memory_bytes: world.options.sort_memory().min(memory),
        block_bytes: world.options.ubufsize.min(memory / 16).max(4096),
        threads: world.threads(),
        unique,
    };
    Sorter::new(plan, Expected::AtMost(most))
}

/// Ends taking rows in; the record of the step has its largest sort.
pub(super) fn sorted(sorter: Sorter, world: &mut World) -> Outcome<Sorted> {
    let sorted = sorter.sorted(world)?;
    let done = sorted.summary();
    let bytes = |one: &SortSummary| one.rows * one.row_bytes;
    if world
        .sort
        .as_ref()
        .is_none_or(|one| bytes(one) < bytes(&done))
    {
        world.sort = Some(done);
    }
    Ok(sorted)
}
