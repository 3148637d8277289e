//! Who wins at the next boot where several files ask for a setting.

mod dirty;

use super::fact::Seen;
use super::{Facts, Key, Value};

/// Decides for every fact that is persisted.
pub(crate) fn decide(facts: &mut Facts) {
    tuned(facts);
    let order = Order::of(facts);
    for key in facts.keys() {
        let Some(fact) = facts.get(&key) else {
            continue;
        };
        let winner = match key.class.as_str() {
            "sysctl" => order.sysctl(&fact.persisted),
            _ => fact.persisted.last(),
        };
        if let Some(winner) = winner.cloned() {
            facts.win(&key, winner);
        }
    }
    dirty::settle(facts, &order);
}

/// In which order settings of the kernel are written at boot.
struct Order {
    /// Profiles of TuneD, the innermost first.
    chain: Vec<String>,
    /// TuneD applies the files below /run and /etc again.
    again: bool,
    has_folder: bool,
}

impl Order {
    fn of(facts: &Facts) -> Self {
        let profile = facts.plain("tuned", "profile").map(ToString::to_string);
        let chain = chain(facts, &profile.unwrap_or_default());
        let mut files = facts.class("sysctl").flat_map(|(_, fact)| &fact.persisted);
        Self {
            again: is_read_again(facts, &chain),
            has_folder: files.any(|seen| seen.from.contains("/sysctl.d/")),
            chain,
        }
    }

    /// For systemd /etc/sysctl.conf is nothing where there are folders: distributions link to it from
    /// /etc/sysctl.d/99-sysctl.conf, and its place is that of the link.
    fn is_read(&self, seen: &Seen) -> bool {
        !(self.has_folder && seen.from.starts_with("/etc/sysctl.conf"))
    }

    fn is_again(seen: &Seen) -> bool {
        seen.from.starts_with("/etc/") || seen.from.starts_with("/run/")
    }

    /// TuneD comes after systemd-sysctl, and what it reads again after that, with /etc/sysctl.conf at the end.
    fn sysctl<'seen>(&self, persisted: &'seen [Seen]) -> Option<&'seen Seen> {
        let of_tuned = |seen: &&Seen| is_tuned(&seen.from);
        let files = persisted.iter().filter(|seen| !is_tuned(&seen.from));
        let last_again = files
            .clone()
            .rfind(|seen| Self::is_again(seen))
            .filter(|_| self.again);
        last_again
            .or_else(|| persisted.iter().rev().find(of_tuned))
            .or_else(|| files.rev().find(|seen| self.is_read(seen)))
    }
}

/// Whether TuneD applies the files below /run and /etc again, as it does when a profile has settings of
/// sysctl and it is not told not to. Source: TuneD, `plugin_sysctl.py`.
fn is_read_again(facts: &Facts, chain: &[String]) -> bool {
    let told = facts
        .plain("tuned-main", "reapply_sysctl")
        .map(ToString::to_string);
    let on = told.is_none_or(|told| ["1", "true", "True", "yes", "on"].contains(&told.as_str()));
    on && facts.class("tuned").any(|(key, fact)| {
        let active = key
            .subject
            .as_ref()
            .is_some_and(|name| chain.contains(name));
        let (section, option) = key.name.split_once('/').unwrap_or_default();
        let kind = fact.persisted.last().map(|seen| seen.value.to_string());
        active && (section == "sysctl" || (option == "type" && kind.as_deref() == Some("sysctl")))
    })
}

/// True if a provenance is a profile of TuneD.
pub(crate) fn is_tuned(from: &str) -> bool {
    from.contains("/tuned/") && from.contains("tuned.conf")
}

/// Profiles that a profile includes, the innermost first and itself last.
pub fn chain(facts: &Facts, profile: &str) -> Vec<String> {
    let (mut chain, mut begun) = (Vec::new(), Vec::new());
    for name in profile.split_ascii_whitespace() {
        include(facts, name, &mut chain, &mut begun);
    }
    chain
}

fn include(facts: &Facts, name: &str, chain: &mut Vec<String>, begun: &mut Vec<String>) {
    if begun.iter().any(|known| known == name) {
        return;
    }
    begun.push(name.to_owned());
    let key = Key::of("tuned", name, "main/include");
    let parents = facts.get(&key).and_then(|fact| fact.persisted.last());
    let parents = parents
        .map(|seen| seen.value.to_string())
        .unwrap_or_default();
    for parent in parents
        .split([',', ' '])
        .filter(|parent| !parent.is_empty())
    {
        include(facts, parent, chain, begun);
    }
    chain.push(name.to_owned());
}

/// What the active profile sets, as settings of the kernel.
fn tuned(facts: &mut Facts) {
    let Some(profile) = facts.plain("tuned", "profile").map(ToString::to_string) else {
        return;
    };
    let mut settings: Vec<(Key, Value, String)> = Vec::new();
    for name in chain(facts, &profile) {
        for (key, fact) in facts.class("tuned") {
            let (Some(seen), true) = (fact.persisted.last(), key.subject.as_deref() == Some(&name))
            else {
                continue;
            };
            if let Some((key, value)) = setting(&key.name, &seen.value) {
                settings.push((key, value, seen.from.clone()));
            }
        }
    }
    for (key, value, from) in settings {
        facts.persist(key, value, &from);
    }
}

/// What an option of a profile sets: `sysctl/vm.swappiness`, `vm/dirty_bytes` (which may be a
/// share), …
fn setting(option: &str, value: &Value) -> Option<(Key, Value)> {
    let (section, name) = option.split_once('/')?;
    let text = value.to_string();
    if text.contains("${") {
        return None;
    }
    // `=>4096` sets upwards only.
    let text = text.trim_start_matches('>').trim().to_owned();
    let sysctl = |name: &str| Key::plain("sysctl", name);
    match (section, name) {
        ("sysctl", name) => Some((sysctl(name), Value::of(&text))),
        ("vm", "transparent_hugepages" | "transparent_hugepage") => {
            Some((Key::plain("thp", "enabled"), text.into()))
        }
        (
            "vm",
            "dirty_bytes" | "dirty_background_bytes" | "dirty_ratio" | "dirty_background_ratio",
        ) => match text.strip_suffix('%') {
            Some(share) => Some((
                sysctl(&format!("vm.{}", name.replace("bytes", "ratio"))),
                Value::of(share),
            )),
            None => Some((sysctl(&format!("vm.{name}")), Value::of(&text))),
        },
        ("cpu", "governor") => {
            let first = text.split('|').next().unwrap_or_default().to_owned();
            Some((Key::plain("cpu", "governor"), Value::list([first])))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(files: &[(&str, i64)], again: i64) -> Facts {
        let mut facts = Facts::default();
        facts.run(Key::plain("tuned", "profile"), "child", "a");
        facts.run(Key::plain("tuned-main", "reapply_sysctl"), again, "a");
        facts.persist(
            Key::of("tuned", "child", "main/include"),
            "base",
            "/etc/tuned/child/tuned.conf:2",
        );
        facts.persist(
            Key::of("tuned", "child", "sysctl/vm.swappiness"),
            7_i64,
            "/etc/tuned/child/tuned.conf:4",
        );
        facts.persist(
            Key::of("tuned", "base", "sysctl/vm.swappiness"),
            10_i64,
            "/usr/lib/tuned/base/tuned.conf:9",
        );
        facts.persist(
            Key::of("tuned", "base", "vm/dirty_bytes"),
            "40%",
            "/usr/lib/tuned/base/tuned.conf:12",
        );
        for (from, value) in files {
            facts.persist(Key::plain("sysctl", "vm.swappiness"), *value, from);
        }
        decide(&mut facts);
        facts
    }

    fn winner(facts: &Facts, name: &str) -> String {
        let fact = facts.get(&Key::plain("sysctl", name)).unwrap();
        fact.boot.as_ref().unwrap().value.to_string()
    }

    #[test]
    fn a_child_wins_over_what_it_includes() {
        let facts = facts(&[], 1);
        assert_eq!(winner(&facts, "vm.swappiness"), "7");
        assert_eq!(winner(&facts, "vm.dirty_ratio"), "40");
        assert_eq!(chain(&facts, "child"), ["base", "child"]);
    }

    #[test]
    fn files_below_etc_win_over_the_profile_unless_it_is_told_not_to() {
        let files = [
            ("/usr/lib/sysctl.d/a.conf:1", 1),
            ("/etc/sysctl.d/b.conf:1", 2),
        ];
        assert_eq!(winner(&facts(&files, 1), "vm.swappiness"), "2");
        assert_eq!(winner(&facts(&files, 0), "vm.swappiness"), "7");
        assert_eq!(winner(&facts(&files[..1], 1), "vm.swappiness"), "7");
    }

    /// The last word on a setting of which TuneD says nothing.
    fn without_tuned(files: &[(&str, i64)]) -> String {
        let mut facts = Facts::default();
        for (from, value) in files {
            facts.persist(Key::plain("sysctl", "vm.swappiness"), *value, from);
        }
        decide(&mut facts);
        let fact = facts.get(&Key::plain("sysctl", "vm.swappiness")).unwrap();
        fact.boot.as_ref().unwrap().from.clone()
    }

    #[test]
    fn sysctl_conf_counts_where_a_link_has_it_read() {
        let alone = [("/etc/sysctl.conf:1", 5)];
        assert_eq!(without_tuned(&alone), "/etc/sysctl.conf:1");
        let not_linked = [("/etc/sysctl.d/90-a.conf:1", 1), ("/etc/sysctl.conf:1", 5)];
        assert_eq!(without_tuned(&not_linked), "/etc/sysctl.d/90-a.conf:1");
        let linked = [
            ("/etc/sysctl.d/90-a.conf:1", 1),
            ("/etc/sysctl.d/99-sysctl.conf:1", 5),
            ("/etc/sysctl.conf:1", 5),
        ];
        assert_eq!(without_tuned(&linked), "/etc/sysctl.d/99-sysctl.conf:1");
        let by_name = [
            ("/etc/sysctl.d/10-a.conf:1", 1),
            ("/usr/lib/sysctl.d/50-b.conf:1", 5),
        ];
        assert_eq!(without_tuned(&by_name), "/usr/lib/sysctl.d/50-b.conf:1");
    }

    #[test]
    fn what_tuned_reads_again_ends_with_sysctl_conf() {
        let files = [("/etc/sysctl.d/90-a.conf:1", 1), ("/etc/sysctl.conf:1", 5)];
        assert_eq!(winner(&facts(&files, 1), "vm.swappiness"), "5");
        assert_eq!(winner(&facts(&files, 0), "vm.swappiness"), "7");
        // Without a section of sysctl nothing is read again.
        let mut facts = Facts::default();
        facts.run(Key::plain("tuned", "profile"), "own", "a");
        let option = Key::of("tuned", "own", "vm/dirty_ratio");
        facts.persist(option, 20_i64, "/etc/tuned/own/tuned.conf:2");
        facts.persist(
            Key::plain("sysctl", "vm.dirty_ratio"),
            40_i64,
            "/etc/sysctl.conf:1",
        );
        decide(&mut facts);
        assert_eq!(winner(&facts, "vm.dirty_ratio"), "20");
    }

    #[test]
    fn profiles_that_include_each_other_end() {
        let mut facts = Facts::default();
        facts.persist(Key::of("tuned", "a", "main/include"), "b", "a");
        facts.persist(Key::of("tuned", "b", "main/include"), "a", "b");
        assert_eq!(chain(&facts, "a"), ["b", "a"]);
    }
}
