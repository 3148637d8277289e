//! The corpus's list of files.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// A file of the corpus.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Path below the corpus.
    pub(crate) file: String,
    /// Rows that a reader must find, if the list says.
    pub(crate) rows: Option<u64>,
    /// Columns, if the list says.
    pub(crate) columns: Option<usize>,
    /// An index file, which is no data set.
    pub(crate) is_index: bool,
    /// Not a data set that any reader could read.
    pub(crate) is_damaged: bool,
}

/// Every file that `manifest.csv` lists.
pub(crate) fn read(corpus: &Path) -> Result<Vec<Entry>> {
    let path = corpus.join("manifest.csv");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{} cannot be read (set GRISTMILL_CORPUS)", path.display()))?;
    let mut lines = records(&text).into_iter();
    let names = lines.next().context("the manifest is empty")?;
    let at = |name: &str| names.iter().position(|field| field == name);
    let find = |name| at(name).with_context(|| format!("the manifest has no field {name}"));
    let (file, rows, columns) = (find("file")?, find("ref_rows")?, find("cols")?);
    let (layout, note) = (find("layout")?, find("note")?);
    Ok(lines
        .map(|line| {
            let field = |at: usize| line.get(at).map_or("", String::as_str);
            Entry {
                file: field(file).to_owned(),
                rows: field(rows).parse().ok(),
                columns: field(columns).parse().ok(),
                is_index: field(layout) == "index file",
                is_damaged: field(note).starts_with("not parsable"),
            }
        })
        .collect())
}

fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            '\r' if !is_quoted => {}
            other => field.push(other),
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_quotes_in_quotes_belong_to_the_field() {
        let found = records("a,b\n1,\"x, \"\"y\"\"\nz\"\n");
        assert_eq!(found, [vec!["a", "b"], vec!["1", "x, \"y\"\nz"]]);
    }
}
