//! Whatever is written reads back, for any variables, options and rows.

use proptest::collection::vec;
use proptest::prelude::*;
use sas7bdat::check::check;
use sas7bdat::{
    Batch, Column, Compression, Encoding, Format, IndexInfo, Kind, Layout, Reader, Variable,
    WriteOptions, Writer, amend, trim_blanks,
};

fn format() -> impl Strategy<Value = Format> {
    ("[A-Z$][A-Z0-9]{0,20}[A-Z_]", 0u16..200, 0u16..20).prop_map(|(name, width, decimals)| Format {
        name,
        width,
        decimals,
    })
}

fn variable() -> impl Strategy<Value = Variable> {
    let kind = prop_oneof![
        Just((Kind::Numeric, 8)),
        (3u32..=8).prop_map(|length| (Kind::Numeric, length)),
        (1u32..40).prop_map(|length| (Kind::Character, length)),
        (1u32..700).prop_map(|length| (Kind::Character, length)),
    ];
    let label = prop_oneof!["", "[ -~]{0,200}[!-~]", "[ä-ü€中]{1,40}"];
    let formats = (prop_oneof![Just(Format::default()), format()], format());
    (kind, "[A-Za-z_é][A-Za-z0-9_ é#]{0,14}", label, formats).prop_map(
        |((kind, length), name, label, (format, informat))| Variable {
            name: name.trim_end().to_owned(),
            kind,
            length,
            label,
            format,
            informat,
        },
    )
}

fn variables() -> impl Strategy<Value = Vec<Variable>> {
    vec(variable(), 1..40).prop_map(|mut variables| {
        let mut names = std::collections::HashSet::new();
        for (number, variable) in variables.iter_mut().enumerate() {
            if !names.insert(variable.name.to_ascii_uppercase()) {
                variable.name = format!("unlike{number}");
            }
        }
        variables
    })
}

fn options() -> impl Strategy<Value = WriteOptions> {
    let compression = prop_oneof![
        Just(Compression::None),
        Just(Compression::Char),
        Just(Compression::Binary)
    ];
    let page_bytes = prop_oneof![
        Just(28u32 * 1024),
        Just(32 * 1024),
        Just(65_536),
        Just(73_728)
    ];
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    let texts = ("[A-Z][A-Z0-9_]{0,31}", "[ -~]{0,255}[!-~]", "[A-Z]{1,8}");
    (
        compression,
        page_bytes,
        switches,
        texts,
        any::<u32>(),
        0.0..2e9,
    )
        .prop_map(
            |(compression, page_bytes, switches, (name, label, creator), page_mask, created)| {
                let (aligned_header, row_index, strict) = switches;
                WriteOptions {
                    name,
                    label,
                    creator,
                    compression,
                    page_bytes,
                    aligned_header,
                    row_index,
                    strict,
                    page_mask,
                    created,
                    encoding: Encoding::UTF_8,
                    ..WriteOptions::default()
                }
            },
        )
}

/// A few kinds of rows, one after the other.
fn contents() -> impl Strategy<Value = (Vec<Vec<u8>>, usize)> {
    let content = prop_oneof![
        vec(any::<u8>(), 1..400),
        vec(
            prop_oneof![Just(b' '), Just(0), Just(b'@'), any::<u8>()],
            1..400
        ),
        (any::<u8>(), 1usize..3000).prop_map(|(byte, count)| vec![byte; count]),
    ];
    (vec(content, 1..8), 0usize..400)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_data_set_reads_back(
        variables in variables(),
        options in options(),
        (contents, count) in contents(),
    ) {
        let layout = Layout::new(&variables, options.compression);
        let row_bytes = layout.row_bytes as usize;
        let compression = options.compression.effective(&variables);
        let rows: Vec<Vec<u8>> = (0..count)
            .map(|number| {
                let content = &contents[number % contents.len()];
                content.iter().cycle().skip(number % 7).take(row_bytes).copied().collect()
            })
            .collect();
        let mut writer = Writer::create(Vec::new(), &variables, options.clone()).unwrap();
        for row in &rows {
            writer.write_row(row).unwrap();
        }
        let (bytes, written) = writer.finish().unwrap();
        prop_assert_eq!(written.bytes, bytes.len() as u64);

        let mut reader = Reader::open(bytes.as_slice()).unwrap();
        let metadata = reader.metadata().clone();
        prop_assert_eq!(&metadata.variables, &variables);
        prop_assert_eq!(metadata.rows, count as u64);
        prop_assert_eq!(&metadata.label, &options.label);
        prop_assert_eq!(metadata.compression, compression);
        for row in &rows {
            prop_assert_eq!(reader.next_row().unwrap(), Some(row.as_slice()));
        }
        prop_assert_eq!(reader.next_row().unwrap(), None);
        if count > 0 {
            let row = count * 2 / 3;
            reader.seek_row(row as u64).unwrap();
            prop_assert_eq!(reader.next_row().unwrap(), Some(rows[row].as_slice()));
        }

        reader.seek_row(0).unwrap();
        let columns: Vec<usize> = (0..variables.len()).rev().step_by(2).collect();
        let mut batch = Batch::default();
        let mut start = 0;
        while reader.next_batch(&columns, &mut batch).unwrap() {
            for (column, values) in columns.iter().zip(&batch.columns) {
                for row in 0..batch.rows {
                    let bytes = reader.bytes(*column, &rows[start + row]);
                    match values {
                        Column::Numeric(values) => {
                            let number = reader.decode_numeric(*column, &rows[start + row]);
                            prop_assert_eq!(values[row].to_bits(), number.to_bits());
                            let length = bytes.len();
                            prop_assert_eq!(&number.to_le_bytes()[8 - length..], bytes);
                        }
                        Column::Character(texts) => {
                            prop_assert_eq!(texts.bytes(row), Some(trim_blanks(bytes)));
                        }
                    }
                }
            }
            start += batch.rows;
        }
        prop_assert_eq!(start, count);
        prop_assert_eq!(check(bytes.as_slice()).unwrap(), vec![]);
    }

    #[test]
    fn rows_added_later_make_the_same_file(
        variables in variables(),
        options in options(),
        (contents, count) in contents(),
        parts in (0usize..=8, 0usize..=8),
    ) {
        // How a file was made strictly is not seen in it.
        let options = WriteOptions { strict: false, ..options };
        let row_bytes = Layout::new(&variables, options.compression).row_bytes as usize;
        let row = |number: usize| -> Vec<u8> {
            let content = &contents[number % contents.len()];
            content.iter().cycle().skip(number % 7).take(row_bytes).copied().collect()
        };
        let mut at_once = Writer::create(Vec::new(), &variables, options.clone()).unwrap();
        let mut later = Writer::create(Vec::new(), &variables, options.clone()).unwrap();
        for number in 0..count {
            at_once.write_row(&row(number)).unwrap();
        }
        let (at_once, written) = at_once.finish().unwrap();
        let (mut file, mut done) = (Vec::new(), 0);
        for part in [count * parts.0 / 16, count * (parts.0 + parts.1) / 16, count] {
            if !file.is_empty() {
                (later, _) = Writer::append(file, options.created).unwrap();
            }
            while done < part {
                later.write_row(&row(done)).unwrap();
                done += 1;
            }
            let finished = later.finish().unwrap();
            prop_assert_eq!(finished.1.rows, part as u64);
            file = finished.0;
            prop_assert_eq!(check(file.as_slice()).unwrap(), vec![]);
            later = Writer::create(Vec::new(), &variables, options.clone()).unwrap();
        }
        let mut reader = Reader::open(file.as_slice()).unwrap();
        for number in 0..count {
            let expected = row(number);
            prop_assert_eq!(reader.next_row().unwrap(), Some(expected.as_slice()));
        }
        // Which matches RDC finds depends on the rows that one writer has seen.
        if options.compression != Compression::Binary {
            prop_assert_eq!(written.bytes, file.len() as u64);
            let first = at_once.iter().zip(&file).position(|(left, right)| left != right);
            prop_assert_eq!(first, None, "the first byte that differs");
        }
    }

    #[test]
    fn changed_descriptions_read_back(
        variables in variables(),
        options in options(),
        others in vec(variable(), 40),
        label in "[ -~]{0,255}[!-~]",
        rows in (0usize..200, 0usize..200),
        indexed in any::<bool>(),
    ) {
        let options = WriteOptions { strict: false, ..options };
        let row_bytes = Layout::new(&variables, options.compression).row_bytes as usize;
        let row = |number: usize| vec![b'a' + u8::try_from(number % 13).unwrap(); row_bytes];
        let mut writer = Writer::create(Vec::new(), &variables, options.clone()).unwrap();
        for number in 0..rows.0 {
            writer.write_row(&row(number)).unwrap();
        }
        let mut file = writer.finish().unwrap().0;
        // Every second variable gets what another one has, under a name of its own.
        let mut changed = variables.clone();
        for (number, (one, other)) in changed.iter_mut().zip(&others).enumerate().step_by(2) {
            one.name = format!("renamed_{number}");
            one.label.clone_from(&other.label);
            one.format.clone_from(&other.format);
            one.informat.clone_from(&other.informat);
        }
        let simple = IndexInfo {
            name: changed[0].name.clone(),
            unique: true,
            columns: vec![0],
        };
        let composite = IndexInfo {
            name: "both".to_owned(),
            unique: false,
            columns: vec![changed.len() - 1, 0],
        };
        let indexes = match (indexed, changed.len()) {
            (false, _) => vec![],
            (true, 1) => vec![simple],
            (true, _) => vec![simple, composite],
        };
        let mut done = rows.0;
        for round in 0..3 {
            if round == 1 {
                let (mut writer, _) = Writer::append(file, 1.0).unwrap();
                for number in 0..rows.1 {
                    writer.write_row(&row(done + number)).unwrap();
                }
                file = writer.finish().unwrap().0;
                done += rows.1;
            }
            let label = format!("{}{round}", &label[..label.len().min(250)]);
            changed[0].label = format!("round {round}");
            amend(&mut file, &label, &changed, &indexes, 2.0).unwrap();
            let mut reader = Reader::open(file.as_slice()).unwrap();
            let metadata = reader.metadata().clone();
            prop_assert_eq!(&metadata.variables, &changed);
            prop_assert_eq!(&metadata.label, &label);
            prop_assert_eq!(&metadata.indexes, &indexes);
            prop_assert_eq!(metadata.rows, done as u64);
            for number in 0..done {
                let expected = row(number);
                prop_assert_eq!(reader.next_row().unwrap(), Some(expected.as_slice()));
            }
            prop_assert_eq!(check(file.as_slice()).unwrap(), vec![]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Rows that leave with their memory are the same rows, however they are mixed with others, and
    /// whatever the memory held that takes their place.
    #[test]
    fn taken_rows_are_those_of_the_file(
        options in options(),
        lengths in vec(1u32..300, 1..6),
        rows in 0usize..900,
        singly in vec(0usize..40, 1..20),
    ) {
        let named = |(number, length): (usize, &u32)| Variable::character(format!("c{number}"), *length);
        let variables: Vec<Variable> = lengths.iter().enumerate().map(named).collect();
        let mut writer = Writer::create(Vec::new(), &variables, options).unwrap();
        let row_bytes = writer.layout().row_bytes as usize;
        let byte = |number: usize, at: usize| match at % 5 {
            0..3 => b' ',
            _ => b'!' + u8::try_from((number * 7 + at) % 90).unwrap(),
        };
        let row = |number: usize| -> Vec<u8> {
            (0..row_bytes).map(|at| byte(number, at)).collect()
        };
        for number in 0..rows {
            writer.write_row(&row(number)).unwrap();
        }
        let (bytes, _) = writer.finish().unwrap();
        let mut reader = Reader::open(bytes.as_slice()).unwrap();
        let (mut found, mut spare) = (0, vec![7; 100]);
        for single in singly.iter().cycle() {
            for _ in 0..*single {
                if let Some(read) = reader.next_row().unwrap() {
                    prop_assert_eq!(read.to_vec(), row(found));
                    found += 1;
                }
            }
            let Some(taken) = reader.take_slab(std::mem::take(&mut spare)).unwrap() else { break };
            prop_assert_eq!(reader.position(), (found + taken.count()) as u64);
            for read in taken.rows(0, taken.count()).iter() {
                prop_assert_eq!(read.to_vec(), row(found));
                found += 1;
            }
            spare = taken.into_memory();
        }
        prop_assert_eq!(found, rows);
        // Going back still works.
        if rows > 0 {
            reader.seek_row(rows as u64 / 2).unwrap();
            let again = reader.next_row().unwrap().unwrap().to_vec();
            prop_assert_eq!(again, row(rows / 2));
        }
    }
}
