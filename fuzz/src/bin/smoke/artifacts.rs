//! What is left of a failure.

use std::fs;
use std::path::{Path, PathBuf};

use fuzz::Target;

use crate::arguments::Arguments;

/// Most bytes of an input that are printed.
const PRINTED_MAX: usize = 64;

/// The folder of failing inputs.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts")
}

/// The iteration that a process noted last.
pub(crate) fn noted(progress: &Path) -> Option<u64> {
    let bytes = fs::read(progress).ok()?;
    bytes
        .first_chunk::<8>()
        .map(|number| u64::from_le_bytes(*number))
}

/// Says what an input did and how to do it again, and keeps the input.
pub(crate) fn report(
    target: &Target,
    arguments: &Arguments,
    iteration: Option<u64>,
    input: &[u8],
    what: &str,
) {
    let name = target.name;
    eprintln!("{name}: {what}");
    let start = &input[..input.len().min(PRINTED_MAX)];
    eprintln!("  {} bytes: {}…", input.len(), start.escape_ascii());
    if arguments.input.is_some() {
        return;
    }
    let (seed, iteration) = (arguments.seed, iteration.unwrap_or(0));
    eprintln!("  again: --target {name} --seed {seed} --iteration {iteration}");
    let path = folder().join(format!("{name}-{seed}-{iteration}"));
    match fs::write(&path, input) {
        Ok(()) => eprintln!("  or:    --target {name} --input {}", path.display()),
        Err(error) => eprintln!("  {}: {error}", path.display()),
    }
}
