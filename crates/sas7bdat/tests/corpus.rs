//! Every file of the corpus reads as its manifest says; damaged ones give a clear error.

#![allow(clippy::print_stdout, reason = "says how many files there were")]

mod support;

use sas7bdat::check::check;
use sas7bdat::{Compression, Error, Reader};
use support::cases;

#[test]
fn every_file_has_the_rows_and_columns_of_the_manifest() {
    let (mut read, mut refused, mut wrong) = (0, 0, Vec::new());
    for case in cases() {
        if case.field("layout") == "index file" {
            let error = Reader::open(case.bytes.as_slice()).err();
            if !matches!(error, Some(Error::NotADataSet { .. })) {
                wrong.push(format!(
                    "{}: an index file is no data set: {error:?}",
                    case.file
                ));
            }
            refused += 1;
            continue;
        }
        let damaged = case.field("note").starts_with("not parsable");
        match (count(&case.bytes), damaged) {
            (Err(error), true) => {
                println!("refused {}: failed to {error}", case.file);
                refused += 1;
            }
            (Err(error), false) => wrong.push(format!("{}: failed to {error}", case.file)),
            (Ok(_), true) => wrong.push(format!("{}: read though damaged", case.file)),
            (Ok(found), false) => {
                read += 1;
                let rows = Some(case.field("ref_rows")).filter(|rows| !rows.is_empty());
                let expected = [
                    rows.unwrap_or(case.field("rows_header")),
                    case.field("cols"),
                    case.field("compression"),
                    case.field("rows_deleted"),
                ];
                if found != expected {
                    wrong.push(format!("{}: {found:?} instead of {expected:?}", case.file));
                }
            }
        }
    }
    println!(
        "corpus: {read} data sets read, {refused} refused, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn count(bytes: &[u8]) -> Result<[String; 4], Error> {
    let mut reader = Reader::open(bytes)?;
    let mut rows = 0;
    while reader.next_row()?.is_some() {
        rows += 1;
    }
    let metadata = reader.metadata();
    let compression = match metadata.compression {
        Compression::None => "none",
        Compression::Char => "SASYZCRL",
        Compression::Binary => "SASYZCR2",
    };
    Ok([
        rows.to_string(),
        metadata.variables.len().to_string(),
        compression.to_owned(),
        metadata.deleted_rows.to_string(),
    ])
}

/// Files of SAS that break rules, and how many: no variable at all; one subheader less counted; a data
/// set that was changed in place.
const KNOWN: [(&str, usize); 3] = [("zero_variables", 3), ("bptrial", 1), ("54-class", 1)];

#[test]
fn files_that_sas_wrote_break_no_rule() {
    let (mut clean, mut known, mut other, mut broken) = (0, 0, 0, Vec::new());
    for case in cases() {
        let Ok(violations) = check(case.bytes.as_slice()) else {
            continue;
        };
        let release = case.field("sas_release");
        let first = Reader::open(case.bytes.as_slice())
            .unwrap()
            .metadata()
            .release
            .clone();
        if first.ends_with(".0000M0") || first.contains("TK") || first.as_str() < "8" {
            other += 1;
        } else if violations.is_empty() {
            clean += 1;
        } else if KNOWN
            .iter()
            .any(|(file, count)| case.file.contains(file) && *count == violations.len())
        {
            known += 1;
        } else {
            let text: Vec<String> = violations.iter().take(4).map(ToString::to_string).collect();
            broken.push(format!("{} ({release}): {}", case.file, text.join("; ")));
        }
    }
    println!(
        "checked: {clean} files of SAS break no rule, {known} break known ones, {other} of others"
    );
    assert!(
        broken.is_empty(),
        "{} files break a rule:\n{}",
        broken.len(),
        broken.join("\n")
    );
}
