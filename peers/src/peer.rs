//! The peers as processes that dump one data set after the other.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::places::{installed, own};

/// Another reader of SAS7BDAT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Peer {
    Pyreadstat,
    Pandas,
    Crate,
    Parso,
}

impl Peer {
    /// In the order in which they are asked.
    pub(crate) const ALL: [Self; 4] = [Self::Pyreadstat, Self::Pandas, Self::Crate, Self::Parso];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pyreadstat => "pyreadstat",
            Self::Pandas => "pandas",
            Self::Crate => "crate",
            Self::Parso => "parso",
        }
    }

    /// Whether it tells `.A` from `.`.
    pub(crate) fn tells_missing(self) -> bool {
        self == Self::Pyreadstat
    }

    fn command(self) -> Command {
        match self {
            Self::Pyreadstat | Self::Pandas => {
                let mut command = Command::new(installed("python/bin/python"));
                command.arg(own("programs/dump.py"));
                command.args(["dump", self.name()]);
                command
            }
            Self::Crate => {
                let mut command = Command::new(installed("crate-reader/release/crate-reader"));
                command.arg("dump");
                command
            }
            Self::Parso => {
                let folder = installed("java");
                let mut command = Command::new("java");
                command.arg("-cp");
                command.arg(format!("{0}:{0}/*", folder.display()));
                command.args(["-Xss64m", "-Dfile.encoding=UTF-8", "Dump"]);
                command
            }
        }
    }
}

/// A peer that runs; started again if a file ends it.
pub(crate) struct Running {
    pub(crate) peer: Peer,
    process: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
}

impl Running {
    pub(crate) fn new(peer: Peer) -> Self {
        Self {
            peer,
            process: None,
        }
    }

    /// Dumps `file` into `target`. A peer that dies leaves a dump that says so.
    pub(crate) fn dump(&mut self, file: &Path, target: &Path) -> Result<()> {
        if self.process.is_none() {
            self.process = Some(start(self.peer)?);
        }
        if self.ask(file, target).is_some() {
            return Ok(());
        }
        if let Some((mut child, ..)) = self.process.take() {
            // Dead already, or about to be: its answer was cut off.
            let _ = child.kill();
            let status = child.wait()?;
            fs::write(target, format!("error\tdied with {status}\n"))?;
        }
        Ok(())
    }

    fn ask(&mut self, file: &Path, target: &Path) -> Option<()> {
        let (_, stdin, stdout) = self.process.as_mut()?;
        writeln!(stdin, "{}\t{}", file.display(), target.display()).ok()?;
        stdin.flush().ok()?;
        // A peer may print warnings of its own before the answer.
        let mut answer = String::new();
        while answer.trim_end() != "done" {
            answer.clear();
            if stdout.read_line(&mut answer).ok()? == 0 {
                return None;
            }
        }
        Some(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some((mut child, stdin, _)) = self.process.take() {
            drop(stdin);
            let _ = child.wait();
        }
    }
}

fn start(peer: Peer) -> Result<(Child, ChildStdin, BufReader<ChildStdout>)> {
    let mut child = peer
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| {
            format!(
                "{} cannot be started; `cargo xtask peers install` installs it",
                peer.name()
            )
        })?;
    let stdin = child.stdin.take().context("it has a standard input")?;
    let stdout = child.stdout.take().context("it has a standard output")?;
    Ok((child, stdin, BufReader::new(stdout)))
}
