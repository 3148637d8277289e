//! What is asked of an agent, and what it answers: one line of JSON each, so that a pipe, or a program that
//! starts it on another host, carries them.

use serde::{Deserialize, Serialize};

use crate::probe::metadata::{Operation, Worked};
use crate::probe::stream::Moved;
use crate::probe::visibility::Look;

/// A question or an order. Files are named below the folder of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::probe) enum Request {
    /// Who are you, and what stands in this file?
    Identify { file: String },
    /// Opens a file, to be called by a number.
    Open { slot: u32, file: String },
    /// Closes it; with it go all locks of this process on the file.
    Close { slot: u32 },
    /// Locks all of it; who waits, waits until the lock is given.
    Lock {
        slot: u32,
        exclusive: bool,
        wait: bool,
    },
    /// Gives the lock back.
    Unlock { slot: u32 },
    /// Gives one lock back, waits for another, and says how long it took.
    HandOver { release: u32, wait: u32 },
    /// Waits for one lock, and gives another back at once.
    Relay { wait: u32, release: u32 },
    /// Adds 1 to the number in a file, again and again, each time under a lock.
    Add { file: String, times: u32, ms: u64 },
    /// Reads a file to its end.
    Read { file: String, pace: Option<u64> },
    /// Reads or writes a file for a time; one that is read is read once.
    Stream {
        file: String,
        write: bool,
        bytes: u64,
        ms: u64,
        pace: Option<u64>,
    },
    /// One kind of operation on many small files of a folder.
    Metadata {
        operation: Operation,
        folder: String,
        files: u32,
        /// When to begin, by this host's monotonic clock.
        begin_ns: u64,
        ms: u64,
        pause_us: u64,
    },
    /// Looks until everything has changed, or the time is over.
    Watch {
        looks: Vec<(String, Look)>,
        interval_ms: u64,
        ms: u64,
    },
    /// What of a file is in the page cache.
    Pages { file: String },
    /// Takes and touches memory, and keeps it.
    Take { bytes: u64 },
    /// Writes so many bytes, each this one, at a place.
    Put {
        file: String,
        offset: u64,
        bytes: u64,
        byte: u8,
    },
    /// The whole of a small file, hashed.
    Hash { file: String },
}

/// What comes back: one line for each request; for `Watch` one for each change, and one at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::probe) enum Answer {
    /// To `Identify`.
    Identified {
        /// What the file holds; `None`: it is not there.
        text: Option<String>,
        /// Number of the device that the folder is on.
        device: u64,
        /// What tells this start of this host from others.
        boot: String,
    },
    /// Done.
    Done,
    /// Whether a lock was given.
    Locked { granted: bool },
    /// How long it took.
    Took { ns: u64 },
    /// What was moved.
    Moved(Moved),
    /// How often, and how long that took.
    Counted { count: u32, ns: u64 },
    /// To `Metadata`: what was done.
    Worked(Worked),
    /// The first change that this look showed.
    Seen { look: u32 },
    /// Everything that is watched was seen once: changes may begin.
    Watching,
    /// Pages of a file; `None`: they cannot be told.
    Pages { cached: Option<(u64, u64)> },
    /// To `Hash`.
    Hashed { hash: u64, bytes: u64 },
    /// It could not be done.
    Failed { code: i32, text: String },
}
