//! Names replaced by others, the same everywhere in a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::names::Names;
use super::words::{self, Words};
use crate::run::{Error, RunDirectory};

/// Fields of records that hold names of nodes, or what a file system is mounted from.
const NAMING: [&str; 4] = ["node", "nodes", "same_host_as", "source"];

/// Folders whose files are called as nodes are.
const BY_NODE: [&str; 3] = ["nodes", "audits", "events"];

/// A form of a name, as texts, pages or records have it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Form {
    /// The form.
    text: String,
    /// The name.
    name: String,
    /// What stands for it.
    by: String,
}

/// Names that are replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replacements {
    /// Those that are replaced wherever they stand, longest first.
    names: Vec<Form>,
    /// Hosts and sources that are words of the records, too: replaced where a field names them.
    in_fields: BTreeMap<String, String>,
    /// Users whose names are not replaced, since they are words of the records, too.
    kept: Vec<String>,
}

impl Replacements {
    /// For the names that a run knows: its nodes, its directories and what they are mounted from, users that have
    /// homes there, and those given.
    pub fn of(directory: &RunDirectory, users: &[String]) -> Result<Self, Error> {
        let names = Names::of(directory)?;
        let words = Words::of(directory.path(), &names.hosts);
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
        let (in_fields, replaced): (BTreeMap<_, _>, _) =
            all.names.into_iter().partition(|(name, _)| words.has(name));
        all.names = replaced;
        let (kept, users): (BTreeSet<_>, BTreeSet<_>) = users
            .iter()
            .chain(&names.users)
            .partition(|user| words.has(user));
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
            in_fields,
            kept: kept.cloned().collect(),
            ..Self::new(all.names)
        })
    }

    fn new(names: impl IntoIterator<Item = (String, String)>) -> Self {
        let forms = |(name, by): (String, String)| {
            let forms = forms(&name).into_iter();
            forms.map(move |text| Form {
                text,
                name: name.clone(),
                by: by.clone(),
            })
        };
        let mut names: Vec<Form> = names.into_iter().flat_map(forms).collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.text.len()));
        Self {
            names,
            ..Self::default()
        }
    }

    /// Users whose names are not replaced, since records of the run have the same words.
    pub fn kept(&self) -> &[String] {
        &self.kept
    }

    /// Hosts and sources that are replaced only where a field of a record names them, since records and logs have the
    /// same words.
    pub fn in_fields(&self) -> impl Iterator<Item = &str> {
        self.in_fields.keys().map(String::as_str)
    }

    /// As many counters as names.
    pub(super) fn counts(&self) -> Vec<usize> {
        vec![0; self.names.len()]
    }

    /// Names that were replaced, by what, and how often in all their forms, longest first.
    pub(super) fn told(&self, counts: &[usize]) -> Vec<(String, String, usize)> {
        let mut told: Vec<(String, String, usize)> = Vec::new();
        for (form, count) in self.names.iter().zip(counts).filter(|one| *one.1 > 0) {
            match told.iter_mut().find(|one| one.0 == form.name) {
                Some(known) => known.2 += count,
                None => told.push((form.name.clone(), form.by.clone(), *count)),
            }
        }
        told.sort_by_key(|one| std::cmp::Reverse(one.0.len()));
        told
    }

    /// A file of a run, by its place in it, without names; `None` if it is no text, or a page with names that cannot
    /// be told from its words.
    pub(super) fn file(
        &self,
        inside: &Path,
        bytes: Vec<u8>,
        counts: &mut [usize],
    ) -> Option<Vec<u8>> {
        let text = String::from_utf8(bytes).ok()?;
        let ending = inside.extension().and_then(|one| one.to_str());
        if ending == Some("html") && !self.in_fields.is_empty() {
            return None;
        }
        let text = self.apply(&text, counts);
        if self.in_fields.is_empty() || !matches!(ending, Some("json" | "jsonl")) {
            return Some(text.into_bytes());
        }
        let by = |value: &str| self.in_fields.get(value).cloned();
        Some(words::fields(&text, &NAMING, by).into_bytes())
    }

    /// The place of a file, without names.
    pub(super) fn place(&self, inside: &Path, counts: &mut [usize]) -> String {
        let stem = inside.file_stem().and_then(|one| one.to_str());
        let of_node = inside.parent().and_then(Path::to_str);
        let stem = stem.filter(|_| of_node.is_some_and(|folder| BY_NODE.contains(&folder)));
        let by = stem.and_then(|stem| self.in_fields.get(stem));
        match (by, inside.extension()) {
            (Some(by), Some(ending)) => {
                let name = format!("{by}.{}", ending.display());
                inside.with_file_name(name).display().to_string()
            }
            _ => self.apply(&inside.display().to_string(), counts),
        }
    }

    /// A text with the names replaced, in capitals or not, and how often each was.
    pub(super) fn apply(&self, text: &str, counts: &mut [usize]) -> String {
        let mut begins = [false; 256];
        for name in &self.names {
            let first = name.text.as_bytes()[0];
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
                        .position(|name| is_at(&name.text, rest, before))
                })
                .flatten();
            let (taken, put) = match found {
                Some(at) => {
                    counts[at] += 1;
                    (self.names[at].text.len(), &*self.names[at].by)
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
    fn a_name_is_told_once_whatever_its_forms() {
        let names = [("/mnt/nas", "/path1"), ("nas01", "host1")];
        let all = Replacements::new(names.map(|(name, by)| (name.to_owned(), by.to_owned())));
        let mut counts = all.counts();
        all.apply(
            "nas01:/mnt/nas &#x2f;mnt&#x2f;nas NAS01 /mnt/nas",
            &mut counts,
        );
        let told = |name: &str, by: &str, count| (name.to_owned(), by.to_owned(), count);
        assert_eq!(
            all.told(&counts),
            [told("/mnt/nas", "/path1", 3), told("nas01", "host1", 2)]
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
