//! `gristmill audit --collect FILE`: a capture of the host.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use host::facts::{Facts, Root, capture};

use crate::exit::Exit;
use crate::ui;

/// Name of the folder in the archive.
const FOLDER: &str = "gristmill-capture";

/// Writes the capture.
pub(super) fn run(file: &Path, root: &Root, facts: &Facts) -> Result<Exit> {
    let explain = || format!("failed to write {}", file.display());
    let archive = File::create(file).with_context(explain)?;
    let mut archive = GzEncoder::new(archive, Compression::default());
    let files = capture::write(root, facts, FOLDER, &mut archive).with_context(explain)?;
    archive
        .finish()
        .with_context(explain)?
        .sync_all()
        .with_context(explain)?;
    ui::say(&format!(
        "{files} files in {}; read it with: mkdir DIR && tar xzf {} -C DIR && gristmill audit --root DIR",
        file.display(),
        file.display()
    ));
    Ok(Exit::Good)
}
