//! Index files: those of SAS lead to the right rows, and what is written is found again.

#![allow(clippy::print_stdout, reason = "says how many files there were")]

mod support;

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use sas7bdat::btree::{
    IndexEntry, IndexReader, IndexWriter, KeyPart, RowId, Span, encode_number, encode_text,
};
use sas7bdat::{Kind, Reader, WriteOptions};
use support::{cases, folder};

/// The key of a row.
fn key(reader: &Reader<&[u8]>, parts: &[KeyPart], row: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    for part in parts {
        let column = usize::from(part.column) - 1;
        let length = usize::from(part.length);
        match reader.metadata().variables[column].kind {
            Kind::Numeric => encode_number(reader.decode_numeric(column, row), length, &mut key),
            Kind::Character => encode_text(reader.bytes(column, row), length, &mut key),
        }
    }
    key
}

#[test]
fn the_indexes_of_sas_lead_to_their_rows() {
    let (mut files, mut keys) = (0, 0);
    for case in cases() {
        let path = folder()
            .join("sas7bdat")
            .join(&case.file)
            .with_extension("sas7bndx");
        let Some(bytes) = std::fs::read(&path)
            .ok()
            .filter(|_| case.file.ends_with(".sas7bdat"))
        else {
            continue;
        };
        let mut data = Reader::open(case.bytes.as_slice()).unwrap();
        let metadata = data.metadata().clone();
        let mut index = IndexReader::open(bytes.as_slice(), 0).unwrap();
        let directory = index.directory().clone();
        assert_eq!(
            directory.entries.len(),
            metadata.indexes.len(),
            "{}",
            case.file
        );
        files += 1;
        for entry in &directory.entries {
            let columns: Vec<usize> = entry
                .parts
                .iter()
                .map(|part| usize::from(part.column) - 1)
                .collect();
            let described = metadata.indexes.iter().find(|one| one.columns == columns);
            assert_eq!(
                described.map(|one| one.unique),
                Some(entry.unique),
                "{}",
                case.file
            );
            let all = Span {
                low: vec![],
                high: vec![0xFF; entry.key_bytes()],
            };
            let found = all_of(&mut index, entry, all);
            assert_eq!(found.len() as u64, metadata.rows, "{}", case.file);
            assert!(
                found.windows(2).all(|two| two[0].0 <= two[1].0),
                "{}",
                case.file
            );
            for (wanted, row) in found {
                let row = data.row_at(row).unwrap().unwrap().to_vec();
                assert_eq!(key(&data, &entry.parts, &row), wanted, "{}", case.file);
                keys += 1;
            }
        }
    }
    println!("{files} index files read, {keys} keys lead to their rows");
}

fn all_of(index: &mut IndexReader<&[u8]>, entry: &IndexEntry, span: Span) -> Vec<(Vec<u8>, RowId)> {
    let mut walk = index.walk(entry, span).unwrap();
    let mut found = Vec::new();
    while index.next_leaf(entry, &mut walk, &mut found).unwrap() {}
    found
}

fn write(pairs: &[(Vec<u8>, RowId)], length: u16, unique: bool, page_bytes: u32) -> Vec<u8> {
    let options = WriteOptions {
        page_bytes,
        ..WriteOptions::default()
    };
    let mut writer = IndexWriter::create(Vec::new(), &options, 7).unwrap();
    for column in [1, 2] {
        let part = KeyPart {
            column,
            length,
            numeric: false,
        };
        writer
            .begin(vec![part], unique, pairs.len() as u64)
            .unwrap();
        for (key, row) in pairs {
            assert!(writer.add(key, *row).unwrap());
        }
        writer.end().unwrap();
    }
    writer.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_found(
        length in 1usize..60,
        texts in vec(vec(b'a'..=b'e', 0..12), 0..4000),
        unique in any::<bool>(),
        page_bytes in prop_oneof![Just(1024u32), Just(4096), Just(16_384)],
        probes in vec(vec(b'a'..=b'f', 0..6), 20),
    ) {
        let mut pairs: Vec<(Vec<u8>, RowId)> = texts
            .iter()
            .enumerate()
            .map(|(number, text)| {
                let mut key = Vec::new();
                encode_text(text, length, &mut key);
                let number = u32::try_from(number).unwrap();
                let slot = u16::try_from(number % 100).unwrap() + 1;
                (key, RowId { page: number / 100 + 1, slot })
            })
            .collect();
        pairs.sort();
        if unique {
            pairs.dedup_by(|a, b| a.0 == b.0);
        }
        // The centiles of both have to fit on page 1.
        prop_assume!(length < 15 || page_bytes > 1024);
        let bytes = write(&pairs, u16::try_from(length).unwrap(), unique, page_bytes);
        let mut index = IndexReader::open(bytes.as_slice(), 0).unwrap();
        let directory = index.directory().clone();
        prop_assert_eq!(directory.blocks, 7);
        let mut by_key: BTreeMap<Vec<u8>, Vec<RowId>> = BTreeMap::new();
        for (key, row) in &pairs {
            by_key.entry(key.clone()).or_default().push(*row);
        }
        for entry in &directory.entries {
            prop_assert_eq!(entry.keys, by_key.len() as u64);
            prop_assert_eq!(entry.unique, unique);
            for probe in probes.iter().chain([&vec![]]) {
                let probe = &probe[..probe.len().min(length)];
                let span = Span::of(probe.to_vec());
                let found = all_of(&mut index, entry, span);
                let expected: Vec<(Vec<u8>, RowId)> =
                    pairs.iter().filter(|(key, _)| key.starts_with(probe)).cloned().collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}

#[test]
fn a_damaged_index_file_gives_an_error_or_rows_but_never_hangs() {
    let pairs: Vec<(Vec<u8>, RowId)> = (0u32..2000)
        .map(|number| {
            (
                format!("{number:08}").into_bytes(),
                RowId {
                    page: number / 9 + 1,
                    slot: 3,
                },
            )
        })
        .collect();
    let bytes = write(&pairs, 8, false, 1024);
    let mut random = support::Random(5);
    for _ in 0..3000 {
        let mut damaged = bytes.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(damaged.len());
            damaged[at] = random.next().to_le_bytes()[0];
        }
        let Ok(mut index) = IndexReader::open(damaged.as_slice(), 0) else {
            continue;
        };
        for entry in index.directory().clone().entries {
            let span = Span::of(b"000".to_vec());
            let Ok(mut walk) = index.walk(&entry, span) else {
                continue;
            };
            let mut found = Vec::new();
            while let Ok(true) = index.next_leaf(&entry, &mut walk, &mut found) {}
        }
    }
}
