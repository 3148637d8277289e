//! Locks: what they cost, and whether they exclude.

use std::fs::{self, OpenOptions};
use std::time::{Duration, Instant};

use super::agent::{Agent, Answer, Request, lock, unlock};
use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "locks",
    title: "What a lock costs, and whether locks exclude",
    shows: "the time of a lock and its return that nobody contends for, the time until a lock that is given back \
            reaches who waits for it, and whether exclusive and shared locks (fcntl, of whole files) exclude other \
            processes, of this mount and of another client",
    why: "SAS locks every permanent file that it opens (FILELOCKS=FAIL); where locks do not exclude, two jobs that \
          write one data set destroy it without a word",
    papers: &[
        Said {
            paper: papers::SURVEY,
            says: "locks are metadata requests; a calibration of many small data sets took 25 % or more longer \
                   with them on NFS, and no measurable time on GPFS; they are needed where files are updated by \
                   several processes",
        },
        Said {
            paper: papers::SURVEY,
            says: "WORK is never locked; limit locks to the files and libraries that need them",
        },
    ],
    needs: "--peer for locks between clients",
    run,
};

/// Locks in a round, at the most.
const CALLS: u32 = 200;

/// The same where one is gentle.
const CALLS_GENTLE: u32 = 20;

/// A round of locks takes no longer.
const ROUND: Duration = Duration::from_millis(50);

/// Updates of a counter by each of two processes.
const UPDATES: u32 = 200;

/// Hand-overs at the most.
const HAND_OVERS: u32 = 20;

/// Time for who is told to wait for a lock to begin to wait.
const SETTLED: Duration = Duration::from_millis(20);

/// Files that are locked, by their slots.
const FILES: [(u32, &str); 2] = [(0, "x"), (1, "y")];

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    for name in ["x", "y", "counter", "counter_peer"] {
        let path = ground.path(name);
        fs::write(&path, [0; 8]).map_err(|source| failed("write", &path, source))?;
    }
    if !cost(ground, report)? {
        return Ok(());
    }
    let between = Between {
        suffix: "",
        whom: "two processes of this mount",
    };
    let (one, other) = (ground.agent()?, ground.agent()?);
    let cost_here = pair(ground, report, &between, one, other)?;
    let Some(peer) = ground.peer()? else {
        let why = ground.no_peer.clone().unwrap_or_default();
        report.absent("exclude_peer", why);
        return Ok(());
    };
    let between = Between {
        suffix: "_peer",
        whom: "a process of this mount and one of --peer",
    };
    let cost_there = pair(ground, report, &between, ground.agent()?, peer)?;
    let apart = cost_here
        .zip(cost_there)
        .and_then(|(here, there)| there.apart(&here));
    if let Some(ratio) = apart {
        report.says(format!(
            "handing a lock to another client takes {} times as long as to a process of this mount",
            short(ratio)
        ));
    }
    Ok(())
}

/// Time of locks that nobody contends for; false: there are no locks.
fn cost(ground: &Ground<'_>, report: &mut Report) -> Result<bool, Error> {
    let path = ground.path("x");
    let opening = |source| failed("open", &path, source);
    let open = || OpenOptions::new().read(true).write(true).open(&path);
    let file = open().map_err(opening)?;
    if let Err(error) = lock(&file, true, false).and_then(|_| unlock(&file)) {
        report.absent("pair_us", format!("locks are refused: {error}"));
        report.says(
            "locks are refused here: with FILELOCKS=FAIL SAS would not open permanent files at all, with \
             CONTINUE or NONE it would go on without",
        );
        return Ok(false);
    }
    let calls = if ground.options.gentle {
        CALLS_GENTLE
    } else {
        CALLS
    };
    let (mut pairs, mut opened, mut plain) =
        (Sample::default(), Sample::default(), Sample::default());
    ground.rounds(ground.share_of_time(4), 50, |_| {
        let locking = |source| failed("lock", &path, source);
        pairs.push_us(each(calls, || {
            lock(&file, true, false)
                .and_then(|_| unlock(&file))
                .map_err(locking)
        })?);
        plain.push_us(each(calls, || open().map(drop).map_err(opening))?);
        opened.push_us(each(calls, || {
            let file = open().map_err(opening)?;
            lock(&file, false, false).map(drop).map_err(locking)
        })?);
        Ok(())
    })?;
    let median = report.sample("pair_us", &pairs, "us", "an exclusive lock and its return");
    if let Some(median) = median {
        let rate = 1e6 / median.max(f64::MIN_POSITIVE);
        let detail = "exclusive locks and returns that one process makes in a second";
        report.figure("pairs_per_s", rate, "1/s", detail);
    }
    report.sample("open_close_us", &plain, "us", "opening and closing a file");
    let detail = "opening a file, locking it to read, closing it";
    report.sample("open_lock_close_us", &opened, "us", detail);
    match opened.apart(&plain) {
        Some(ratio) if ratio > 1.0 => report.says(format!(
            "a file that is locked takes {} times as long to open and close as one that is not",
            short(ratio)
        )),
        _ => report.not_apart("opening a file with and without a lock on it", &opened),
    }
    Ok(true)
}

/// The time of a call, from several, of which slow ones are fewer.
fn each(calls: u32, mut call: impl FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
    let begin = Instant::now();
    let mut made = 0;
    while made < calls && (made == 0 || begin.elapsed() < ROUND) {
        call()?;
        made += 1;
    }
    Ok(begin.elapsed() / made)
}

/// Whom it is about.
struct Between {
    suffix: &'static str,
    whom: &'static str,
}

/// Two processes that contend; the times of hand-overs, if locks exclude.
fn pair<'a>(
    ground: &Ground<'_>,
    report: &mut Report,
    between: &Between,
    mut one: Agent<'a>,
    mut other: Agent<'a>,
) -> Result<Option<Sample>, Error> {
    let Between { suffix, whom } = between;
    for agent in [&mut one, &mut other] {
        for (slot, name) in FILES {
            let file = ground.name(name);
            agent.order(&Request::Open { slot, file })?;
        }
    }
    let broken = exclusion(&mut one, &mut other)?;
    let detail = format!("whether locks exclude between {whom}, shared and exclusive, both ways");
    report.answer(&format!("exclude{suffix}"), broken.is_empty(), detail);
    if broken.is_empty() {
        report.says(format!("locks exclude between {whom}"));
    } else {
        report.wrong(format!(
            "LOCKS DO NOT EXCLUDE between {whom}: {}. Jobs that write one data set destroy it; see local_lock, \
             nolock, flock and nobrl among the mount options",
            broken.join("; ")
        ));
        let why = format!("locks do not exclude between {whom}");
        report.absent(&format!("hand_over_us{suffix}"), why);
    }
    updates(ground, report, between, &mut one, &mut other)?;
    if !broken.is_empty() {
        return Ok(None);
    }
    let mut times = Sample::default();
    ground.rounds(ground.share_of_time(4), HAND_OVERS, |_| {
        times.push(hand_over(&mut one, &mut other)?);
        Ok(())
    })?;
    let detail = format!(
        "from the return of a lock until who waits has it, between {whom}: half of a hand-over and one back"
    );
    report.sample(&format!("hand_over_us{suffix}"), &times, "us", &detail);
    Ok(Some(times))
}

/// Locks that were given and must not have been, and the other way round.
fn exclusion<'a>(one: &mut Agent<'a>, other: &mut Agent<'a>) -> Result<Vec<String>, Error> {
    let name = |exclusive| if exclusive { "exclusive" } else { "shared" };
    let mut broken = Vec::new();
    for swapped in [false, true] {
        let (first, second) = if swapped {
            (&mut *other, &mut *one)
        } else {
            (&mut *one, &mut *other)
        };
        for (held, wanted) in [(true, true), (true, false), (false, true), (false, false)] {
            if !first.try_lock(0, held)? {
                broken.push("a lock that nobody holds is refused".to_owned());
                continue;
            }
            let granted = second.try_lock(0, wanted)?;
            if granted == (held || wanted) {
                let verb = if granted { "given" } else { "refused" };
                broken.push(format!(
                    "a lock ({}) is {verb} while another process holds one ({})",
                    name(wanted),
                    name(held)
                ));
            }
            if granted {
                second.order(&Request::Unlock { slot: 0 })?;
            }
            first.order(&Request::Unlock { slot: 0 })?;
        }
    }
    broken.sort_unstable();
    broken.dedup();
    Ok(broken)
}

/// Both add to one number under a lock: none may be lost.
fn updates<'a>(
    ground: &Ground<'_>,
    report: &mut Report,
    between: &Between,
    one: &mut Agent<'a>,
    other: &mut Agent<'a>,
) -> Result<(), Error> {
    let Between { suffix, whom } = between;
    let (name, time) = (format!("counter{suffix}"), ground.share_of_time(4));
    let request = Request::Add {
        file: ground.name(&name),
        times: if ground.options.gentle {
            CALLS_GENTLE
        } else {
            UPDATES
        },
        ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
    };
    one.tell(&request)?;
    other.tell(&request)?;
    let mut made = 0;
    for agent in [&mut *one, other] {
        if let Answer::Counted { count, .. } = agent.hear(time)?.1 {
            made += u64::from(count);
        }
    }
    // Whoever reads under a lock sees what was written under it.
    let path = ground.path(&name);
    let reading = |source| failed("read", &path, source);
    let file = OpenOptions::new().read(true).write(true).open(&path);
    let file = file.map_err(reading)?;
    lock(&file, true, true).map_err(reading)?;
    let mut number = [0; 8];
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut number, 0).map_err(reading)?;
    let lost = made.abs_diff(u64::from_le_bytes(number));
    let detail = format!(
        "of {made} times that {whom} added 1 to a number in a file, each under an exclusive lock, those that \
         are not in it"
    );
    report.figure(
        &format!("lost_updates{suffix}"),
        lost as f64,
        "updates",
        detail,
    );
    if lost > 0 {
        report.wrong(format!(
            "UPDATES ARE LOST between {whom}: {lost} of {made} that were made under an exclusive lock"
        ));
    }
    Ok(())
}

/// Microseconds until a lock that is given back has reached who waits.
fn hand_over(one: &mut Agent<'_>, other: &mut Agent<'_>) -> Result<f64, Error> {
    let lock = |slot| Request::Lock {
        slot,
        exclusive: true,
        wait: true,
    };
    one.order(&lock(0))?;
    other.order(&lock(1))?;
    other.tell(&Request::Relay {
        wait: 0,
        release: 1,
    })?;
    std::thread::sleep(SETTLED);
    let answer = one.ask(&Request::HandOver {
        release: 0,
        wait: 1,
    })?;
    other.hear(Duration::ZERO)?;
    one.order(&Request::Unlock { slot: 1 })?;
    other.order(&Request::Unlock { slot: 0 })?;
    match answer {
        // There and back: the clocks of two hosts need not agree.
        Answer::Took { ns } => Ok(ns as f64 / 2e3),
        _ => Err(Error::Agent("answered something else".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::agent::in_thread;
    use super::*;

    #[test]
    fn locks_of_one_process_do_not_exclude_and_that_is_seen() {
        // Threads of one process share its locks, as the clients of a mount with local locks share none.
        let (folder, stop) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        fs::write(folder.path().join("x"), "").unwrap();
        let mut agents = [(), ()].map(|()| in_thread(folder.path(), &stop));
        for agent in &mut agents {
            let file = "x".to_owned();
            agent.order(&Request::Open { slot: 0, file }).unwrap();
        }
        let [one, other] = &mut agents;
        let broken = exclusion(one, other).unwrap();
        assert_eq!(
            broken.first().map(String::as_str),
            Some("a lock (exclusive) is given while another process holds one (exclusive)")
        );
    }
}
