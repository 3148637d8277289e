//! Series that others measure (`--observe NAME=FILE|CMD`), put on the samples' time axis: the last
//! number of a file's last line, or of the lines that a command writes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ::io::process;
use serde::{Deserialize, Serialize};

/// As much of a file's end as is looked at for its last line.
const TAIL_BYTES: u64 = 64 * 1024;

/// A series as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Where it comes from: the path of a file that is there, or a command for `/bin/sh`.
    pub source: String,
}

/// All series of a run; commands are ended when this is dropped.
#[derive(Debug, Default)]
pub struct Observers {
    files: Vec<(String, PathBuf)>,
    commands: Vec<Observed>,
}

#[derive(Debug)]
struct Observed {
    name: String,
    child: Child,
    last: Arc<Mutex<Option<f64>>>,
    cpu: Duration,
}

impl Observers {
    /// Starts the commands. A source that is the path of a file is read, anything else is run.
    pub fn start(series: &[Series]) -> io::Result<Self> {
        let mut observers = Self::default();
        for one in series {
            let path = PathBuf::from(&one.source);
            if path.is_file() {
                observers.files.push((one.name.clone(), path));
            } else {
                observers.commands.push(Observed::start(one)?);
            }
        }
        Ok(observers)
    }

    /// The present values; a file or command that has no number yet has none here. A command that
    /// has ended says nothing any more.
    pub(super) fn values(&mut self) -> BTreeMap<String, f64> {
        let of_file = |(name, path): &(String, PathBuf)| match said(&last_line(path).ok()?) {
            Said::Value(value) => Some((name.clone(), value)),
            Said::NoValue | Said::Nothing => None,
        };
        let of_command = |command: &mut Observed| {
            let last = command.last.lock().unwrap_or_else(PoisonError::into_inner);
            Some((command.name.clone(), (*last)?))
        };
        let files = self.files.iter().filter_map(of_file);
        files
            .chain(self.commands.iter_mut().filter_map(of_command))
            .collect()
    }

    /// CPU time of the commands' own processes so far.
    pub(super) fn cpu(&mut self) -> Duration {
        let seen = self.commands.iter_mut().map(|command| {
            let now = process::cpu_of(command.child.id()).unwrap_or_default();
            command.cpu = command.cpu.max(now);
            command.cpu
        });
        seen.sum()
    }
}

impl Observed {
    fn start(series: &Series) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        // A group of its own, so that a pipeline ends as a whole.
        command
            .args(["-c", &series.source])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        process::die_with_parent(&mut command);
        let mut child = command.spawn()?;
        let last = Arc::new(Mutex::new(None));
        let lines = BufReader::new(child.stdout.take().expect("it was asked for"));
        let shown = last.clone();
        thread::Builder::new()
            .name(format!("observe {}", series.name))
            .spawn(move || {
                let set = |value| *shown.lock().unwrap_or_else(PoisonError::into_inner) = value;
                for line in lines.split(b'\n').map_while(Result::ok) {
                    match said(&String::from_utf8_lossy(&line)) {
                        Said::Value(number) => set(Some(number)),
                        Said::NoValue => set(None),
                        Said::Nothing => {}
                    }
                }
                set(None);
            })?;
        Ok(Self {
            name: series.name.clone(),
            child,
            last,
            cpu: Duration::ZERO,
        })
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        process::terminate_group(self.child.id());
        // It was killed: nothing it answers matters.
        let _ = self.child.wait();
    }
}

/// The last line of a file that is not empty, as far as it lies in the last [`TAIL_BYTES`]. A line
/// that is not ended yet is being written and does not count, unless it is the only one.
fn last_line(path: &PathBuf) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    // Files of /proc and /sys have no length.
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let whole = text.rfind('\n').map_or(&*text, |end| &text[..end]);
    let line = whole.lines().rev().find(|line| !line.trim().is_empty());
    Ok(line.unwrap_or_default().to_owned())
}

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Said {
    /// Its last value.
    Value(f64),
    /// That there is none, or one with a unit attached, whose size may change from line to line.
    NoValue,
    /// Nothing that could be a value: a heading.
    Nothing,
}

/// The last value of a line; between values anything may stand, and days and times of day are none.
fn said(line: &str) -> Said {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '+' | ':' | '/' | '%');
    let words = line.split(|c: char| !is_part(c));
    let words = words.filter(|word| !is_moment(word));
    let said = words.rev().find_map(|word| {
        // `value:5` and `read/12` name what they count.
        let mut parts = std::iter::once(word).chain(word.rsplit([':', '/']));
        let word = parts.find(|part| is_like_value(part))?;
        let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
        Some(value.map_or(Said::NoValue, Said::Value))
    });
    said.unwrap_or(Said::Nothing)
}

/// A number, perhaps with more attached, or a word for none.
fn is_like_value(word: &str) -> bool {
    let number = word.trim_start_matches(['-', '+', '.']);
    number.starts_with(|c: char| c.is_ascii_digit())
        || ["-", "--", "nan", "n/a", "inf", "null", "none"].contains(&&*word.to_lowercase())
}

/// A time of day, a date, or both: `10:00:01.5`, `2026-11-20`, `20/Nov/2026:10:00:01`, `2026-11-20T10:00:01Z`.
fn is_moment(word: &str) -> bool {
    let between_digits = |mark: char| {
        let parts: Vec<&str> = word.split(mark).collect();
        let ends = |part: &&str| part.ends_with(|c: char| c.is_ascii_digit());
        let begins = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
        let pairs = parts.windows(2);
        pairs
            .filter(|pair| ends(&pair[0]) && begins(&pair[1]))
            .count()
    };
    let begins = word.starts_with(|c: char| c.is_ascii_digit());
    let named_month = word.split(['-', '/']).count() == 3;
    begins
        && (between_digits(':') > 0
            || between_digits('-') == 2
            || between_digits('/') == 2
            || between_digits('.') == 2
            || named_month)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::*;

    fn series(name: &str, source: &str) -> Series {
        Series {
            name: name.to_owned(),
            source: source.to_owned(),
        }
    }

    #[test]
    fn the_last_value_of_a_line_counts() {
        for (line, expected) in [
            ("2026-11-20 10:00:01, 12.5 MB/s", Said::Value(12.5)),
            ("ops=1200 latency=-3.5e2us 7", Said::Value(7.0)),
            ("node1,cpu,0.25", Said::Value(0.25)),
            ("12.5 10:00:01.250", Said::Value(12.5)),
            ("2026-11-20T10:00:01Z -4", Said::Value(-4.0)),
            ("[20/Nov/2026:10:00:01] 8", Said::Value(8.0)),
            ("{\"reads\":12, \"rate\": 3.5}", Said::Value(3.5)),
            ("20.11.2026 1e3", Said::Value(1000.0)),
            ("read/12 % of all", Said::Value(12.0)),
            ("20:56:51 throughput=200.5MB/s", Said::NoValue),
            ("20:56:52 nan", Said::NoValue),
            ("20:56:53 -", Said::NoValue),
            ("20:56:53 n/a", Said::NoValue),
            ("5 inf", Said::NoValue),
            ("50%", Said::NoValue),
            ("ext4 sda1", Said::Nothing),
            ("20:56:53", Said::Nothing),
            ("", Said::Nothing),
        ] {
            assert_eq!(said(line), expected, "{line}");
        }
    }

    #[test]
    fn a_file_that_grows_gives_its_last_whole_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("series.csv");
        fs::write(&path, "t,v\n1,10\n2,20\n").unwrap();
        let mut observers = Observers::start(&[series("a", path.to_str().unwrap())]).unwrap();
        assert_eq!(observers.values()["a"].to_bits(), 20f64.to_bits());
        fs::write(&path, "t,v\n1,10\n2,20\n3,3").unwrap();
        assert_eq!(observers.values()["a"].to_bits(), 20f64.to_bits());
        fs::remove_file(&path).unwrap();
        assert!(observers.values().is_empty());
    }

    #[test]
    fn a_command_is_followed_and_ended() {
        let source = "for i in 1 2 3; do echo rate $i; done; sleep 100";
        let mut observers = Observers::start(&[series("a", source)]).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while observers.values().get("a").map(|value| value.to_bits()) != Some(3f64.to_bits()) {
            assert!(Instant::now() < deadline);
            thread::sleep(Duration::from_millis(5));
        }
        let process_id = observers.commands[0].child.id();
        drop(observers);
        assert!(!process::is_alive(process_id));
    }

    #[test]
    fn a_command_that_has_ended_says_nothing() {
        let mut observers = Observers::start(&[series("a", "echo 5")]).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        observers.commands[0].child.wait().unwrap();
        while !observers.values().is_empty() {
            assert!(Instant::now() < deadline);
            thread::sleep(Duration::from_millis(5));
        }
    }
}
