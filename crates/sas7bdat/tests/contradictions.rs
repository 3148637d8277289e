//! Files whose rows can be read and that contradict themselves.

mod support;

use sas7bdat::{Compression, Error, Layout, Reader, Variable, WriteOptions, Writer};
use support::{Random, cases};

const PAGE_BYTES: usize = 4096;
const ROWS: u64 = 600;
const COMPRESSIONS: [Compression; 3] = [Compression::None, Compression::Char, Compression::Binary];

fn sample(compression: Compression) -> Vec<u8> {
    let variables = [Variable::numeric("x"), Variable::character("c", 42)];
    let row_bytes = Layout::new(&variables, compression).row_bytes as usize;
    let options = WriteOptions {
        compression,
        page_bytes: 4096,
        page_mask: 0x1234_5678,
        ..WriteOptions::default()
    };
    let mut writer = Writer::create(Vec::new(), &variables, options).unwrap();
    let mut random = Random(5);
    for number in 0..ROWS {
        let mut row = vec![b' '; row_bytes];
        row[..8].copy_from_slice(&number.to_le_bytes());
        row[10..18].copy_from_slice(&random.next().to_le_bytes());
        writer.write_row(&row).unwrap();
    }
    writer.finish().unwrap().0
}

/// What is found behind the last row, line by line.
fn found(bytes: &[u8]) -> String {
    match contradictions(bytes) {
        Ok(lines) => lines.join("\n"),
        Err(error) => format!("failed to {error}"),
    }
}

fn contradictions(bytes: &[u8]) -> Result<Vec<String>, Error> {
    let mut reader = Reader::open(bytes)?;
    while reader.next_slab()?.is_some() {}
    let violations = reader.contradictions()?;
    Ok(violations.iter().map(ToString::to_string).collect())
}

fn page(bytes: &[u8], number: usize) -> std::ops::Range<usize> {
    let start = Reader::open(bytes).unwrap().metadata().header_bytes as usize;
    start + (number - 1) * PAGE_BYTES..start + number * PAGE_BYTES
}

/// Where the ROW subheader begins.
fn row_subheader(bytes: &[u8]) -> usize {
    let signature = [0xF7, 0xF7, 0xF7, 0xF7, 0, 0, 0, 0];
    let mut places = bytes.windows(8).enumerate();
    places.find(|(_, there)| *there == signature).unwrap().0
}

#[test]
fn whole_files_have_none() {
    for compression in COMPRESSIONS {
        assert_eq!(found(&sample(compression)), "");
    }
    for case in cases() {
        if let Ok(lines) = contradictions(&case.bytes) {
            assert!(lines.is_empty(), "{}: {lines:?}", case.file);
        }
    }
}

#[test]
fn swapped_and_doubled_pages_are_named() {
    for compression in COMPRESSIONS {
        let bytes = sample(compression);
        let (one, other) = (page(&bytes, 4), page(&bytes, 6));
        let mut swapped = bytes.clone();
        swapped[one.clone()].copy_from_slice(&bytes[other.clone()]);
        swapped[other.clone()].copy_from_slice(&bytes[one.clone()]);
        assert_eq!(
            found(&swapped),
            "page number, page 4: it says that it is page 6: it is not the one that was written there \
             (2 pages are wrong; this is the first)"
        );
        let mut doubled = bytes.clone();
        doubled.copy_within(one, other.start);
        let said = "page number, page 6: it says that it is page 4: it is not the one that was written there";
        // Compressed pages may hold more or fewer rows.
        let mut reader = Reader::open(doubled.as_slice()).unwrap();
        while let Ok(Some(_)) = reader.next_slab() {}
        assert_eq!(reader.misplaced_so_far().unwrap().to_string(), said);
    }
}

#[test]
fn rows_that_are_not_promised_are_counted() {
    for compression in COMPRESSIONS {
        for promised in [0, 1, 17, 300, ROWS - 1] {
            let mut bytes = sample(compression);
            let at = row_subheader(&bytes);
            bytes[at + 48..at + 56].copy_from_slice(&promised.to_le_bytes());
            let expected = format!(
                "rows: the metadata promise {promised} and the pages hold 600\n\
                 rows: the metadata promise {promised} in one place and 600 in another"
            );
            assert_eq!(found(&bytes), expected, "{compression:?}");
        }
    }
}

#[test]
fn what_lies_behind_the_last_page_is_told() {
    let mut bytes = sample(Compression::None);
    let promised = bytes.len();
    bytes.extend_from_within(page(&bytes, 5));
    let expected = format!(
        "file size: the header promises {promised} bytes and there are {}",
        promised + PAGE_BYTES
    );
    assert_eq!(found(&bytes), expected);
}

#[test]
fn pages_without_any_number_are_let_pass() {
    let mut bytes = sample(Compression::None);
    let (first, end) = (page(&bytes, 1).start, bytes.len());
    for at in (first..end).step_by(PAGE_BYTES) {
        bytes[at..at + 4].fill(0);
    }
    assert_eq!(found(&bytes), "");
}
