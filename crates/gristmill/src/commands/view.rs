//! What is shown while a run is on its way: one line that is kept up to date on a terminal, one line a
//! phase elsewhere.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Instant;

use base::units::{Bytes, Rate};
use bench::run::{Progress, Watcher};
use indicatif::{ProgressBar, ProgressStyle};

use crate::ui;

/// The live view.
pub struct View {
    bar: Option<ProgressBar>,
    phase_began: Instant,
    last: Option<(Instant, Progress)>,
}

impl View {
    /// A view on standard error.
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {elapsed_precise} {wide_msg}");
            ProgressBar::new_spinner().with_style(style.expect("the template is right"))
        });
        Self {
            bar,
            phase_began: Instant::now(),
            last: None,
        }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text);
            bar.tick();
        }
    }

    /// `, 12 s left`, by the mean rate of this phase so far.
    fn left(&self, done: u64, total: u64) -> String {
        let elapsed = self.phase_began.elapsed().as_secs_f64();
        if done == 0 || done >= total || elapsed < 1.0 {
            return String::new();
        }
        format!(
            ", {:.0} s left",
            elapsed * (total - done) as f64 / done as f64
        )
    }
}

impl Watcher for View {
    fn phase(&mut self, text: &str) {
        self.phase_began = Instant::now();
        match &self.bar {
            Some(_) => self.show(text.to_owned()),
            None => ui::say(text),
        }
    }

    fn staging(&mut self, done: Bytes, total: Bytes) {
        let rate = Rate::of(done, self.phase_began.elapsed());
        let rate = rate.map_or(String::new(), |rate| format!(" at {rate}"));
        self.show(format!(
            "staging {done} of {total}{rate}{}",
            self.left(done.0, total.0)
        ));
    }

    fn running(&mut self, progress: &Progress) {
        let moved: u64 = progress
            .channels
            .values()
            .map(|(read, written)| read + written)
            .sum();
        let waiting = progress.jobs - progress.running - progress.ended;
        let mut text = format!(
            "{} jobs running, {} done, {waiting} waiting",
            progress.running, progress.ended
        );
        if let Some((then, before)) = &self.last {
            for (channel, (read, written)) in &progress.channels {
                let earlier = before.channels.get(channel).copied().unwrap_or_default();
                let since = (read + written).saturating_sub(earlier.0 + earlier.1);
                if let Some(rate) = Rate::of(Bytes(since), then.elapsed()).filter(|_| since > 0) {
                    write!(text, " | {channel} {rate}").expect("writing to a String cannot fail");
                }
            }
        }
        text += &self.left(moved, progress.expected.0);
        self.show(text);
        self.last = Some((Instant::now(), progress.clone()));
    }

    fn verifying(&mut self, done: usize, total: usize) {
        let left = self.left(done as u64, total as u64);
        self.show(format!("verified {done} of {total} jobs' outputs{left}"));
    }
}
