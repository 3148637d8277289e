//! `gristmill clean`: lists what Gristmill staged or left below a directory; removes it with `--yes`.

use std::io::ErrorKind;

use anyhow::{Context, Result, bail};
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
    let (mut total, mut folders) = (0, 0);
    let mut failures: Vec<String> = Vec::new();
    for mut one in found {
        let kept = args.keep_runs && matches!(one.holds, Holds::Run | Holds::Matrix);
        let mut removed = args.yes && !kept && !one.in_use;
        if removed && let Err(error) = clean::remove(&one) {
            if error.kind() != ErrorKind::ResourceBusy {
                failures.push(format!("{}: {error}", one.path.display()));
                continue;
            }
            // Taken into use since it was looked at.
            (one.in_use, removed) = (true, false);
        }
        if !kept && !one.in_use {
            (total, folders) = (total + one.bytes, folders + 1);
        }
        tell(args, &one, (removed, kept))?;
    }
    if !args.json {
        let what = if args.yes {
            "removed"
        } else {
            "would be removed; --yes removes it"
        };
        ui::say(&format!("{} in {folders} folders {what}", Bytes(total)));
    }
    if failures.is_empty() {
        return Ok(Exit::Good);
    }
    bail!("failed to remove {}", failures.join("\n"));
}

fn tell(args: &CleanArgs, found: &Found, (removed, kept): (bool, bool)) -> Result<()> {
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
    let note = match (*in_use, kept) {
        (true, _) => "  (in use, stays)",
        (_, true) => "  (stays)",
        _ => "",
    };
    let size = Bytes(*bytes).to_string();
    ui::data(&format!(
        "{holds:<7} {size:>9} {files:>7} files  {}{note}",
        path.display()
    ));
    Ok(())
}
