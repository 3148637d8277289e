//! The fuzz targets, which are a workspace of their own.

use anyhow::Result;

use crate::process;

const MANIFEST: &str = "fuzz/Cargo.toml";

/// Runs every fuzz target for some seconds with the driver that needs the stable compiler only.
pub(crate) fn run(seconds: u32, seed: u64) -> Result<()> {
    process::run(&[
        "cargo",
        "run",
        "--quiet",
        "--release",
        "--manifest-path",
        MANIFEST,
        "--bin",
        "smoke",
        "--",
        "--seconds",
        &seconds.to_string(),
        "--seed",
        &seed.to_string(),
    ])
}

/// Format and lints, which the checks of the main workspace do not see.
pub(crate) fn check() -> Result<()> {
    process::run(&["cargo", "fmt", "--manifest-path", MANIFEST, "--check"])?;
    process::run(&[
        "cargo",
        "clippy",
        "--manifest-path",
        MANIFEST,
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])
}
