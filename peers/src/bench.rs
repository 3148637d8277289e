//! Speed.
pub(crate) mod ours;
use anyhow::Result;
#[derive(Debug, clap::Args)]
pub(crate) struct Options {}
pub(crate) fn run(_: &Options) -> Result<()> {
    Ok(())
}
