//! Files of a line for each record.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::Error;

/// Adds a line to a file, or leaves the file as it was: half a line would spoil it for its readers.
pub(super) fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.create(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    let mut written = 0;
    let outcome = loop {
        match file.write(&line[written..]) {
            Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
        if written == line.len() {
            return Ok(());
        }
    };
    // Unless somebody else added a line meanwhile.
    if file.metadata()?.len() == length + written as u64 {
        file.set_len(length)?;
    }
    outcome
}

/// What could be read of a file of records.
#[derive(Debug, Clone, PartialEq)]
pub struct Records<T> {
    /// Those before the first line that is none.
    pub records: Vec<T>,
    /// That line, from 1, and what is wrong there: a full disk leaves halves.
    pub broken: Option<(usize, String)>,
}

/// The records of a file as far as they are whole, where what is missing is told elsewhere. `is_possible` refuses
/// figures that nothing can have measured.
pub(super) fn read_whole<T: DeserializeOwned>(
    path: &Path,
    is_possible: impl Fn(&T) -> bool,
) -> Result<Records<T>, Error> {
    let text = text(path)?;
    let mut found = Records {
        records: Vec::new(),
        broken: None,
    };
    for (index, line) in complete(&text).lines().enumerate() {
        let wrong = match serde_json::from_str(line) {
            Ok(record) if is_possible(&record) => {
                found.records.push(record);
                continue;
            }
            Ok(_) => "figures that cannot be".to_owned(),
            Err(error) => error.to_string(),
        };
        found.broken = Some((index + 1, wrong));
        break;
    }
    Ok(found)
}

pub(super) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Error> {
    let text = text(path)?;
    let parse = |(index, line)| {
        serde_json::from_str(line).map_err(|source| Error::Json {
            path: path.to_owned(),
            line: index + 1,
            source,
        })
    };
    complete(&text).lines().enumerate().map(parse).collect()
}

/// A file that is not there has nothing in it.
fn text(path: &Path) -> Result<String, Error> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other.map_err(|source| Error::Io {
            action: "read",
            path: path.to_owned(),
            source,
        }),
    }
}

/// Without the line that is being written.
fn complete(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |end| end + 1)]
}
