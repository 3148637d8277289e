//! What is written reads back the same, in every combination of options and shapes.
//!
//! With `GRISTMILL_KEEP=DIR` the files are left there, for other readers and checkers.

mod support;

use sas7bdat::{
    Compression, Encoding, Error, Format, Layout, Reader, Variable, WriteOptions, Writer,
};
use support::Random;

const COMPRESSIONS: [Compression; 3] = [Compression::None, Compression::Char, Compression::Binary];

fn number(name: &str, length: u32) -> Variable {
    Variable {
        length,
        ..Variable::numeric(name)
    }
}

fn mixed() -> Vec<Variable> {
    let mut variables = vec![
        Variable::numeric("x"),
        Variable::character("city", 17),
        number("short", 4),
        number("tiny", 3),
        Variable::numeric("a_rather_long_name"),
        number("six", 6),
        Variable::character("c", 1),
    ];
    variables[0].label.push_str("The first of all");
    variables[0].format = Format {
        name: "COMMA".to_owned(),
        width: 12,
        decimals: 0,
    };
    variables[0].informat = Format {
        name: "ANYDTDTE".to_owned(),
        width: 10,
        decimals: 0,
    };
    variables[4].format = Format {
        name: String::new(),
        width: 8,
        decimals: 2,
    };
    variables[1].format = Format {
        name: "$CHAR".to_owned(),
        width: 17,
        decimals: 0,
    };
    variables[1].label.push_str("Größe der Stadt");
    variables
}

/// Rows of runs and noise, with padding zero as SAS leaves it.
fn rows(variables: &[Variable], compression: Compression, count: usize, seed: u64) -> Vec<Vec<u8>> {
    let layout = Layout::new(variables, compression);
    let used: u32 = variables.iter().map(|variable| variable.length).sum();
    let mut random = Random(seed);
    let mut row = || {
        let mut row = vec![b' '; used as usize];
        let mut at = 0;
        while at < row.len() {
            let length = (1 + random.below(40)).min(row.len() - at);
            match random.below(4) {
                0 => row[at..at + length].fill(0),
                1 => row[at..at + length].fill(b"@ xy"[random.below(4)]),
                _ => row[at..at + length].fill_with(|| random.next().to_le_bytes()[0]),
            }
            at += length;
        }
        row.resize(layout.row_bytes as usize, 0);
        row
    };
    (0..count).map(|_| row()).collect()
}

fn write(
    variables: &[Variable],
    options: &WriteOptions,
    rows: &[Vec<u8>],
) -> Result<Vec<u8>, Error> {
    let mut writer = Writer::create(Vec::new(), variables, options.clone())?;
    for row in rows {
        writer.write_row(row)?;
    }
    let (bytes, written) = writer.finish()?;
    assert_eq!(written.rows, rows.len() as u64);
    assert_eq!(written.bytes, bytes.len() as u64);
    Ok(bytes)
}

/// Writes and reads back; gives the file.
fn check(what: &str, variables: &[Variable], options: &WriteOptions, rows: &[Vec<u8>]) -> Vec<u8> {
    let bytes = write(variables, options, rows).unwrap_or_else(|error| panic!("{what}: {error}"));
    if let Some(folder) = std::env::var_os("GRISTMILL_KEEP") {
        let file = std::path::Path::new(&folder).join(format!("{what}.sas7bdat"));
        std::fs::write(file, &bytes).unwrap();
    }
    let mut reader = Reader::open(bytes.as_slice()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let metadata = reader.metadata().clone();
    assert_eq!(metadata.variables, variables, "{what}");
    assert_eq!(
        metadata.layout,
        Layout::new(variables, options.compression),
        "{what}"
    );
    assert_eq!(metadata.rows, rows.len() as u64, "{what}");
    assert_eq!(metadata.name, options.name.to_ascii_uppercase(), "{what}");
    assert_eq!(metadata.label, options.label, "{what}");
    let compression = options.compression.effective(variables);
    assert_eq!(metadata.compression, compression, "{what}");
    assert_eq!(metadata.creator, options.creator, "{what}");
    for (number, row) in rows.iter().enumerate() {
        let read = reader
            .next_row()
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(read, Some(row.as_slice()), "{what}: row {number}");
        assert_eq!(reader.last_row(), row, "{what}: row {number}");
    }
    assert_eq!(reader.next_row().unwrap(), None, "{what}");
    let violations = sas7bdat::check::check(bytes.as_slice()).unwrap();
    assert!(violations.is_empty(), "{what}: {violations:#?}");
    bytes
}

fn options(compression: Compression, page_bytes: u32) -> WriteOptions {
    WriteOptions {
        name: "shapes".to_owned(),
        label: "All shapes".to_owned(),
        page_bytes,
        compression,
        created: 2_000_000_000.25,
        page_mask: 0x1234_ABCD,
        ..WriteOptions::default()
    }
}

#[test]
fn every_option_with_every_row_count_around_a_page_reads_back() {
    let variables = mixed();
    for compression in COMPRESSIONS {
        for page_bytes in [4096, 65_536, 1024 * 1024] {
            for aligned_header in [true, false] {
                for strict in [true, false] {
                    let options = WriteOptions {
                        aligned_header,
                        strict,
                        ..options(compression, page_bytes)
                    };
                    let full = rows_of_first_page(&variables, &options);
                    for count in [0, 1, full, full + 1, 3 * full + 7] {
                        if count > 100_000 || (count > 10_000 && strict) {
                            continue;
                        }
                        let rows = rows(&variables, compression, count, 7);
                        let what = format!(
                            "{compression:?}-{page_bytes}-{aligned_header}-{strict}-{count}"
                        );
                        check(&what, &variables, &options, &rows);
                    }
                }
            }
        }
    }
}

/// Rows that fill the first page exactly, where they have one length.
fn rows_of_first_page(variables: &[Variable], options: &WriteOptions) -> usize {
    let plain = WriteOptions {
        compression: Compression::None,
        ..options.clone()
    };
    let bytes = write(variables, &plain, &[]).unwrap();
    let reader = Reader::open(bytes.as_slice()).unwrap();
    usize::try_from(reader.metadata().mix_rows).unwrap()
}

#[test]
fn column_counts_from_one_to_the_most_read_back() {
    for compression in COMPRESSIONS {
        for (columns, page_bytes) in [(1, 4096), (2, 4096), (1000, 8192), (1000, 65_536)] {
            let variables: Vec<Variable> = (0..columns)
                .map(|k| match k % 3 {
                    0 => Variable::character(format!("c{k}"), 5),
                    1 => number(&format!("number_{k}"), 3 + k % 6),
                    _ => Variable {
                        label: format!("label of {k}"),
                        ..Variable::numeric(format!("x{k}"))
                    },
                })
                .collect();
            let rows = rows(&variables, compression, 5, 3);
            let what = format!("columns-{columns}-{page_bytes}-{compression:?}");
            check(&what, &variables, &options(compression, page_bytes), &rows);
        }
    }
    let variables: Vec<Variable> = (0..32_767)
        .map(|k| Variable::character(format!("v{k}"), 1))
        .collect();
    let rows = rows(&variables, Compression::None, 3, 3);
    check(
        "columns-32767",
        &variables,
        &options(Compression::None, 65_536),
        &rows,
    );
    check(
        "columns-32767-char",
        &variables,
        &options(Compression::Char, 65_536),
        &rows,
    );
}

#[test]
fn no_variable_at_all_reads_back() {
    let rows = vec![Vec::new(); 3];
    check("columns-0", &[], &options(Compression::None, 4096), &rows);
}

#[test]
fn rows_of_one_byte_and_rows_of_a_page_read_back() {
    for compression in COMPRESSIONS {
        let narrow = [Variable::character("c", 1)];
        let narrow_rows = rows(&narrow, compression, 100_000, 5);
        check(
            &format!("byte-{compression:?}"),
            &narrow,
            &options(compression, 65_536),
            &narrow_rows,
        );
        let most = if compression == Compression::None {
            4055
        } else {
            4008
        };
        for length in [most - 1, most] {
            let wide = [Variable::character("c", length)];
            let wide_rows = rows(&wide, compression, 20, 5);
            let what = format!("page-{length}-{compression:?}");
            check(&what, &wide, &options(compression, 4096), &wide_rows);
        }
        let wider = [Variable::character("c", most + 1)];
        let error = Writer::create(Vec::new(), &wider, options(compression, 4096)).err();
        assert!(
            matches!(
                error,
                Some(Error::RowTooLong {
                    needed_bytes: 5120,
                    ..
                })
            ),
            "{error:?}"
        );
    }
}

#[test]
fn a_page_holds_no_more_rows_than_its_count_can_say() {
    let narrow = [Variable::character("c", 1)];
    let options = options(Compression::None, 1024 * 1024);
    let narrow_rows = rows(&narrow, Compression::None, 200_000, 5);
    let bytes = check("most-blocks", &narrow, &options, &narrow_rows);
    let reader = Reader::open(bytes.as_slice()).unwrap();
    assert_eq!(reader.metadata().rows_per_page, 65_535);
    assert_eq!(reader.metadata().pages, 4);
}

#[test]
fn rows_longer_than_32_kib_read_back() {
    let variables = [
        Variable::character("a", 32_767),
        Variable::character("b", 20_000),
    ];
    for compression in COMPRESSIONS {
        let rows = rows(&variables, compression, 9, 5);
        check(
            &format!("long-{compression:?}"),
            &variables,
            &options(compression, 65_536),
            &rows,
        );
    }
}

#[test]
fn plain_rows_that_begin_like_a_signature_read_back() {
    let signatures: [&[u8]; 4] = [
        &[0xF7, 0xF7, 0xF7, 0xF7, 0, 0, 0, 0],
        &[0xFE, 0xFB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0xFD, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0xFF; 8],
    ];
    for length in [64, 808] {
        let variables = [Variable::character("c", length)];
        for compression in [Compression::Char, Compression::Binary] {
            let mut random = Random(11);
            let row = |signature: &&[u8]| {
                let mut row = signature.to_vec();
                while row.len() < length as usize {
                    row.push(random.next().to_le_bytes()[0]);
                }
                row
            };
            let rows: Vec<Vec<u8>> = signatures.iter().cycle().take(300).map(row).collect();
            let what = format!("signature-{length}-{compression:?}");
            check(&what, &variables, &options(compression, 8192), &rows);
        }
    }
}

#[test]
fn text_beyond_ascii_is_stored_in_the_encoding_of_the_file() {
    for encoding in [Encoding::UTF_8, Encoding::WLATIN1, Encoding::LATIN1] {
        let mut variables = mixed();
        variables[6].name = "Übung".to_owned();
        let options = WriteOptions {
            encoding,
            ..options(Compression::None, 4096)
        };
        let bytes = check(
            &format!("text-{}", encoding.name),
            &variables,
            &options,
            &[],
        );
        let reader = Reader::open(bytes.as_slice()).unwrap();
        assert_eq!(reader.metadata().encoding, encoding);
    }
    let variables = [Variable::numeric("数")];
    let options = WriteOptions {
        encoding: Encoding::LATIN1,
        ..options(Compression::None, 4096)
    };
    let error = Writer::create(Vec::new(), &variables, options).err();
    assert!(
        matches!(error, Some(Error::Unencodable { .. })),
        "{error:?}"
    );
}

#[test]
fn labels_of_more_than_a_text_subheader_read_back() {
    let variables: Vec<Variable> = (0..600)
        .map(|k| Variable {
            label: format!("{k:_>256}"),
            ..Variable::numeric(format!("x{k}"))
        })
        .collect();
    for page_bytes in [16_384, 65_536, 262_144] {
        let what = format!("labels-{page_bytes}");
        let rows = rows(&variables, Compression::None, 4, 1);
        check(
            &what,
            &variables,
            &options(Compression::None, page_bytes),
            &rows,
        );
    }
}

#[test]
fn a_row_index_that_overflows_its_page_is_dropped() {
    let variables = mixed();
    for compression in [Compression::Char, Compression::Binary] {
        for (page_bytes, count, kept) in [(4096, 9_000, true), (4096, 24_000, false)] {
            for row_index in [true, false] {
                let options = WriteOptions {
                    row_index,
                    ..options(compression, page_bytes)
                };
                let rows = rows(&variables, compression, count, 21);
                let what = format!("index-{compression:?}-{count}-{row_index}");
                let bytes = check(&what, &variables, &options, &rows);
                let index_at = 2 * page_bytes as usize + 32;
                let is_index = bytes[index_at..index_at + 2] == [0x00, 0x90];
                assert_eq!(is_index, kept && row_index, "{what}");
                let mut reader = Reader::open(bytes.as_slice()).unwrap();
                for row in [count - 1, 0, count / 2, 5, 100, count / 3, count - 70] {
                    reader.seek_row(row as u64).unwrap();
                    assert_eq!(
                        reader.next_row().unwrap(),
                        Some(rows[row].as_slice()),
                        "{what}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_same_options_and_rows_give_the_same_bytes() {
    let variables = mixed();
    for compression in COMPRESSIONS {
        let rows = rows(&variables, compression, 500, 9);
        let options = options(compression, 8192);
        let one = write(&variables, &options, &rows).unwrap();
        let mut writer = Writer::create(Vec::new(), &variables, options).unwrap();
        writer.write_slab(&rows.concat()).unwrap();
        assert_eq!(one, writer.finish().unwrap().0);
    }
}

#[test]
fn what_sas_would_refuse_is_refused() {
    let refused = |variables: &[Variable], options: WriteOptions| {
        Writer::create(Vec::new(), variables, options)
            .err()
            .map(|error| error.to_string())
    };
    let x = [Variable::numeric("x")];
    says(
        refused(&[number("x", 2)], WriteOptions::default()),
        "its length is 2, not 3 to 8",
    );
    says(
        refused(&[Variable::numeric("")], WriteOptions::default()),
        "it has no name",
    );
    says(
        refused(
            &[Variable::numeric("a"), Variable::numeric("A")],
            WriteOptions::default(),
        ),
        "there is another one of this name",
    );
    says(
        refused(
            &[Variable::numeric("n".repeat(33))],
            WriteOptions::default(),
        ),
        "its name has 33 bytes, and 32 fit",
    );
    let page = |page_bytes| WriteOptions {
        page_bytes,
        ..WriteOptions::default()
    };
    says(refused(&x, page(5000)), "5000 is not a multiple of 1024");
    says(
        refused(&x, page(1 << 24)),
        "16777216 is not a multiple of 1024",
    );
    let mut writer = Writer::create(Vec::new(), &x, WriteOptions::default()).unwrap();
    says(
        writer.write_row(&[0; 7]).err().map(|e| e.to_string()),
        "write 7 bytes as rows of 8",
    );
}

fn says(message: impl Into<Option<String>>, part: &str) {
    let message = message.into();
    assert!(
        message
            .as_deref()
            .is_some_and(|message| message.contains(part)),
        "{message:?}"
    );
}

/// Rows written in place are those written from a buffer, byte for byte, padding included.
#[test]
fn rows_filled_in_place_make_the_same_file() {
    let variables = [
        Variable::numeric("x"),
        Variable::character("c", 3),
        Variable::numeric("y"),
    ];
    for compression in [Compression::None, Compression::Char, Compression::Binary] {
        let options = || WriteOptions {
            compression,
            page_bytes: 4096,
            ..WriteOptions::default()
        };
        let mut copied = Writer::create(Vec::new(), &variables, options()).unwrap();
        let mut filled = Writer::create(Vec::new(), &variables, options()).unwrap();
        let bytes = copied.layout().row_bytes as usize;
        for number in 0..2_000_u32 {
            let mut row = vec![0; bytes];
            row[..19].fill(u8::try_from(number % 251).unwrap());
            copied.write_row(&row).unwrap();
            filled
                .write_row_with(|place| place[..19].copy_from_slice(&row[..19]))
                .unwrap();
        }
        assert_eq!(copied.finish().unwrap().0, filled.finish().unwrap().0);
    }
}
