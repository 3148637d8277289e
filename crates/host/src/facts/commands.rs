//! Commands whose output is read. All of them only read; live they are run one after the other,
//! each with a time limit.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use super::{Facts, Root, root};

/// The longest that a command may take: a file server that does not answer must not stop the audit.
const TIME_MAX: Duration = Duration::from_secs(10);

/// The longest output that is read.
const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// What a command is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Each {
    /// Once.
    Once,
    /// Never here; every captured output is read.
    Captured,
    /// Each network interface; its name takes the place of `{}`.
    Interface,
    /// Each mount of a type; its point takes the place of `{}`.
    Mount(&'static str),
    /// Each source of mounts of a type, such as names of GPFS file systems.
    SourceOf(&'static str),
}

/// A command.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// Name of its output in captures of ours.
    pub name: &'static str,
    /// Program and arguments; none if it is not run here.
    pub argv: &'static [&'static str],
    /// What it is run for.
    pub each: Each,
    /// Where captures of others have its output: the first that says something, or all where it is
    /// run for each.
    pub captured: &'static [&'static str],
}

/// An output: where it is from, the name that its parser gets, and the text.
pub struct Output {
    /// As provenance: the command, or the captured file.
    pub from: String,
    /// For the parser.
    pub path: String,
    /// What was written.
    pub text: String,
}

/// Folder of outputs in captures of ours.
pub const FOLDER: &str = "/gristmill/commands";

impl Command {
    /// Its outputs on this host, or in a captured tree; no command is waited for longer than `until`.
    pub fn outputs(&self, root: &Root, facts: &Facts, until: Option<Instant>) -> Vec<Output> {
        if root.is_live() {
            self.live(facts, until)
        } else {
            self.captured(root)
        }
    }

    fn captured(&self, root: &Root) -> Vec<Output> {
        let several = self.each != Each::Once;
        let ours = if several {
            format!("{FOLDER}/{}_*", self.name)
        } else {
            format!("{FOLDER}/{}", self.name)
        };
        let mut outputs = Vec::new();
        for pattern in std::iter::once(ours.as_str()).chain(self.captured.iter().copied()) {
            // `[a-z]*` of a pattern: names that do not begin with an option.
            let plain = pattern.contains("[a-z]");
            for path in root.glob(&pattern.replace("[a-z]", "")) {
                if plain && path.contains("_-") {
                    continue;
                }
                let Some(text) = root.text(&path).filter(|text| !text.trim().is_empty()) else {
                    continue;
                };
                outputs.push(Output {
                    from: path.clone(),
                    path,
                    text,
                });
                if !several && !pattern.ends_with('*') {
                    return outputs;
                }
            }
        }
        outputs
    }

    fn live(&self, facts: &Facts, until: Option<Instant>) -> Vec<Output> {
        let subjects: Vec<String> = match self.each {
            Each::Once => vec![String::new()],
            Each::Captured => Vec::new(),
            Each::Interface => {
                let names = facts.subjects("net").into_iter();
                names
                    .filter(|name| *name != "lo")
                    .map(str::to_owned)
                    .collect()
            }
            Each::Mount(kind) => mounts(facts, kind),
            Each::SourceOf(kind) => {
                let points = mounts(facts, kind).into_iter();
                points
                    .filter_map(|point| facts.text("mount", &point, "source"))
                    .collect()
            }
        };
        let Some((program, arguments)) = self.argv.split_first() else {
            return Vec::new();
        };
        let Some(program) = find(program) else {
            return Vec::new();
        };
        let mut outputs = Vec::new();
        for subject in subjects {
            let arguments: Vec<&str> = arguments
                .iter()
                .map(|argument| {
                    if *argument == "{}" {
                        subject.as_str()
                    } else {
                        argument
                    }
                })
                .collect();
            if let Some(text) =
                run(&program, &arguments, until).filter(|text| !text.trim().is_empty())
            {
                let path = if subject.is_empty() {
                    self.name.to_owned()
                } else {
                    format!("{}_{}", self.name, subject.replace('/', "."))
                };
                let command = std::iter::once(self.argv[0]).chain(arguments);
                outputs.push(Output {
                    from: command.collect::<Vec<_>>().join(" "),
                    path,
                    text,
                });
            }
        }
        outputs
    }
}

/// Points of mounts of a type.
fn mounts(facts: &Facts, kind: &str) -> Vec<String> {
    let points = facts.subjects("mount").into_iter();
    points
        .filter(|point| facts.text("mount", point, "fstype").as_deref() == Some(kind))
        .map(str::to_owned)
        .collect()
}

/// Where a program is; tools of administrators are often outside the search path of others.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/sbin", "/usr/lpp/mmfs/bin"].map(PathBuf::from);
    env::split_paths(&path)
        .chain(more)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

/// What a command writes to its standard output, however it ends; nothing if it takes too long.
fn run(program: &PathBuf, arguments: &[&str], until: Option<Instant>) -> Option<String> {
    let own = Instant::now() + TIME_MAX;
    let until = until.map_or(own, |until| until.min(own));
    if Instant::now() >= until {
        return None;
    }
    let mut child = Process::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let output = child.stdout.take()?;
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        output
            .take(OUTPUT_BYTES_MAX)
            .read_to_end(&mut bytes)
            .map(|_| bytes)
    });
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(5)),
            _ => {
                // A process that waits for a dead server does not end when it is killed; it is left
                // alone.
                child.kill().ok()?;
                return None;
            }
        }
    }
    let bytes = reader.join().ok()?.ok()?;
    Some(root::text_of(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_missing_says_nothing() {
        assert_eq!(find("no-such-program-of-ours"), None);
        let echo = find("echo").unwrap();
        assert_eq!(run(&echo, &["a", "b"], None).unwrap(), "a b\n");
    }
}
