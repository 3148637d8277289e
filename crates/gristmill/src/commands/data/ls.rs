//! `gristmill data ls`: what data sets say about themselves.

use std::fmt::Write;
use std::path::Path;

use base::units::Bytes;
use engine::format;
use sas7bdat::{Compression, Endian, Format, Kind, Metadata};
use serde_json::{Value, json};

use super::args::LsArgs;
use super::files;
use super::value::{counted, format_text, printable};
use crate::exit::Exit;
use crate::ui;

/// Runs the verb. A file that cannot be read is named, and the others are still listed.
pub fn run(args: &LsArgs) -> Exit {
    let mut list = Vec::new();
    let mut exit = Exit::Good;
    for (number, path) in args.files.iter().enumerate() {
        match files::open_data_set(path) {
            Ok(reader) if args.json => list.push(as_json(path, reader.metadata())),
            Ok(reader) => {
                if number > 0 {
                    ui::data("");
                }
                ui::data(&as_text(path, reader.metadata()));
            }
            Err(error) => {
                ui::error(&error);
                exit = Exit::CouldNotRun;
            }
        }
    }
    if args.json {
        ui::data(&Value::Array(list).to_string());
    }
    exit
}

const fn compression_name(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "none",
        Compression::Char => "char",
        Compression::Binary => "binary",
    }
}

const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Numeric => "num",
        Kind::Character => "char",
    }
}

const fn endian_name(endian: Endian) -> &'static str {
    match endian {
        Endian::Little => "little",
        Endian::Big => "big",
    }
}

fn as_json(path: &Path, metadata: &Metadata) -> Value {
    let columns: Vec<Value> = metadata
        .variables
        .iter()
        .map(|variable| {
            json!({
                "name": variable.name,
                "type": kind_name(variable.kind),
                "length": variable.length,
                "format": format_text(&variable.format),
                "label": variable.label,
            })
        })
        .collect();
    let indexes: Vec<&str> = metadata.indexes.iter().map(|i| i.name.as_str()).collect();
    json!({
        "file": path.display().to_string(),
        "name": metadata.name,
        "label": metadata.label,
        "rows": metadata.rows,
        "deleted_rows": metadata.deleted_rows,
        "columns": columns,
        "indexes": indexes,
        "row_bytes": metadata.layout.row_bytes,
        "page_bytes": metadata.page_bytes,
        "pages": metadata.pages,
        "header_bytes": metadata.header_bytes,
        "compression": compression_name(metadata.compression),
        "encoding": metadata.encoding.name,
        "endian": endian_name(metadata.endian),
        "word_bits": metadata.word_bits,
        "release": metadata.release,
        "host": metadata.host,
        "creator": metadata.creator,
    })
}

fn as_text(path: &Path, metadata: &Metadata) -> String {
    let bytes = u64::from(metadata.header_bytes) + metadata.pages * u64::from(metadata.page_bytes);
    let deleted = match metadata.deleted_rows {
        0 => String::new(),
        count => format!(" ({count} more deleted)"),
    };
    let mut out = format!(
        "{}\n  {}{deleted} of {} bytes, {}; {} in {} of {} bytes, header {} bytes\n",
        path.display(),
        counted(metadata.rows, "row"),
        metadata.layout.row_bytes,
        counted(metadata.variables.len() as u64, "variable"),
        Bytes(bytes),
        counted(metadata.pages, "page"),
        metadata.page_bytes,
        metadata.header_bytes,
    );
    let mut facts = vec![match metadata.compression {
        Compression::None => "not compressed".to_owned(),
        other => format!("COMPRESS={}", compression_name(other).to_uppercase()),
    }];
    facts.push(metadata.encoding.name.to_owned());
    facts.push(format!("{} endian", endian_name(metadata.endian)));
    facts.push(format!("{} bit", metadata.word_bits));
    facts.push(format!(
        "written by {} with {} on {}",
        metadata.creator, metadata.release, metadata.host
    ));
    facts.extend(created(metadata));
    let _ = writeln!(out, "  {}", printable(&facts.join(", ")));
    if !metadata.label.is_empty() {
        let _ = writeln!(out, "  label: {}", printable(&metadata.label));
    }
    for index in &metadata.indexes {
        let _ = writeln!(out, "  index: {}", printable(&index.name));
    }
    out.push_str(&columns(metadata));
    out.truncate(out.trim_end().len());
    out
}

fn created(metadata: &Metadata) -> Option<String> {
    let format = Format {
        name: "DATETIME".to_owned(),
        width: 19,
        decimals: 0,
    };
    // Damaged files have any number here.
    let seconds = Some(metadata.created).filter(|seconds| (0.0..1e12).contains(seconds))?;
    Some(format!(
        "created {}",
        format::number(seconds, &format)?.trim()
    ))
}

/// The table of variables.
fn columns(metadata: &Metadata) -> String {
    let widest = |lengths: &mut dyn Iterator<Item = usize>, least: usize| {
        lengths.max().unwrap_or(0).max(least)
    };
    let variables = &metadata.variables;
    let names = widest(&mut variables.iter().map(|v| v.name.chars().count()), 8);
    let formats: Vec<String> = variables.iter().map(|v| format_text(&v.format)).collect();
    let format_width = widest(&mut formats.iter().map(|f| f.chars().count()), 6);
    let mut out = format!(
        "\n  {:>5}  {:names$}  {:4}  {:>6}  {:format_width$}  Label\n",
        "#", "Variable", "Type", "Length", "Format"
    );
    for (number, (variable, format)) in (1..).zip(variables.iter().zip(&formats)) {
        let line = format!(
            "  {number:5}  {:names$}  {:4}  {:6}  {format:format_width$}  {}",
            printable(&variable.name),
            kind_name(variable.kind),
            variable.length,
            printable(&variable.label)
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}
