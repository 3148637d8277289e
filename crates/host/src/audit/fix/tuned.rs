//! A profile of TuneD for the version that is installed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::audit::compare;
use crate::facts::Facts;

/// Name of the profile.
pub(super) const NAME: &str = "gristmill-sas";

/// What a rule wants of the profile.
pub(super) struct Wanted {
    pub(super) rule: String,
    pub(super) text: String,
    pub(super) advice: bool,
}

/// An option of a section, and the rules that want it.
struct Line {
    rules: Vec<String>,
    name: String,
    text: String,
}

/// Sections, their lines.
type Sections = BTreeMap<String, Vec<Line>>;

/// The profile's path and text. What its version does not know is written in the older way, or left
/// out with a word. `installed` tells what a profile of ours by this path says, which stays in it.
pub(super) fn profile(
    facts: &Facts,
    wanted: &[Wanted],
    installed: &dyn Fn(&str) -> String,
) -> Option<(String, String)> {
    if wanted.is_empty() {
        return None;
    }
    let old = FOLDERS.map(|folder| installed(&path(folder)));
    let old = old.iter().find(|text| !text.is_empty());
    let old = old.map_or("", String::as_str);
    let version = facts.plain("tuned", "version").map(ToString::to_string);
    let since = |than: &str| {
        version
            .as_ref()
            .is_some_and(|version| compare::versions(version, than).is_ge())
    };
    let active = facts.plain("tuned", "profile").map(ToString::to_string);
    // Rules that ask for the profile itself mean its place below all others.
    let rules = ["TUN-002", "TUN-003", "TUN-004", "TUN-101"];
    let base = wanted.iter().any(|one| rules.contains(&one.rule.as_str()));
    let included = old.lines().find_map(|line| line.strip_prefix("include="));
    let include = match active.as_deref() {
        Some(NAME) => included
            .filter(|_| !base)
            .unwrap_or("throughput-performance"),
        Some("none") | None => "throughput-performance",
        Some(_) if base => "throughput-performance",
        Some(profile) => profile.split(' ').next().unwrap_or(profile),
    };
    let mut sections = Sections::new();
    // Where two rules want different values, the one that is sure stands.
    let (advice, sure): (Vec<&Wanted>, Vec<&Wanted>) = wanted.iter().partition(|one| one.advice);
    for one in sure {
        add(&mut sections, one, &since);
    }
    keep(&mut sections, old);
    for one in advice {
        add(&mut sections, one, &since);
    }
    let known = version.as_deref().unwrap_or("an unknown version");
    let mut text = format!(
        "# Written for TuneD {known}.\n[main]\nsummary=Analytics node\ninclude={include}\n"
    );
    for (section, lines) in sections {
        let _ = writeln!(text, "\n[{section}]");
        let mut last = String::new();
        for line in lines {
            let rules = format!("# {}", line.rules.join(" "));
            if rules != last && !line.rules.is_empty() {
                let _ = writeln!(text, "{rules}");
            }
            let _ = writeln!(text, "{}", line.text);
            last = rules;
        }
    }
    let [newer, older] = FOLDERS;
    let folder = if since("2.23") { newer } else { older };
    Some((path(folder), text))
}

/// Where profiles are, since 2.23 and before.
const FOLDERS: [&str; 2] = ["etc/tuned/profiles", "etc/tuned"];

fn path(folder: &str) -> String {
    format!("{folder}/{NAME}/tuned.conf")
}

/// Keeps the lines of a profile that was installed before, unless what is sure now says something else.
fn keep(sections: &mut Sections, installed: &str) {
    let (mut section, mut rules) = (String::new(), Vec::new());
    for line in installed.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            name.trim_end_matches(']').clone_into(&mut section);
            rules.clear();
        } else if let Some(said) = line.strip_prefix("# ") {
            rules = said.split_whitespace().map(str::to_owned).collect();
        } else if let Some((name, _)) = line.split_once('=')
            && section != "main"
            && !line.starts_with(['#', ';'])
        {
            insert(sections, &section, name.trim(), line, &rules);
        }
    }
}

/// Adds a line of a profile, unless one before it sets the same.
fn insert(sections: &mut Sections, section: &str, name: &str, line: &str, rules: &[String]) {
    // The share and the bytes of dirty memory set each other to nothing: the first stands.
    let twin = match () {
        () if name.ends_with("_ratio") => name.replace("_ratio", "_bytes"),
        () => name.replace("_bytes", "_ratio"),
    };
    let plain = |line: &str| line.trim_start_matches('#').replace(' ', "");
    let sets = |known: &&mut Line| known.name == name || known.name == twin;
    let Some(known) = sections.values_mut().flatten().find(sets) else {
        sections.entry(section.to_owned()).or_default().push(Line {
            rules: rules.to_vec(),
            name: name.to_owned(),
            text: line.to_owned(),
        });
        return;
    };
    for rule in rules {
        if plain(&known.text) == plain(line) && !known.rules.contains(rule) {
            known.rules.push(rule.clone());
        }
    }
}

fn add(sections: &mut Sections, wanted: &Wanted, since: &impl Fn(&str) -> bool) {
    let mut section = String::new();
    for line in wanted
        .text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        if let Some(name) = line.strip_prefix('[') {
            name.trim_end_matches(']').clone_into(&mut section);
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        if section == "main" {
            continue;
        }
        let (section, line) = match (section.as_str(), name) {
            ("vm", name) if name.starts_with("dirty_") => dirty(name, value, since),
            ("cpu", "boost") if !since("2.27") => (
                "cpu".to_owned(),
                format!("# boost={value} needs TuneD 2.27"),
            ),
            (section, name) => (section.to_owned(), format!("{name}={value}")),
        };
        let name = line.split('=').next().unwrap_or_default().to_owned();
        let text = if wanted.advice {
            format!("#{line}")
        } else {
            line
        };
        insert(
            sections,
            &section,
            &name,
            &text,
            std::slice::from_ref(&wanted.rule),
        );
    }
}

/// Dirty memory is an option of [vm] since 2.25, as a share since 2.26; before that it is a key of
/// sysctl.
fn dirty(name: &str, value: &str, since: &impl Fn(&str) -> bool) -> (String, String) {
    match value.strip_suffix('%') {
        Some(_) if since("2.26") => ("vm".to_owned(), format!("{name}={value}")),
        Some(share) => {
            let name = name.replace("bytes", "ratio");
            if since("2.25") {
                ("vm".to_owned(), format!("{name}={share}"))
            } else {
                ("sysctl".to_owned(), format!("vm.{name}={share}"))
            }
        }
        None if since("2.25") => ("vm".to_owned(), format!("{name}={value}")),
        None => ("sysctl".to_owned(), format!("vm.{name}={value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Key;

    fn written(version: &str) -> (String, String) {
        let mut facts = Facts::default();
        facts.run(Key::plain("tuned", "version"), version, "rpm");
        let wanted = [Wanted {
            rule: "VM-101".to_owned(),
            text: "[vm]\ndirty_bytes=30%\n[cpu]\nboost=1\n".to_owned(),
            advice: false,
        }];
        profile(&facts, &wanted, &|_| String::new()).unwrap()
    }

    #[test]
    fn a_profile_is_for_its_version() {
        let (path, text) = written("2.22.1");
        assert_eq!(path, "etc/tuned/gristmill-sas/tuned.conf");
        assert!(
            text.contains("[sysctl]\n# VM-101\nvm.dirty_ratio=30"),
            "{text}"
        );
        assert!(text.contains("needs TuneD 2.27"));
        let (path, text) = written("2.27.0");
        assert_eq!(path, "etc/tuned/profiles/gristmill-sas/tuned.conf");
        assert!(text.contains("[vm]\n# VM-101\ndirty_bytes=30%"), "{text}");
        assert!(
            written("2.25.0")
                .1
                .contains("[vm]\n# VM-101\ndirty_ratio=30")
        );
    }
}
