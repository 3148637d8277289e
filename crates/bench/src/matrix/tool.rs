//! Programs of the host that prepare a cell: mkfs, mount, losetup, LVM's, tuned-adm.

use std::io;
use std::process::{Command, Stdio};

use ::io::process::die_with_parent;

/// A program that could not be started or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none, or it cannot be started.
    #[error("failed to start {program}{}", missing(source))]
    Start {
        /// Its name.
        program: String,
        /// Why not.
        source: io::Error,
    },
    /// It failed.
    #[error("`{command}` failed ({how}): {said}")]
    Failed {
        /// The command as it was given.
        command: String,
        /// Exit code or signal.
        how: String,
        /// What it wrote to standard error, or, if that is nothing, to standard output.
        said: String,
    },
}

fn missing(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => ": this host has no such program",
        _ => "",
    }
}

/// The command as a person would type it.
pub fn shown(words: &[String]) -> String {
    let quoted = |word: &String| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@+%".contains(letter);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    let words: Vec<String> = words.iter().map(quoted).collect();
    words.join(" ")
}

/// Runs a command; what it wrote to standard output.
pub fn run(words: &[String]) -> Result<String, Error> {
    let (program, arguments) = words.split_first().expect("a command has a program");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    die_with_parent(&mut command);
    let output = command.output().map_err(|source| Error::Start {
        program: program.clone(),
        source,
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    // Some say on standard output why they failed.
    let texts = [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes));
    let said = texts.iter().find(|text| !text.trim().is_empty());
    let lines = said.iter().flat_map(|text| text.lines()).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    Err(Error::Failed {
        command: shown(words),
        how: output.status.to_string(),
        said: lines.join("; "),
    })
}

/// Words of a command.
pub fn words<S: AsRef<str>>(words: &[S]) -> Vec<String> {
    words.iter().map(|word| word.as_ref().to_owned()).collect()
}

/// True if a program is found on the search path, or where administrators' programs are.
pub fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let own = ["/usr/sbin", "/sbin"].map(std::path::PathBuf::from);
    folders
        .iter()
        .chain(&own)
        .any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_what_it_said() {
        let error = run(&words(&["sh", "-c", "echo no room >&2; exit 3"])).unwrap_err();
        let text = error.to_string();
        assert_eq!(
            text,
            "`sh -c 'echo no room >&2; exit 3'` failed (exit status: 3): no room"
        );
        let error = run(&words(&["gristmill-no-such-program"])).unwrap_err();
        assert!(
            error.to_string().ends_with("this host has no such program"),
            "{error}"
        );
    }
}
