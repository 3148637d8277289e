//! `/etc/multipath.conf` and `multipathd show config`: defaults, sections of devices and of single
//! maps.

use super::{Found, found, said};
use crate::facts::{Key, Value};

/// Reads the file. `multipath[device VENDOR/PRODUCT]`, `multipath[defaults]`, `multipath[multipath
/// ALIAS]`; what is blacklisted is left out.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut section: Vec<Setting> = Vec::new();
    let mut nameless = 0_usize;
    for (number, line) in said(text, &['#', '!']) {
        let line = uncommented(line);
        if let Some(name) = line.strip_suffix('{') {
            open.push(name.trim().to_owned());
        } else if line == "}" {
            if open.len() == 2 {
                facts.extend(close(&open, &mut section, &mut nameless));
            }
            open.pop();
        } else if let Some((name, value)) = line.split_once(char::is_whitespace) {
            let value = value.trim().trim_matches('"').trim().to_owned();
            match open.as_slice() {
                [outer] if matches!(outer.as_str(), "defaults" | "overrides") => {
                    let key = Key::of("multipath", outer, name);
                    facts.push(found(key, Value::of(&value), number));
                }
                [_, _] => section.push((name.to_owned(), value, number)),
                _ => {}
            }
        }
    }
    facts
}

/// Name, value and line.
type Setting = (String, String, usize);

/// A line without what follows `#`, but for inside quotation marks.
fn uncommented(line: &str) -> &str {
    let mut quoted = false;
    let end = line.find(|letter| {
        quoted ^= letter == '"';
        letter == '#' && !quoted
    });
    line[..end.unwrap_or(line.len())].trim_end()
}

fn close(open: &[String], section: &mut Vec<Setting>, nameless: &mut usize) -> Vec<Found> {
    let values = std::mem::take(section);
    let value = |name: &str| {
        let found = values.iter().find(|(known, _, _)| known == name);
        found.map(|(_, value, _)| value.trim())
    };
    let name = match (open[0].as_str(), open[1].as_str()) {
        ("devices", "device") => match (value("vendor"), value("product")) {
            (Some(vendor), Some(product)) => format!("device {vendor}/{product}"),
            (Some(vendor), None) => format!("device {vendor}"),
            _ => {
                *nameless += 1;
                format!("device {nameless}")
            }
        },
        ("multipaths", "multipath") => {
            let name = value("alias").or_else(|| value("wwid"));
            let Some(name) = name else {
                return Vec::new();
            };
            format!("multipath {name}")
        }
        _ => return Vec::new(),
    };
    values
        .iter()
        .map(|(key, value, line)| found(Key::of("multipath", &name, key), Value::of(value), *line))
        .collect()
}
