//! What CI checks beyond the tests.

use anyhow::Result;

use crate::fuzz;
use crate::process;
use crate::tidy;

/// Seconds for each fuzz target: enough to see that it still stands.
const FUZZ_SECONDS: u32 = 3;

/// Format, lints as errors, documentation as errors, tidiness, a moment of fuzzing.
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
    // Nothing else builds it.
    process::run(&[
        "cargo",
        "clippy",
        "--package",
        "gristmill",
        "--features",
        "parquet",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])?;
    process::run(&[
        "env",
        "RUSTDOCFLAGS=-D warnings",
        "cargo",
        "doc",
        "--workspace",
        "--no-deps",
    ])?;
    tidy::run()?;
    fuzz::check()?;
    fuzz::run(FUZZ_SECONDS, 1)
}
