//! A capture of a host: every file, link and output that the table of sources names, so that the
//! audit of the capture finds what the audit of the host finds.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::sources::{self, Source, What};
use super::{Root, collect, commands, parse};

/// Time of every file in a capture: captures of the same host differ only where the host does.
const TIME: u64 = 0;

/// Writes a capture as a tar archive; `facts` tells mounts and interfaces for which commands are
/// run. Gives the number of files.
pub fn write(
    root: &Root,
    facts: &super::Facts,
    folder: &str,
    into: impl Write,
) -> io::Result<usize> {
    let mut archive = tar::Builder::new(into);
    let mut known = BTreeSet::new();
    for source in sources::all() {
        if let Some(command) = &source.command {
            for output in command.outputs(root, facts, None) {
                let once = command.each == commands::Each::Once;
                let last = output.path.rsplit('/').next().unwrap_or_default();
                let name = if once { command.name } else { last };
                let path = format!("{}/{name}", commands::FOLDER);
                if known.insert(path.clone()) {
                    append(&mut archive, folder, &path, output.text.as_bytes())?;
                }
            }
        }
        for path in collect::paths(source, root) {
            if wanted(source, root, &path) && known.insert(path.clone()) {
                take(&mut archive, folder, source, root, &path)?;
            }
        }
    }
    archive.into_inner()?.flush()?;
    Ok(known.len())
}

/// Of processes only those that the audit knows: command lines of others are nobody's business.
fn wanted(source: &Source, root: &Root, path: &str) -> bool {
    let cmdline = match source.name {
        "processes" => path.to_owned(),
        "process-limits" => path.replace("/limits", "/cmdline"),
        _ => return true,
    };
    let text = root.text(&cmdline).unwrap_or_default();
    !parse::process::parse(&cmdline, &text).is_empty()
}

fn take<W: Write>(
    archive: &mut tar::Builder<W>,
    folder: &str,
    source: &Source,
    root: &Root,
    path: &str,
) -> io::Result<()> {
    match source.what {
        What::File => match root.read(path) {
            Some(bytes) if source.name == "fstab" => {
                let text = parse::without_secrets(&super::root::text_of(&bytes));
                append(archive, folder, path, text.as_bytes())
            }
            Some(bytes) => append(archive, folder, path, &bytes),
            None => Ok(()),
        },
        What::Names => {
            for name in root.names(path) {
                append(archive, folder, &format!("{path}/{name}"), b"")?;
            }
            Ok(())
        }
        What::Link => {
            let Some(target) = root.link(path) else {
                return Ok(());
            };
            let mut header = header(0);
            header.set_entry_type(tar::EntryType::Symlink);
            archive.append_link(&mut header, format!("{folder}{path}"), target)
        }
    }
}

fn append<W: Write>(
    archive: &mut tar::Builder<W>,
    folder: &str,
    path: &str,
    bytes: &[u8],
) -> io::Result<()> {
    let mut header = header(bytes.len() as u64);
    archive.append_data(&mut header, format!("{folder}{path}"), bytes)
}

fn header(bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_mtime(TIME);
    header
}
