//! Dirty memory as a share and in bytes: setting the one sets the other to 0, so that of all files that set either
//! the order decides. Source: Linux, mm/page-writeback.c.

use std::collections::BTreeMap;

use super::{Order, is_tuned};
use crate::facts::fact::Seen;
use crate::facts::{Facts, Key, Value};

/// Settings that set each other to 0: the share, the bytes.
const TWINS: [[&str; 2]; 2] = [
    ["vm.dirty_ratio", "vm.dirty_bytes"],
    ["vm.dirty_background_ratio", "vm.dirty_background_bytes"],
];

/// Says what both twins are after the boot.
pub(super) fn settle(facts: &mut Facts, order: &Order) {
    for names in TWINS {
        let keys = names.map(|name| Key::plain("sysctl", name));
        let mut written: Vec<Written> = Vec::new();
        for (which, key) in keys.iter().enumerate() {
            let fact = facts.get(key).into_iter();
            let seen = fact.flat_map(|fact| &fact.persisted);
            written.extend(seen.map(|seen| Written {
                which,
                seen: seen.clone(),
            }));
        }
        let ends = end(written, names, order);
        for (key, end) in keys.iter().zip(ends) {
            if let Some(end) = end {
                facts.win(key, end);
            }
        }
    }
}

/// A line that sets one of two twins.
#[derive(Clone)]
struct Written {
    which: usize,
    seen: Seen,
}

/// What is left of both when all is written.
fn end(written: Vec<Written>, names: [&str; 2], order: &Order) -> [Option<Seen>; 2] {
    let mut now: [Option<Seen>; 2] = [None, None];
    let is_background = names[0].contains("background");
    for Written { which, seen } in applied(written, order) {
        let known = now[which]
            .as_ref()
            .is_some_and(|now| now.value == seen.value);
        // The kernel takes no 0 for bytes. A share or bytes that are there already leave the twin alone, but for
        // those of the background.
        let refused = which == 1 && seen.value.amount() == Some(0.0);
        if refused || (known && !is_background) {
            continue;
        }
        now[1 - which] = Some(Seen {
            value: Value::Number(0),
            from: format!("{}, {}", seen.from, names[which]),
        });
        now[which] = Some(seen);
    }
    now
}

/// Lines in the order in which they are written: by systemd-sysctl, by TuneD for its profile, and again by TuneD.
fn applied(written: Vec<Written>, order: &Order) -> Vec<Written> {
    let (tuned, files): (Vec<Written>, Vec<Written>) = written
        .into_iter()
        .partition(|one| is_tuned(&one.seen.from));
    let by_place = |mut all: Vec<Written>| {
        all.sort_by_key(|one| place(&one.seen.from, order));
        all
    };
    let files = by_place(files);
    let read = files.iter().filter(|one| order.is_read(&one.seen));
    let mut all = last_of_each(read.cloned().collect());
    all.extend(last_of_each(by_place(tuned)));
    if order.again {
        let again = files.into_iter().filter(|one| Order::is_again(&one.seen));
        all.extend(first_of_each(again.collect()));
    }
    all
}

/// Systemd forgets an assignment when another one follows.
fn last_of_each(written: Vec<Written>) -> Vec<Written> {
    let last: BTreeMap<usize, usize> = (0..)
        .zip(&written)
        .map(|(at, one)| (one.which, at))
        .collect();
    let all = written.into_iter().enumerate();
    all.filter(|(at, one)| last.get(&one.which) == Some(at))
        .map(|(_, one)| one)
        .collect()
}

/// TuneD keeps the place of the first assignment, with the value of the last.
fn first_of_each(written: Vec<Written>) -> Vec<Written> {
    let mut all: Vec<Written> = Vec::new();
    for one in written {
        match all.iter_mut().find(|known| known.which == one.which) {
            Some(known) => known.seen = one.seen,
            None => all.push(one),
        }
    }
    all
}

/// Where a line comes: profiles by their place in the chain, files by their base names, /etc/sysctl.conf last.
fn place(from: &str, order: &Order) -> (usize, String, usize) {
    let (path, line) = from.rsplit_once(':').unwrap_or((from, ""));
    let line = line.parse().unwrap_or_default();
    let mut parts = path.rsplit('/');
    let base = parts.next().unwrap_or_default();
    if is_tuned(from) {
        let profile = parts.next().unwrap_or_default();
        let at = order.chain.iter().position(|name| name == profile);
        return (at.unwrap_or_default(), String::new(), line);
    }
    (
        usize::from(path == "/etc/sysctl.conf"),
        base.to_owned(),
        line,
    )
}

#[cfg(test)]
mod tests {
    use super::super::decide;
    use super::*;

    const BYTES: &str = "vm.dirty_bytes";
    const RATIO: &str = "vm.dirty_ratio";

    /// Shares and bytes after a boot with these lines.
    fn after(
        lines: &[(&str, &str, i64)],
        names: [&str; 2],
        profile: Option<&str>,
    ) -> [Option<i64>; 2] {
        let mut facts = Facts::default();
        for name in names {
            facts.run(Key::plain("sysctl", name), 1_i64, "/proc/sys");
        }
        if let Some(profile) = profile {
            facts.run(Key::plain("tuned", "profile"), profile, "a");
        }
        for (name, from, value) in lines {
            let key = if from.contains("/tuned/") {
                Key::of("tuned", "own", &format!("sysctl/{name}"))
            } else {
                Key::plain("sysctl", name)
            };
            facts.persist(key, *value, from);
        }
        decide(&mut facts);
        names.map(|name| {
            let boot = facts.get(&Key::plain("sysctl", name))?.boot.as_ref()?;
            boot.value.to_string().parse().ok()
        })
    }

    #[test]
    fn the_later_of_two_twins_stands() {
        let [a, b] = ["/etc/sysctl.d/50-a.conf:1", "/etc/sysctl.d/60-b.conf:1"];
        let front = |lines: &[(&str, &str, i64)]| after(lines, [RATIO, BYTES], None);
        assert_eq!(front(&[(BYTES, a, 9), (RATIO, b, 40)]), [Some(40), Some(0)]);
        assert_eq!(front(&[(RATIO, a, 40), (BYTES, b, 9)]), [Some(0), Some(9)]);
        // The kernel refuses bytes of 0.
        assert_eq!(front(&[(RATIO, a, 40), (BYTES, b, 0)]), [Some(40), Some(0)]);
        assert_eq!(front(&[(BYTES, a, 9)]), [Some(0), Some(9)]);
        assert_eq!(front(&[]), [None, None]);
        let names = ["vm.dirty_background_ratio", "vm.dirty_background_bytes"];
        let back = after(&[(names[1], a, 9), (names[0], b, 5)], names, None);
        assert_eq!(back, [Some(5), Some(0)]);
    }

    #[test]
    fn tuned_and_what_it_reads_again_come_later() {
        let profile = "/etc/tuned/own/tuned.conf:3";
        let names = [RATIO, BYTES];
        let file = ("/usr/lib/sysctl.d/99-a.conf:1", "/etc/sysctl.conf:1");
        let of = |from| {
            after(
                &[(RATIO, profile, 40), (BYTES, from, 9)],
                names,
                Some("own"),
            )
        };
        assert_eq!(of(file.0), [Some(40), Some(0)]);
        assert_eq!(of(file.1), [Some(0), Some(9)]);
    }
}
