//! The column list: a hash table of the names, by which SAS finds a variable.

use crate::endian::index;

/// Slots of the table: the smallest odd prime from 1.3 times the number of names on.
fn table_size(names: usize) -> usize {
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

/// XOR of the 32-bit words of the name in capitals, padded with NUL.
fn hash(name: &[u8]) -> u32 {
    let upper = name.to_ascii_uppercase();
    upper.chunks(4).fold(0, |hash, chunk| {
        let mut word = [0; 4];
        for (place, byte) in word.iter_mut().zip(chunk) {
            *place = *byte;
        }
        hash ^ u32::from_le_bytes(word)
    })
}

/// The slots: the 1-based number of a name, negative where the search for another one passes, 0 if
/// empty.
pub(super) fn build<'n>(names: impl ExactSizeIterator<Item = &'n [u8]>) -> Vec<i16> {
    let size = table_size(names.len());
    let mut slots = vec![0i16; size];
    for (number, name) in (1..=i16::MAX).zip(names) {
        let hash = index(u64::from(hash(name)));
        let (mut slot, step) = (hash % size, ((hash / size) % size).max(1));
        while let Some(taken) = slots.get_mut(slot).filter(|taken| **taken != 0) {
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
        let slots = build(names.iter().map(String::as_bytes));
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
