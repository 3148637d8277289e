//! Raw throughput: streams that write, read, mix and copy large files, as SAS moves data sets, and what the
//! rate would feed.
//!
//! A stream is a thread with files of its own. All streams of all directories begin at the same moment; a
//! phase ends for a stream when its time is over or its file is. What is written is on the device when a
//! stream ends (`fdatasync`). Before a phase that reads, files are evicted from the page cache, and it is
//! checked that they are out of it.

pub(crate) mod blocks;
mod buffer;
mod counters;
mod hosts;
mod outcome;
mod stream;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use blocks::Content;
pub use hosts::{OfHost, Together, on_one_clock, together};
pub use outcome::{DeviceShare, Outcome, PhaseOutcome, PlaceOutcome, StreamOutcome};
use serde::{Deserialize, Serialize};

use ::io::cache;
use base::random::Stream;
use blocks::Blocks;
use counters::Counters;
use stream::{Files, Moved};

/// Files that are read may have this share of their bytes in the page cache when a phase begins.
pub const CACHED_MAX: f64 = 0.01;

/// Where eviction cannot be checked, all files together are so many halves of the memory.
const MEMORY_HALVES: u64 = 3;

/// Percentage of the free space that is used.
const SPACE_PERCENT: u64 = 80;

/// A part of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// New files.
    Write,
    /// These files. What reads goes on where the phase before ended, from the beginning after the end.
    Read,
    /// Three blocks read for each that is written, to a second file.
    Mixed,
    /// A block is written to a second file for each that is read, as a DATA step copies.
    Copy,
}

impl Phase {
    /// The phase of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == word)
    }

    /// All, in their order.
    pub const ALL: [Self; 4] = [Self::Write, Self::Read, Self::Mixed, Self::Copy];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Mixed => "mixed",
            Self::Copy => "copy",
        }
    }

    /// Blocks read for each that is written to a second file; `None`: there is none.
    const fn reads_for_write(self) -> Option<u64> {
        match self {
            Self::Write | Self::Read => None,
            Self::Mixed => Some(3),
            Self::Copy => Some(1),
        }
    }
}

/// A directory that is loaded.
#[derive(Debug, Clone)]
pub struct Place {
    /// Which.
    pub directory: PathBuf,
    /// A folder in it that was made for this test, and is empty.
    pub folder: PathBuf,
}

/// Which of the hosts that do the same at the same time this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Among {
    /// From 0.
    pub rank: usize,
    /// How many there are; they are taken to share the space of the directories.
    pub hosts: usize,
}

impl Among {
    /// No other.
    pub const ALONE: Self = Self { rank: 0, hosts: 1 };

    /// A number that no stream of any host shares, so that no two write the same.
    fn stream(self, number: usize) -> u64 {
        /// More than a host has.
        const STREAMS_MAX: u64 = 1 << 24;
        self.rank as u64 * STREAMS_MAX + number as u64
    }
}

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Options {
    /// All are loaded at the same time.
    pub places: Vec<Place>,
    /// Streams in each directory.
    pub streams: usize,
    /// Phases in their order; those that read need `Write` before.
    pub phases: Vec<Phase>,
    /// Time of a phase.
    pub time: Duration,
    /// Bytes of an operation.
    pub block_bytes: usize,
    /// No file is larger; `None`: as large as time and space allow.
    pub file_bytes_max: Option<u64>,
    /// What is written.
    pub content: Content,
    /// Bytes of memory, for where eviction cannot be checked.
    pub memory_bytes: u64,
    /// Read what is in the page cache, again and again until the time is over, and do not evict.
    pub warm: bool,
    /// Which of several hosts this is.
    pub among: Among,
    /// Tells this run from all others, so that none writes what storage has kept of another one. The same in all
    /// phases, and on all hosts: by it they know what belongs where.
    pub run: u64,
}

/// What holds for all phases of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// Whether it can be seen here that a file has left the page cache.
    eviction_checked: bool,
    /// The least and the most bytes of a file.
    file_bytes: (u64, u64),
}

/// What keeps a test from being carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("failed to {action} {}", path.display())]
    Io {
        /// `write`, `read`, …
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Too little space.
    #[error("{} has {free_bytes} bytes free: {streams} streams need at least {least_bytes}", path.display())]
    Space {
        /// Where.
        path: PathBuf,
        /// Bytes that are free.
        free_bytes: u64,
        /// Streams that need room.
        streams: usize,
        /// Bytes that they need.
        least_bytes: u64,
    },
    /// A signal came.
    #[error("interrupted")]
    Interrupted,
}

/// Carries it out; `progress` hears of every second: the phase and the MB/s (10^6) of all streams.
pub fn iotest(
    options: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Phase, f64),
) -> Result<Outcome, Error> {
    let prepared = prepare(options)?;
    let mut outcome = Outcome::new(options, &prepared);
    for phase in &options.phases {
        let next = (&*outcome.phases, *phase);
        let done = one_phase(options, &prepared, next, stop, progress)?;
        outcome.phases.push(done);
    }
    Ok(outcome)
}

/// Looks at the directories before the first phase.
pub fn prepare(options: &Options) -> Result<Prepared, Error> {
    let eviction_checked = evicts(&options.places)?;
    Ok(Prepared {
        eviction_checked,
        file_bytes: file_bytes(options, eviction_checked)?,
    })
}

/// Carries one phase out after those before it; those that read need the files that `Write` left.
pub fn one_phase(
    options: &Options,
    prepared: &Prepared,
    (before, phase): (&[PhaseOutcome], Phase),
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Phase, f64),
) -> Result<PhaseOutcome, Error> {
    let cached = if phase == Phase::Write || options.warm {
        None
    } else {
        evict(options)?
    };
    let next = (before, phase);
    let mut done = carry_out(options, next, prepared.file_bytes, stop, progress)?;
    done.cached_share = cached;
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    Ok(done)
}

/// Whether it can be seen that a file has left the page cache, in every directory.
fn evicts(places: &[Place]) -> Result<bool, Error> {
    for place in places {
        let path = place.folder.join("evicted");
        let trying = |source| failed("try the page cache with", &path, source);
        fs::write(&path, vec![1; 4 << 20]).map_err(trying)?;
        cache::evict(&path).map_err(trying)?;
        let share = cache::cached_share(&path).map_err(trying)?;
        fs::remove_file(&path).map_err(trying)?;
        if share.is_none_or(|share| share > CACHED_MAX) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The least and the most bytes of a file of each stream.
fn file_bytes(options: &Options, checked: bool) -> Result<(u64, u64), Error> {
    let second = options
        .phases
        .iter()
        .any(|phase| phase.reads_for_write().is_some());
    let reads = options.phases.iter().any(|phase| *phase != Phase::Write);
    let all = (options.streams * options.places.len()) as u64;
    let least = if checked || options.warm || !reads {
        options.block_bytes as u64
    } else {
        options.memory_bytes / 2 * MEMORY_HALVES / all
    };
    let mut most = options.file_bytes_max.unwrap_or(u64::MAX);
    // Who asks for smaller files gets them, and no answer where it cannot be told what is cached.
    let least = least.min(most).max(options.block_bytes as u64);
    for place in &options.places {
        let space = rustix::fs::statvfs(&place.folder)
            .map_err(|error| failed("look at the space of", &place.folder, error.into()))?;
        let free_bytes = space.f_bavail * space.f_frsize;
        // Directories may lie on the same file system, and hosts share it.
        let files = if second { 2 * all } else { all } * options.among.hosts as u64;
        let each = free_bytes / 100 * SPACE_PERCENT / files;
        if each < least {
            return Err(Error::Space {
                path: place.directory.clone(),
                free_bytes,
                streams: options.streams * options.places.len(),
                least_bytes: least.saturating_mul(files) / SPACE_PERCENT * 100,
            });
        }
        most = most.min(each);
    }
    Ok((least, most.max(least)))
}

/// Takes all files out of the page cache; the largest share of one that stayed, `None` where that cannot be
/// seen.
fn evict(options: &Options) -> Result<Option<f64>, Error> {
    let mut largest = Some(0.0);
    for (place, stream) in everyone(options) {
        let path = Files::first(&options.places[place].folder, stream);
        let evicting = |source| failed("evict", &path, source);
        cache::evict(&path).map_err(evicting)?;
        let share = cache::cached_share(&path).map_err(evicting)?;
        largest = largest
            .zip(share)
            .map(|(largest, share): (f64, f64)| largest.max(share));
    }
    Ok(largest)
}

/// Every stream of every directory.
fn everyone(options: &Options) -> impl Iterator<Item = (usize, usize)> + '_ {
    (0..options.places.len())
        .flat_map(|place| (0..options.streams).map(move |stream| (place, stream)))
}

/// What belongs in the first file of a stream, or in the second one of a phase.
fn blocks(options: &Options, number: usize, second: Option<Phase>) -> Blocks {
    let stream = Stream::new(options.run).child(options.among.stream(number));
    let file = second.map_or(0, |phase| 1 + phase as u64);
    Blocks::new(options.content, options.block_bytes, stream.child(file))
}

/// Bytes that a stream has read in these phases.
fn read_bytes(phases: &[PhaseOutcome], (place, stream): (usize, usize)) -> u64 {
    let stream = |phase: &PhaseOutcome| phase.places.get(place)?.streams.get(stream).copied();
    let all = phases.iter().filter_map(stream);
    all.map(|stream| stream.read_bytes).sum()
}

fn carry_out(
    options: &Options,
    (before, phase): (&[PhaseOutcome], Phase),
    limits: (u64, u64),
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Phase, f64),
) -> Result<PhaseOutcome, Error> {
    let all: Vec<(usize, usize)> = everyone(options).collect();
    let moving: Vec<AtomicU64> = all.iter().map(|_| AtomicU64::new(0)).collect();
    let start = Barrier::new(all.len() + 1);
    // One stream that fails ends them all.
    let failing = AtomicBool::new(false);
    let counters = Counters::now(&options.places);
    let (sender, receiver) = mpsc::channel();
    let mut outcome = thread::scope(|scope| {
        for (number, (place, stream)) in all.iter().enumerate() {
            let (sender, start, moving) = (sender.clone(), &start, &moving[number]);
            let failing = &failing;
            let files = Files::of(&options.places[*place].folder, *stream);
            let blocks = move |file| blocks(options, number, file);
            let bounds = stream::Bounds {
                read_before: read_bytes(before, (*place, *stream)),
                time: options.time,
                least: limits.0,
                most: limits.1,
                again: options.warm && phase == Phase::Read,
            };
            scope.spawn(move || {
                let opened = files.open(phase);
                start.wait();
                let began = Instant::now();
                let moved = opened.and_then(|opened| {
                    opened.run(phase, blocks, bounds, &|bytes| {
                        moving.fetch_add(bytes, Ordering::Relaxed);
                        stop.load(Ordering::Relaxed) || failing.load(Ordering::Relaxed)
                    })
                });
                if moved.is_err() {
                    failing.store(true, Ordering::Relaxed);
                }
                // Nobody listens any more after an error.
                let _ = sender.send((number, moved, began.elapsed()));
            });
        }
        drop(sender);
        let began = SystemTime::now().duration_since(UNIX_EPOCH);
        let began_unix_s = began.unwrap_or_default().as_secs_f64();
        start.wait();
        watch(&all, &moving, &receiver, &mut |rate| progress(phase, rate)).map(
            |(streams, seconds)| {
                PhaseOutcome::new(options, phase, &all, (&streams, &seconds), began_unix_s)
            },
        )
    })?;
    outcome.devices = counters.since(&options.places, &outcome);
    if phase.reads_for_write().is_some() {
        for (place, stream) in &all {
            let path = Files::second(&options.places[*place].folder, *stream);
            fs::remove_file(&path).map_err(|source| failed("remove", &path, source))?;
        }
    }
    Ok(outcome)
}

/// What each stream did, and what all moved in each second, bytes.
type Watched = (Vec<(Moved, Duration)>, Vec<u64>);
/// A stream that ended, by its number.
type Ended = (usize, Result<Moved, Error>, Duration);

/// Waits for all streams.
fn watch(
    all: &[(usize, usize)],
    moving: &[AtomicU64],
    ended: &mpsc::Receiver<Ended>,
    progress: &mut dyn FnMut(f64),
) -> Result<Watched, Error> {
    let mut streams: Vec<Option<(Moved, Duration)>> = vec![None; all.len()];
    let (mut seconds, mut before) = (Vec::new(), 0);
    let mut next = Instant::now() + Duration::from_secs(1);
    while streams.iter().any(Option::is_none) {
        match ended.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Ok((number, moved, elapsed)) => streams[number] = Some((moved?, elapsed)),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                next += Duration::from_secs(1);
                let now: u64 = moving
                    .iter()
                    .map(|bytes| bytes.load(Ordering::Relaxed))
                    .sum();
                progress((now - before) as f64 / 1e6);
                seconds.push(now - before);
                before = now;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok((streams.into_iter().flatten().collect(), seconds))
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

/// Opens a file that is there.
fn open(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(|source| failed("open", path, source))
}

#[cfg(test)]
mod tests;
