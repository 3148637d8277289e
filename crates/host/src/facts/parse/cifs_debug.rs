//! `/proc/fs/cifs/DebugData`: version of the client, and per server its dialect and credits. The
//! order of a server's lines differs by version: credits come before or after its name.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads the text.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    let mut server = None;
    let mut waiting: Vec<(&str, Value, usize)> = Vec::new();
    for (number, line) in lines(text) {
        let line = line.trim();
        if let Some(version) = line.strip_prefix("CIFS Version ") {
            facts.push(found(Key::plain("cifs", "version"), version, number));
        }
        if let Some(name) = server_of(line) {
            server = Some(name);
        }
        if let Some(rest) = line.strip_prefix("Number of credits:") {
            let mut fields = rest.split_ascii_whitespace();
            let credits = fields.next().unwrap_or_default().trim_end_matches(',');
            waiting.push(("credits", Value::of(credits), number));
            if fields.next() == Some("Dialect") {
                let dialect = dialect(fields.next().unwrap_or_default());
                waiting.push(("dialect", dialect, number));
            }
        }
        if let Some(server) = server {
            let facts_of_server = waiting
                .drain(..)
                .map(|(name, value, line)| found(Key::of("cifs", server, name), value, line));
            facts.extend(facts_of_server);
        }
    }
    facts
}

/// `1) ConnectionId: 0x4 Hostname: CVXDFAVB1`, `1) Name: 10.10.176.135 Uses: 1 …`.
fn server_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(") ")?;
    let name = match rest.split_once("Hostname: ") {
        Some((_, name)) if rest.starts_with("ConnectionId:") => name,
        _ => rest.strip_prefix("Name: ")?,
    };
    name.split_ascii_whitespace().next()
}

/// `0x302` is SMB 3.0.2.
fn dialect(text: &str) -> Value {
    match text.trim_end_matches(',') {
        "0x202" => "2.0.2".into(),
        "0x210" => "2.1".into(),
        "0x300" => "3.0".into(),
        "0x302" => "3.0.2".into(),
        "0x311" => "3.1.1".into(),
        other => Value::of(other),
    }
}
