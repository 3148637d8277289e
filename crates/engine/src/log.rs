//! The SAS log: numbered source lines, NOTE/WARNING/ERROR lines, FULLSTIMER blocks in the exact
//! shape of SAS 9.4 on UNIX, so that existing log tools read ours.

use std::io::{self, Write};
use std::time::Duration;

use base::diag::{Diagnostic, Severity};
use base::meter::WallClock;

use crate::accounting::StepUsage;
use crate::datetime;
use crate::failure::{Failure, FailureLine};

/// What the log has said so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// NOTE lines.
    pub notes: u64,
    /// WARNING lines.
    pub warnings: u64,
    /// ERROR lines.
    pub errors: u64,
}

impl Counts {
    /// What was said since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            notes: self.notes - earlier.notes,
            warnings: self.warnings - earlier.warnings,
            errors: self.errors - earlier.errors,
        }
    }
}

/// Where a program's log goes.
pub struct Log {
    out: Box<dyn Write + Send>,
    counts: Counts,
    failed: Option<io::Error>,
    /// The next NOTE belongs to a step whose source lines stand directly above it.
    gap: bool,
    /// The last line was empty.
    blank: bool,
}

impl Log {
    /// A log written to `out`.
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self {
            out,
            counts: Counts::default(),
            failed: None,
            gap: false,
            blank: true,
        }
    }

    /// Lines said so far, by kind.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Why the log could not be written, if it could not: the first failure is kept and the
    /// program goes on, as SAS does when its log file is full.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// One line as it is.
    pub fn line(&mut self, text: &str) {
        self.blank = text.is_empty();
        let result = writeln!(self.out, "{text}");
        if let (Err(error), None) = (result, &self.failed) {
            self.failed = Some(error);
        }
    }

    /// Pushes what was said to the file.
    pub fn flush(&mut self) {
        if let (Err(error), None) = (self.out.flush(), &self.failed) {
            self.failed = Some(error);
        }
    }

    /// A numbered source line.
    pub fn source(&mut self, number: u32, text: &str) {
        self.line(&format!("{number:<11}{}", text.trim_end()));
    }

    /// A step begins to run: an empty line sets its first NOTE apart from the source lines.
    pub fn step_begins(&mut self) {
        self.gap = true;
    }

    /// `NOTE: text`; further lines of the text are indented as SAS indents continuations.
    pub fn note(&mut self, text: &str) {
        self.counts.notes += 1;
        if std::mem::take(&mut self.gap) && !self.blank {
            self.line("");
        }
        self.said(Severity::Note, text);
    }

    /// `INFO: text`, which MSGLEVEL=I asks for.
    pub fn info(&mut self, text: &str) {
        if std::mem::take(&mut self.gap) && !self.blank {
            self.line("");
        }
        self.line(&format!("INFO: {text}"));
    }

    /// `WARNING: text`
    pub fn warning(&mut self, text: &str) {
        self.counts.warnings += 1;
        self.said(Severity::Warning, text);
    }

    /// `ERROR: text`
    pub fn error(&mut self, text: &str) {
        self.counts.errors += 1;
        self.said(Severity::Error, text);
    }

    fn said(&mut self, severity: Severity, text: &str) {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        match numbered(first) {
            Some((number, rest)) => self.line(&format!("{severity} {number}: {rest}")),
            None => self.line(&format!("{severity}: {first}")),
        }
        for line in lines {
            self.line(&format!("      {line}"));
        }
    }

    /// A finding about the program; its message names the place.
    pub fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        match diagnostic.severity {
            Severity::Note => self.note(&diagnostic.message),
            Severity::Warning => self.warning(&diagnostic.message),
            Severity::Error => self.error(&diagnostic.message),
        }
    }

    /// The lines of a failure.
    pub fn tell(&mut self, failure: &Failure) {
        for line in &failure.lines {
            match line {
                FailureLine::Program(diagnostic) => self.diagnostic(diagnostic),
                FailureLine::World(text) => self.error(text),
                FailureLine::Detail(text) => self.line(text),
            }
        }
    }

    /// The accounting block after a step. `title` is the text after `NOTE: `.
    pub fn timing(&mut self, title: &str, usage: &StepUsage, detail: Timing) {
        self.note(title);
        match detail {
            Timing::None => {}
            Timing::Stimer => {
                self.timed("real time", usage.real);
                self.timed("cpu time", usage.user + usage.system);
            }
            Timing::Fullstimer => self.full(usage),
        }
        self.line("      ");
        self.line("");
    }

    fn timed(&mut self, label: &str, time: Duration) {
        self.line(&format!("      {label:<20}{}", stimer_time(time)));
    }

    fn full(&mut self, usage: &StepUsage) {
        self.timed("real time", usage.real);
        self.timed("user cpu time", usage.user);
        self.timed("system cpu time", usage.system);
        // Thousands of steps have this block: it is put together in one piece.
        let StepUsage { step, switches, .. } = usage;
        let mut block = format!(
            "      memory              {}\n      OS Memory           {}\n      Timestamp           {}\n\
             \x20     Step Count                        {step}  Switch Count  {switches}",
            kibibytes(usage.memory_bytes),
            kibibytes(usage.os_memory_bytes),
            timestamp(usage.ended)
        );
        for (label, value) in [
            ("Page Faults                       ", usage.page_faults),
            ("Page Reclaims                     ", usage.page_reclaims),
            ("Page Swaps                        ", usage.page_swaps),
            (
                "Voluntary Context Switches        ",
                usage.voluntary_switches,
            ),
            (
                "Involuntary Context Switches      ",
                usage.involuntary_switches,
            ),
            ("Block Input Operations            ", usage.block_input),
            ("Block Output Operations           ", usage.block_output),
        ] {
            block.push_str("\n      ");
            block.push_str(label);
            block.push_str(&value.to_string());
        }
        self.line(&block);
    }
}

/// Memory as SAS prints it; what the kernel says is in whole KiB.
fn kibibytes(bytes: u64) -> String {
    if bytes.is_multiple_of(1024) {
        format!("{}.00k", bytes / 1024)
    } else {
        format!("{:.2}k", bytes as f64 / 1024.0)
    }
}

/// SAS numbers some errors: `180-322: …` becomes `ERROR 180-322: …`.
fn numbered(text: &str) -> Option<(&str, &str)> {
    let (number, rest) = text.split_once(": ")?;
    let (left, right) = number.split_once('-')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (digits(left) && digits(right)).then_some((number, rest))
}

/// How much accounting a step prints: NOSTIMER, STIMER, FULLSTIMER.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Only the title.
    None,
    /// Real and CPU time.
    Stimer,
    /// Everything.
    Fullstimer,
}

/// `0.25 seconds`, `1:05.27`, `1:08:26.10`, as SAS prints times.
pub fn stimer_time(time: Duration) -> String {
    let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX - 5);
    let hundredths = (milliseconds + 5) / 10;
    let (seconds, fraction) = (hundredths / 100, hundredths % 100);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}.{fraction:02} seconds"),
        (0, _) => format!("{minutes}:{:02}.{fraction:02}", seconds % 60),
        _ => format!("{hours}:{minutes:02}:{:02}.{fraction:02}", seconds % 60),
    }
}

/// `2016-08-25 08:37:42` of a SAS datetime value.
pub fn iso_datetime(value: f64) -> String {
    let (date, second) = datetime::split(value);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let (year, month, day) = (date.year, date.month, date.day);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// `08/25/2016 08:37:42 AM`
fn timestamp(wall: WallClock) -> String {
    let (date, second) = datetime::split(wall.sas_datetime);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let half = if hour < 12 { "AM" } else { "PM" };
    let hour = if hour % 12 == 0 { 12 } else { hour % 12 };
    let (month, day, year) = (date.month, date.day, date.year);
    format!("{month:02}/{day:02}/{year:04} {hour:02}:{minute:02}:{second:02} {half}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(say: impl FnOnce(&mut Log)) -> String {
        let out = Shared::default();
        let mut log = Log::new(Box::new(out.clone()));
        say(&mut log);
        let bytes = out.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn times_print_as_sas_prints_them() {
        for (milliseconds, text) in [
            (0, "0.00 seconds"),
            (254, "0.25 seconds"),
            (255, "0.26 seconds"),
            (59_994, "59.99 seconds"),
            (59_996, "1:00.00"),
            (65_270, "1:05.27"),
            (4_106_100, "1:08:26.10"),
        ] {
            assert_eq!(stimer_time(Duration::from_millis(milliseconds)), text);
        }
    }

    /// The block of a real SAS 9.4 log on Linux, figure for figure.
    #[test]
    fn fullstimer_has_the_shape_of_94_unix() {
        let usage = StepUsage {
            real: Duration::from_millis(1_496_850),
            user: Duration::from_millis(596_170),
            system: Duration::from_millis(1_073_780),
            memory_bytes: 4_300_337_469,
            os_memory_bytes: 4_302_479_360,
            ended: WallClock {
                sas_datetime: 1_787_733_462.0,
                utc_offset: 0.0,
            },
            step: 5,
            switches: 676,
            page_faults: 149,
            page_reclaims: 1_565_064,
            page_swaps: 0,
            voluntary_switches: 14_434_218,
            involuntary_switches: 6503,
            block_input: 1_331_705_440,
            block_output: 2_018_776_904,
            slept: Duration::ZERO,
        };
        let text = written(|log| {
            let title = "PROCEDURE SORT used (Total process time):";
            log.timing(title, &usage, Timing::Fullstimer);
        });
        let expected = "\
NOTE: PROCEDURE SORT used (Total process time):
      real time           24:56.85
      user cpu time       9:56.17
      system cpu time     17:53.78
      memory              4199548.31k
      OS Memory           4201640.00k
      Timestamp           08/25/2016 08:37:42 AM
      Step Count                        5  Switch Count  676
      Page Faults                       149
      Page Reclaims                     1565064
      Page Swaps                        0
      Voluntary Context Switches        14434218
      Involuntary Context Switches      6503
      Block Input Operations            1331705440
      Block Output Operations           2018776904
      \n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn continuation_lines_are_indented_and_lines_are_counted() {
        let text = written(|log| {
            log.source(12, "run;  ");
            log.note("one\ntwo");
            log.error("bad");
            assert_eq!(
                log.counts(),
                Counts {
                    notes: 1,
                    warnings: 0,
                    errors: 1
                }
            );
        });
        assert_eq!(text, "12         run;\nNOTE: one\n      two\nERROR: bad\n");
    }
}
