//! Output of `xfs_info`: block, stripe unit and stripe width.

use super::{Found, found, lines};
use crate::facts::Key;

/// Reads `meta-data=/dev/mapper/a …` and `data = bsize=4096 … sunit=16 swidth=128 blks`. The mount
/// point is in the name of the file, with dots for slashes, and cannot be told from it; so the
/// device is the subject.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let (mut device, mut section, mut facts) = (None, "", Vec::new());
    for (number, line) in lines(text) {
        let (head, rest) = line.split_once('=').unwrap_or(("", line));
        if !head.trim().is_empty() {
            section = head.trim();
        }
        if section == "meta-data" && device.is_none() {
            device = rest.split_ascii_whitespace().next();
        }
        if section != "data" {
            continue;
        }
        let Some(device) = device else {
            continue;
        };
        let joined = line.replace("= ", "=");
        for word in joined.split([' ', ',', '\t']) {
            let Some((name, value)) = word.split_once('=') else {
                continue;
            };
            let name = match name {
                "bsize" => "block_bytes",
                "sunit" => "stripe_unit_blocks",
                "swidth" => "stripe_width_blocks",
                _ => continue,
            };
            if let Ok(value) = value.parse::<i64>() {
                facts.push(found(Key::of("xfs", device, name), value, number));
            }
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripes_are_read() {
        let text = [
            "meta-data=/dev/mapper/vg-work   isize=512    agcount=32, agsize=1 blks",
            "         =                       sectsz=512",
            "data     =                       bsize=4096   blocks=100, imaxpct=25",
            "         =                       sunit=16     swidth=128 blks",
            "naming   =version 2              bsize=4096   ascii-ci=0",
        ]
        .join("\n");
        let facts = parse("xfs_info", &text);
        let values: Vec<String> = facts
            .iter()
            .map(|fact| format!("{}={}", fact.key, fact.value))
            .collect();
        assert_eq!(
            values,
            [
                "xfs[/dev/mapper/vg-work].block_bytes=4096",
                "xfs[/dev/mapper/vg-work].stripe_unit_blocks=16",
                "xfs[/dev/mapper/vg-work].stripe_width_blocks=128"
            ]
        );
    }
}
