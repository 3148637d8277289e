//! Counters of a job's channels that its launcher can read at any moment: a page of shared memory for
//! each job. A job adds to its page with plain stores; whoever watches loads from it. No file system
//! is touched, since the pages of a mapped file on a disk stall their writer whenever the kernel
//! writes them back.
//!
//! A page is an array of 64-bit words: `MAGIC`, what `CANCELLED` is, and from the ninth on for each
//! channel four words per operation (calls, failed calls, bytes, nanoseconds) and the classes of
//! latency.

#![expect(
    unsafe_code,
    reason = "atomics in memory that two processes map have no safe wrapper"
)]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::store::{Channel, Operation};
use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags};

/// A job's share of the memory: one page.
pub const SLOT_BYTES: u64 = 8 * SLOT_WORDS as u64;

const SLOT_WORDS: usize = 512;

/// Classes of latency: class 0 is below 1 µs, class n from 2^(n-1) to below 2^n µs; the last is open.
pub const CLASSES: usize = 32;

/// The word with the bytes that never had to be written, since their files were removed; one more
/// than that, so that 0 is not known.
const CANCELLED: usize = 1;

/// First word of a slot that a job has taken: `GRISTLV1`.
const MAGIC: u64 = u64::from_be_bytes(*b"GRISTLV1");

const WORDS_OF_OPERATION: usize = 4;
const FIRST_CLASS: usize = WORDS_OF_OPERATION * Operation::ALL.len();
const WORDS_OF_CHANNEL: usize = FIRST_CLASS + CLASSES;
const FIRST_CHANNEL: usize = 8;
const WORDS: usize = FIRST_CHANNEL + WORDS_OF_CHANNEL * Channel::ALL.len();
const _: () = assert!(WORDS <= SLOT_WORDS, "a slot is one page");

/// What a channel of a job has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveChannel {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Operations that move no bytes.
    pub metadata_operations: u64,
    /// Of these, those that change a directory or a file's length.
    pub changes: u64,
    /// Time inside all operations.
    pub blocked: Duration,
    /// Reads and writes by class of latency.
    pub classes: [u64; CLASSES],
}

impl LiveChannel {
    /// Adds another job's.
    pub fn add(&mut self, other: &Self) {
        self.read_bytes += other.read_bytes;
        self.write_bytes += other.write_bytes;
        self.metadata_operations += other.metadata_operations;
        self.changes += other.changes;
        self.blocked += other.blocked;
        for (total, more) in self.classes.iter_mut().zip(other.classes) {
            *total += more;
        }
    }

    /// What was added since `earlier`; what went back counts as nothing.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut classes = self.classes;
        for (count, before) in classes.iter_mut().zip(earlier.classes) {
            *count = count.saturating_sub(before);
        }
        Self {
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
            metadata_operations: self
                .metadata_operations
                .saturating_sub(earlier.metadata_operations),
            changes: self.changes.saturating_sub(earlier.changes),
            blocked: self.blocked.saturating_sub(earlier.blocked),
            classes,
        }
    }
}

/// The channels of a job, in the order of [`Channel::ALL`].
pub type LiveCounts = [LiveChannel; Channel::ALL.len()];

/// The class that a latency is in.
pub fn class_of(nanoseconds: u64) -> usize {
    let microseconds = nanoseconds / 1000;
    ((u64::BITS - microseconds.leading_zeros()) as usize).min(CLASSES - 1)
}

/// The upper end of a class, microseconds.
pub const fn class_end_us(class: usize) -> u64 {
    1 << class
}

/// The classes that are not empty: upper ends in microseconds and counts.
pub fn classes_in_use(counts: &[u64]) -> Vec<(u64, u64)> {
    let used = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    used.map(|(class, count)| (class_end_us(class), *count))
        .collect()
}

/// Words of shared memory.
#[derive(Debug)]
struct Words {
    map: MmapRaw,
}

impl Words {
    fn map(file: &File, offset: u64, bytes: u64) -> io::Result<Self> {
        let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
        let map = MmapOptions::new().offset(offset).len(bytes).map_raw(file)?;
        Ok(Self { map })
    }

    #[inline]
    fn at(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.map.len() / 8, "word {index} is outside");
        #[expect(clippy::cast_ptr_alignment, reason = "mappings begin at pages")]
        let first = self.map.as_mut_ptr().cast::<u64>();
        // SAFETY: the word lies inside of the mapping, which lives as long as `self` and is aligned to
        // pages; the file behind it is sealed against shrinking, or was long enough when it was mapped
        // and belongs to whoever made it; every access in every process is atomic.
        unsafe { AtomicU64::from_ptr(first.add(index)) }
    }

    fn get(&self, index: usize) -> u64 {
        self.at(index).load(Ordering::Relaxed)
    }
}

fn word_of(channel: Channel, operation: Operation) -> usize {
    FIRST_CHANNEL + WORDS_OF_CHANNEL * channel as usize + WORDS_OF_OPERATION * operation as usize
}

/// Memory for the counters of all jobs of a run, as the launcher holds it.
#[derive(Debug)]
pub struct LiveMemory {
    file: File,
    words: Words,
    slots: usize,
}

impl LiveMemory {
    /// Memory for so many jobs; pages are taken as jobs touch them.
    pub fn create(slots: usize) -> io::Result<Self> {
        let bytes = slots.max(1) as u64 * SLOT_BYTES;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(rustix::fs::memfd_create("gristmill-live", flags)?);
        file.set_len(bytes)?;
        // A mapping that ends before its file kills who looks there.
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK)?;
        let words = Words::map(&file, 0, bytes)?;
        Ok(Self { file, words, slots })
    }

    /// The path by which a job of the same user opens it while this process lives.
    pub fn path(&self) -> PathBuf {
        let (process, descriptor) = (std::process::id(), self.file.as_raw_fd());
        PathBuf::from(format!("/proc/{process}/fd/{descriptor}"))
    }

    /// For how many jobs it is.
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// Bytes that the last job of a slot made dirty and that never had to be written, once it has
    /// said so at its end.
    pub fn cancelled_write_bytes(&self, slot: usize) -> Option<u64> {
        let first = slot.checked_mul(SLOT_WORDS)?;
        (slot < self.slots).then(|| self.words.get(first + CANCELLED).checked_sub(1))?
    }

    /// What the job of a slot has done so far; `None` until it has taken its slot.
    pub fn counts(&self, slot: usize) -> Option<LiveCounts> {
        if slot >= self.slots {
            return None;
        }
        let first = slot * SLOT_WORDS;
        let get = |index: usize| self.words.get(first + index);
        (get(0) == MAGIC).then(|| {
            Channel::ALL.map(|channel| {
                let mut counts = LiveChannel::default();
                for operation in Operation::ALL {
                    let word = word_of(channel, operation);
                    let (calls, bytes) = (get(word), get(word + 2));
                    counts.blocked += Duration::from_nanos(get(word + 3));
                    match operation {
                        Operation::Read => counts.read_bytes += bytes,
                        Operation::Write | Operation::HeaderRewrite => counts.write_bytes += bytes,
                        Operation::Create
                        | Operation::Rename
                        | Operation::Unlink
                        | Operation::Truncate
                        | Operation::Directory => {
                            counts.metadata_operations += calls;
                            counts.changes += calls;
                        }
                        _ => counts.metadata_operations += calls,
                    }
                }
                let classes = word_of(channel, Operation::ALL[0]) + FIRST_CLASS;
                for (class, count) in counts.classes.iter_mut().enumerate() {
                    *count = get(classes + class);
                }
                counts
            })
        })
    }
}

/// A job's own slot.
#[derive(Debug)]
pub struct LiveSlot {
    words: Words,
}

impl LiveSlot {
    /// Takes slot number `slot` of the memory at `path`. What is counted there already stays: a job
    /// that is started again goes on counting.
    pub fn open(path: &Path, slot: u64) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let offset = slot.saturating_mul(SLOT_BYTES);
        if file.metadata()?.len() < offset.saturating_add(SLOT_BYTES) {
            let message = format!("it has no slot {slot}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let words = Words::map(&file, offset, SLOT_BYTES)?;
        words.at(CANCELLED).store(0, Ordering::Relaxed);
        words.at(0).store(MAGIC, Ordering::Relaxed);
        Ok(Self { words })
    }

    /// Says at the end how much of what was made dirty never had to be written.
    pub fn set_cancelled_write_bytes(&self, bytes: u64) {
        let told = bytes.saturating_add(1);
        self.words.at(CANCELLED).store(told, Ordering::Relaxed);
    }

    /// Counts a call. No two threads may count the same operation of the same channel at once; the
    /// classes are the only words that several operations share.
    #[inline]
    pub(crate) fn add(
        &self,
        (channel, operation): (Channel, Operation),
        bytes: u64,
        nanoseconds: u64,
        failed: bool,
    ) {
        let word = word_of(channel, operation);
        let more = [1, u64::from(failed), bytes, nanoseconds];
        for (place, more) in more.into_iter().enumerate().filter(|(_, more)| *more > 0) {
            let at = self.words.at(word + place);
            at.store(at.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        }
        if matches!(
            operation,
            Operation::Read | Operation::Write | Operation::HeaderRewrite
        ) {
            let classes = word_of(channel, Operation::ALL[0]) + FIRST_CLASS;
            self.words
                .at(classes + class_of(nanoseconds))
                .fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watcher_sees_what_a_job_counts() {
        let memory = LiveMemory::create(3).unwrap();
        assert_eq!(memory.counts(1), None);
        let slot = LiveSlot::open(&memory.path(), 1).unwrap();
        slot.add((Channel::Work, Operation::Write), 4096, 3_000, false);
        slot.add((Channel::Work, Operation::HeaderRewrite), 8, 3_999, false);
        slot.add((Channel::Work, Operation::Read), 100, 500, false);
        slot.add((Channel::Util, Operation::Create), 0, 70_000, true);
        let counts = memory.counts(1).unwrap();
        let work = counts[Channel::Work as usize];
        assert_eq!((work.read_bytes, work.write_bytes), (100, 4104));
        assert_eq!(work.blocked, Duration::from_nanos(7_499));
        assert_eq!(classes_in_use(&work.classes), [(1, 1), (4, 2)]);
        let util = counts[Channel::Util as usize];
        assert_eq!((util.metadata_operations, util.read_bytes), (1, 0));
        assert_eq!((util.changes, work.changes), (1, 0));
        assert_eq!(memory.cancelled_write_bytes(1), None);
        slot.set_cancelled_write_bytes(0);
        assert_eq!(memory.cancelled_write_bytes(1), Some(0));
        assert_eq!(memory.cancelled_write_bytes(3), None);
        assert_eq!(classes_in_use(&util.classes), []);
        assert_eq!(memory.counts(0), None);
        assert_eq!(memory.counts(3), None);
    }

    #[test]
    fn a_job_started_again_goes_on_counting() {
        let memory = LiveMemory::create(1).unwrap();
        let key = (Channel::Input, Operation::Read);
        LiveSlot::open(&memory.path(), 0)
            .unwrap()
            .add(key, 10, 1, false);
        let before = memory.counts(0).unwrap()[0];
        LiveSlot::open(&memory.path(), 0)
            .unwrap()
            .add(key, 5, 1, false);
        let after = memory.counts(0).unwrap()[0];
        assert_eq!(after.read_bytes, 15);
        assert_eq!(after.since(&before).read_bytes, 5);
        assert_eq!(before.since(&after).read_bytes, 0);
    }

    #[test]
    fn a_slot_that_is_not_there_is_refused() {
        let memory = LiveMemory::create(2).unwrap();
        for slot in [2, u64::MAX] {
            let error = LiveSlot::open(&memory.path(), slot).unwrap_err();
            assert!(error.to_string().contains("has no slot"), "{error}");
        }
    }

    #[test]
    fn classes_are_powers_of_two_of_microseconds() {
        let cases = [
            (0, 1),
            (999, 1),
            (1_000, 2),
            (1_999, 2),
            (2_000, 4),
            (1_000_000, 1024),
            (u64::MAX, 1 << 31),
        ];
        for (nanoseconds, end) in cases {
            assert_eq!(class_end_us(class_of(nanoseconds)), end, "{nanoseconds}");
        }
    }
}
