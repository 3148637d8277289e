//! A progress bar for what takes longer than a moment.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What ends before this needs no bar.
const SILENT: Duration = Duration::from_secs(2);
const TEMPLATE: &str =
    "{msg} {bar:30} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left";

/// Progress of one file, on standard error, only if that is a terminal.
pub struct Progress {
    message: String,
    total_bytes: u64,
    done_bytes: u64,
    started: Instant,
    terminal: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Nothing done yet of `total_bytes`.
    pub fn new(message: impl Into<String>, total_bytes: u64) -> Self {
        Self {
            message: message.into(),
            total_bytes,
            done_bytes: 0,
            started: Instant::now(),
            terminal: io::stderr().is_terminal(),
            bar: None,
        }
    }

    /// `bytes` more are done.
    pub fn advance(&mut self, bytes: u64) {
        self.done_bytes += bytes;
        if !self.terminal {
            return;
        }
        match &self.bar {
            Some(bar) => bar.set_position(self.done_bytes),
            None if self.started.elapsed() > SILENT => self.bar = Some(self.show()),
            None => {}
        }
    }

    /// Time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn show(&self) -> ProgressBar {
        let target = ProgressDrawTarget::stderr_with_hz(5);
        let bar = ProgressBar::with_draw_target(Some(self.total_bytes), target)
            .with_message(self.message.clone())
            .with_position(self.done_bytes)
            .with_elapsed(self.started.elapsed());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        bar
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
