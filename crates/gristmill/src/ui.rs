//! Talking to people: data on standard output, everything else on standard error.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Nothing more is printed.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Something was to be printed and is lost.
static LOST: AtomicBool = AtomicBool::new(false);

/// A line of data. Whoever stops reading, as `head` does, has seen enough: what is done goes on.
pub fn data(line: &str) {
    if !CLOSED.load(Ordering::Relaxed) {
        check(writeln!(io::stdout().lock(), "{line}"));
    }
}

/// Whether all that was to be printed was, as far as anybody listened.
pub fn all_printed() -> bool {
    check(io::stdout().lock().flush());
    !LOST.load(Ordering::Relaxed)
}

/// Standard output, or standard error, for what others said: somebody who stops reading stops nothing.
pub enum Passed {
    /// Data.
    Output,
    /// Talk.
    Talk,
}

impl Write for Passed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Output if CLOSED.load(Ordering::Relaxed) => {}
            Self::Output => check(io::stdout().lock().write_all(bytes)),
            Self::Talk => _ = io::stderr().lock().write_all(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Output if CLOSED.load(Ordering::Relaxed) => {}
            Self::Output => check(io::stdout().lock().flush()),
            Self::Talk => _ = io::stderr().lock().flush(),
        }
        Ok(())
    }
}

fn check(printed: io::Result<()>) {
    let Err(error) = printed else { return };
    if !CLOSED.swap(true, Ordering::Relaxed) && error.kind() != ErrorKind::BrokenPipe {
        LOST.store(true, Ordering::Relaxed);
        say(&format!("error: failed to write standard output: {error}"));
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
