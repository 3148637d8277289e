//! Output of `blockdev --report`. Its read-ahead counts sectors of 512 bytes.

use super::{Found, base, found, lines};
use crate::facts::Key;

/// Reads read-ahead, in KiB.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let fact = |(number, line): (usize, &str)| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, sectors, .., device] = fields.as_slice() else {
            return None;
        };
        let sectors: i64 = sectors.parse().ok()?;
        let device = base(device.strip_prefix("/dev/")?);
        Some(found(
            Key::of("block", device, "read_ahead_kb"),
            sectors / 2,
            number,
        ))
    };
    lines(text).filter_map(fact).collect()
}
