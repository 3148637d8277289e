//! Every parser on real captures, against facts that were written down by hand (`expected/*.toml`).
//! The captures are no part of this tree: `GRISTMILL_CORPUS` says where they are.

#![expect(clippy::print_stdout, reason = "says how many captures were read")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use host::facts::collect::{Given, collect};
use host::facts::{Key, Root, Value, root, sources};

fn corpus() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let corpus = std::env::var_os("GRISTMILL_CORPUS");
    corpus
        .map_or_else(|| PathBuf::from(default), PathBuf::from)
        .join("tuning")
}

#[derive(serde::Deserialize)]
struct Expected {
    #[serde(default)]
    sample: Vec<Sample>,
}

#[derive(serde::Deserialize)]
struct Sample {
    /// A capture of the corpus, …
    #[serde(default)]
    file: String,
    /// … or a text of ours that follows a document.
    text: Option<String>,
    document: Option<String>,
    source: String,
    path: Option<String>,
    total: Option<usize>,
    #[serde(default)]
    subjects: BTreeMap<String, usize>,
    #[serde(default)]
    facts: BTreeMap<String, toml::Value>,
}

fn value(value: &toml::Value) -> Value {
    match value {
        toml::Value::Integer(number) => Value::Number(*number),
        toml::Value::Array(texts) => {
            Value::list(texts.iter().map(|text| text.as_str().unwrap_or_default()))
        }
        other => Value::from(other.as_str().expect("a text")),
    }
}

fn check(sample: &Sample, text: &str, wrong: &mut Vec<String>) {
    let source = sources::named(&sample.source).expect("a source of the table");
    let path = sample.path.as_deref().unwrap_or(&sample.file);
    let name = sample.document.as_deref().unwrap_or(&sample.file);
    let found = (source.parse)(path, text);
    let by_key: BTreeMap<String, &Value> = found
        .iter()
        .rev()
        .map(|fact| (fact.key.to_string(), &fact.value))
        .collect();
    let mut complain = |what: String| wrong.push(format!("{}, {name}: {what}", sample.source));
    for (key, expected) in &sample.facts {
        let expected = value(expected);
        match by_key.get(key) {
            Some(found) if **found == expected => {}
            found => complain(format!("{key} is {found:?}, not {expected:?}")),
        }
    }
    for (class, count) in &sample.subjects {
        let subjects: BTreeSet<_> = found
            .iter()
            .filter(|fact| fact.key.class == *class)
            .map(|fact| &fact.key.subject)
            .collect();
        if subjects.len() != *count {
            complain(format!("{} of {class}, not {count}", subjects.len()));
        }
    }
    if let Some(total) = sample.total.filter(|total| *total != found.len()) {
        complain(format!("{} facts, not {total}: {by_key:?}", found.len()));
    }
}

#[test]
fn samples_say_what_was_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected");
    let (mut read, mut skipped, mut wrong) = (0, 0, Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let expected: Expected = toml::from_str(&text).unwrap();
        for sample in &expected.sample {
            if let Some(text) = &sample.text {
                assert!(
                    sample.document.is_some(),
                    "a synthetic text follows a document"
                );
                check(sample, text, &mut wrong);
                continue;
            }
            match fs::read(corpus().join(&sample.file)) {
                Ok(bytes) => {
                    read += 1;
                    check(sample, &root::text_of(&bytes), &mut wrong);
                }
                Err(_) => skipped += 1,
            }
        }
    }
    println!("samples: {read} read, {skipped} skipped");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[derive(serde::Deserialize)]
struct Unused {
    unused: Vec<Reason>,
}

/// Why samples are not read.
#[derive(serde::Deserialize)]
struct Reason {
    files: Vec<String>,
    reason: String,
}

/// Files below a folder, by their paths from it.
fn files(folder: &Path, from: &Path, all: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, from, all);
        } else if let Ok(inside) = path.strip_prefix(from) {
            all.insert(inside.to_string_lossy().into_owned());
        }
    }
}

/// True if a name is that of a pattern, in which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(start) else {
        return false;
    };
    for piece in rest.split('*') {
        match left.rfind(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with('*') || rest.is_empty() || left.is_empty()
}

#[test]
fn every_sample_is_read_or_there_is_a_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected");
    let mut left = BTreeSet::new();
    files(&corpus(), &corpus(), &mut left);
    let all = left.len();
    // The list of what is there, and what a test of its own reads.
    left.remove("MANIFEST.yaml");
    left.remove("sosreport-rhcos-2019.tar.gz");
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let expected: Expected = toml::from_str(&text).unwrap();
        for sample in &expected.sample {
            left.remove(&sample.file);
        }
    }
    let read = all - left.len();
    let unused: Unused = toml::from_str(include_str!("expected/unused.toml")).unwrap();
    let mut useless = Vec::new();
    for reason in &unused.unused {
        assert!(!reason.reason.is_empty());
        for pattern in &reason.files {
            let before = left.len();
            left.retain(|name| !fits(pattern, name));
            if before == left.len() && all > 0 {
                useless.push(pattern);
            }
        }
    }
    println!("samples: {all} there, {read} read");
    assert!(left.is_empty(), "neither read nor left out: {left:?}");
    assert!(useless.is_empty(), "of no sample: {useless:?}");
}

#[derive(serde::Deserialize)]
struct Whole {
    absent: Vec<String>,
    running: BTreeMap<String, toml::Value>,
    persisted: BTreeMap<String, toml::Value>,
}

#[test]
fn a_sosreport_says_what_was_written_down() {
    let archive = corpus().join("sosreport-rhcos-2019.tar.gz");
    let Ok(file) = fs::File::open(&archive) else {
        println!("sosreports: 0 read, 1 skipped");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    archive.set_preserve_permissions(false);
    archive.unpack(folder.path()).unwrap();
    let facts = collect(&Root::tree(folder.path()), &Given::default()).unwrap();
    let expected: Whole = toml::from_str(include_str!("expected/rhcos.toml")).unwrap();
    let mut wrong = Vec::new();
    for (key, expected) in &expected.running {
        let found = facts.running(&key.parse::<Key>().unwrap());
        if found != Some(&value(expected)) {
            wrong.push(format!("{key} is {found:?}, not {expected}"));
        }
    }
    for (key, expected) in &expected.persisted {
        let found = facts.get(&key.parse::<Key>().unwrap());
        let found = found
            .and_then(|fact| fact.persisted.last())
            .map(|seen| &seen.value);
        if found != Some(&value(expected)) {
            wrong.push(format!("{key} persists as {found:?}, not {expected}"));
        }
    }
    for key in &expected.absent {
        let found = facts.running(&key.parse::<Key>().unwrap());
        if found.is_some() {
            wrong.push(format!("{key} is {found:?}, which nothing says"));
        }
    }
    println!("sosreports: 1 read, 0 skipped, {} facts", facts.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
