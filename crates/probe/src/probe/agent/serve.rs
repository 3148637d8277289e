//! The side that does what it is told, in a folder that was made for it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ::io::{cache, errno};
use base::random::mix;
use rustix::fs::FlockOperation;

use super::is_below;
use super::message::{Answer, Request};
use crate::probe::physical::Side;
use crate::probe::stream::{Moved, Moving, ns};
use crate::probe::{metadata, visibility};

/// Nobody stops an agent but by ending it.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Does what lines of `input` ask, in `folder`, until they end.
pub fn serve(folder: &Path, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut desk = Desk {
        folder: folder.to_owned(),
        open: BTreeMap::new(),
        taken: Vec::new(),
    };
    for line in input.lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(request) => desk.answer(request, &mut output),
            Err(error) => Err(io::Error::other(error)),
        };
        let answer = answer.unwrap_or_else(|error| Answer::Failed {
            code: errno::code_of(&error),
            text: error.to_string(),
        });
        say(&mut output, &answer)?;
    }
    Ok(())
}

fn say(output: &mut impl Write, answer: &Answer) -> io::Result<()> {
    writeln!(output, "{}", serde_json::to_string(answer)?)?;
    output.flush()
}

/// What an agent has at hand.
struct Desk {
    folder: PathBuf,
    open: BTreeMap<u32, File>,
    taken: Vec<Vec<u8>>,
}

impl Desk {
    fn answer(&mut self, request: Request, output: &mut impl Write) -> io::Result<Answer> {
        match request {
            Request::Identify { file } => self.identify(&file),
            Request::Open { slot, file } => {
                let file = self.writable(&file)?;
                self.open.insert(slot, file);
                Ok(Answer::Done)
            }
            Request::Close { slot } => {
                self.open.remove(&slot);
                Ok(Answer::Done)
            }
            Request::Lock {
                slot,
                exclusive,
                wait,
            } => self.lock(slot, exclusive, wait),
            Request::Unlock { slot } => self.unlock(slot),
            Request::HandOver { release, wait } => {
                let begin = Instant::now();
                self.unlock(release)?;
                self.lock(wait, true, true)?;
                let ns = ns(begin.elapsed());
                Ok(Answer::Took { ns })
            }
            Request::Relay { wait, release } => {
                self.lock(wait, true, true)?;
                self.unlock(release)
            }
            Request::Add { file, times, ms } => self.add(&file, times, ms),
            Request::Read { file, pace } => self.read(&file, pace, None),
            Request::Stream {
                file,
                write,
                bytes,
                ms,
                pace,
            } => {
                let until = Some(Instant::now() + Duration::from_millis(ms));
                if !write {
                    return self.read(&file, pace, until);
                }
                let moving = Moving {
                    until,
                    ..Moving::all(pace, &NEVER)
                };
                Ok(Answer::Moved(moving.write(&self.writable(&file)?, bytes)?))
            }
            other => self.answer_more(other, output),
        }
    }

    fn answer_more(&mut self, request: Request, output: &mut impl Write) -> io::Result<Answer> {
        match request {
            Request::Metadata {
                operation,
                folder,
                files,
                begin_ns,
                ms,
                pause_us,
            } => {
                let folder = self.path(&folder)?;
                metadata::wait_until(begin_ns);
                let until = Instant::now() + Duration::from_millis(ms);
                let pause = Duration::from_micros(pause_us);
                let worked = metadata::work(&folder, operation, files, until, pause)?;
                Ok(Answer::Worked(worked))
            }
            Request::Watch {
                looks,
                interval_ms,
                ms,
            } => {
                let paths = looks.iter().map(|(file, look)| {
                    let path = self.path(file)?;
                    Ok((path, *look))
                });
                let looks = paths.collect::<io::Result<Vec<_>>>()?;
                let interval = Duration::from_millis(interval_ms);
                let until = Instant::now() + Duration::from_millis(ms);
                visibility::watch(&looks, interval, until, &mut |answer| say(output, &answer))?;
                Ok(Answer::Done)
            }
            Request::Pages { file } => {
                let pages = cache::pages(&self.path(&file)?)?;
                let cached = pages.map(|pages| (pages.cached, pages.all));
                Ok(Answer::Pages { cached })
            }
            Request::Take { bytes } => {
                let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
                // Pages of zeros would not be there before something else is written to them.
                self.taken.push(vec![1; bytes]);
                Ok(Answer::Done)
            }
            Request::Put {
                file,
                offset,
                bytes,
                byte,
            } => {
                let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
                self.writable(&file)?
                    .write_all_at(&vec![byte; bytes], offset)?;
                Ok(Answer::Done)
            }
            Request::Hash { file } => {
                let bytes = fs::read(self.path(&file)?)?;
                let hash = hash(&bytes);
                let bytes = bytes.len() as u64;
                Ok(Answer::Hashed { hash, bytes })
            }
            _ => Err(io::Error::other("asked for what is not known")),
        }
    }

    fn path(&self, name: &str) -> io::Result<PathBuf> {
        if is_below(name) {
            return Ok(self.folder.join(name));
        }
        Err(io::Error::other(format!("{name} is not below the folder")))
    }

    /// A file that is there: agents make none, so that whoever made the folder can remove it.
    fn writable(&self, name: &str) -> io::Result<File> {
        let path = self.path(name)?;
        OpenOptions::new().read(true).write(true).open(path)
    }

    fn slot(&self, slot: u32) -> io::Result<&File> {
        let found = self.open.get(&slot);
        found.ok_or_else(|| io::Error::other(format!("no file {slot} is open")))
    }

    fn identify(&self, file: &str) -> io::Result<Answer> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Ok(Answer::Identified {
            text: fs::read_to_string(self.path(file)?).ok(),
            device: fs::metadata(&self.folder)?.dev(),
            boot: boot.trim().to_owned(),
        })
    }

    fn lock(&self, slot: u32, exclusive: bool, wait: bool) -> io::Result<Answer> {
        let granted = lock(self.slot(slot)?, exclusive, wait)?;
        Ok(Answer::Locked { granted })
    }

    fn unlock(&self, slot: u32) -> io::Result<Answer> {
        unlock(self.slot(slot)?)?;
        Ok(Answer::Done)
    }

    fn add(&self, file: &str, times: u32, ms: u64) -> io::Result<Answer> {
        let (file, begin) = (self.writable(file)?, Instant::now());
        let mut count = 0;
        while count < times && begin.elapsed() < Duration::from_millis(ms) {
            lock(&file, true, true)?;
            let mut number = [0; 8];
            file.read_exact_at(&mut number, 0)?;
            let next = u64::from_le_bytes(number) + 1;
            file.write_all_at(&next.to_le_bytes(), 0)?;
            unlock(&file)?;
            count += 1;
        }
        let ns = ns(begin.elapsed());
        Ok(Answer::Counted { count, ns })
    }

    fn read(&self, file: &str, pace: Option<u64>, until: Option<Instant>) -> io::Result<Answer> {
        let side = Side::of(&self.folder);
        let before = side.read_bytes();
        let moving = Moving {
            until,
            ..Moving::all(pace, &NEVER)
        };
        let moved = moving.read(&File::open(self.path(file)?)?)?;
        let physical_bytes = before
            .zip(side.read_bytes())
            .map(|(before, after)| after.saturating_sub(before));
        Ok(Answer::Moved(Moved {
            physical_bytes,
            ..moved
        }))
    }
}

/// Locks a whole file as SAS does (`fcntl`); false: somebody else has it.
pub(in crate::probe) fn lock(file: &File, exclusive: bool, wait: bool) -> io::Result<bool> {
    let operation = match (exclusive, wait) {
        (true, true) => FlockOperation::LockExclusive,
        (true, false) => FlockOperation::NonBlockingLockExclusive,
        (false, true) => FlockOperation::LockShared,
        (false, false) => FlockOperation::NonBlockingLockShared,
    };
    match rustix::fs::fcntl_lock(file, operation) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::AGAIN) => Ok(false),
        Err(other) => Err(other.into()),
    }
}

/// Gives the lock back.
pub(in crate::probe) fn unlock(file: &File) -> io::Result<()> {
    rustix::fs::fcntl_lock(file, FlockOperation::Unlock).map_err(io::Error::from)
}

/// A hash of bytes, in which places count.
pub(in crate::probe) fn hash(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash ^ u64::from_le_bytes(word)).wrapping_add(chunk.len() as u64)
    })
}
