//! Output of `df`: how full file systems are.

use super::{Found, found, lines};
use crate::facts::Key;

/// Reads `…  4% /mount point`; inodes (`df -i`) have no place here.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    if text
        .lines()
        .next()
        .is_some_and(|line| line.contains("Inodes"))
    {
        return Vec::new();
    }
    let fact = |(number, line): (usize, &str)| {
        let (head, point) = line.split_once("% ")?;
        let used: i64 = head.rsplit(' ').next()?.parse().ok()?;
        let point = point.trim();
        (used <= 100 && point.starts_with('/'))
            .then(|| found(Key::of("mount", point, "used_percent"), used, number))
    };
    lines(text).filter_map(fact).collect()
}
