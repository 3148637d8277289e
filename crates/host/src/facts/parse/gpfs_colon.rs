//! Outputs of GPFS commands with `-Y`: fields between colons, a heading that names them, colons
//! inside as `%3A`.

use std::collections::BTreeMap;

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// A line of such an output.
pub(crate) struct Row<'a> {
    pub(crate) number: usize,
    /// What it is of, where an output has several kinds of lines.
    pub(crate) kind: &'a str,
    names: &'a [&'a str],
    fields: Vec<&'a str>,
}

impl Row<'_> {
    /// A field by its name in the heading.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let at = self.names.iter().position(|known| *known == name)?;
        self.fields.get(at).map(|field| decoded(field))
    }
}

/// Calls `row` with every line behind the heading of its kind that has as many fields as a row must.
pub(crate) fn rows(text: &str, mut row: impl FnMut(&Row)) {
    let mut headings: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (number, line) in lines(text) {
        let fields: Vec<&str> = line.trim().split(':').collect();
        let Some(kind) = fields.get(1).copied() else {
            continue;
        };
        if fields.get(2) == Some(&"HEADER") {
            headings.insert(kind, fields);
        } else if let Some(names) = headings.get(kind).filter(|_| fields.len() > 6) {
            row(&Row {
                number,
                kind,
                names,
                fields,
            });
        }
    }
}

/// `%3A` is a colon, `%2F` a slash.
fn decoded(field: &str) -> String {
    let mut out = Vec::new();
    let mut rest = field.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads `mmdiag --config -Y`: values that hold on this node.
pub fn parse_config(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    rows(text, |row| {
        if let (Some(name), Some(value)) = (row.get("name"), row.get("value"))
            && !name.is_empty()
        {
            let key = Key::plain("gpfs-effective", &name);
            facts.push(found(key, Value::of(&value), row.number));
        }
    });
    facts
}

/// Reads `mmlsfs all -Y`: attributes of file systems by their long names.
pub fn parse_file_systems(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    rows(text, |row| {
        if let (Some(device), Some(name), Some(value)) =
            (row.get("deviceName"), row.get("fieldName"), row.get("data"))
            && !name.is_empty()
        {
            let key = Key::of("gpfs-fs", &device, &name);
            facts.push(found(key, Value::of(&value), row.number));
        }
    });
    facts
}
