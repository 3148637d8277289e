//! Sizes by COMPRESS= beside files that SAS wrote, and beside files that our writer wrote.

#![expect(clippy::print_stdout, reason = "says what was compared")]

use std::path::{Path, PathBuf};

use probe::squeeze::{Effort, Options, Rewritten, Source, squeeze};
use sas7bdat::{Compression, Variable, WriteOptions, Writer};

/// What the file of these bytes would take.
fn rewritten(content: &Vec<u8>, threads: usize) -> Result<Rewritten, String> {
    let source = Source {
        name: "set".to_owned(),
        bytes: content.len() as u64,
        allocated_bytes: None,
        is_data_set: sas7bdat::is_data_set(content),
        content,
    };
    let options = Options {
        threads,
        effort: Effort::Nothing,
        ..Options::WHOLE
    };
    let mut found = squeeze(&[source], &options, &|_| {});
    let figures = found.files.remove(0);
    assert_eq!(figures.error, None);
    // Every byte was hashed too.
    assert_eq!(
        found.duplicates[0].distinct.scanned_bytes,
        content.len() as u64
    );
    figures
        .sas
        .ok_or_else(|| figures.sas_error.unwrap_or_default())
}

/// A data set of rows that repeat themselves more or less.
fn written(compression: Compression, page_bytes: u32, aligned: bool, rows: u64) -> Vec<u8> {
    let texts = (0..6).map(|number| Variable::character(format!("c{number}"), 7 + 9 * number));
    let numbers = (0..8).map(|number| Variable::numeric(format!("n{number}")));
    let variables: Vec<Variable> = texts.chain(numbers).collect();
    let options = WriteOptions {
        name: "SET".to_owned(),
        label: "of a test".to_owned(),
        page_bytes,
        aligned_header: aligned,
        compression,
        strict: true,
        ..WriteOptions::default()
    };
    let mut writer = Writer::create(Vec::new(), &variables, options).unwrap();
    let layout = writer.layout().clone();
    let stream = base::random::Stream::new(7);
    for row in 0..rows {
        let mut bytes = vec![b' '; layout.row_bytes as usize];
        for (at, (variable, offset)) in (0u64..).zip(variables.iter().zip(&layout.offsets)) {
            let place = *offset as usize..(*offset + variable.length) as usize;
            let word = stream.word(row * 31 + at);
            match variable.kind {
                sas7bdat::Kind::Numeric => {
                    let value = if word.is_multiple_of(3) {
                        0.0
                    } else {
                        (word % 1000) as f64
                    };
                    bytes[place].copy_from_slice(&value.to_le_bytes());
                }
                sas7bdat::Kind::Character => {
                    let used = usize::try_from(word % u64::from(variable.length)).unwrap();
                    bytes[place][..used].fill(b'a' + (word % 7) as u8);
                }
            }
        }
        writer.write_row(&bytes).unwrap();
    }
    writer.finish().unwrap().0
}

#[test]
fn sizes_are_those_of_the_files_to_the_byte() {
    const KINDS: [Compression; 3] = [Compression::None, Compression::Char, Compression::Binary];
    for (page_bytes, aligned, rows) in [
        (4096, true, 3000),
        (65_536, true, 20_000),
        (65_536, false, 1),
        (131_072, true, 40_000),
        (1 << 21, true, 30_000),
        (8192, false, 0),
    ] {
        let files = KINDS.map(|kind| written(kind, page_bytes, aligned, rows));
        let wanted = files.each_ref().map(|file| file.len() as u64);
        // Whichever of the three there is, it tells all sizes.
        for file in &files {
            let found = rewritten(file, 2).unwrap();
            let sizes = [found.none_bytes, found.char_bytes, found.binary_bytes];
            assert_eq!(sizes, wanted, "{page_bytes} {aligned} {rows}");
            assert_eq!((found.rows, found.page_bytes), (rows, page_bytes));
        }
    }
}

#[test]
fn what_is_damaged_is_hashed_all_the_same() {
    let mut file = written(Compression::Char, 65_536, true, 20_000);
    let short = file.len() - 65_536;
    file.truncate(short);
    let why = rewritten(&file, 1).unwrap_err();
    assert!(why.contains("cut short"), "{why}");
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            below(&path, files);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "sas7bdat")
        {
            files.push(path);
        }
    }
}

/// Data sets that were changed in place have a page of amended descriptions that SAS would not write again.
const AMENDED: [&str; 4] = ["54-class", "homimp", "omov", "ratiov"];

/// Files that SAS wrote have the size that is told for their own compression: those of 64-bit releases. A
/// file with CHAR and one of the same rows with BINARY tell each other's sizes.
#[test]
fn sizes_are_those_that_sas_wrote() {
    let corpus = std::env::var_os("GRISTMILL_CORPUS").map(PathBuf::from);
    let Some(corpus) = corpus
        .map(|corpus| corpus.join("sas7bdat"))
        .filter(|path| path.is_dir())
    else {
        println!("GRISTMILL_CORPUS is not set: nothing was compared");
        return;
    };
    let mut files = Vec::new();
    below(&corpus, &mut files);
    let (mut same, mut amended, mut others) = ([0; 3], 0, 0);
    for path in &files {
        let content = std::fs::read(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let Ok(found) = rewritten(&content, 1) else {
            others += 1;
            continue;
        };
        if found.layout.is_some() {
            others += 1;
            continue;
        }
        let (kind, wanted) = match found.compression {
            "none" => (0, found.none_bytes),
            "char" => (1, found.char_bytes),
            _ => (2, found.binary_bytes),
        };
        let bytes = content.len() as u64;
        if AMENDED.contains(&&*name) {
            assert_eq!(bytes, wanted + u64::from(found.page_bytes), "{name}");
            amended += 1;
        } else {
            assert_eq!(bytes, wanted, "{}", path.display());
            same[kind] += 1;
        }
    }
    // One table, once with CHAR and once with BINARY.
    let read = |name: &str| std::fs::read(corpus.join("olivia76+cpp-sas7bdat").join(name)).unwrap();
    let (binary, char) = (read("test8.sas7bdat"), read("test9.sas7bdat"));
    assert_eq!(rewritten(&binary, 1).unwrap().char_bytes, char.len() as u64);
    assert_eq!(
        rewritten(&char, 1).unwrap().binary_bytes,
        binary.len() as u64
    );
    println!("same: {same:?}, amended: {amended}, no 64-bit data sets: {others}");
    assert!(same[0] >= 10 && same[1] >= 5 && same[2] >= 4, "{same:?}");
}
