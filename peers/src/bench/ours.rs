//! Ours.
use anyhow::Result;
#[derive(Debug, clap::Args)]
pub(crate) struct Work {}
pub(crate) fn run(_: &Work) -> Result<()> {
    Ok(())
}
