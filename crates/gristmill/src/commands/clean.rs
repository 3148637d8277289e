//! `gristmill clean`: lists what Gristmill staged or left below a directory; removes it with `--yes`.

use anyhow::{Context, Result};
use base::units::Bytes;
use bench::clean::{self, Found};
use bench::marker::Holds;
use serde::Serialize;

use super::exec::host_name;
use crate::cli::CleanArgs;
use crate::exit::Exit;
use crate::ui;

/// A line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    path: &'a std::path::Path,
    holds: &'static str,
    bytes: u64,
    files: u64,
    in_use: bool,
    removed: bool,
}

/// Runs the verb.
pub fn run(args: &CleanArgs) -> Result<Exit> {
    let found = clean::find(&args.directory, &host_name())
        .with_context(|| format!("failed to look below {}", args.directory.display()))?;
    let mut total = 0;
    for one in &found {
        let stays =
            one.in_use || (args.keep_runs && matches!(one.holds, Holds::Run | Holds::Matrix));
        let removed = args.yes && !stays;
        if removed {
            clean::remove(one)
                .with_context(|| format!("failed to remove {}", one.path.display()))?;
        }
        if !stays {
            total += one.bytes;
        }
        tell(args, one, removed)?;
    }
    if !args.json {
        let what = if args.yes {
            "removed"
        } else {
            "would be removed; --yes removes it"
        };
        ui::say(&format!(
            "{} in {} folders {what}",
            Bytes(total),
            found.len()
        ));
    }
    Ok(Exit::Good)
}

fn tell(args: &CleanArgs, found: &Found, removed: bool) -> Result<()> {
    let Found {
        path,
        holds,
        bytes,
        files,
        in_use,
    } = found;
    let holds = holds.name();
    if args.json {
        let line = Line {
            path,
            holds,
            bytes: *bytes,
            files: *files,
            in_use: *in_use,
            removed,
        };
        ui::data(&serde_json::to_string(&line)?);
        return Ok(());
    }
    let note = if *in_use { "  (in use, stays)" } else { "" };
    let size = Bytes(*bytes).to_string();
    ui::data(&format!(
        "{holds:<7} {size:>9} {files:>7} files  {}{note}",
        path.display()
    ));
    Ok(())
}
