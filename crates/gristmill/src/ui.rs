//! Talking to people: data on standard output, everything else on standard error.

use std::io::{self, ErrorKind, Write};

/// A line of data. Whoever stops reading, as `head` does, has seen enough.
pub fn data(line: &str) {
    match writeln!(io::stdout().lock(), "{line}") {
        Ok(()) => {}
        #[expect(clippy::exit, reason = "there is nobody left to print for")]
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => say(&format!("error: failed to write standard output: {error}")),
    }
}

/// A line of talk. Nobody may listen any more, and what is done goes on.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Why a verb could not run, with the chain of causes.
pub fn error(error: &anyhow::Error) {
    say(&format!("error: {error:#}"));
}
