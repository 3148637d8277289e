//! Files of `/sys/fs/gfs2/TABLE`, and `tunegfs2 -l` or `gfs2_edit -p journals` for journals.

use super::{Found, after, base, found, lines};
use crate::facts::{Key, Value};

/// Reads a file.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let table = after(path, "gfs2").filter(|_| !text.trim().is_empty());
    let fact = table.map(|table| found(Key::of("gfs2", table, base(path)), Value::of(text), 1));
    fact.into_iter().collect()
}

/// Reads `tunegfs2 -l`: `Lock table: cluster:sas`, `Block size: 4096`.
pub fn parse_tune(_path: &str, text: &str) -> Vec<Found> {
    let field = |name: &str| {
        lines(text).find_map(|(number, line)| {
            let (found, value) = line.split_once(':')?;
            (found.trim().eq_ignore_ascii_case(name)).then(|| (number, value.trim()))
        })
    };
    let Some((_, table)) = field("Lock table").or_else(|| field("Filesystem volume name")) else {
        return Vec::new();
    };
    let names = [
        ("Lock protocol", "lock_protocol"),
        ("Block size", "block_bytes"),
        ("Journals", "journals"),
    ];
    let fact = |(theirs, ours): (&str, &str)| {
        let (line, value) = field(theirs)?;
        Some(found(Key::of("gfs2", table, ours), Value::of(value), line))
    };
    names.into_iter().filter_map(fact).collect()
}
