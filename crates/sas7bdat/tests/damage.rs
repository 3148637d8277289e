//! Damaged, cut and lying files: always rows or a clear error, never a panic, a hang or much memory.

#![allow(clippy::print_stdout, reason = "says how many files there were")]

mod support;

use sas7bdat::check::check;
use sas7bdat::{
    Batch, Column, Compression, Error, Kind, Layout, Reader, Variable, WriteOptions, Writer,
};
use support::{Random, cases};

const SMALL_BYTES: usize = 64 * 1024;

/// Reads everything in every way; gives the rows.
fn read_all(bytes: &[u8]) -> Result<u64, Error> {
    let mut reader = Reader::open(bytes)?;
    let columns: Vec<usize> = (0..reader.metadata().variables.len()).collect();
    let mut batch = Batch::default();
    let mut rows = 0;
    while reader.next_batch(&columns, &mut batch)? {
        rows += batch.rows as u64;
        for column in &batch.columns {
            let values = match column {
                Column::Numeric(values) => values.len(),
                Column::Character(texts) => texts.iter().count(),
            };
            assert_eq!(values, batch.rows);
        }
    }
    if rows > 1 {
        reader.seek_row(rows / 2)?;
        reader.next_row()?;
    }
    Ok(rows)
}

fn sample(compression: Compression) -> Vec<u8> {
    let mut variables = vec![Variable::numeric("x"), Variable::character("c", 30)];
    variables.extend((0..20).map(|k| Variable::numeric(format!("n{k}"))));
    let row_bytes = Layout::new(&variables, compression).row_bytes as usize;
    let options = WriteOptions {
        compression,
        page_bytes: 4096,
        ..WriteOptions::default()
    };
    let mut writer = Writer::create(Vec::new(), &variables, options).unwrap();
    let mut random = Random(5);
    for number in 0..200u64 {
        let mut row = vec![b' '; row_bytes];
        row[..8].copy_from_slice(&number.to_le_bytes());
        row[40..48].copy_from_slice(&random.next().to_le_bytes());
        writer.write_row(&row).unwrap();
    }
    writer.finish().unwrap().0
}

const COMPRESSIONS: [Compression; 3] = [Compression::None, Compression::Char, Compression::Binary];

#[test]
fn every_truncation_is_an_error() {
    let mut tried = 0;
    let mut random = Random(17);
    let mut cut = |file: &str, bytes: &[u8], at: usize| {
        tried += 1;
        let result = read_all(&bytes[..at]);
        assert!(
            result.is_err(),
            "{file} cut to {at} of {} bytes was read",
            bytes.len()
        );
    };
    for case in cases() {
        let Ok(rows) = read_all(&case.bytes) else {
            continue;
        };
        let metadata = Reader::open(case.bytes.as_slice())
            .unwrap()
            .metadata()
            .clone();
        assert_eq!(rows, metadata.rows);
        let whole =
            u64::from(metadata.header_bytes) + metadata.pages * u64::from(metadata.page_bytes);
        let end = usize::try_from(whole).unwrap();
        if end <= SMALL_BYTES {
            (0..end).for_each(|at| cut(&case.file, &case.bytes, at));
        } else {
            (0..10_000).for_each(|_| cut(&case.file, &case.bytes, random.below(end)));
        }
    }
    for compression in COMPRESSIONS {
        let bytes = sample(compression);
        (0..bytes.len()).for_each(|at| cut("sample", &bytes, at));
    }
    println!("{tried} truncations");
}

/// A file whose header promises only the pages that are there.
#[test]
fn a_file_that_lost_its_last_pages_and_says_so_is_an_error() {
    for compression in COMPRESSIONS {
        let whole = sample(compression);
        let pages = u64::from_le_bytes(whole[208..216].try_into().unwrap());
        assert!(pages > 3);
        for left in 1..pages {
            let end = 4096 + usize::try_from(left).unwrap() * 4096;
            let mut bytes = whole[..end].to_vec();
            bytes[208..216].copy_from_slice(&left.to_le_bytes());
            let error = read_all(&bytes).err();
            assert!(
                matches!(error, Some(Error::MissingRows { .. })),
                "{left}: {error:?}"
            );
        }
    }
}

/// Twenty compressed rows that begin with their numbers, on many pages with an index of row numbers.
fn indexed() -> Vec<u8> {
    let variables = [Variable::character("c", 3000)];
    let options = WriteOptions {
        compression: Compression::Char,
        page_bytes: 8192,
        ..WriteOptions::default()
    };
    let mut writer = Writer::create(Vec::new(), &variables, options).unwrap();
    let mut random = Random(29);
    for number in 0..20u8 {
        let mut row: Vec<u8> = (0..3000)
            .map(|_| b'a' + u8::try_from(random.below(26)).unwrap())
            .collect();
        row[0] = number;
        writer.write_row(&row).unwrap();
    }
    writer.finish().unwrap().0
}

/// Flips every bit of the places: a seek to a row leads to this row, or there is an error.
fn seek_with_flipped_bits(whole: &[u8], places: impl Iterator<Item = usize>) {
    let (mut seeks, mut right) = (0, 0);
    for (place, bit) in places.flat_map(|place| (0..8).map(move |bit| (place, bit))) {
        let mut bytes = whole.to_vec();
        bytes[place] ^= 1 << bit;
        let Ok(mut reader) = Reader::open(bytes.as_slice()) else {
            continue;
        };
        for wanted in [17u8, 9, 18, 3, 4, 19, 0, 1] {
            seeks += 1;
            if reader.seek_row(u64::from(wanted)).is_err() {
                continue;
            }
            if let Ok(row) = reader.next_row() {
                let number = row.and_then(|row| row.first().copied());
                assert_eq!(number, Some(wanted), "bit {bit} of byte {place}");
                right += 1;
            }
        }
    }
    assert!(right * 10 > seeks * 9, "{right} of {seeks} seeks succeed");
}

#[test]
fn one_wrong_bit_in_the_row_index_never_leads_to_another_row() {
    let bytes = indexed();
    let end = 8192 * 3;
    assert_eq!(bytes[end - 18..end - 10], 2u64.to_be_bytes(), "the index");
    seek_with_flipped_bits(&bytes, (end - 8192..end - 8192 + 48).chain(end - 200..end));
}

#[test]
fn one_wrong_bit_in_the_number_of_a_pages_first_row_never_leads_to_another_row() {
    let mut bytes = indexed();
    let numbers = (3..10).flat_map(|page| page * 8192 + 16..page * 8192 + 24);
    seek_with_flipped_bits(&bytes, numbers.clone());
    // Without entries, the numbers are all that there is.
    let index = 8192 * 2;
    bytes[index + 36..index + 38].fill(0);
    seek_with_flipped_bits(&bytes, numbers);
}

#[test]
fn flipped_bits_never_panic() {
    let mut random = Random(23);
    let (mut errors, mut read) = (0, 0);
    let mut flip = |original: &[u8], places: usize, times: usize| {
        let mut bytes = original.to_vec();
        for _ in 0..times {
            let mut undo = Vec::new();
            for _ in 0..places {
                let at = match random.below(3) {
                    0 => random.below(bytes.len()),
                    1 => random.below(bytes.len().min(400)),
                    _ => {
                        let header = bytes.len().min(1024) + random.below(4096);
                        header.min(bytes.len() - 1)
                    }
                };
                undo.push((at, bytes[at]));
                bytes[at] ^= 1 << random.below(8);
            }
            match read_all(&bytes) {
                Ok(_) => read += 1,
                Err(error) => {
                    errors += 1;
                    assert!(!error.to_string().is_empty());
                }
            }
            if times < 1000 {
                let _ = check(bytes.as_slice());
            }
            undo.into_iter()
                .rev()
                .for_each(|(at, byte)| bytes[at] = byte);
        }
    };
    for case in cases() {
        if case.bytes.len() <= 2 * SMALL_BYTES {
            flip(&case.bytes, 1, 20);
            flip(&case.bytes, 4, 10);
        }
    }
    for compression in COMPRESSIONS {
        flip(&sample(compression), 1, 1500);
        flip(&sample(compression), 3, 1500);
    }
    println!("{errors} damaged files refused, {read} read");
}

/// Puts every interesting number at every field of the header and of the first page.
#[test]
fn lying_fields_never_panic_or_take_memory() {
    let lies = [0, 255, 65_535, (1 << 31) - 1, u64::from(u32::MAX), u64::MAX];
    for compression in COMPRESSIONS {
        let mut bytes = sample(compression);
        let fields: Vec<usize> = (160..350)
            .chain(4096..4096 + 3000)
            .chain(6000..8192)
            .collect();
        for at in fields.into_iter().step_by(10) {
            let kept: Vec<u8> = bytes[at..at + 8].to_vec();
            for lie in lies {
                for width in [2, 8] {
                    bytes[at..at + width].copy_from_slice(&lie.to_le_bytes()[..width]);
                    let _ = read_all(&bytes);
                    bytes[at..at + 8].copy_from_slice(&kept);
                }
            }
        }
    }
}

#[test]
fn absurd_sizes_are_refused_with_a_clear_message() {
    let whole = sample(Compression::None);
    let message = |at: usize, value: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        read_all(&bytes)
            .err()
            .map(|error| format!("failed to {error}"))
            .unwrap_or_default()
    };
    let row = 8192 - 808;
    let cases = [
        (200, &[0xFF; 4][..], "the header promises"),
        (204, &[0xFF; 4][..], "the header promises"),
        (204, &[0; 4][..], "pages of 0 bytes are too small"),
        (208, &[0xFF; 8][..], "pages are too many"),
        (208, &[0; 8][..], "there is not a single page"),
        (row + 40, &[0xFF; 8][..], "are longer than a page"),
        (row + 48, &[0xFF; 8][..], "cannot lie on"),
        (row + 56, &[0xFF; 8][..], "cannot lie on"),
        (
            row + 48,
            &[0xFF, 0, 0][..],
            "the metadata promise 255 and the pages hold 200",
        ),
        (row - 16, &[0xFF; 8][..], "variables are announced"),
        (8192 + 34, &[0xFF; 2][..], "do not fit"),
        (4096 + 36, &[0xFF; 2][..], "pointers do not fit"),
        (
            0,
            &[1][..],
            "the first 32 bytes are not those of a data set",
        ),
    ];
    for (at, value, part) in cases {
        let message = message(at, value);
        assert!(
            message.contains(part),
            "at {at}: {message:?} does not say {part:?}"
        );
    }
}

#[test]
fn a_row_that_decompresses_to_much_takes_no_more_than_a_slab_at_once() {
    let variables = [Variable::character("c", 30_000)];
    let options = WriteOptions {
        compression: Compression::Char,
        ..WriteOptions::default()
    };
    let mut writer = Writer::create(Vec::new(), &variables, options).unwrap();
    for _ in 0..5000 {
        writer.write_row(&vec![b' '; 30_000]).unwrap();
    }
    let (bytes, written) = writer.finish().unwrap();
    assert!(written.pages < 10);
    let mut reader = Reader::open(bytes.as_slice()).unwrap();
    let mut rows = 0;
    while let Some(slab) = reader.next_slab().unwrap() {
        assert!(slab.bytes.len() <= 256 * 1024);
        rows += slab.count;
    }
    assert_eq!(rows, 5000);
}

#[test]
fn numbers_of_every_length_and_missing_values_decode() {
    let lengths = [3, 4, 5, 6, 7, 8];
    let variables: Vec<Variable> = lengths
        .iter()
        .map(|length| Variable {
            length: *length,
            ..Variable::numeric(format!("n{length}"))
        })
        .collect();
    let options = WriteOptions::default();
    let mut writer = Writer::create(Vec::new(), &variables, options).unwrap();
    let layout = writer.layout().clone();
    let codes: Vec<u8> = [0, b'_'].into_iter().chain(b'A'..=b'Z').collect();
    let values: Vec<f64> = [0.0, 1.0, -2.0, 8192.0, 0.5]
        .into_iter()
        .chain(codes.iter().map(|code| sas7bdat::missing::encode(*code)))
        .collect();
    for value in &values {
        let mut row = vec![0; layout.row_bytes as usize];
        for (offset, length) in layout.offsets.iter().zip(lengths) {
            let (at, length) = (*offset as usize, length as usize);
            row[at..at + length].copy_from_slice(&value.to_le_bytes()[8 - length..]);
        }
        writer.write_row(&row).unwrap();
    }
    let (bytes, _) = writer.finish().unwrap();
    let mut reader = Reader::open(bytes.as_slice()).unwrap();
    assert!(
        reader
            .metadata()
            .variables
            .iter()
            .all(|variable| variable.kind == Kind::Numeric)
    );
    let mut batch = Batch::default();
    let columns: Vec<usize> = (0..6).collect();
    assert!(reader.next_batch(&columns, &mut batch).unwrap());
    for column in &batch.columns {
        let Column::Numeric(read) = column else {
            panic!("not a number")
        };
        let bits = |values: &[f64]| {
            values
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(read), bits(&values));
    }
    reader.seek_row(0).unwrap();
    let row = reader.next_row().unwrap().unwrap().to_vec();
    assert_eq!(
        reader.decode_numeric(3, &row).to_bits(),
        values[0].to_bits()
    );
}

/// A file without end: every page is the same page of texts.
struct Endless {
    header: Vec<u8>,
    page: Vec<u8>,
    pages: u64,
}

impl sas7bdat::Source for Endless {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.header.len() as u64;
        let place = if offset < size {
            offset
        } else {
            (offset - size) % self.page.len() as u64
        };
        let from = if offset < size {
            &self.header
        } else {
            &self.page
        };
        from.as_slice().read_at(place, buffer)
    }

    fn size(&mut self) -> std::io::Result<u64> {
        Ok(self.header.len() as u64 + self.pages * self.page.len() as u64)
    }
}

#[test]
fn a_file_of_nothing_but_descriptions_is_refused_before_it_fills_the_memory() {
    const PAGE: usize = 1024 * 1024;
    let variables = [Variable::numeric("x")];
    let page_bytes = u32::try_from(PAGE).unwrap();
    let options = WriteOptions {
        page_bytes,
        ..WriteOptions::default()
    };
    let (file, _) = Writer::create(Vec::new(), &variables, options)
        .unwrap()
        .finish()
        .unwrap();
    let (mut header, mut page) = (file[..PAGE].to_vec(), file[PAGE..].to_vec());
    let pages = 1 << 40;
    header[208..216].copy_from_slice(&u64::to_le_bytes(pages));
    page[32..34].fill(0);
    // The fourth block, the texts, becomes as large as the page allows.
    let texts = PAGE - 808 - 24 - 600;
    let length = (texts - 4096) as u64;
    page[40 + 72..48 + 72].copy_from_slice(&4096u64.to_le_bytes());
    page[48 + 72..56 + 72].copy_from_slice(&length.to_le_bytes());
    page[36..38].copy_from_slice(&4u16.to_le_bytes());
    page[4096..4104].copy_from_slice(&(-3i64).to_le_bytes());
    let error = Reader::open(Endless {
        header,
        page,
        pages,
    })
    .err();
    assert!(
        matches!(error, Some(Error::CorruptMetadata { .. })),
        "{error:?}"
    );
}
