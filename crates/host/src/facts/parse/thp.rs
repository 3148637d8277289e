//! Files of `/sys/kernel/mm/transparent_hugepage`: the choice in brackets holds.

use super::{Found, base, found};
use crate::facts::Key;

/// Reads one.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let chosen = chosen(text).unwrap_or(text.trim());
    if chosen.is_empty() {
        return Vec::new();
    }
    vec![found(Key::plain("thp", base(path)), chosen, 1)]
}

/// The word in brackets.
pub(crate) fn chosen(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0)
}
