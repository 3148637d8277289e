//! Differences that have a reason, from `known.toml`.

use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::compare::Kind;
use crate::peer::Peer;
use crate::places::own;

/// One reason for differences.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    /// Whom it concerns.
    pub(crate) peers: Vec<Peer>,
    /// What differs.
    pub(crate) kinds: Vec<Kind>,
    /// Names of files or shapes; `*` stands for anything.
    pub(crate) files: Vec<String>,
    /// Who reads rightly.
    pub(crate) right: String,
    /// Why they differ.
    pub(crate) reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    corpus: Vec<Known>,
    written: Vec<Known>,
}

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    Corpus,
    Written,
}

/// The reasons for one area.
pub(crate) fn read(area: Area) -> Result<Vec<Known>> {
    let path = own("known.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(match area {
        Area::Corpus => file.corpus,
        Area::Written => file.written,
    })
}

/// The reason for a difference, by its place in the list.
pub(crate) fn find(known: &[Known], peer: Peer, kind: Kind, file: &str) -> Option<usize> {
    known.iter().position(|known| {
        known.peers.contains(&peer)
            && known.kinds.contains(&kind)
            && known.files.iter().any(|pattern| matches(pattern, file))
    })
}

fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            text.char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .any(|at| matches(rest, &text[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(matches("a/*.sas7bdat", "a/b.sas7bdat"));
        assert!(matches("*", ""));
        assert!(matches("none-*-full*", "none-4k-full+1"));
        assert!(!matches("a", "ab"));
    }

    #[test]
    fn the_list_can_be_read() {
        assert!(read(Area::Corpus).is_ok());
        assert!(read(Area::Written).is_ok());
    }
}
