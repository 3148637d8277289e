//! The inputs that a run begins with and changes.

use std::fs;
use std::path::{Path, PathBuf};

use sas7bdat::btree::{IndexWriter, KeyPart, RowId};
use sas7bdat::{
    Compression, Encoding, Format, Kind, Layout, Variable, WriteOptions, Writer, rdc, rle,
};

use crate::random::Random;

/// Larger files of a corpus are left out.
const CORPUS_BYTES_MAX: u64 = 64 * 1024;

/// Programs that say what the suites' programs do not.
const PROGRAMS: [&str; 3] = [
    include_str!("../seeds/macros.sas"),
    include_str!("../seeds/data-steps.sas"),
    include_str!("../seeds/procedures.sas"),
];

/// A log with an accounting of each shape.
const LOG: &str = include_str!("../seeds/steps.log");

/// A recipe with every kind of column.
const RECIPE: &str = include_str!("../seeds/columns.toml");

/// Where seeds come from, beside those that are made.
#[derive(Debug, Clone)]
pub struct Seeds {
    /// The repository.
    pub root: PathBuf,
    /// A folder with data sets of other makers, if there is one.
    pub corpus: Option<PathBuf>,
}

impl Seeds {
    /// Small data sets: some of each shape, written here, and those of the corpus.
    pub fn data_sets(&self) -> Vec<Vec<u8>> {
        let mut sets = Vec::new();
        for compression in [Compression::None, Compression::Char, Compression::Binary] {
            sets.extend(shapes().iter().map(|shape| shape.write(compression)));
        }
        if let Some(corpus) = &self.corpus {
            sets.extend(files(corpus, "sas7bdat"));
        }
        sets
    }

    /// Index files written here, and those of the corpus.
    pub fn indexes(&self) -> Vec<Vec<u8>> {
        let mut files_found = vec![index_file(false), index_file(true)];
        if let Some(corpus) = &self.corpus {
            files_found.extend(files(corpus, "sas7bndx"));
        }
        files_found
    }

    /// Choices of a grammar.
    pub fn choices(&self) -> Vec<Vec<u8>> {
        let mut random = Random::new(11, 0);
        (0..200)
            .map(|_| (0..300).map(|_| random.byte()).collect())
            .collect()
    }

    /// Rows behind a byte that says how to encode them.
    pub fn rows(&self) -> Vec<Vec<u8>> {
        let mut random = Random::new(3, 0);
        let lengths = [0, 1, 2, 17, 64, 100, 500, 1024, 5000, 20_000];
        let mut rows: Vec<Vec<u8>> = Vec::new();
        for length in lengths {
            for alphabet in [&b" "[..], b" \0@x", b"abcdefgh", b"\x00\x00\x00\x3f\xf0"] {
                let mut row = Vec::with_capacity(length + 1);
                while row.len() <= length {
                    let byte = *random.pick(alphabet);
                    let run = random.skewed(600);
                    row.extend(std::iter::repeat_n(byte, run));
                    row.push(random.byte());
                }
                row.truncate(length + 1);
                rows.push(row);
            }
        }
        rows
    }

    /// Rows encoded as RLE, behind their length.
    pub fn rle_rows(&self) -> Vec<Vec<u8>> {
        let mut encoder = rle::Encoder::new(true);
        self.encoded(|row| encoder.encode(row).map(<[u8]>::to_vec))
    }

    /// Rows encoded as RDC, behind their length.
    pub fn rdc_rows(&self) -> Vec<Vec<u8>> {
        let mut encoder = rdc::Encoder::new();
        self.encoded(|row| encoder.encode(row).map(<[u8]>::to_vec))
    }

    fn encoded(&self, mut encode: impl FnMut(&[u8]) -> Option<Vec<u8>>) -> Vec<Vec<u8>> {
        let mut seeds = vec![vec![0; 2]];
        for row in self.rows() {
            let length = u16::try_from(row.len()).unwrap_or(0).to_le_bytes();
            if let Some(stored) = encode(&row) {
                seeds.push([&length[..], &stored].concat());
            }
        }
        seeds
    }

    /// The suites' programs and some more.
    pub fn programs(&self) -> Vec<Vec<u8>> {
        let mut programs = files(&self.root.join("suites"), "sas");
        programs.extend(PROGRAMS.map(|text| text.as_bytes().to_vec()));
        programs
    }

    /// A log written here, and those of the corpus.
    pub fn logs(&self) -> Vec<Vec<u8>> {
        let mut logs = vec![LOG.as_bytes().to_vec()];
        if let Some(corpus) = &self.corpus {
            logs.extend(files(corpus, "log"));
        }
        logs
    }

    /// The built-in recipes and one more.
    pub fn recipes(&self) -> Vec<Vec<u8>> {
        let mut recipes = files(&self.root.join("recipes"), "toml");
        recipes.push(RECIPE.as_bytes().to_vec());
        recipes
    }
}

/// The small files below `folder` whose names end so, in the order of their paths.
fn files(folder: &Path, extension: &str) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let small = |path: &PathBuf| fs::metadata(path).is_ok_and(|m| m.len() <= CORPUS_BYTES_MAX);
    paths
        .iter()
        .filter(|path| small(path))
        .filter_map(|path| fs::read(path).ok())
        .collect()
}

/// A small index file with a tree of two levels.
fn index_file(unique: bool) -> Vec<u8> {
    let options = WriteOptions {
        page_bytes: 1024,
        ..WriteOptions::default()
    };
    let mut writer = IndexWriter::create(Vec::new(), &options, 1).expect("the options are sound");
    let part = KeyPart {
        column: 1,
        length: 8,
        numeric: false,
    };
    writer
        .begin(vec![part], unique, 300)
        .expect("the keys are short");
    for number in 0..300u32 {
        let key = format!("{:08}", if unique { number } else { number / 7 });
        let row = RowId {
            page: number / 20 + 1,
            slot: 4,
        };
        writer
            .add(key.as_bytes(), row)
            .expect("memory takes every page");
    }
    writer.end().expect("memory takes every page");
    writer.finish().expect("memory takes every page")
}

/// What a written data set looks like.
struct Shape {
    variables: Vec<Variable>,
    rows: usize,
    page_bytes: u32,
    aligned_header: bool,
    encoding: Encoding,
}

fn shapes() -> Vec<Shape> {
    let shape = |variables, rows, page_bytes| Shape {
        variables,
        rows,
        page_bytes,
        aligned_header: true,
        encoding: Encoding::UTF_8,
    };
    let mut described = vec![Variable::numeric("id"), Variable::character("name", 24)];
    for variable in &mut described {
        "a label".clone_into(&mut variable.label);
        variable.format = Format {
            name: if variable.kind == Kind::Numeric {
                "DATE".to_owned()
            } else {
                "$CHAR".to_owned()
            },
            width: 9,
            decimals: 0,
        };
    }
    described.extend((3..8).map(|length| Variable {
        length,
        ..Variable::numeric(format!("n{length}"))
    }));
    let wide = (0..120).map(|number| match number % 3 {
        0 => Variable::character(format!("c{number}"), 1 + number),
        _ => Variable::numeric(format!("x{number}")),
    });
    vec![
        shape(vec![Variable::numeric("x")], 5, 4096),
        shape(vec![Variable::numeric("x")], 0, 4096),
        shape(described.clone(), 300, 4096),
        shape(wide.collect(), 12, 16_384),
        shape(vec![Variable::character("c", 3000)], 20, 8192),
        Shape {
            aligned_header: false,
            encoding: Encoding::from_name("wlatin1").unwrap_or(Encoding::UTF_8),
            ..shape(described, 1500, 2048)
        },
    ]
}

impl Shape {
    fn write(&self, compression: Compression) -> Vec<u8> {
        let options = WriteOptions {
            compression,
            page_bytes: self.page_bytes,
            aligned_header: self.aligned_header,
            encoding: self.encoding,
            page_mask: 0x1234_5678,
            label: "a data set".to_owned(),
            ..WriteOptions::default()
        };
        let layout = Layout::new(&self.variables, compression);
        let mut writer = Writer::create(Vec::new(), &self.variables, options)
            .expect("the options and variables are sound");
        let mut random = Random::new(5, 0);
        for number in 0..self.rows {
            let mut row = vec![0; layout.row_bytes as usize];
            for (variable, offset) in self.variables.iter().zip(&layout.offsets) {
                let (at, length) = (*offset as usize, variable.length as usize);
                let cell = &mut row[at..at + length];
                if variable.kind == Kind::Character {
                    cell.fill(b' ');
                    let used = random.skewed(length);
                    cell[..used].fill_with(|| b'A' + random.byte() % 26);
                } else {
                    let value = (number as f64).to_le_bytes();
                    cell.copy_from_slice(&value[8 - length..]);
                }
            }
            writer.write_row(&row).expect("memory takes every row");
        }
        writer.finish().expect("memory takes every page").0
    }
}
