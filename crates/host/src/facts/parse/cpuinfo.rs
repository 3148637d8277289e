//! `/proc/cpuinfo`: processors, physical cores (unique package and core), sockets, and whether a
//! hypervisor is below.

use std::collections::BTreeSet;

use super::{Found, found, lines};
use crate::facts::Key;

/// Reads the processors. Where no topology is told (Arm), cores and sockets stay unknown.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut processors = 0_usize;
    let (mut sockets, mut cores) = (BTreeSet::new(), BTreeSet::new());
    let (mut package, mut model, mut vendor, mut virtual_machine) = ("", "", "", false);
    for (_, line) in lines(text) {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match name.trim() {
            "processor" if value.parse::<u32>().is_ok() => processors += 1,
            "physical id" => {
                package = value;
                sockets.insert(value);
            }
            "core id" => {
                cores.insert((package, value));
            }
            "model name" => model = value,
            "vendor_id" => vendor = value,
            "flags" => virtual_machine |= value.split(' ').any(|flag| flag == "hypervisor"),
            _ => {}
        }
    }
    if processors == 0 {
        return Vec::new();
    }
    let mut facts = vec![found(Key::plain("cpu", "processors"), processors, 0)];
    for (name, count) in [("sockets", sockets.len()), ("cores", cores.len())] {
        if count > 0 {
            facts.push(found(Key::plain("cpu", name), count, 0));
        }
    }
    for (name, value) in [("model", model), ("vendor", vendor)] {
        if !value.is_empty() {
            facts.push(found(Key::plain("cpu", name), value, 0));
        }
    }
    if virtual_machine {
        facts.push(found(Key::plain("cpu", "hypervisor_flag"), 1_i64, 0));
    }
    facts
}
