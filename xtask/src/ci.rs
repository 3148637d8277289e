//! What CI checks beyond the tests.

use anyhow::Result;

use crate::process;
use crate::tidy;

/// Format, lints as errors, documentation as errors, tidiness.
pub(crate) fn run_checks() -> Result<()> {
    process::run(&["cargo", "fmt", "--all", "--check"])?;
    process::run(&[
        "cargo",
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])?;
    process::run(&["cargo", "doc", "--workspace", "--no-deps", "--quiet"])?;
    tidy::run()
}
