//! What cleans up by age or drops caches: files of `tmpfiles.d`, tables of cron and timers.

use super::{Found, found, lines, said};
use crate::facts::{Key, Value};

/// Where huge pages are set.
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/";

/// Reads `tmpfiles.d`: lines with an age, `q /tmp 1777 root root 10d`, exclusions, `x /saswork*`,
/// and what is written to settings of huge pages at boot, `w /sys/kernel/… - - - - never`.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let fact = |(number, line): (usize, &str)| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (kind, path) = (fields.first()?, fields.get(1)?);
        let letter = kind.chars().next()?;
        if let Some(setting) = path.strip_prefix(HUGE_PAGES).filter(|_| letter == 'w') {
            let value = fields.get(6).copied()?;
            return Some(found(Key::plain("thp", setting), value, number));
        }
        let name = match (letter, fields.get(5)) {
            ('x' | 'X', _) => "kept",
            (_, Some(age)) if *age != "-" => "age",
            _ => return None,
        };
        let value = if name == "age" {
            Value::of(fields.get(5)?)
        } else {
            Value::from(1_i64)
        };
        Some(found(Key::of("tmpfiles", path, name), value, number))
    };
    said(text, &['#']).filter_map(fact).collect()
}

/// Reads a table of cron, a script or a unit: lines that drop the page cache.
pub fn parse_cron(path: &str, text: &str) -> Vec<Found> {
    let fact = |(number, line): (usize, &str)| {
        let line = line.trim();
        let drops = line.contains("drop_caches") && !line.starts_with('#');
        let key = Key::of("cron", &format!("{path}:{number}"), "drop_caches");
        drops.then(|| found(key, line, number))
    };
    lines(text).filter_map(fact).collect()
}
