//! Output of `blkid`: what is on a device.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads lines such as `/dev/sda1: LABEL="a" UUID="…" TYPE="xfs"`.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in lines(text) {
        let Some((device, mut rest)) = line.split_once(": ") else {
            continue;
        };
        while let Some((name, tail)) = rest.split_once("=\"") {
            let Some((value, tail)) = tail.split_once('"') else {
                break;
            };
            let name = match name.trim() {
                "TYPE" => "type",
                "UUID" => "uuid",
                "LABEL" => "label",
                _ => "",
            };
            if !name.is_empty() {
                let key = Key::of("blkid", device, name);
                facts.push(found(key, Value::from(value), number));
            }
            rest = tail;
        }
    }
    facts
}
