//! Parquet on one side: in a crate of its own, which is compiled only when asked for.

use std::path::Path;

use anyhow::{Result, bail};

use super::super::args::ShapeArgs;
use super::Converted;

/// SAS7BDAT to Parquet.
pub fn write(_input: &Path, _output: &Path, _force: bool) -> Result<Converted> {
    not_built_in()
}

/// Parquet to SAS7BDAT.
pub fn read(_input: &Path, _output: &Path, _shape: ShapeArgs) -> Result<Converted> {
    not_built_in()
}

fn not_built_in() -> Result<Converted> {
    bail!(
        "this gristmill was built without Parquet; build one that has it with \
         `cargo build --release --package gristmill --features parquet`"
    )
}
