//! `/etc/security/limits.conf` and files of `limits.d`: limits of sessions that log in.

use super::{Found, found, odd, said};
use crate::facts::{Key, Value};

/// Reads the file; `-` sets soft and hard.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in said(text, &['#']) {
        let line = line.split('#').next().unwrap_or_default().trim_end();
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [domain, kind, item, value] = fields.as_slice() else {
            // `domain -` takes all limits from a domain.
            if fields.len() != 2 || fields[1] != "-" {
                facts.push(odd(path, number, line));
            }
            continue;
        };
        let kinds: &[&str] = match *kind {
            "soft" => &["soft"],
            "hard" => &["hard"],
            "-" => &["soft", "hard"],
            _ => &[],
        };
        let value = Value::of(value);
        let is_limit = match &value {
            Value::Number(_) => true,
            Value::Text(text) => matches!(text.as_str(), "unlimited" | "infinity" | "-1"),
            Value::List(_) => false,
        };
        if kinds.is_empty() || !is_limit {
            facts.push(odd(path, number, line));
            continue;
        }
        for kind in kinds {
            let subject = format!("{domain} {kind}");
            facts.push(found(
                Key::of("limits", &subject, item),
                value.clone(),
                number,
            ));
        }
    }
    facts
}
