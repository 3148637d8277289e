//! Index files, and data sets that are changed in place.

use sas7bdat::btree::{IndexReader, Span};
use sas7bdat::{Error, Reader, Writer, amend};

/// Walks through every index of a file, all of it and from some keys on.
pub fn read_index(bytes: &[u8]) {
    let mut index = match IndexReader::open(bytes, 0) {
        Ok(index) => index,
        Err(error) => return says_what(&error),
    };
    for entry in index.directory().clone().entries {
        let whole = Span {
            low: Vec::new(),
            high: Vec::new(),
        };
        for span in [whole, Span::of(b"A".to_vec()), Span::of(vec![0xC0; 3])] {
            let mut found = Vec::new();
            let mut walk = match index.walk(&entry, span) {
                Ok(walk) => walk,
                Err(error) => {
                    says_what(&error);
                    continue;
                }
            };
            loop {
                found.clear();
                match index.next_leaf(&entry, &mut walk, &mut found) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        says_what(&error);
                        break;
                    }
                }
            }
        }
    }
}

/// Adds rows to a data set and changes what it says of itself. What was read before is read after.
pub fn change_data_set(bytes: &[u8]) {
    let Ok((before, rows)) = read(bytes) else {
        return;
    };
    let row = vec![b'a'; before.layout.row_bytes as usize];
    let mut writer = match Writer::append(bytes.to_vec(), 1.0) {
        Ok((writer, _)) => writer,
        Err(error) => return says_what(&error),
    };
    for _ in 0..3 {
        if let Err(error) = writer.write_row(&row) {
            return says_what(&error);
        }
    }
    let mut file = match writer.finish() {
        Ok((file, _)) => file,
        Err(error) => return says_what(&error),
    };
    let mut variables = before.variables;
    if let Some(first) = variables.first_mut() {
        first.label.push_str("changed");
    }
    if let Err(error) = amend(&mut file, "label", &variables, &before.indexes, 2.0) {
        says_what(&error);
    }
    // A file that lies about where its rows are may lose them; it may not do worse.
    if let Ok((_, after)) = read(&file) {
        assert!(after <= rows + 3, "rows came from nowhere");
    }
}

fn read(bytes: &[u8]) -> Result<(sas7bdat::Metadata, u64), Error> {
    let mut reader = Reader::open(bytes)?;
    let mut rows = 0;
    while let Some(slab) = reader.next_slab()? {
        rows += slab.count as u64;
    }
    Ok((reader.metadata().clone(), rows))
}

fn says_what(error: &Error) {
    assert!(!error.to_string().is_empty(), "an error without a message");
}
