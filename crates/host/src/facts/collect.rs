//! Reads everything that the table of sources names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::parse::Found;
use super::sources::{self, Layer, Source, What};
use super::{Facts, Key, Root, Value, boot, derive, root};

/// What is known beside the root.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Files that the caller has: name of the source, path on this host.
    pub also: Vec<(String, PathBuf)>,
    /// Roles of paths: role, path on the audited host.
    pub paths: Vec<(String, String)>,
    /// The paths are the directories of a run: what they are on matters, were it the operating
    /// system's.
    pub of_run: bool,
    /// Vendors of storage that cannot be seen from a host.
    pub vendors: Vec<String>,
    /// When to stop reading: what was not read until then is named by the fact `audit.not_read`.
    pub until: Option<Instant>,
}

/// A file of the caller's that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No source has this name.
    #[error("there is no source \"{0}\"; docs/reference/sources.md lists them")]
    NoSource(String),
    /// The file cannot be read.
    #[error("failed to read {}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Everything that can be known of a host.
pub fn collect(root: &Root, given: &Given) -> Result<Facts, Error> {
    let mut facts = Facts::default();
    for (name, path) in &given.also {
        read_given(name, path, &mut facts)?;
    }
    let mut not_read = Vec::new();
    for source in sources::all() {
        if given.until.is_some_and(|until| Instant::now() >= until) {
            not_read.push(source.name);
            continue;
        }
        let known = source
            .unless
            .is_some_and(|class| facts.class(class).next().is_some());
        if !known {
            read(source, root, given, &mut facts);
        }
    }
    if !not_read.is_empty() {
        facts.run(
            Key::plain("audit", "not_read"),
            Value::list(not_read),
            "the time was over",
        );
    }
    derive::derive(&mut facts, given);
    boot::decide(&mut facts);
    Ok(facts)
}

fn read_given(name: &str, path: &Path, facts: &mut Facts) -> Result<(), Error> {
    let source = sources::named(name).ok_or_else(|| Error::NoSource(name.to_owned()))?;
    let bytes = std::fs::read(path).map_err(|error| Error::Unreadable {
        path: path.to_owned(),
        source: error,
    })?;
    let from = path.to_string_lossy();
    let found = (source.parse)(&from, &root::text_of(&bytes));
    add(source, &from, found, facts);
    Ok(())
}

fn read(source: &Source, root: &Root, given: &Given, facts: &mut Facts) {
    if let Some(command) = &source.command {
        for output in command.outputs(root, facts, given.until) {
            let found = (source.parse)(&output.path, &output.text);
            add(source, &output.from, found, facts);
        }
    }
    for path in paths(source, root) {
        if let Some(text) = text(source.what, root, &path) {
            add(source, &path, (source.parse)(&path, &text), facts);
        }
    }
}

/// Paths of a source that exist, in the order in which they are applied.
pub(crate) fn paths(source: &Source, root: &Root) -> Vec<String> {
    let found = source.paths.iter().flat_map(|pattern| root.glob(pattern));
    let wanted = found.filter(|path| is_wanted(source, path));
    if source.named_by == 0 {
        return wanted.collect();
    }
    let mut by_name: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for path in wanted {
        let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        let name = parts[parts.len().saturating_sub(source.named_by)..].to_vec();
        by_name.insert(name, path);
    }
    by_name.into_values().collect()
}

/// Of settings only those that are looked at; of processes only those with a number.
fn is_wanted(source: &Source, path: &str) -> bool {
    match source.name {
        "proc-sys" => {
            let name = path.trim_start_matches("/proc/sys/");
            super::parse::sysctl::LOOKED_AT.contains(&name)
        }
        "processes" | "process-limits" => {
            let process = path.split('/').nth(2).unwrap_or_default();
            process.parse::<u32>().is_ok()
        }
        _ => true,
    }
}

/// What a path says.
pub(crate) fn text(what: What, root: &Root, path: &str) -> Option<String> {
    match what {
        What::File => root.text(path),
        What::Link => root.link(path),
        What::Names => {
            let names: Vec<String> = root.names(path).into_iter().collect();
            Some(names.join("\n"))
        }
    }
}

fn add(source: &Source, from: &str, found: Vec<Found>, facts: &mut Facts) {
    for Found { key, value, line } in found {
        let from = if line == 0 {
            from.to_owned()
        } else {
            format!("{from}:{line}")
        };
        match source.layer {
            Layer::Running => facts.run(key, value, &from),
            Layer::Persisted => facts.persist(key, value, &from),
        }
    }
}
