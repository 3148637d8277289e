//! `/etc/os-release` and `/etc/redhat-release`.

use super::{Found, found, lines, said};
use crate::facts::Key;

/// Reads `os-release`.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let fact = |(number, line): (usize, &str)| {
        let (name, value) = line.split_once('=')?;
        let name = match name {
            "ID" => "id",
            "VERSION_ID" => "version",
            "PRETTY_NAME" => "name",
            _ => return None,
        };
        let value = value.trim_matches(['"', '\'']);
        Some(found(Key::plain("os", name), value, number))
    };
    said(text, &['#']).filter_map(fact).collect()
}

/// Reads `Red Hat Enterprise Linux release 8.6 (Ootpa)`.
pub fn parse_redhat(_path: &str, text: &str) -> Vec<Found> {
    let Some((number, line)) = lines(text).find(|(_, line)| line.contains(" release ")) else {
        return Vec::new();
    };
    let Some((name, rest)) = line.split_once(" release ") else {
        return Vec::new();
    };
    let id = match name {
        name if name.starts_with("Red Hat") => "rhel",
        name if name.starts_with("CentOS") => "centos",
        name if name.starts_with("Rocky") => "rocky",
        name if name.starts_with("Alma") => "almalinux",
        name if name.starts_with("Oracle") => "ol",
        _ => return Vec::new(),
    };
    let version = rest.split_ascii_whitespace().next().unwrap_or_default();
    vec![
        found(Key::plain("os", "id"), id, number),
        found(Key::plain("os", "version"), version, number),
        found(Key::plain("os", "name"), line.trim(), number),
    ]
}
