//! Definitions of guests, `/etc/libvirt/qemu/*.xml`: disks with their cache and bus, memory,
//! processors.

use super::{Found, base, found};
use crate::facts::{Key, Value};

/// Reads one definition.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let guest = base(path).trim_end_matches(".xml");
    let mut facts = Vec::new();
    if let Some(memory) = memory_bytes(text) {
        facts.push(found(Key::of("guest", guest, "memory_bytes"), memory, 0));
    }
    let processors = between(text, "<vcpu", "</vcpu>").and_then(|text| text.rsplit('>').next());
    if let Some(count) = processors.and_then(|count| count.trim().parse::<i64>().ok()) {
        facts.push(found(Key::of("guest", guest, "processors"), count, 0));
    }
    for (index, disk) in text.split("<disk ").skip(1).enumerate() {
        let disk = disk.split("</disk>").next().unwrap_or_default();
        if attribute(disk, "device").is_some_and(|device| device != "disk") {
            continue;
        }
        let target = disk.split("<target ").nth(1).unwrap_or_default();
        let driver = disk.split("<driver ").nth(1).unwrap_or_default();
        let name = attribute(target, "dev").map_or_else(|| index.to_string(), str::to_owned);
        let subject = format!("{guest} {name}");
        let values = [
            ("type", attribute(disk, "type")),
            ("bus", attribute(target, "bus")),
            ("cache", attribute(driver, "cache").or(Some("default"))),
            ("io", attribute(driver, "io")),
        ];
        for (name, value) in values {
            let key = Key::of("guest-disk", &subject, name);
            facts.extend(value.map(|value| found(key, Value::of(value), 0)));
        }
    }
    facts
}

fn memory_bytes(text: &str) -> Option<i64> {
    let inner = between(text, "<memory", "</memory>")?;
    let (attributes, amount) = inner.split_once('>')?;
    let amount: i64 = amount.trim().parse().ok()?;
    let factor = match attribute(attributes, "unit").unwrap_or("KiB") {
        "b" | "bytes" => 1,
        "KiB" | "k" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        _ => return None,
    };
    amount.checked_mul(factor)
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

/// The value of an attribute of the element that the text begins with.
fn attribute<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let element = text.split('>').next().unwrap_or(text);
    for quote in ["'", "\""] {
        let start = format!("{name}={quote}");
        let found = element
            .match_indices(&start)
            .find(|(at, _)| *at == 0 || element[..*at].ends_with([' ', '\n', '\t']));
        if let Some((at, _)) = found {
            return element[at + start.len()..].split(quote).next();
        }
    }
    None
}
