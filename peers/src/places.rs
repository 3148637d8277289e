//! Where things lie: the workspace, the corpus, what was installed.

use std::path::{Path, PathBuf};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .expect("this package lies in the workspace")
        .to_owned()
}

/// A file of this package.
pub(crate) fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Where peers are installed; never part of the tree.
pub(crate) fn installed(path: &str) -> PathBuf {
    root().join("target/peers").join(path)
}

/// The corpus: `GRISTMILL_CORPUS`, else `../shared/corpus` beside the workspace.
pub(crate) fn corpus() -> PathBuf {
    let folder = match std::env::var_os("GRISTMILL_CORPUS") {
        Some(folder) => PathBuf::from(folder),
        None => root().join("../shared/corpus"),
    };
    folder.join("sas7bdat")
}
