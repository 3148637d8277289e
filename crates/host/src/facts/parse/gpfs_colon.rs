//! Outputs of GPFS commands with `-Y`: fields between colons, a heading that names them, colons
//! inside as `%3A`.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// A line of such an output.
pub(crate) struct Row<'a> {
    pub(crate) number: usize,
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

/// Calls `row` with every line behind the heading that has as many fields as a row must.
pub(crate) fn rows(text: &str, mut row: impl FnMut(&Row)) {
    let mut names: Vec<&str> = Vec::new();
    for (number, line) in lines(text) {
        let fields: Vec<&str> = line.trim().split(':').collect();
        if fields.get(2) == Some(&"HEADER") {
            names = fields;
        } else if !names.is_empty() && fields.len() > 6 {
            row(&Row {
                number,
                names: &names,
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
