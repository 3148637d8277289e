//! Files of SAS 9.4 on Linux, read and written again, come out page for page the same.

#![allow(clippy::print_stdout, reason = "says how many files there were")]

mod support;

use sas7bdat::check::check;
use sas7bdat::{Compression, Endian, Metadata, Reader, WriteOptions, Writer, amend};
use support::cases;

fn options(metadata: &Metadata) -> WriteOptions {
    WriteOptions {
        name: metadata.name.clone(),
        label: metadata.label.clone(),
        page_bytes: metadata.page_bytes,
        aligned_header: metadata.header_bytes == metadata.page_bytes,
        compression: metadata.compression,
        created: metadata.created,
        utc_offset: metadata.utc_offset,
        page_mask: metadata.page_mask,
        creator: metadata.creator.clone(),
        strict: true,
        encoding: metadata.encoding,
        release: metadata.release.clone(),
        host: metadata.host.clone(),
        os_version: metadata.os_version.clone(),
        os_name: metadata.os_name.clone(),
        ..WriteOptions::default()
    }
}

/// Bytes that SAS leaves as memory happened to hold them, or that mean nothing, made zero: free space,
/// two fields of the column list, the encoding before the first text.
fn settle(file: &mut [u8], metadata: &Metadata) {
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |sum: usize, byte| sum << 8 | usize::from(*byte))
    };
    let row_bytes = metadata.layout.row_bytes as usize;
    let start = metadata.header_bytes as usize;
    let mut texts = 0;
    for page in file[start..].chunks_exact_mut(metadata.page_bytes as usize) {
        let kind = number(&page[32..34]);
        let (blocks, pointers) = (number(&page[34..36]), number(&page[36..38]));
        if kind & 0x9000 != 0 {
            let top = page.len().min(32_767);
            page[48..top - 18 * pointers].fill(0);
            page[top..].fill(0);
            continue;
        }
        let mut low = page.len();
        if kind & 0x0F00 != 0x0100 {
            for slot in 0..pointers {
                let at = 40 + 24 * slot;
                let offset = number(&page[at..at + 8]);
                if page[at + 16] == 1 {
                    continue;
                }
                low = low.min(offset);
                if page[at + 16] == 4 {
                    continue;
                }
                match number(&page[offset..offset + 4]) {
                    0xFFFF_FFFE => {
                        page[offset + 10..offset + 12].fill(0);
                        page[offset + 32..offset + 38].fill(0);
                    }
                    0xFFFF_FFFD => {
                        texts += 1;
                        if texts == 1 {
                            page[offset + 16..offset + 20].fill(0);
                        }
                    }
                    _ => {}
                }
            }
        }
        let plain = if metadata.compression == Compression::None {
            blocks - pointers
        } else {
            0
        };
        page[40 + 24 * pointers + plain * row_bytes..low].fill(0);
    }
}

/// Where the ROW subheader lies.
fn find_row(file: &[u8]) -> usize {
    file.windows(8)
        .position(|bytes| bytes == [0xF7, 0xF7, 0xF7, 0xF7, 0, 0, 0, 0])
        .unwrap()
}

#[test]
fn files_of_sas_94_on_linux_come_out_the_same() {
    let (mut same, mut different) = (0, Vec::new());
    for mut case in cases() {
        let Ok(mut reader) = Reader::open(case.bytes.as_slice()) else {
            continue;
        };
        let metadata = reader.metadata().clone();
        let linux = metadata.host == "Linux" && metadata.release.starts_with("9.04");
        // A data set without variables has a label of its own, one with deleted rows has had more.
        let deleted = metadata.deleted_rows > 0 || metadata.variables.is_empty();
        if !linux || metadata.word_bits != 64 || metadata.endian != Endian::Little || deleted {
            continue;
        }
        let created = Writer::create(Vec::new(), &metadata.variables, options(&metadata));
        let mut writer = created.unwrap_or_else(|error| panic!("{}: {error}", case.file));
        while let Some(row) = reader.next_row().unwrap() {
            writer.write_row(row).unwrap();
        }
        let (mut bytes, _) = writer.finish().unwrap();
        settle(&mut bytes, &metadata);
        settle(&mut case.bytes, &metadata);
        if metadata.release.as_str() < "9.0401M5" {
            // Earlier ones pad the name with blanks to its end.
            case.bytes[124..156].fill(0);
        }
        if metadata.creator == "COPY (2)" {
            // It counted a block more on its way.
            let row = find_row(&case.bytes);
            case.bytes[row + 16] -= 1;
        }
        let differing: Vec<usize> = (0..bytes.len().min(case.bytes.len()))
            .filter(|at| bytes[*at] != case.bytes[*at])
            .collect();
        if differing.is_empty() && bytes.len() == case.bytes.len() {
            same += 1;
        } else {
            let first: Vec<&usize> = differing.iter().take(20).collect();
            different.push(format!(
                "{}: {} bytes, {first:?}",
                case.file,
                differing.len()
            ));
        }
    }
    println!("{same} files come out the same");
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn rows_are_added_to_files_of_sas_94_on_linux_and_they_get_other_names() {
    let mut extended = 0;
    for case in cases() {
        let Ok(mut reader) = Reader::open(case.bytes.as_slice()) else {
            continue;
        };
        let metadata = reader.metadata().clone();
        let linux = metadata.host == "Linux" && metadata.release.starts_with("9.04");
        let closed = metadata.deleted_rows > 0 || metadata.variables.is_empty();
        if !linux || metadata.word_bits != 64 || closed {
            continue;
        }
        let mut rows = Vec::new();
        while let Some(row) = reader.next_row().unwrap() {
            rows.push(row.to_vec());
        }
        if rows.is_empty() {
            continue;
        }
        let before = check(case.bytes.as_slice()).unwrap();
        let (mut writer, _) = Writer::append(case.bytes.clone(), metadata.modified).unwrap();
        // Enough to fill the last page and to begin new ones.
        let most = (200_000 / rows[0].len().max(1)).max(3);
        let added: Vec<&Vec<u8>> = rows.iter().cycle().take(most).collect();
        for row in &added {
            writer.write_row(row).unwrap();
        }
        let (mut bytes, written) = writer.finish().unwrap();
        let mut variables = metadata.variables.clone();
        variables[0].label.push_str(", changed");
        variables[0].name = "first".to_owned();
        let changed = amend(&mut bytes, "Another", &variables, &metadata.indexes, 1.0);
        changed.unwrap_or_else(|error| panic!("{}: {error}", case.file));
        assert_eq!(
            written.rows,
            (rows.len() + added.len()) as u64,
            "{}",
            case.file
        );
        let after = check(bytes.as_slice()).unwrap();
        assert_eq!(after, before, "{}", case.file);
        let mut reader = Reader::open(bytes.as_slice()).unwrap();
        assert_eq!(reader.metadata().variables, variables, "{}", case.file);
        assert_eq!(reader.metadata().label, "Another", "{}", case.file);
        for row in rows.iter().chain(added) {
            assert_eq!(
                reader.next_row().unwrap(),
                Some(row.as_slice()),
                "{}",
                case.file
            );
        }
        extended += 1;
    }
    println!("rows were added to {extended} files");
}
