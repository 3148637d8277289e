//! Which row it is, when the rows of two files are not the same.

use std::collections::HashMap;
use std::path::Path;

use engine::dataset::hash::RowHasher;

use super::located::Located;

/// Different rows that are remembered at a time, by their hashes: 100 MB. Beyond them both files are read
/// several times.
const REMEMBERED: u64 = 1 << 22;

/// The first row of `path` that is not among those of `other`, or is there more often: its place.
pub(super) fn first(path: &Path, other: &Path) -> Result<Option<String>, String> {
    find(path, other, REMEMBERED)
}

fn find(path: &Path, other: &Path, remembered: u64) -> Result<Option<String>, String> {
    let parts = Located::open(other)?
        .metadata()
        .rows
        .div_ceil(remembered)
        .max(1);
    let mut found: Option<(u64, String)> = None;
    for part in 0..parts {
        let mut counts: HashMap<u64, u64> = HashMap::new();
        each(other, |hash, _| {
            if hash % parts == part {
                *counts.entry(hash).or_default() += 1;
            }
            true
        })?;
        each(path, |hash, at| {
            if found.as_ref().is_some_and(|(row, _)| *row < at.number()) {
                return false;
            }
            if hash % parts != part {
                return true;
            }
            match counts.get_mut(&hash) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    true
                }
                _ => {
                    found = Some((at.number(), at.place()));
                    false
                }
            }
        })?;
    }
    Ok(found.map(|(_, place)| place))
}

/// Reads rows until `take`, which is given each one's hash, has seen enough.
fn each(path: &Path, mut take: impl FnMut(u64, &Located) -> bool) -> Result<(), String> {
    let mut rows = Located::open(path)?;
    let metadata = rows.metadata();
    let mut hasher = RowHasher::new(&metadata.variables, &metadata.layout);
    while rows.advance()? {
        if !take(hasher.hash_of(rows.row()), &rows) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::samples;

    #[test]
    fn the_first_is_found_however_few_are_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let numbers: Vec<f64> = (0..5000).map(f64::from).collect();
        let all = samples::write(folder.path(), "all", &numbers);
        let mut changed = numbers.clone();
        changed.reverse();
        let same = samples::write(folder.path(), "same", &changed);
        // Numbers 4321 and 17, of which one comes twice and the other is new.
        (changed[100], changed[3000]) = (17.0, -1.0);
        let other = samples::write(folder.path(), "other", &changed);
        for remembered in [1 << 22, 1000, 7] {
            assert_eq!(find(&same, &all, remembered), Ok(None));
            let found = find(&other, &all, remembered).unwrap().unwrap();
            assert!(found.starts_with("row 3001 on page "), "{found}");
        }
    }
}
