//! Output of `dmsetup table`: striped targets, `vg-lv: 0 1677721600 striped 8 128 253:2 2048 …`.

use super::{Found, found, lines};
use crate::facts::Key;

/// Reads the output; the chunk is in sectors of 512 bytes there.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in lines(text) {
        let Some((name, target)) = line.split_once(": ") else {
            continue;
        };
        let fields: Vec<&str> = target.split_ascii_whitespace().collect();
        let kind = fields.get(2).copied().unwrap_or_default();
        facts.push(found(Key::of("dm", name, "target"), kind, number));
        let number_at = |at: usize| fields.get(at).and_then(|field| field.parse::<i64>().ok());
        if let ("striped", Some(stripes), Some(sectors)) = (kind, number_at(3), number_at(4)) {
            facts.push(found(Key::of("dm", name, "stripes"), stripes, number));
            let bytes = sectors.saturating_mul(512);
            facts.push(found(Key::of("dm", name, "stripe_bytes"), bytes, number));
        }
    }
    facts
}
