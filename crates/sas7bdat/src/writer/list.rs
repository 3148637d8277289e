//! The column list: a hash table of the names, by which SAS finds a variable.

use crate::endian::{Endian, Fields, index};

/// Slots of the table: the smallest odd prime from 1.3 times the number of names on.
pub(crate) fn table_size(names: usize) -> usize {
    let mut size = (names * 13 / 10).max(3);
    while !is_prime(size) {
        size += 1;
    }
    size
}

fn is_prime(number: usize) -> bool {
    number == 2
        || number > 2
            && !number.is_multiple_of(2)
            && (3..)
                .step_by(2)
                .take_while(|d| d * d <= number)
                .all(|d| !number.is_multiple_of(d))
}

/// Exclusive-or of the 32-bit words of the name in capitals, padded with NUL.
fn hash(name: &[u8], endian: Endian) -> u32 {
    name.chunks(4).fold(0, |hash, bytes| {
        let mut word = [0; 4];
        for (place, byte) in word.iter_mut().zip(bytes) {
            *place = byte.to_ascii_uppercase();
        }
        hash ^ Fields {
            bytes: &word,
            endian,
            wide: true,
        }
        .u32(0)
    })
}

/// The slots: the 1-based number of a name, negative where the search for another one passes, 0 if
/// empty. There must be more slots than names.
pub(crate) fn build<'n>(
    names: impl ExactSizeIterator<Item = &'n [u8]>,
    size: usize,
    endian: Endian,
) -> Vec<i16> {
    let mut slots = vec![0i16; size];
    if size < names.len() {
        return slots;
    }
    for (number, name) in (1..=i16::MAX).zip(names) {
        let hash = index(u64::from(hash(name, endian)));
        let (mut slot, step) = (hash % size, ((hash / size) % size).max(1));
        // A size that is no prime may lead in circles.
        for _ in 0..size {
            let Some(taken) = slots.get_mut(slot).filter(|taken| **taken != 0) else {
                break;
            };
            *taken = -taken.abs();
            slot = (slot + step) % size;
        }
        if let Some(free) = slots.get_mut(slot) {
            *free = number;
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_real_file_is_reproduced() {
        let names: Vec<String> = std::iter::once("DOWNAME".to_owned())
            .chain((1..=11).map(|k| format!("DOWNAME{k}")))
            .collect();
        let slots = build(names.iter().map(String::as_bytes), 17, Endian::Little);
        let real = [0, -1, -11, 12, 0, 0, 0, -9, -10, 7, 8, 5, -6, -3, -4, 0, 2];
        assert_eq!(slots, real);
    }

    #[test]
    fn sizes_are_odd_primes() {
        assert_eq!(
            [1, 2, 3, 7, 12, 100, 14641].map(table_size),
            [3, 3, 3, 11, 17, 131, 19037]
        );
    }
}
