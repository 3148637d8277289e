//! `gristmill data convert`: between SAS7BDAT, CSV and Parquet.

mod from_csv;
mod infer;
mod lines;
mod parquet;
mod to_csv;

use std::path::Path;

use anyhow::Result;
use base::units::Bytes;
use sas7bdat::Encoding;
use serde_json::json;

use super::args::ConvertArgs;
use super::value::counted;
use crate::exit::{Exit, usage};
use crate::paths::is_same;
use crate::ui;

/// What was converted.
struct Converted {
    rows: u64,
    columns: usize,
    /// What the other format cannot hold, in words.
    notes: Vec<String>,
}

/// Runs the verb.
pub fn run(args: &ConvertArgs) -> Result<Exit> {
    let (input, output) = (args.input.as_path(), args.output.as_path());
    if is_same(input, output) {
        usage!("{} is both input and output", input.display());
    }
    let converted = match (extension(input).as_str(), extension(output).as_str()) {
        ("sas7bdat", "csv") => to_csv::convert(input, output, args.shape.force)?,
        ("csv", "sas7bdat") => from_csv::convert(input, output, args.shape)?,
        ("sas7bdat", "parquet") => parquet::write(input, output, args.shape.force)?,
        ("parquet", "sas7bdat") => parquet::read(input, output, args.shape)?,
        _ => usage!(
            "failed to convert {} to {}: the extensions must be .sas7bdat on one side and .csv or \
             .parquet on the other",
            input.display(),
            output.display()
        ),
    };
    for note in &converted.notes {
        ui::say(&format!("note: {note}"));
    }
    let bytes = std::fs::metadata(output).map_or(0, |found| found.len());
    if args.json {
        let result = json!({
            "input": input.display().to_string(),
            "output": output.display().to_string(),
            "rows": converted.rows,
            "columns": converted.columns,
            "bytes": bytes,
            "notes": converted.notes,
        });
        ui::data(&result.to_string());
    } else {
        ui::data(&format!(
            "{}: {}, {}, {}",
            output.display(),
            counted(converted.rows, "row"),
            counted(converted.columns as u64, "column"),
            Bytes(bytes)
        ));
    }
    Ok(Exit::Good)
}

/// A note on texts that are not in the encoding that their data set says.
fn undecodable(texts: u64, encoding: Encoding) -> Option<String> {
    let (values, name) = (counted(texts, "text"), encoding.name);
    (texts > 0)
        .then(|| format!("{values} held bytes that are no characters of {name} and became U+FFFD"))
}

fn extension(path: &Path) -> String {
    let extension = path.extension().and_then(|text| text.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}
