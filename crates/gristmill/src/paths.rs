//! Files and folders that are the same under different names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::exit::usage;

/// Refuses a list in which a file or folder is named twice, under whatever names: it would count twice.
pub fn each_once<'a>(paths: impl IntoIterator<Item = &'a Path>) -> anyhow::Result<()> {
    let mut seen: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    for path in paths {
        // What is not there is told by whoever opens it.
        let Ok(place) = fs::canonicalize(path) else {
            continue;
        };
        if let Some(before) = seen.insert(place, path) {
            usage!(
                "{} and {} are the same; name it once",
                before.display(),
                path.display()
            );
        }
    }
    Ok(())
}

/// Whether two paths name one file, which need not be there yet.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    match (place(one), place(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
