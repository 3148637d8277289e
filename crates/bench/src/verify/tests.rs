//! Faults in outputs are found, and named by file, page and row.

use std::path::PathBuf;

use sas7bdat::Compression;
use tempfile::TempDir;

use super::samples::{self, blank, cut, first_row_of, flip, swap};
use super::{ExpectedRows, Order, read_rows, sorted_same_rows};

const ROWS: u32 = 3000;
/// In the middle of the file.
const PAGE: u64 = 17;

struct Case {
    _folder: TempDir,
    input: PathBuf,
    output: PathBuf,
    by: Vec<String>,
}

/// An input, and an output of the same rows in another order: sorted, or so that no check of an order is
/// asked for.
fn case(compression: Compression, is_sorted: bool) -> Case {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers: Vec<f64> = (1..=ROWS).map(f64::from).collect();
    let output = samples::write_compressed(folder.path(), "out", &numbers, compression);
    numbers.reverse();
    let input = samples::write(folder.path(), "in", &numbers);
    Case {
        _folder: folder,
        input,
        output,
        by: if is_sorted {
            vec!["x".into()]
        } else {
            Vec::new()
        },
    }
}

impl Case {
    fn findings(&self) -> Vec<String> {
        let expected = ExpectedRows {
            hash: read_rows(&self.input).unwrap(),
            held_by: &self.input,
            whole: true,
        };
        sorted_same_rows(&self.output, &self.by, Order::Ties, Some(expected))
    }

    /// Some finding names the output, the page and the row.
    fn is_named(&self, page: u64, row: u64) {
        let findings = self.findings();
        let file = self.output.display().to_string();
        let (page, row) = (format!("page {page} "), format!("row {row} "));
        let names = |finding: &String| {
            finding.starts_with(&file) && finding.contains(&page) && finding.contains(&row)
        };
        assert!(findings.iter().any(names), "{page}{row}{findings:?}");
    }
}

fn all_cases() -> impl Iterator<Item = Case> {
    let compressions = [Compression::None, Compression::Char, Compression::Binary];
    let each = |compression| [true, false].map(|is_sorted| case(compression, is_sorted));
    compressions.into_iter().flat_map(each)
}

#[test]
fn a_whole_output_has_no_findings() {
    for case in all_cases() {
        assert_eq!(case.findings(), Vec::<String>::new());
    }
}

#[test]
fn a_flipped_byte_of_a_row_is_named() {
    for is_sorted in [true, false] {
        let case = case(Compression::None, is_sorted);
        let first = first_row_of(&case.output, PAGE);
        // The row's text, behind a page header of 40 bytes and two rows of 48.
        flip(&case.output, PAGE, 40 + 2 * 48 + 8);
        case.is_named(PAGE, first + 2);
    }
}

#[test]
fn a_flipped_byte_that_breaks_the_order_is_named() {
    let case = case(Compression::None, true);
    let first = first_row_of(&case.output, PAGE);
    // The exponent of a number of the third row: it or the one behind it is out of order.
    flip(&case.output, PAGE, 40 + 2 * 48 + 7);
    let findings = case.findings();
    let named = |row: u64| format!("row {row} on page {PAGE} is not in the order of x");
    let is_named = |row| findings.iter().any(|finding| finding.contains(&named(row)));
    assert!(is_named(first + 2) || is_named(first + 3), "{findings:?}");
    case.is_named(PAGE, first + 2);
}

#[test]
fn flipped_bytes_of_compressed_pages_are_named() {
    for compression in [Compression::Char, Compression::Binary] {
        for byte in (0..4096).step_by(113) {
            let case = case(compression, false);
            let first = first_row_of(&case.output, PAGE);
            let next = first_row_of(&case.output, PAGE + 1);
            flip(&case.output, PAGE, byte);
            let findings = case.findings();
            // What is neither a row nor read by a reader may be anything.
            let names = |finding: &String| {
                let row = (first..next).any(|row| finding.contains(&format!("row {row} ")));
                finding.contains(&format!("page {PAGE}")) && row
            };
            let is_found = findings.is_empty() || findings.iter().any(names);
            assert!(is_found, "{compression:?} {byte}: {findings:?}");
        }
    }
}

#[test]
fn a_page_of_zeros_is_named() {
    for case in all_cases() {
        let last = first_row_of(&case.output, PAGE);
        blank(&case.output, PAGE);
        case.is_named(PAGE, last);
    }
}

#[test]
fn two_pages_in_each_others_place_are_named() {
    for case in all_cases() {
        let first = first_row_of(&case.output, PAGE);
        swap(&case.output, PAGE, PAGE + 4);
        case.is_named(PAGE, first);
    }
}

#[test]
fn a_file_that_was_cut_off_is_named() {
    for case in all_cases() {
        let first = first_row_of(&case.output, PAGE);
        cut(&case.output, PAGE);
        case.is_named(PAGE, first);
    }
}

#[test]
fn a_missing_file_is_named() {
    for case in all_cases() {
        std::fs::remove_file(&case.output).unwrap();
        let findings = case.findings();
        let file = case.output.display().to_string();
        assert!(
            findings.len() == 1 && findings[0].starts_with(&file),
            "{findings:?}"
        );
        assert!(findings[0].contains("No such file"), "{findings:?}");
    }
}

#[test]
fn a_row_that_is_lost_is_named() {
    let case = case(Compression::None, true);
    let folder = case.output.parent().unwrap();
    let numbers: Vec<f64> = (1..=ROWS)
        .filter(|row| *row != 1234)
        .map(f64::from)
        .collect();
    samples::write(folder, "out", &numbers);
    let findings = case.findings();
    // In the input the rows are the other way round.
    let (place, input) = (
        format!("row {} on page", ROWS + 1 - 1234),
        case.input.display(),
    );
    let lacks = format!("of {input} is the first that it lacks");
    let names = |finding: &String| finding.contains(&place) && finding.contains(&lacks);
    assert!(findings.iter().any(names), "{findings:?}");
}
