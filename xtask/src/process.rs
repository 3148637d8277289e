//! Running other programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .expect("xtask lies in the workspace")
        .to_owned()
}

/// Runs a command in the workspace's root; its failure is an error that names it.
pub(crate) fn run(command: &[&str]) -> Result<()> {
    eprintln!("$ {}", command.join(" "));
    let (program, arguments) = command.split_first().context("a command has a program")?;
    let status = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .status()
        .with_context(|| format!("failed to start {program}"))?;
    if !status.success() {
        bail!("{} ended with {status}", command.join(" "));
    }
    Ok(())
}

/// What a command prints.
pub(crate) fn output(command: &[&str]) -> Result<String> {
    let (program, arguments) = command.split_first().context("a command has a program")?;
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .with_context(|| format!("failed to start {program}"))?;
    if !output.status.success() {
        bail!("{} ended with {}", command.join(" "), output.status);
    }
    String::from_utf8(output.stdout).context("its output is not UTF-8")
}
