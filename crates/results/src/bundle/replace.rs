//! Names replaced by others, the same everywhere in a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::names::Names;
use crate::run::{Error, RunDirectory};

/// Names that are replaced, longest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replacements {
    /// Name and what stands for it, in every form in which files have it.
    names: Vec<(String, String)>,
    /// Users whose names are not replaced, since records of the run have the same words.
    kept: Vec<String>,
}

impl Replacements {
    /// For the names that a run knows: its nodes, its directories and what they are mounted from, users that have
    /// homes there, and those given.
    pub fn of(directory: &RunDirectory, users: &[String]) -> Result<Self, Error> {
        let names = Names::of(directory)?;
        let words = words(directory.path());
        let mut all = Aliases::default();
        for host in &names.hosts {
            all.host(host);
        }
        for source in &names.sources {
            all.add("source", source);
        }
        for boot in &names.boots {
            all.add("boot", boot);
        }
        let (kept, users): (BTreeSet<_>, BTreeSet<_>) = users
            .iter()
            .chain(&names.users)
            .partition(|user| words.contains(*user));
        for user in users {
            all.add("user", user);
        }
        for path in names
            .paths
            .iter()
            .flat_map(|path| Path::new(path).ancestors())
        {
            let text = path.display().to_string();
            // The root is everybody's.
            if text.len() > 1 && text.starts_with('/') {
                all.add("/path", &text);
            }
        }
        let kept = kept.into_iter().filter(|user| is_telling(user));
        Ok(Self {
            kept: kept.cloned().collect(),
            ..Self::new(all.names)
        })
    }

    fn new(names: impl IntoIterator<Item = (String, String)>) -> Self {
        let forms = |(name, by): (String, String)| {
            forms(&name).into_iter().map(move |form| (form, by.clone()))
        };
        let mut names: Vec<(String, String)> = names.into_iter().flat_map(forms).collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self {
            names,
            kept: Vec::new(),
        }
    }

    /// Users whose names are not replaced, since records of the run have the same words.
    pub fn kept(&self) -> &[String] {
        &self.kept
    }

    /// As many counters as names.
    pub(super) fn counts(&self) -> Vec<usize> {
        vec![0; self.names.len()]
    }

    /// Names that were replaced, by what, and how often.
    pub(super) fn told(&self, counts: &[usize]) -> Vec<(String, String, usize)> {
        self.names
            .iter()
            .zip(counts)
            .filter(|(_, count)| **count > 0)
            .map(|((name, by), count)| (name.clone(), by.clone(), *count))
            .collect()
    }

    /// A text with the names replaced, in capitals or not, and how often each was.
    pub(super) fn apply(&self, text: &str, counts: &mut [usize]) -> String {
        let mut begins = [false; 256];
        for (name, _) in &self.names {
            let first = name.as_bytes()[0];
            begins[usize::from(first.to_ascii_lowercase())] = true;
            begins[usize::from(first.to_ascii_uppercase())] = true;
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(first) = rest.chars().next() {
            let found = begins[usize::from(rest.as_bytes()[0])]
                .then(|| {
                    self.names
                        .iter()
                        .position(|(name, _)| is_at(name, rest, before))
                })
                .flatten();
            let (taken, put) = match found {
                Some(at) => {
                    counts[at] += 1;
                    (self.names[at].0.len(), &*self.names[at].1)
                }
                None => (first.len_utf8(), &rest[..first.len_utf8()]),
            };
            out.push_str(put);
            before = rest[..taken].chars().next_back();
            rest = &rest[taken..];
        }
        out
    }
}

/// Names, and what stands for them.
#[derive(Debug, Default)]
struct Aliases {
    names: BTreeMap<String, String>,
}

impl Aliases {
    fn add(&mut self, kind: &str, name: &str) {
        let is_kind = |by: &&String| by.starts_with(kind);
        let number = self
            .names
            .values()
            .filter(is_kind)
            .collect::<BTreeSet<_>>()
            .len()
            + 1;
        if is_telling(name) && !self.names.contains_key(name) {
            self.names
                .insert(name.to_owned(), format!("{kind}{number}"));
        }
    }

    /// A host with its domain: the short name is the same host, and the domain tells whose it is.
    fn host(&mut self, name: &str) {
        self.add("host", name);
        let is_address = name.parse::<std::net::IpAddr>().is_ok();
        let (Some((short, domain)), false) = (name.split_once('.'), is_address) else {
            return;
        };
        if let (true, Some(by)) = (is_telling(short), self.names.get(name).cloned()) {
            self.names.entry(short.to_owned()).or_insert(by);
        }
        if domain.contains('.') {
            self.add("domain", domain);
        }
    }
}

/// Names that are no words of ours or everybody's: `none` and `tmpfs` are mounted everywhere.
fn is_telling(name: &str) -> bool {
    let common = [
        "",
        "none",
        "tmpfs",
        "overlay",
        "localhost",
        "root",
        "shm",
        "proc",
        "127.0.0.1",
        "0.0.0.0",
        "::1",
        "::",
    ];
    !common.contains(&name)
}

/// A name as texts have it, and as pages and records write its letters.
fn forms(name: &str) -> BTreeSet<String> {
    let page: String = name
        .chars()
        .map(|letter| match letter {
            '/' => "&#x2f;".to_owned(),
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            '\'' => "&#x27;".to_owned(),
            other => other.to_string(),
        })
        .collect();
    let record = Value::from(name).to_string();
    let record = record[1..record.len() - 1].to_owned();
    BTreeSet::from([name.to_owned(), page, record])
}

/// Whether a text begins with a name, which is no part of another one.
fn is_at(name: &str, rest: &str, before: Option<char>) -> bool {
    let Some(own) = rest.as_bytes().get(..name.len()) else {
        return false;
    };
    own.eq_ignore_ascii_case(name.as_bytes())
        && !continues(before, name.chars().next())
        && !continues(rest[name.len()..].chars().next(), name.chars().next_back())
}

/// Whether a letter beside a name makes it part of another name.
fn continues(beside: Option<char>, edge: Option<char>) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    beside.is_some_and(is_word) && edge.is_some_and(is_word)
}

/// Words by which the records of a run name what they hold: replacing them would make it unreadable. Files that
/// cannot be read here fail when they are packed.
fn words(root: &Path) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for path in super::files(root).unwrap_or_default() {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let text = match path.extension().and_then(|one| one.to_str()) {
            Some("json") => &*text,
            Some("jsonl") => text.lines().next().unwrap_or_default(),
            _ => continue,
        };
        if let Ok(value) = serde_json::from_str(text) {
            keys(&value, &mut words);
        }
    }
    words
}

fn keys(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                out.insert(name.clone());
                keys(value, out);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, out)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str) -> String {
        let names = [
            ("/mnt/nas/bench", "/path1"),
            ("/mnt/nas", "/path2"),
            ("nas01", "host1"),
            ("ann", "user1"),
        ];
        let all = Replacements::new(names.map(|(name, by)| (name.to_owned(), by.to_owned())));
        all.apply(text, &mut all.counts())
    }

    #[test]
    fn whole_names_are_replaced_and_parts_of_others_are_not() {
        assert_eq!(
            replaced("libname in '/mnt/nas/bench/x';"),
            "libname in '/path1/x';"
        );
        assert_eq!(
            replaced("/mnt/nas2 /mnt/nas /mnt/nas/y"),
            "/mnt/nas2 /path2 /path2/y"
        );
        assert_eq!(
            replaced("annual ann nas01:/e \"nas01\""),
            "annual user1 host1:/e \"host1\""
        );
    }

    #[test]
    fn names_are_found_in_pages_and_in_capitals() {
        assert_eq!(
            replaced("<dd>&#x2f;mnt&#x2f;nas&#x2f;bench <b>NAS01:&#x2f;x"),
            "<dd>/path1 <b>host1:&#x2f;x"
        );
        assert_eq!(replaced("é/mnt/nas/bénch"), "é/path2/bénch");
    }

    #[test]
    fn a_host_has_one_alias_with_and_without_its_domain() {
        let mut all = Aliases::default();
        for host in ["filer07.corp.example.com", "filer07", "10.0.0.7", "n2"] {
            all.host(host);
        }
        let by = |name: &str| all.names.get(name).map(String::as_str);
        assert_eq!(by("filer07.corp.example.com"), Some("host1"));
        assert_eq!(by("filer07"), Some("host1"));
        assert_eq!(by("corp.example.com"), Some("domain1"));
        assert_eq!((by("10.0.0.7"), by("10")), (Some("host2"), None));
        assert_eq!(by("n2"), Some("host3"));
    }
}
