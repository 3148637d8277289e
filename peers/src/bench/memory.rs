//! What the page cache finds when it grows. The host of a virtual machine takes free memory back within
//! moments and gives it again page by page, at ten times the price: whoever fills the cache first would pay for all.

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// What is touched before a run that writes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Touched {
    Most,
    /// So many times what it reads.
    Times(u64),
}

impl Touched {
    pub(super) fn of(self, bytes: u64) -> u64 {
        match self {
            Self::Most => u64::MAX,
            Self::Times(times) => bytes * times,
        }
    }
}

/// Touches so much of the free memory once, or most of it.
pub(super) fn touch(bytes: u64) -> Result<()> {
    let most = free_bytes()? / 4 * 3;
    std::hint::black_box(vec![1u8; usize::try_from(bytes.min(most))?]);
    Ok(())
}

/// Fills free memory with a file that has no blocks, so that what is read and written takes its pages from
/// the cache, as on a host that has run for days.
#[derive(Debug)]
pub(super) struct Filler {
    path: PathBuf,
    next: Option<File>,
}

impl Filler {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, next: None }
    }

    /// Reads on where the last call stopped: what was read first was given up first.
    pub(super) fn fill(&mut self) -> Result<()> {
        const STEP_BYTES: u64 = 64 << 20;
        let mut block = vec![0u8; 1 << 20];
        let mut free = u64::MAX;
        // Memory is full when reading no longer takes any: the kernel keeps some free.
        while free_bytes()? + STEP_BYTES / 2 < free {
            free = free_bytes()?;
            let mut file = match self.next.take() {
                Some(file) => file,
                None => self.begin()?,
            };
            let mut at_end = false;
            for _ in 0..STEP_BYTES / block.len() as u64 {
                at_end = at_end || file.read(&mut block)? == 0;
            }
            self.next = (!at_end).then_some(file);
        }
        Ok(())
    }

    fn begin(&self) -> Result<File> {
        if !self.path.exists() {
            File::create(&self.path)?.set_len(2 * field("MemTotal:")?)?;
        }
        Ok(File::open(&self.path)?)
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn free_bytes() -> Result<u64> {
    field("MemFree:")
}

fn field(name: &str) -> Result<u64> {
    let facts = fs::read_to_string("/proc/meminfo")?;
    let kib: Option<u64> = facts
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse().ok());
    Ok(kib.with_context(|| format!("/proc/meminfo has no {name}"))? * 1024)
}
