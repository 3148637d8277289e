//! `gristmill data`: generate, look into, check, convert and measure data sets.

mod args;
mod convert;
mod files;
mod generate;
mod head;
mod ls;
mod progress;
mod recipes;
mod squeeze;
mod value;
mod verify;

pub use args::DataArgs;

use anyhow::Result;

use crate::exit::Exit;
use args::DataVerb;

/// Runs the verb.
pub fn run(args: &DataArgs) -> Result<Exit> {
    match &args.verb {
        DataVerb::Gen(args) => generate::run(args),
        DataVerb::Ls(args) => Ok(ls::run(args)),
        DataVerb::Head(args) => head::run(args),
        DataVerb::Verify(args) => verify::run(args),
        DataVerb::Convert(args) => convert::run(args),
        DataVerb::Squeeze(args) => squeeze::run(args),
    }
}
