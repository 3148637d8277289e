//! `gristmill completions` and `gristmill man`: made from the same definitions as the help.

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::ui;

/// Prints completions for `shell`.
pub fn completions(shell: Shell) -> Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gristmill", &mut text);
    print(text)
}

/// Prints the manual page.
pub fn man() -> Result<Exit> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut text)
        .context("failed to make the page")?;
    print(text)
}

fn print(text: Vec<u8>) -> Result<Exit> {
    let text = String::from_utf8(text).context("failed to make text")?;
    ui::data(text.trim_end());
    Ok(Exit::Good)
}
