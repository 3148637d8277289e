//! The page cache: after what a file that was read must be read from storage again.

mod memory_group;
mod pressure;

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::SystemTime;

use ::io::cache;

use super::agent::{Agent, Request, lock, unlock};
use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "retention",
    title: "What stays in the page cache",
    shows: "what share of a file that was just written or read is still in memory, and what share is read from \
            storage again, after each of: nothing, a close, locks, changes of attributes, other processes and \
            other clients that open or lock it; with --pressure also after memory was short",
    why: "analytics read the same tables again and again; reads from memory are several times faster and cost the \
          storage nothing, so that a file system that forgets files needs storage and network for all of these \
          reads",
    papers: &[
        Said {
            paper: papers::SURVEY,
            says: "local file systems keep data until memory is needed; shared ones follow rules of many kinds. \
                   NFS clients drop a file's data when an attribute changes, and some treat a lock, even one to \
                   read, as an attribute",
        },
        Said {
            paper: papers::SURVEY,
            says: "retention was relatively poor with CIFS and StorNext, and much better with GPFS",
        },
        Said {
            paper: papers::ISILON,
            says: "servers with much memory for each core are recommended, so that reads come from memory",
        },
    ],
    needs: "a file system that shows its cache or its physical reads; --peer for other clients; --pressure and the \
            right to make a cgroup for short memory",
    run,
};

/// A file is kept if no more than this share of it is read again, and lost if no less than the other.
const KEPT_MOST: f64 = 0.05;
const LOST_LEAST: f64 = 0.5;

/// Rounds of each event.
const ROUNDS: u32 = 5;

/// The file that is read.
const FILE: &str = "kept";

/// What happens to a file between two reads of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// Nothing: it is closed, opened, read again.
    Close,
    ReadLock,
    WriteLock,
    /// A lock on another file of the folder.
    OtherFileLock,
    Mode,
    Times,
    /// Another process opens it to read and to write, and closes it.
    OtherProcessOpens,
    OtherProcessLocks,
    PeerOpens,
    PeerLocks,
}

/// All with their names and what they are.
const EVENTS: [(Event, &str, &str); 10] = [
    (
        Event::Close,
        "close",
        "it was closed and opened again, nothing else",
    ),
    (
        Event::ReadLock,
        "read_lock",
        "this process locked it to read, and gave the lock back",
    ),
    (
        Event::WriteLock,
        "write_lock",
        "this process locked it to write, and gave the lock back",
    ),
    (
        Event::OtherFileLock,
        "other_file_lock",
        "this process locked another file",
    ),
    (Event::Mode, "chmod", "its permissions were changed"),
    (Event::Times, "utimes", "its times were changed"),
    (
        Event::OtherProcessOpens,
        "other_process_open",
        "another process opened and closed it",
    ),
    (
        Event::OtherProcessLocks,
        "other_process_lock",
        "another process locked it to read",
    ),
    (
        Event::PeerOpens,
        "peer_open",
        "another client opened and closed it",
    ),
    (
        Event::PeerLocks,
        "peer_lock",
        "another client locked it to read",
    ),
];

/// What was seen after an event.
#[derive(Debug, Default)]
struct Seen {
    /// Shares of pages in the cache.
    kept: Sample,
    /// Shares of bytes that were read from storage.
    again: Sample,
}

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    // What is kept does not depend on how much it is.
    let bytes = (ground.options.bytes / 4).max(1 << 20);
    ground.create(FILE, bytes)?;
    let path = ground.path(FILE);
    let looking = |source| failed("look at the page cache of", &path, source);
    let pages = cache::pages(&path).map_err(looking)?;
    if pages.is_none() && ground.side.read_bytes().is_none() {
        report.absent("", format!("neither shows here: {}", ground.side.basis()));
        return Ok(());
    }
    let other = ground.path("other");
    fs::write(&other, "x").map_err(|source| failed("write", &other, source))?;
    let mut hands = Hands {
        process: ground.agent()?,
        peer: ground.peer()?,
    };
    let mut written = Seen::default();
    ground.rounds(ground.share_of_time(4), ROUNDS, |_| {
        ground.create(FILE, bytes)?;
        look(ground, &mut written)
    })?;
    let what = "it was written, flushed and closed";
    let verdict = tell(ground, report, "written", what, &written);
    let mut told = vec![(what, verdict, written)];
    for (event, name, what) in EVENTS {
        if matches!(event, Event::PeerOpens | Event::PeerLocks) && hands.peer.is_none() {
            let why = ground.no_peer.clone().unwrap_or_default();
            report.absent(&format!("{name}_read_again_share"), why);
            continue;
        }
        let mut seen = Seen::default();
        let done = ground.rounds(ground.share_of_time(8), ROUNDS, |round| {
            read(ground)?;
            hands.cause(ground, event, round)?;
            look(ground, &mut seen)
        });
        match done {
            // Not every file system has locks; the other events are worth a look all the same.
            Err(error @ (Error::Io { .. } | Error::Refused { .. })) => {
                report.absent(&format!("{name}_read_again_share"), error.to_string());
                continue;
            }
            other => other?,
        }
        told.push((what, tell(ground, report, name, what, &seen), seen));
    }
    interpret(report, &told);
    drop(hands);
    pressure::run(ground, report)
}

/// What became of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Kept,
    Lost,
    Mixed,
}

/// Who does what happens.
struct Hands<'a> {
    process: Agent<'a>,
    peer: Option<Agent<'a>>,
}

impl Hands<'_> {
    fn cause(&mut self, ground: &Ground<'_>, event: Event, round: u32) -> Result<(), Error> {
        let path = ground.path(FILE);
        let done = match event {
            Event::Close => Ok(()),
            Event::ReadLock => locked(&path, false),
            Event::WriteLock => locked(&path, true),
            Event::OtherFileLock => locked(&ground.path("other"), true),
            Event::Mode => {
                let mode = if round.is_multiple_of(2) {
                    0o600
                } else {
                    0o640
                };
                fs::set_permissions(&path, Permissions::from_mode(mode))
            }
            Event::Times => File::open(&path).and_then(|file| {
                file.set_times(fs::FileTimes::new().set_accessed(SystemTime::now()))
            }),
            Event::OtherProcessOpens => return opened(ground, &mut self.process, false),
            Event::OtherProcessLocks => return opened(ground, &mut self.process, true),
            Event::PeerOpens | Event::PeerLocks => {
                let locks = event == Event::PeerLocks;
                return match &mut self.peer {
                    Some(peer) => opened(ground, peer, locks),
                    None => Ok(()),
                };
            }
        };
        match done {
            Err(source) => Err(failed("lock or change", &path, source)),
            Ok(()) => Ok(()),
        }
    }
}

/// Takes a lock on a file and gives it back.
fn locked(path: &Path, exclusive: bool) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    lock(&file, exclusive, true)?;
    unlock(&file)
}

/// Another process opens the file, and perhaps locks it.
fn opened(ground: &Ground<'_>, agent: &mut Agent<'_>, locks: bool) -> Result<(), Error> {
    let (slot, file) = (0, ground.name(FILE));
    agent.order(&Request::Open { slot, file })?;
    if locks {
        agent.order(&Request::Lock {
            slot,
            exclusive: false,
            wait: true,
        })?;
        agent.order(&Request::Unlock { slot })?;
    }
    agent.order(&Request::Close { slot })
}

/// Reads all of the file.
fn read(ground: &Ground<'_>) -> Result<u64, Error> {
    let path = ground.path(FILE);
    let reading = |source| failed("read", &path, source);
    let moved = File::open(&path).and_then(|file| ground.moving().read(&file));
    let moved = moved.map_err(reading)?;
    ground.check()?;
    Ok(moved.bytes)
}

/// Looks at what is in memory, and reads it all again.
fn look(ground: &Ground<'_>, seen: &mut Seen) -> Result<(), Error> {
    let path = ground.path(FILE);
    let looking = |source| failed("look at the page cache of", &path, source);
    if let Some(pages) = cache::pages(&path).map_err(looking)? {
        seen.kept.push(pages.share());
    }
    let before = ground.side.read_bytes();
    let bytes = read(ground)?;
    if let Some((before, after)) = before.zip(ground.side.read_bytes()) {
        seen.again
            .push(after.saturating_sub(before) as f64 / bytes.max(1) as f64);
    }
    Ok(())
}

/// Figures of an event, and what they amount to.
fn tell(
    ground: &Ground<'_>,
    report: &mut Report,
    name: &str,
    what: &str,
    seen: &Seen,
) -> Option<Verdict> {
    let detail = format!("of its pages, in the page cache after {what}");
    let kept = report.sample(&format!("{name}_kept_share"), &seen.kept, "share", &detail);
    let again = format!("{name}_read_again_share");
    let detail = "of its bytes, read from storage again after that";
    if report
        .sample(&again, &seen.again, "share", detail)
        .is_none()
    {
        report.absent(&again, ground.side.basis());
    }
    if kept.is_none() {
        report.absent(
            &format!("{name}_kept_share"),
            "the file system keeps files in memory, or in a cache of its own",
        );
    }
    verdict(seen)
}

/// By what was read again; where that is hidden, by what was in memory.
fn verdict(seen: &Seen) -> Option<Verdict> {
    let lost = match (seen.again.summary(), seen.kept.summary()) {
        (Some(again), _) => (again.min, again.max),
        (None, Some(kept)) => (1.0 - kept.max, 1.0 - kept.min),
        (None, None) => return None,
    };
    Some(match lost {
        (_, most) if most <= KEPT_MOST => Verdict::Kept,
        (least, _) if least >= LOST_LEAST => Verdict::Lost,
        _ => Verdict::Mixed,
    })
}

/// The written file is the first, the one to which nothing happened the second.
fn interpret(report: &mut Report, told: &[(&str, Option<Verdict>, Seen)]) {
    let of = |wanted: Verdict| -> Vec<&(&str, Option<Verdict>, Seen)> {
        let is_wanted = |one: &&(&str, Option<Verdict>, Seen)| one.1 == Some(wanted);
        told.iter().filter(is_wanted).collect()
    };
    let named = |all: &[&(&str, Option<Verdict>, Seen)]| {
        let names: Vec<&str> = all.iter().map(|(what, ..)| *what).collect();
        names.join("; ")
    };
    let kept = of(Verdict::Kept);
    if !kept.is_empty() {
        report.says(format!("a file stays in memory after {}", named(&kept)));
    }
    let is_forgotten = told
        .get(1)
        .is_some_and(|(_, verdict, _)| *verdict == Some(Verdict::Lost));
    if is_forgotten {
        report.says(
            "a file is read from storage again even if nothing happened to it: no reads are served from memory \
             here, or the file system forgets it when it is opened",
        );
    }
    for (what, _, seen) in of(Verdict::Lost) {
        let (share, basis) = match (seen.again.median(), seen.kept.median()) {
            (Some(again), _) => (again, "is read from storage again"),
            (None, kept) => (1.0 - kept.unwrap_or_default(), "has left the page cache"),
        };
        let share = short(100.0 * share);
        let text = if is_forgotten {
            format!("{share} % of a file {basis} after {what}")
        } else {
            format!(
                "{share} % of a file {basis} after {what}: that costs a read of all of it each time"
            )
        };
        report.says(text);
    }
    let mixed = of(Verdict::Mixed);
    if !mixed.is_empty() {
        report.says(format!(
            "part of a file, or all of it in some rounds, is not in memory any more after {}",
            named(&mixed)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_kept_or_lost_in_every_round_or_neither() {
        let seen = |again: &[f64], kept: &[f64]| Seen {
            again: again.iter().copied().collect(),
            kept: kept.iter().copied().collect(),
        };
        assert_eq!(verdict(&seen(&[0.0, 0.01], &[1.0])), Some(Verdict::Kept));
        assert_eq!(verdict(&seen(&[1.0, 0.9], &[1.0])), Some(Verdict::Lost));
        assert_eq!(verdict(&seen(&[1.0, 0.0], &[1.0])), Some(Verdict::Mixed));
        // Hidden reads: the pages decide.
        assert_eq!(verdict(&seen(&[], &[1.0, 0.98])), Some(Verdict::Kept));
        assert_eq!(verdict(&seen(&[], &[0.0, 0.1])), Some(Verdict::Lost));
        assert_eq!(verdict(&seen(&[], &[])), None);
    }
}
