//! Output of `ip -s -d link`: sizes of frames, state, and how bonds spread.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads the output.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let (mut interface, mut facts) = (None, Vec::new());
    for (number, line) in lines(text) {
        if !line.starts_with(' ')
            && let Some((_, rest)) = line.split_once(": ")
            && let Some((name, rest)) = rest.split_once(": ")
        {
            let (name, lower) = name.split_once('@').unwrap_or((name, ""));
            interface = Some(name);
            // `veth1@if4` is the end of a pair, whose other end is elsewhere.
            let is_pair = lower
                .strip_prefix("if")
                .is_some_and(|rest| rest.parse::<u32>().is_ok());
            if !lower.is_empty() && !is_pair {
                let key = Key::of("net", name, &format!("lower_{lower}"));
                facts.push(found(key, lower, number));
            }
            let master = next_to(rest, "master");
            facts
                .extend(master.map(|master| found(Key::of("net", name, "master"), master, number)));
            for (word, fact) in [("mtu", "mtu"), ("state", "operstate")] {
                let value = next_to(rest, word).map(|value| Value::of(&value.to_lowercase()));
                facts.extend(value.map(|value| found(Key::of("net", name, fact), value, number)));
            }
        } else if let Some(interface) = interface
            && line.trim_start().starts_with("bond mode")
        {
            for (word, fact) in [("mode", "bond_mode"), ("xmit_hash_policy", "bond_hash")] {
                let value = next_to(line, word).map(Value::of);
                facts.extend(
                    value.map(|value| found(Key::of("net", interface, fact), value, number)),
                );
            }
        }
    }
    facts
}

fn next_to<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut words = text.split_ascii_whitespace();
    words.find(|found| *found == word)?;
    words.next()
}
