//! What is shown while a run is on its way: a few lines that are kept up to date on a terminal; elsewhere
//! a line for each phase, and one every ten seconds while jobs run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use base::units::{Bytes, Rate};
use bench::run::{Progress, Watcher};
use indicatif::{ProgressBar, ProgressStyle};
use results::sample::Sample;

use crate::ui;

/// Between two lines where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Bytes read and written by channel.
type Moved = BTreeMap<String, (u64, u64)>;

/// The live view.
pub struct View {
    bar: Option<ProgressBar>,
    phase_began: Instant,
    /// When a plain line was printed, and what had been moved by then.
    last: Option<(Instant, Moved)>,
}

impl View {
    /// A view on standard error.
    pub fn new() -> Self {
        // A terminal that cannot go back in its line gets whole lines, as a file does.
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let bar = (std::io::stderr().is_terminal() && !is_dumb).then(|| {
            let style = ProgressStyle::with_template("{spinner} {elapsed_precise} {msg}");
            ProgressBar::new_spinner().with_style(style.expect("the template is right"))
        });
        Self {
            bar,
            phase_began: Instant::now(),
            last: None,
        }
    }

    /// Takes the lines away.
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
        let left = seconds_left(self.phase_began.elapsed().as_secs_f64(), done, total);
        left.map_or(String::new(), |left| format!(", {left:.0} s left"))
    }

    /// One line for a file or a pipe, if it is time for one.
    fn plain(&mut self, progress: &Progress) {
        let now = Instant::now();
        let (then, before) = match &self.last {
            Some((then, before)) => (*then, before.clone()),
            None => (self.phase_began, Moved::new()),
        };
        let passed = now.saturating_duration_since(then);
        if passed < PLAIN_EVERY {
            return;
        }
        let elapsed_s = self.phase_began.elapsed().as_secs_f64();
        let mut text = format!("{elapsed_s:.0} s: {}", headline(progress, elapsed_s));
        for (channel, (read, written)) in &progress.channels {
            let earlier = before.get(channel).copied().unwrap_or_default();
            let rate =
                |now: u64, then: u64| now.saturating_sub(then) as f64 / 1e6 / passed.as_secs_f64();
            write!(
                text,
                " | {channel} {:.1} read, {:.1} written",
                rate(*read, earlier.0),
                rate(*written, earlier.1)
            )
            .expect("writing to a String cannot fail");
        }
        if !progress.channels.is_empty() {
            text += " MB/s";
        }
        ui::say(&text);
        self.last = Some((now, progress.channels.clone()));
    }
}

/// Seconds that are left if it goes on as so far; `None` if that cannot be told yet.
fn seconds_left(elapsed_s: f64, done: u64, total: u64) -> Option<f64> {
    let known = done > 0 && done < total && elapsed_s >= 1.0;
    known.then(|| elapsed_s * (total - done) as f64 / done as f64)
}

/// `16 jobs running, 5 done, 12 waiting; about 40 s left`: no less than until the last job is due.
fn headline(progress: &Progress, elapsed_s: f64) -> String {
    let moved: u64 = progress
        .channels
        .values()
        .map(|(read, written)| read + written)
        .sum();
    let waiting = progress
        .jobs
        .saturating_sub(progress.running + progress.ended);
    let mut text = format!(
        "{} jobs running, {} done, {waiting} waiting",
        progress.running, progress.ended
    );
    let by_bytes = seconds_left(elapsed_s, moved, progress.expected.0);
    let by_schedule = Some(progress.last_due_s - elapsed_s).filter(|left| *left > 0.0);
    if let Some(left) = by_bytes.into_iter().chain(by_schedule).reduce(f64::max) {
        write!(text, "; about {left:.0} s left").expect("writing to a String cannot fail");
    }
    text
}

/// A line for each channel and one for the node; no line is longer than 70 columns.
fn last_second(sample: &Sample) -> String {
    let mut text = String::new();
    let mut line = |more: &str| {
        write!(text, "\n  {more}").expect("writing to a String cannot fail");
    };
    let per_s = |amount: f64| amount / sample.interval_s.max(1e-3);
    for (name, channel) in &sample.channels {
        line(&format!(
            "{name:<7} {:>8.1} read {:>8.1} written MB/s {:>8.0} metadata/s",
            per_s(channel.read_bytes as f64 / 1e6),
            per_s(channel.write_bytes as f64 / 1e6),
            per_s(channel.metadata_operations as f64),
        ));
    }
    if let Some(cpu) = sample.cpu.as_ref().filter(|cpu| cpu.all_s() > 0.0) {
        let percent = |seconds: f64| seconds / cpu.all_s() * 100.0;
        let dirty = sample.memory.as_ref().map_or(String::new(), |memory| {
            format!("; {} to be written", Bytes(memory.dirty_bytes))
        });
        line(&format!(
            "CPU {:.0} % busy, {:.0} % waiting for I/O{dirty}",
            percent(cpu.busy_s()),
            percent(cpu.iowait_s)
        ));
    }
    text
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
        if self.bar.is_none() {
            self.plain(progress);
            return;
        }
        let headline = headline(progress, self.phase_began.elapsed().as_secs_f64());
        self.show(headline + &last_second(&progress.sample));
    }

    fn verifying(&mut self, done: usize, total: usize) {
        let left = self.left(done as u64, total as u64);
        self.show(format!("verified {done} of {total} jobs' outputs{left}"));
    }
}

#[cfg(test)]
mod tests {
    use results::sample::{ChannelSample, CpuSample, MemorySample};

    use super::*;

    fn progress() -> Progress {
        Progress {
            running: 3,
            ended: 2,
            jobs: 10,
            channels: [("work".to_owned(), (30_000_000, 70_000_000))].into(),
            expected: Bytes(400_000_000),
            last_due_s: 5.0,
            ..Progress::default()
        }
    }

    #[test]
    fn what_is_left_is_told_by_bytes_or_by_the_schedule() {
        let text = "3 jobs running, 2 done, 5 waiting; about 30 s left";
        assert_eq!(headline(&progress(), 10.0), text);
        let late = Progress {
            last_due_s: 100.0,
            ..progress()
        };
        assert!(headline(&late, 10.0).ends_with("; about 90 s left"));
        let unknown = Progress {
            expected: Bytes(0),
            ..progress()
        };
        assert_eq!(
            headline(&unknown, 10.0),
            "3 jobs running, 2 done, 5 waiting"
        );
    }

    #[test]
    fn the_last_second_fits_a_narrow_terminal() {
        let channel = ChannelSample {
            read_bytes: 12_345_600_000,
            write_bytes: 500_000,
            metadata_operations: 123_456,
            ..ChannelSample::default()
        };
        let sample = Sample {
            interval_s: 1.0,
            channels: [("output".to_owned(), channel)].into(),
            cpu: Some(CpuSample {
                user_s: 1.0,
                idle_s: 1.0,
                ..CpuSample::default()
            }),
            memory: Some(MemorySample::default()),
            ..Sample::default()
        };
        let text = last_second(&sample);
        assert!(text.contains("output   12345.6 read      0.5 written MB/s   123456 metadata/s"));
        assert!(
            text.contains("CPU 50 % busy, 0 % waiting for I/O"),
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.chars().count() <= 70),
            "{text}"
        );
        assert_eq!(last_second(&Sample::default()), "");
    }
}
