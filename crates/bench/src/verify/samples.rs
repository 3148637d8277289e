//! Data sets of a number and a text, and faults in them.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sas7bdat::{Compression, Reader, Variable, WriteOptions, Writer};

/// Small, so that few rows have many pages.
const PAGE_BYTES: u32 = 4096;

/// Writes rows of a number and a text that says the same.
pub(super) fn write(folder: &Path, name: &str, numbers: &[f64]) -> PathBuf {
    write_compressed(folder, name, numbers, Compression::None)
}

pub(super) fn write_compressed(
    folder: &Path,
    name: &str,
    numbers: &[f64],
    compression: Compression,
) -> PathBuf {
    let options = WriteOptions {
        page_bytes: PAGE_BYTES,
        page_mask: 0x1234_5678,
        compression,
        ..WriteOptions::default()
    };
    let variables = [Variable::numeric("x"), Variable::character("t", 39)];
    let mut writer = Writer::create(Vec::new(), &variables, options).unwrap();
    for number in numbers {
        let mut row = number.to_le_bytes().to_vec();
        row.extend_from_slice(format!("{number:<39}").as_bytes());
        // SAS leaves in the padding what its memory held.
        row.resize(writer.layout().row_bytes as usize, name.as_bytes()[0]);
        writer.write_row(&row).unwrap();
    }
    let path = folder.join(format!("{name}.sas7bdat"));
    fs::write(&path, writer.finish().unwrap().0).unwrap();
    path
}

/// Where a page begins.
fn offset(path: &Path, page: u64) -> u64 {
    let bytes = fs::read(path).unwrap();
    let header = Reader::open(bytes.as_slice())
        .unwrap()
        .metadata()
        .header_bytes;
    u64::from(header) + (page - 1) * u64::from(PAGE_BYTES)
}

fn open(path: &Path) -> File {
    let mut options = File::options();
    options.read(true).write(true).open(path).unwrap()
}

/// Changes a byte of a page.
pub(super) fn flip(path: &Path, page: u64, byte: u64) {
    let (file, at) = (open(path), offset(path, page) + byte);
    let mut old = [0];
    file.read_exact_at(&mut old, at).unwrap();
    file.write_all_at(&[old[0] ^ 0x10], at).unwrap();
}

/// Fills a page with zeros.
pub(super) fn blank(path: &Path, page: u64) {
    let zeros = vec![0; PAGE_BYTES as usize];
    open(path).write_all_at(&zeros, offset(path, page)).unwrap();
}

/// Puts two pages in each other's place.
pub(super) fn swap(path: &Path, one: u64, two: u64) {
    let file = open(path);
    let read = |page| {
        let mut bytes = vec![0; PAGE_BYTES as usize];
        file.read_exact_at(&mut bytes, offset(path, page)).unwrap();
        bytes
    };
    let (left, right) = (read(one), read(two));
    file.write_all_at(&left, offset(path, two)).unwrap();
    file.write_all_at(&right, offset(path, one)).unwrap();
}

/// Cuts the file off inside of a page.
pub(super) fn cut(path: &Path, page: u64) {
    open(path).set_len(offset(path, page) + 100).unwrap();
}

/// The first row of a page, from 1: by reading rows one by one.
pub(super) fn first_row_of(path: &Path, page: u64) -> u64 {
    let bytes = fs::read(path).unwrap();
    let mut reader = Reader::open(bytes.as_slice()).unwrap();
    reader.keep_places();
    let mut row = 0;
    while reader.next_row().unwrap().is_some() {
        row += 1;
        if u64::from(reader.place().page) == page {
            return row;
        }
    }
    panic!("page {page} has no rows")
}
