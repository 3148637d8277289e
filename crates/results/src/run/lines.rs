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

pub(super) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            return Err(Error::Io {
                action: "read",
                path: path.to_owned(),
                source,
            });
        }
    };
    let complete = text.rfind('\n').map_or(0, |end| end + 1);
    let parse = |(index, line)| {
        serde_json::from_str(line).map_err(|source| Error::Json {
            path: path.to_owned(),
            line: index + 1,
            source,
        })
    };
    text[..complete].lines().enumerate().map(parse).collect()
}
