//! Arguments of the kernel: `/proc/cmdline`, and `GRUB_CMDLINE_LINUX` of `/etc/default/grub` for
//! the next boot.

use std::collections::BTreeMap;

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads `/proc/cmdline`; an argument without a value is an empty text, one that is repeated a
/// list.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    arguments(text, 1)
}

/// Reads `/etc/default/grub`.
pub fn parse_grub(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in lines(text) {
        let names = ["GRUB_CMDLINE_LINUX=", "GRUB_CMDLINE_LINUX_DEFAULT="];
        let value = names.iter().find_map(|name| line.trim().strip_prefix(name));
        if let Some(value) = value {
            facts.extend(arguments(value.trim_matches(['"', '\'']), number));
        }
    }
    facts
}

fn arguments(text: &str, line: usize) -> Vec<Found> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for argument in text.split_ascii_whitespace() {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        if !name.is_empty() && !name.starts_with('$') {
            all.entry(name).or_default().push(value);
        }
    }
    let fact = |(name, values): (&str, Vec<&str>)| {
        let value = match values.as_slice() {
            [one] => Value::of(one),
            several => Value::list(several.iter().copied()),
        };
        found(Key::plain("cmdline", name), value, line)
    };
    all.into_iter().map(fact).collect()
}
