//! When another client sees what was changed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::agent::{Agent, Answer, Request, lock, unlock};
use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "visibility",
    title: "When another client sees a change",
    shows: "how long after a change by this client was complete (the file closed) another client sees it: a new \
            file, an append, new contents, a file renamed over another as SAS replaces data sets, a removal, \
            new permissions; by name, by opening the file anew, through a descriptor that stays open, under a lock",
    why: "a job that waits for the data set of another host does not find it, or reads the old one, until its \
          client looks again",
    papers: &[
        Said {
            paper: papers::SURVEY,
            says: "with default settings NFS does not ensure that files made or changed on one system are \
                   visible on another within a minute; actimeo=0 ensures it, for more requests to the server",
        },
        Said {
            paper: papers::SURVEY,
            says: "changed data may be invisible elsewhere until an NFS commit, which most clients issue at close",
        },
    ],
    needs: "--peer",
    run,
};

/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(20);
const INTERVAL_GENTLE: Duration = Duration::from_millis(200);

/// Nobody waits longer: attributes are kept for a minute at the most, by default.
const LIMIT: Duration = Duration::from_secs(65);

/// How long nothing changes before the change, in turn: clients look the less often the longer nothing does.
const STEADY: [Duration; 3] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_millis(3500),
];

/// Rounds at the most.
const ROUNDS: u32 = 9;

/// A change is seen at once if it is seen within so many times the time between looks.
const AT_ONCE: f64 = 3.0;

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Create,
    Append,
    Rewrite,
    /// Written under another name, and renamed over the old one.
    Replace,
    Delete,
    Mode,
}

/// Changes and looks, with their names and what they are.
const CASES: [(&str, Change, Look, &str); 11] = [
    (
        "create_stat_s",
        Change::Create,
        Look::Exists,
        "a new file, by its name",
    ),
    (
        "create_open_s",
        Change::Create,
        Look::Opened,
        "a new file, by opening it",
    ),
    (
        "create_list_s",
        Change::Create,
        Look::Listed,
        "a new file, by listing its folder",
    ),
    (
        "append_stat_s",
        Change::Append,
        Look::Length,
        "a longer file, by its attributes",
    ),
    (
        "rewrite_open_s",
        Change::Rewrite,
        Look::Opened,
        "new contents, by opening the file anew",
    ),
    (
        "rewrite_kept_s",
        Change::Rewrite,
        Look::Kept,
        "new contents, through a descriptor that stays open",
    ),
    (
        "rewrite_locked_s",
        Change::Rewrite,
        Look::Locked,
        "new contents, through such a descriptor, under a lock",
    ),
    (
        "replace_stat_s",
        Change::Replace,
        Look::Which,
        "a file renamed over another, by its attributes",
    ),
    (
        "replace_open_s",
        Change::Replace,
        Look::Opened,
        "a file renamed over another, by opening it",
    ),
    (
        "delete_stat_s",
        Change::Delete,
        Look::Exists,
        "a removal, by the name",
    ),
    (
        "chmod_stat_s",
        Change::Mode,
        Look::Mode,
        "new permissions, by attributes",
    ),
];

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    let Some(mut peer) = ground.peer()? else {
        report.absent("", ground.no_peer.clone().unwrap_or_default());
        return Ok(());
    };
    let locks = may_lock(ground)?;
    let cases: Vec<_> = CASES
        .into_iter()
        .filter(|(_, _, look, _)| locks || *look != Look::Locked)
        .collect();
    if !locks {
        report.absent("rewrite_locked_s", "locks are refused here");
    }
    let mut delays = vec![Sample::new(); cases.len()];
    let mut unseen = vec![0; cases.len()];
    ground.rounds(ground.options.time, ROUNDS, |number| {
        for (case, delay) in one_round(ground, &mut peer, number, &cases)?
            .into_iter()
            .enumerate()
        {
            match delay {
                Some(delay) => delays[case].push(delay.as_secs_f64()),
                None => unseen[case] += 1,
            }
        }
        Ok(())
    })?;
    for ((name, _, _, what), (delay, unseen)) in cases.iter().zip(delays.iter().zip(&unseen)) {
        report.sample(
            name,
            delay,
            "s",
            &format!("until another client saw {what}"),
        );
        if *unseen > 0 {
            let limit = LIMIT.as_secs();
            let rounds = *unseen + delay.len();
            let why = format!("not seen within {limit} s in {unseen} of {rounds} rounds");
            report.absent(name, why);
            report.says(format!(
                "ANOTHER CLIENT DID NOT SEE within {limit} s: {what}"
            ));
        }
    }
    interpret(ground, report, &cases, &delays, &unseen);
    Ok(())
}

/// Whether files can be locked at all.
fn may_lock(ground: &Ground<'_>) -> Result<bool, Error> {
    let path = ground.path("locked");
    let file = File::create_new(&path).map_err(|source| failed("make", &path, source))?;
    Ok(lock(&file, true, false).is_ok())
}

/// A case as it stands in [`CASES`].
type Case = (&'static str, Change, Look, &'static str);

/// How long after each change it was seen; `None`: not within the time.
fn one_round(
    ground: &Ground<'_>,
    peer: &mut Agent<'_>,
    number: u32,
    cases: &[Case],
) -> Result<Vec<Option<Duration>>, Error> {
    // Folders of their own: who looks at one learns nothing of the others.
    let names: Vec<String> = (0..cases.len())
        .map(|case| format!("r{number}c{case}"))
        .collect();
    for (name, (_, change, ..)) in names.iter().zip(cases) {
        let folder = ground.path(name);
        let made = fs::create_dir(&folder).and_then(|()| match change {
            Change::Create => Ok(()),
            _ => fs::write(folder.join("f"), 1u64.to_le_bytes()).and_then(|()| {
                fs::set_permissions(folder.join("f"), Permissions::from_mode(0o644))
            }),
        });
        made.map_err(|source| failed("make", &folder, source))?;
    }
    let file = |name: &String| ground.name(&format!("{name}/f"));
    let looks = names
        .iter()
        .zip(cases)
        .map(|(name, (_, _, look, _))| (file(name), *look));
    let interval = if ground.options.gentle {
        INTERVAL_GENTLE
    } else {
        INTERVAL
    };
    let steady = STEADY[number as usize % STEADY.len()];
    let limit = steady + LIMIT;
    peer.tell(&Request::Watch {
        looks: looks.collect(),
        interval_ms: u64::try_from(interval.as_millis()).unwrap_or(u64::MAX),
        ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
    })?;
    if peer.hear(LIMIT)?.1 != Answer::Watching {
        return Err(Error::Agent("answered something else".to_owned()));
    }
    let steady_until = Instant::now() + steady;
    while Instant::now() < steady_until {
        ground.check()?;
        thread::sleep(INTERVAL);
    }
    let mut changed = Vec::new();
    for (name, (_, change, ..)) in names.iter().zip(cases) {
        let path = ground.path(name).join("f");
        change
            .make(&path)
            .map_err(|source| failed("change", &path, source))?;
        changed.push(Instant::now());
    }
    let mut seen = vec![None; cases.len()];
    loop {
        match peer.hear(limit)? {
            (arrived, Answer::Seen { look }) => {
                if let Some((seen, changed)) =
                    seen.get_mut(look as usize).zip(changed.get(look as usize))
                {
                    *seen = Some(arrived.saturating_duration_since(*changed));
                }
            }
            _ => return Ok(seen),
        }
    }
}

impl Change {
    fn make(self, path: &Path) -> io::Result<()> {
        let new = 2u64.to_le_bytes();
        let open = || OpenOptions::new().read(true).write(true).open(path);
        match self {
            Self::Create => fs::write(path, new),
            Self::Append => open()?.write_all_at(&new, 8),
            Self::Rewrite => {
                let file = open()?;
                // As who writes does that takes locks; who cannot lock, writes without.
                let locked = lock(&file, true, true);
                file.write_all_at(&new, 0)?;
                locked.and_then(|_| unlock(&file)).or(Ok(()))
            }
            Self::Replace => {
                let other = path.with_extension("lck");
                fs::write(&other, new)?;
                fs::rename(&other, path)
            }
            Self::Delete => fs::remove_file(path),
            Self::Mode => fs::set_permissions(path, Permissions::from_mode(0o600)),
        }
    }
}

fn interpret(
    ground: &Ground<'_>,
    report: &mut Report,
    cases: &[Case],
    delays: &[Sample],
    unseen: &[usize],
) {
    let interval = if ground.options.gentle {
        INTERVAL_GENTLE
    } else {
        INTERVAL
    };
    let at_once = AT_ONCE * interval.as_secs_f64();
    let (mut soon, mut late) = (Vec::new(), Vec::new());
    let hands_over = |look: &Look| matches!(look, Look::Opened | Look::Locked);
    let missed = cases.iter().zip(unseen);
    let mut stale = missed
        .into_iter()
        .any(|((_, _, look, _), unseen)| *unseen > 0 && hands_over(look));
    for ((_, _, look, what), delay) in cases.iter().zip(delays) {
        let Some(summary) = delay.summary() else {
            continue;
        };
        if summary.max <= at_once {
            soon.push((*what).to_owned());
        } else {
            late.push(format!("{what} (up to {} s)", short(summary.max)));
            stale |= hands_over(look);
        }
    }
    if !soon.is_empty() {
        report.says(format!(
            "another client saw at once (no more than {} s later, looking every {} ms): {}",
            short(at_once),
            interval.as_millis(),
            soon.join("; ")
        ));
    }
    if !late.is_empty() {
        report.says(format!(
            "another client saw later: {}. How late depends on when it last looked: other moments give other \
             delays",
            late.join("; ")
        ));
    }
    if stale {
        report.says(
            "what was opened or locked after a change was complete was sometimes not found, or read as it was \
             before: jobs on several hosts cannot rely on closing files to hand them over",
        );
    } else if !late.is_empty() {
        report.says(
            "whoever opens a file, or reads it under a lock, gets what was last closed; only names, attributes \
             and open descriptors are late",
        );
    }
}

/// How one looks at a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Look {
    /// Whether there is one of the name.
    Exists,
    /// Its length, by its name.
    Length,
    /// Which file it is, by its name.
    Which,
    /// Its permissions, by its name.
    Mode,
    /// The first bytes, opened anew each time.
    Opened,
    /// The first bytes, through a descriptor that stays open.
    Kept,
    /// The first bytes, through a descriptor that stays open, under a lock.
    Locked,
    /// How many names its folder has.
    Listed,
}

/// Files that stay open, by their paths.
type Open = BTreeMap<PathBuf, File>;

/// Looks at all until each has changed once, or the time is over.
pub(super) fn watch(
    looks: &[(PathBuf, Look)],
    interval: Duration,
    until: Instant,
    say: &mut dyn FnMut(Answer) -> io::Result<()>,
) -> io::Result<()> {
    let mut open = Open::new();
    let mut before = Vec::new();
    for (path, look) in looks {
        before.push(Some(seen(path, *look, &mut open)?));
    }
    say(Answer::Watching)?;
    while before.iter().any(Option::is_some) && Instant::now() < until {
        for (number, ((path, look), before)) in (0..).zip(looks.iter().zip(&mut before)) {
            let Some(old) = before else { continue };
            if seen(path, *look, &mut open)? != *old {
                *before = None;
                say(Answer::Seen { look: number })?;
            }
        }
        thread::sleep(interval);
    }
    Ok(())
}

/// What is seen, as a number; a file that is not there is one of its own.
fn seen(path: &Path, look: Look, open: &mut Open) -> io::Result<u64> {
    const GONE: u64 = u64::MAX;
    const EMPTY: u64 = u64::MAX - 1;
    let found = match look {
        Look::Exists => fs::symlink_metadata(path).map(|_| 1),
        Look::Length => fs::symlink_metadata(path).map(|about| about.len()),
        Look::Which => fs::symlink_metadata(path).map(|about| about.ino()),
        Look::Mode => fs::symlink_metadata(path).map(|about| about.mode().into()),
        Look::Opened => File::open(path).and_then(|file| first(&file)),
        Look::Kept => first(kept(path, open)?),
        Look::Locked => {
            let file = kept(path, open)?;
            lock(file, false, true)?;
            let found = first(file);
            unlock(file)?;
            found
        }
        Look::Listed => fs::read_dir(path.parent().unwrap_or(path)).map(|all| all.count() as u64),
    };
    match found {
        // A file that was replaced or removed elsewhere may be stale here: a change as well.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(GONE),
        Err(error) if error.kind() == io::ErrorKind::StaleNetworkFileHandle => Ok(GONE),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(EMPTY),
        other => other,
    }
}

fn kept<'a>(path: &Path, open: &'a mut Open) -> io::Result<&'a File> {
    if !open.contains_key(path) {
        // To read only, as who reads a data set does.
        open.insert(path.to_owned(), File::open(path)?);
    }
    open.get(path)
        .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

fn first(file: &File) -> io::Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn every_change_is_seen_by_its_look() {
        let folder = tempfile::tempdir().unwrap();
        let mut looks = Vec::new();
        for (number, (_, change, look, _)) in CASES.iter().enumerate() {
            let own = folder.path().join(number.to_string());
            fs::create_dir(&own).unwrap();
            let path = own.join("f");
            if *change != Change::Create {
                fs::write(&path, 1u64.to_le_bytes()).unwrap();
                fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
            }
            looks.push((path, *look));
        }
        let (sender, answers) = mpsc::channel();
        thread::scope(|scope| {
            let looking = || {
                let until = Instant::now() + Duration::from_mins(1);
                watch(&looks, Duration::from_millis(1), until, &mut |answer| {
                    sender.send(answer).map_err(io::Error::other)
                })
            };
            let watching = scope.spawn(looking);
            assert_eq!(answers.recv().unwrap(), Answer::Watching);
            for ((path, _), (_, change, ..)) in looks.iter().zip(CASES) {
                change.make(path).unwrap();
            }
            watching.join().unwrap().unwrap();
        });
        let mut seen: Vec<Answer> = answers.try_iter().collect();
        seen.sort_by_key(|answer| match answer {
            Answer::Seen { look } => *look,
            _ => u32::MAX,
        });
        let all = (0..u32::try_from(CASES.len()).unwrap()).map(|look| Answer::Seen { look });
        assert_eq!(seen, all.collect::<Vec<_>>());
    }

    #[test]
    fn a_file_that_is_not_there_or_empty_is_a_thing_to_see() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let look = |look| seen(&path, look, &mut Open::new());
        let none = look(Look::Opened).unwrap();
        fs::write(&path, "").unwrap();
        let empty = look(Look::Opened).unwrap();
        fs::write(&path, 5u64.to_le_bytes()).unwrap();
        assert!(none != empty && look(Look::Opened).unwrap() == 5);
        assert_eq!(look(Look::Length).unwrap(), 8);
        assert_eq!(look(Look::Listed).unwrap(), 1);
    }
}
