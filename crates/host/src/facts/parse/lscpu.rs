//! Output of `lscpu`.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads the output. Only processors that are on line count.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let field = |name: &str| {
        lines(text).find_map(|(number, line)| {
            let (found, value) = line.split_once(':')?;
            (found.trim() == name).then(|| (number, value.trim()))
        })
    };
    let count = |name: &str| {
        let (number, value) = field(name)?;
        value.parse::<i64>().ok().map(|count| (number, count))
    };
    let mut facts = Vec::new();
    let mut say = |name: &str, value: Option<(usize, Value)>| {
        let fact = value.map(|(line, value)| found(Key::plain("cpu", name), value, line));
        facts.extend(fact);
    };
    let number = |name: &str| count(name).map(|(line, count)| (line, Value::from(count)));
    let text_of = |name: &str| field(name).map(|(line, value)| (line, Value::from(value)));
    let on_line = field("On-line CPU(s) list")
        .and_then(|(line, list)| Some((line, Value::from(listed(list)?))));
    say("processors", on_line.or_else(|| number("CPU(s)")));
    if let (Some((_, sockets)), Some((line, cores))) =
        (count("Socket(s)"), count("Core(s) per socket"))
    {
        say("cores", Some((line, sockets.saturating_mul(cores).into())));
    }
    say("sockets", number("Socket(s)"));
    say("numa_nodes", number("NUMA node(s)"));
    say("vendor", text_of("Vendor ID"));
    say("model", text_of("Model name"));
    say("hypervisor", text_of("Hypervisor vendor"));
    facts
}

/// How many processors a list such as `0-3,8` has.
fn listed(list: &str) -> Option<usize> {
    let mut count = 0_usize;
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}
