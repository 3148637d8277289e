//! Output of `vxtunefs MOUNT` and `/etc/vx/tunefstab`: how VxFS reads ahead.

use super::{Found, found, lines, said};
use crate::facts::{Key, Value};

/// Reads `vxtunefs`: `Filesystem i/o parameters for /sas`, then `read_pref_io = 65536`.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let (mut point, mut facts) = (None, Vec::new());
    for (number, line) in lines(text) {
        if let Some(name) = line.trim().strip_prefix("Filesystem i/o parameters for ") {
            point = Some(name.trim());
        } else if let (Some(point), Some((name, value))) = (point, line.split_once('=')) {
            let key = Key::of("vxfs", point, name.trim());
            facts.push(found(key, Value::of(value), number));
        }
    }
    facts
}

/// Reads `tunefstab`: `/dev/vx/dsk/dg/vol read_pref_io=64k,read_nstream=8`; the subject is the
/// device.
pub fn parse_tab(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in said(text, &['#', '*']) {
        let mut fields = line.split_ascii_whitespace();
        let Some(device) = fields.next() else {
            continue;
        };
        for pair in fields.flat_map(|field| field.split(',')) {
            if let Some((name, value)) = pair.split_once('=') {
                facts.push(found(
                    Key::of("vxfs", device, name),
                    Value::of(value),
                    number,
                ));
            }
        }
    }
    facts
}
