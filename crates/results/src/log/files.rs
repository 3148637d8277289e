//! Logs in files and folders, compressed or not.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use flate2::read::MultiGzDecoder;

use super::reader::read;
use super::{LogStep, SasLog};

/// What is looked at to tell text from other files.
const HEAD_BYTES: usize = 8 * 1024;

/// What became of a file.
#[derive(Debug)]
pub enum Outcome {
    /// It is a log.
    Log(Box<SasLog>),
    /// Nothing in it was written by SAS, or it is no text.
    NoLog,
    /// It could not be read.
    Failed(io::Error),
}

/// What lies below a path.
#[derive(Debug, Default)]
pub struct Below {
    /// Files, in the order of their names.
    pub files: Vec<PathBuf>,
    /// Folders that could not be read.
    pub failed: Vec<(PathBuf, io::Error)>,
}

/// The files that a path names: itself, or all below it. Links to folders are not followed.
pub fn below(path: &Path) -> io::Result<Below> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(Below {
            files: vec![path.to_owned()],
            failed: Vec::new(),
        });
    }
    fs::read_dir(path)?;
    let mut found = Below::default();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                found.failed.push((folder, error));
                continue;
            }
        };
        for entry in entries {
            let Ok(entry) = entry else { continue };
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                // What a link leads to may be a file; pipes and devices are left alone.
                Ok(_) if fs::metadata(&path).is_ok_and(|about| about.is_file()) => {
                    found.files.push(path);
                }
                _ => {}
            }
        }
    }
    found.files.sort();
    Ok(found)
}

/// Reads a log whole.
pub fn read_file(path: &Path) -> Outcome {
    match log(path) {
        Ok(Some(log)) => Outcome::Log(Box::new(log)),
        Ok(None) => Outcome::NoLog,
        Err(error) => Outcome::Failed(error),
    }
}

/// Reads many, on several threads; outcomes are in the order of the paths. `on_each` hears of every one that is done.
pub fn read_all(paths: &[PathBuf], threads: usize, on_each: &(dyn Fn() + Sync)) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(at) else {
                return done;
            };
            done.push((at, read_file(path)));
            on_each();
        }
    };
    let mut all: Vec<(usize, Outcome)> = thread::scope(|scope| {
        let workers = threads.clamp(1, paths.len().max(1));
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let joined = started.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

fn log(path: &Path) -> io::Result<Option<SasLog>> {
    let file = File::open(path)?;
    let (head, file) = headed(file)?;
    let name = path.display().to_string();
    if head.starts_with(&[0x1F, 0x8B]) {
        let (head, text) = headed(MultiGzDecoder::new(BufReader::new(file)))?;
        return of_text(&name, &head, text);
    }
    of_text(&name, &head, file)
}

fn of_text(name: &str, head: &[u8], text: impl Read) -> io::Result<Option<SasLog>> {
    if !is_text(head) {
        return Ok(None);
    }
    let mut steps: Vec<LogStep> = Vec::new();
    let about = read(text, &mut |step| steps.push(step))?;
    Ok(about.map(|about| SasLog {
        file: name.to_owned(),
        about,
        steps,
    }))
}

/// The first bytes of a stream, and the whole stream.
fn headed<R: Read>(mut input: R) -> io::Result<(Vec<u8>, impl Read)> {
    let mut head = Vec::new();
    input
        .by_ref()
        .take(HEAD_BYTES as u64)
        .read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(input)))
}

/// Logs may hold some bytes that no text has; other files begin with many.
fn is_text(head: &[u8]) -> bool {
    let control =
        |byte: &&u8| **byte < b' ' && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0C | 0x1B);
    head.iter().filter(control).count() * 20 <= head.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    const LOG: &str = "NOTE: DATA statement used (Total process time):\n      real time           0.50 seconds\n      \
                       cpu time            0.25 seconds\n";

    #[test]
    fn logs_of_a_folder_are_found_compressed_or_not_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        fs::create_dir(place("night")).unwrap();
        fs::write(place("night/a.log"), LOG).unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(LOG.as_bytes()).unwrap();
        fs::write(place("night/b.log.gz"), packed.finish().unwrap()).unwrap();
        fs::write(place("c.txt"), "NOTE: buy milk\n").unwrap();
        fs::write(place("d.sas7bdat"), [0u8; 9000]).unwrap();
        fs::write(place("e.log"), "").unwrap();
        fs::write(place("f.log.gz"), [0x1F, 0x8B, 9, 9]).unwrap();
        let Below { files, failed } = below(folder.path()).unwrap();
        assert!(failed.is_empty());
        let outcomes = read_all(&files, 3, &|| ());
        let found: Vec<String> = files
            .iter()
            .zip(&outcomes)
            .map(|(path, outcome)| {
                let name = path.file_name().unwrap().to_string_lossy();
                match outcome {
                    Outcome::Log(log) => format!("{name} {}", log.steps.len()),
                    Outcome::NoLog => format!("{name} -"),
                    Outcome::Failed(_) => format!("{name} failed"),
                }
            })
            .collect();
        let expected = [
            "c.txt -",
            "d.sas7bdat -",
            "e.log -",
            "f.log.gz failed",
            "a.log 1",
            "b.log.gz 1",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert!(below(Path::new("/nonexistent/logs")).is_err());
        assert!(matches!(
            read_file(Path::new("/nonexistent/a.log")),
            Outcome::Failed(_)
        ));
    }
}
