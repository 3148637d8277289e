//! Files that are written and read block by block, with figures of what it took.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use base::random::Stream;
use serde::{Deserialize, Serialize};

use crate::iotest::Content;
use crate::iotest::blocks::Blocks;

/// Bytes of an operation where nothing else is said: what SAS's options are set to in the papers.
pub(super) const BLOCK_BYTES: usize = 128 << 10;

/// Who must go slowly flushes after so many bytes, so that the flush does not come in one rush.
const FLUSHED_BYTES: u64 = 4 << 20;

/// How files are moved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moving<'a> {
    /// Bytes of an operation.
    pub(super) block_bytes: usize,
    /// The first block begins after so many bytes, as pages do after a header.
    pub(super) head_bytes: u64,
    /// Bytes a second at the most.
    pub(super) pace: Option<u64>,
    /// When to end.
    pub(super) until: Option<Instant>,
    /// Raised when everything is to end.
    pub(super) stop: &'a AtomicBool,
}

/// What was moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Moved {
    /// Bytes.
    pub(super) bytes: u64,
    /// Time in calls that move them, and in the flush; pauses do not count.
    pub(super) busy_ns: u64,
    /// From the beginning to the end, pauses and all.
    pub(super) elapsed_ns: u64,
    /// Bytes that came from the device or the server, where that can be seen.
    pub(super) physical_bytes: Option<u64>,
}

impl Moved {
    /// MB/s (10^6) while it moved.
    pub(super) fn mb_per_s(&self) -> f64 {
        self.bytes as f64 * 1e3 / self.busy_ns.max(1) as f64
    }
}

impl<'a> Moving<'a> {
    /// Blocks of 128 KiB from the beginning, to the end.
    pub(super) fn all(pace: Option<u64>, stop: &'a AtomicBool) -> Self {
        Self {
            block_bytes: BLOCK_BYTES,
            head_bytes: 0,
            pace,
            until: None,
            stop,
        }
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.until.is_some_and(|end| Instant::now() >= end)
    }

    /// Waits until what was moved is no more than the pace allows.
    fn keep_pace(&self, begun: Instant, bytes: u64) {
        let Some(pace) = self.pace else { return };
        let due = Duration::from_secs_f64(bytes as f64 / pace.max(1) as f64);
        while let Some(early) = due.checked_sub(begun.elapsed()) {
            if self.is_over() {
                return;
            }
            thread::sleep(early.min(Duration::from_millis(100)));
        }
    }

    /// Writes random blocks, which nothing can compress, and flushes them.
    pub(super) fn write(&self, file: &File, bytes: u64) -> io::Result<Moved> {
        let mut blocks = Blocks::new(Content::Random, self.block_bytes, Stream::new(0));
        let (begun, mut moved, mut flushed) = (Instant::now(), Moved::default(), 0);
        let mut busy = Duration::ZERO;
        for number in 0.. {
            if moved.bytes >= bytes || self.is_over() {
                break;
            }
            let block = blocks.block(number);
            let call = Instant::now();
            file.write_all_at(block, self.head_bytes + moved.bytes)?;
            moved.bytes += block.len() as u64;
            if self.pace.is_some() && moved.bytes - flushed >= FLUSHED_BYTES {
                file.sync_data()?;
                flushed = moved.bytes;
            }
            busy += call.elapsed();
            self.keep_pace(begun, moved.bytes);
        }
        let call = Instant::now();
        file.sync_data()?;
        moved.busy_ns = ns(busy + call.elapsed());
        moved.elapsed_ns = ns(begun.elapsed());
        Ok(moved)
    }

    /// Reads to the end of the file.
    pub(super) fn read(&self, file: &File) -> io::Result<Moved> {
        self.read_with(&mut |block, at| file.read_at(block, at))
    }

    /// The same by another call, which is given a block and its place.
    pub(super) fn read_with(
        &self,
        call: &mut dyn FnMut(&mut [u8], u64) -> io::Result<usize>,
    ) -> io::Result<Moved> {
        let mut block = vec![0; self.block_bytes];
        let (begun, mut moved, mut busy) = (Instant::now(), Moved::default(), Duration::ZERO);
        while !self.is_over() {
            let begin = Instant::now();
            let count = call(&mut block, self.head_bytes + moved.bytes)?;
            busy += begin.elapsed();
            if count == 0 {
                break;
            }
            moved.bytes += count as u64;
            self.keep_pace(begun, moved.bytes);
        }
        moved.busy_ns = ns(busy);
        moved.elapsed_ns = ns(begun.elapsed());
        Ok(moved)
    }

    /// Makes a file anew.
    pub(super) fn create(&self, path: &Path, bytes: u64) -> io::Result<Moved> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        self.write(&file, bytes)
    }
}

/// Nanoseconds of a time.
pub(super) fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
