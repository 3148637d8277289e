//! Utility files: sorted runs one after the other, written and read in blocks.

use std::path::PathBuf;

use base::store::{Result, StoreFile};

/// A utility file being filled.
pub(super) struct UtilityFile {
    pub(super) file: Box<dyn StoreFile>,
    pub(super) path: PathBuf,
    /// Where the next run starts, bytes.
    pub(super) end: u64,
}

/// A sorted run in a utility file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// Appends one run, a block per write.
pub(super) struct RunWriter<'a> {
    file: &'a mut UtilityFile,
    start: u64,
    block: Vec<u8>,
    block_bytes: usize,
}

impl<'a> RunWriter<'a> {
    pub(super) fn new(file: &'a mut UtilityFile, block_bytes: u64) -> Self {
        let block_bytes = usize::try_from(block_bytes).expect("blocks are at most 16 MiB");
        let start = file.end;
        Self {
            file,
            start,
            block: Vec::with_capacity(block_bytes),
            block_bytes,
        }
    }

    #[inline]
    pub(super) fn write_row(&mut self, mut row: &[u8]) -> Result<()> {
        loop {
            let room = self.block_bytes - self.block.len();
            if row.len() < room {
                self.block.extend_from_slice(row);
                return Ok(());
            }
            let (head, rest) = row.split_at(room);
            self.block.extend_from_slice(head);
            self.flush()?;
            row = rest;
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.file.file.write_at(self.file.end, &self.block)?;
        self.file.end += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }

    /// Writes what is left. The next run starts at a block boundary, as direct I/O needs it.
    pub(super) fn finish(mut self) -> Result<Run> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        let run = Run {
            start: self.start,
            bytes: self.file.end - self.start,
        };
        self.file.end = self.file.end.next_multiple_of(self.block_bytes as u64);
        Ok(run)
    }
}

/// Reads one run back, a block per read.
pub(super) struct RunReader<'a> {
    file: &'a dyn StoreFile,
    row_bytes: usize,
    block_bytes: usize,
    next: u64,
    left: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl<'a> RunReader<'a> {
    pub(super) fn new(
        file: &'a dyn StoreFile,
        run: Run,
        row_bytes: u32,
        block_bytes: u64,
    ) -> Result<Self> {
        let mut reader = Self {
            file,
            row_bytes: row_bytes as usize,
            block_bytes: usize::try_from(block_bytes).expect("blocks are at most 16 MiB"),
            next: run.start,
            left: run.bytes,
            buffer: Vec::new(),
            at: 0,
        };
        reader.refill()?;
        Ok(reader)
    }

    /// The row the reader stands on; `None` at the end of the run.
    #[inline]
    pub(super) fn row(&self) -> Option<&[u8]> {
        self.buffer.get(self.at..self.at + self.row_bytes)
    }

    /// Moves to the next row.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<()> {
        self.at += self.row_bytes;
        if self.at + self.row_bytes > self.buffer.len() {
            self.refill()?;
        }
        Ok(())
    }

    /// Keeps the bytes of a row that crosses blocks and reads on until a whole row is there.
    fn refill(&mut self) -> Result<()> {
        self.buffer.drain(..self.at.min(self.buffer.len()));
        self.at = 0;
        while self.buffer.len() < self.row_bytes && self.left > 0 {
            let kept = self.buffer.len();
            let wanted = usize::try_from(self.left)
                .unwrap_or(usize::MAX)
                .min(self.block_bytes);
            self.buffer.resize(kept + wanted, 0);
            let count = self.file.read_at(self.next, &mut self.buffer[kept..])?;
            if count < wanted {
                let cut = std::io::Error::new(
                    std::io::ErrorKind::UnexpectedEof,
                    "the utility file is shorter than what was written to it",
                );
                let path = std::path::Path::new("utility file");
                return Err(base::store::StoreError::new(
                    base::store::Operation::Read,
                    path,
                    cut,
                ));
            }
            self.next += wanted as u64;
            self.left -= wanted as u64;
        }
        Ok(())
    }
}
