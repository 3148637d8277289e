//! Talking to people: data on standard output, everything else on standard error.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the one place that prints"
)]

/// A line of data.
pub fn data(line: &str) {
    println!("{line}");
}

/// A line of talk.
pub fn say(line: &str) {
    eprintln!("{line}");
}

/// Why a verb could not run, with the chain of causes.
pub fn error(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}
