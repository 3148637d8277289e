//! The encoders store what SAS stores, and whatever they store comes back.

#![allow(clippy::print_stdout, reason = "says how many rows there were")]

mod support;

use proptest::prelude::*;
use sas7bdat::{Compression, Endian, Metadata, Reader, rdc, rle};
use support::{Random, cases};

/// A row as a file stores it.
struct Stored<'f> {
    bytes: &'f [u8],
    compressed: bool,
}

/// All stored rows of a compressed file, by its pointers.
fn stored_rows<'f>(file: &'f [u8], metadata: &Metadata) -> Vec<Stored<'f>> {
    let wide = metadata.word_bits == 64;
    let (header_bytes, pointer_bytes, long) = if wide { (40, 24, 8) } else { (24, 12, 4) };
    let number = |bytes: &[u8]| {
        let add = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
        match metadata.endian {
            Endian::Little => bytes.iter().rev().fold(0, add),
            Endian::Big => bytes.iter().fold(0, add),
        }
    };
    let mut rows = Vec::new();
    let pages = file[metadata.header_bytes as usize..].chunks_exact(metadata.page_bytes as usize);
    for page in pages {
        if number(&page[header_bytes - 8..header_bytes - 6]) & 0x9F00 != 0 {
            continue;
        }
        for slot in 0..number(&page[header_bytes - 4..header_bytes - 2]) {
            let at = header_bytes + slot * pointer_bytes;
            let (start, length) = (
                number(&page[at..at + long]),
                number(&page[at + long..at + 2 * long]),
            );
            let (flags, bytes) = (page[at + 2 * long], &page[start..start + length]);
            let plain = length == metadata.layout.row_bytes as usize
                && number(&page[at + long..at + 2 * long]) > 0
                && !(bytes.starts_with(&[0xF7; 4]) || bytes.starts_with(&[0xFF; 3]))
                && bytes.get(2..4) != Some(&[0xFF; 2]);
            if flags == 4 || (flags == 0 && plain) {
                rows.push(Stored {
                    bytes,
                    compressed: flags == 4,
                });
            }
        }
    }
    rows
}

#[test]
fn every_compressed_row_of_the_corpus_is_stored_as_sas_stored_it() {
    let (mut run_length, mut ross, mut plain) = (0, 0, 0);
    for case in cases() {
        let Ok(mut reader) = Reader::open(case.bytes.as_slice()) else {
            continue;
        };
        let metadata = reader.metadata().clone();
        if metadata.compression == Compression::None {
            continue;
        }
        let mut char_encoder = rle::Encoder::new(true);
        let mut binary_encoder = rdc::Encoder::new();
        let mut row = vec![0; metadata.layout.row_bytes as usize];
        let stored = stored_rows(&case.bytes, &metadata);
        assert_eq!(stored.len() as u64, metadata.rows, "{}", case.file);
        for (number, stored) in stored.iter().enumerate() {
            match (stored.compressed, metadata.compression) {
                (false, _) => row.copy_from_slice(stored.bytes),
                (true, Compression::Char) => rle::decode(stored.bytes, &mut row).unwrap(),
                (true, _) => rdc::decode(stored.bytes, &mut row).unwrap(),
            }
            if metadata.deleted_rows == 0 {
                assert_eq!(
                    reader.next_row().unwrap(),
                    Some(row.as_slice()),
                    "{}",
                    case.file
                );
            }
            let encoded = match metadata.compression {
                Compression::Char => char_encoder.encode(&row),
                _ => binary_encoder.encode(&row),
            };
            let expected = stored.compressed.then_some(stored.bytes);
            assert_eq!(encoded, expected, "{} row {number}", case.file);
            match (stored.compressed, metadata.compression) {
                (false, _) => plain += 1,
                (true, Compression::Char) => run_length += 1,
                (true, _) => ross += 1,
            }
        }
    }
    println!("identical: {run_length} run-length rows, {ross} Ross rows, {plain} plain rows");
}

fn survives(row: &[u8]) {
    let mut restored = vec![0xAA; row.len()];
    for strict in [true, false] {
        if let Some(stored) = rle::Encoder::new(strict).encode(row) {
            assert!(stored.len() < row.len());
            rle::decode(stored, &mut restored).unwrap();
            assert_eq!(restored, row);
        }
    }
    let mut encoder = rdc::Encoder::new();
    for _ in 0..2 {
        if let Some(stored) = encoder.encode(row) {
            rdc::decode(stored, &mut restored).unwrap();
            assert_eq!(restored, row);
        }
    }
}

#[test]
fn runs_of_every_length_come_back() {
    for byte in [0, b' ', b'@', b'x', 0xFF] {
        let lengths = (1..600).chain([4095, 4112, 4113, 4114, 4115, 8230, 12_345, 32_767, 70_000]);
        for length in lengths {
            let mut row = vec![byte; length];
            survives(&row);
            row.extend_from_slice(b"abcdefghijklmnopqrstuvwxyz0123456789");
            survives(&row);
            row.reverse();
            survives(&row);
        }
    }
}

#[test]
fn literals_of_every_length_come_back() {
    for length in (1..400usize).chain([4158, 4159, 4160, 9000]) {
        let mut random = Random(length as u64);
        let mut row: Vec<u8> = (0..length)
            .map(|_| random.next().to_le_bytes()[0] | 1)
            .collect();
        survives(&row);
        row.extend_from_slice(&[0; 200]);
        survives(&row);
    }
}

#[test]
fn readers_that_misread_long_repeats_get_none() {
    let mut encoder = rle::Encoder::new(false);
    for (byte, length) in [(b'x', 5000), (b'@', 5000)] {
        let stored = encoder.encode(&vec![byte; length]).unwrap().to_vec();
        let mut at = 0;
        while at < stored.len() {
            let control = stored[at];
            assert_ne!(control >> 4, 5, "a long repeat of @");
            assert!(
                control >> 4 != 4 || control.trailing_zeros() >= 4,
                "a repeat of more than 273"
            );
            at += match control >> 4 {
                4 => 3,
                12 => 2,
                8..=11 => 2 + usize::from(control & 0x3F),
                _ => 1,
            };
        }
    }
}

#[test]
fn damaged_rows_give_an_error_or_a_row_and_never_more() {
    let mut random = Random(99);
    let mut row = [0; 336];
    for _ in 0..200_000 {
        let length = random.below(400);
        let mut stored: Vec<u8> = (0..length)
            .map(|_| random.next().to_le_bytes()[0])
            .collect();
        let _ = rle::decode(&stored, &mut row);
        if let Some(control) = stored.first_mut() {
            *control &= 0x11;
        }
        let _ = rdc::decode(&stored, &mut row);
    }
}

/// Rows of runs, repeated pieces and noise.
fn any_row() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        (any::<u8>(), 1usize..500).prop_map(|(byte, count)| vec![byte; count]),
        (prop_oneof![Just(0u8), Just(b' '), Just(b'@')], 1usize..5000)
            .prop_map(|(byte, count)| vec![byte; count]),
        proptest::collection::vec(any::<u8>(), 1..300),
        (proptest::collection::vec(any::<u8>(), 1..9), 1usize..60)
            .prop_map(|(piece, count)| piece.repeat(count)),
        proptest::collection::vec(0u8..3, 1..300),
    ];
    proptest::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_row_comes_back(row in any_row()) {
        survives(&row);
    }
}
