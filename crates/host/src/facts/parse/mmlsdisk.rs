//! Output of `mmlsdisk`, as a table or with `-Y`: which disks hold metadata, which data.

use super::{Found, found, gpfs_colon, lines};
use crate::facts::{Key, Value};

/// Reads either.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    let mut disk = |name: &str, values: [(&str, String); 4], line: usize| {
        for (attribute, value) in values {
            let key = Key::of("gpfs-disk", name, attribute);
            facts.push(found(key, Value::of(&value.to_lowercase()), line));
        }
    };
    if text.contains(":HEADER:") {
        gpfs_colon::rows(text, |row| {
            let field = |name: &str| row.get(name).unwrap_or_default();
            let name = field("nsdName");
            if !name.is_empty() {
                let values = [
                    ("metadata", field("metadata")),
                    ("data", field("data")),
                    ("availability", field("availability")),
                    ("pool", field("storagePool")),
                ];
                disk(&name, values, row.number);
            }
        });
        return facts;
    }
    for (number, line) in lines(text) {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        if let [name, "nsd", _, _, metadata, data, _, availability, pool] = fields.as_slice() {
            let values = [
                ("metadata", (*metadata).to_owned()),
                ("data", (*data).to_owned()),
                ("availability", (*availability).to_owned()),
                ("pool", (*pool).to_owned()),
            ];
            disk(name, values, number);
        }
    }
    facts
}
