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
pub(super) struct RunReader {
    row_bytes: usize,
    block_bytes: usize,
    next: u64,
    left: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl RunReader {
    /// Most that a reader holds: the part of a row that crosses into a block, and the block.
    pub(super) fn buffer_bytes(row_bytes: u32, block_bytes: u64) -> u64 {
        u64::from(row_bytes) + block_bytes
    }

    pub(super) fn new(
        file: &dyn StoreFile,
        run: Run,
        row_bytes: u32,
        block_bytes: u64,
    ) -> Result<Self> {
        let mut reader = Self {
            row_bytes: row_bytes as usize,
            block_bytes: usize::try_from(block_bytes).expect("blocks are at most 16 MiB"),
            next: run.start,
            left: run.bytes,
            buffer: Vec::new(),
            at: 0,
        };
        let most = Self::buffer_bytes(row_bytes, block_bytes).min(run.bytes);
        let most = usize::try_from(most).expect("blocks are at most 16 MiB, rows fit a page");
        // Taken once and exactly: growing would double it.
        reader.buffer.reserve_exact(most);
        reader.refill(file)?;
        Ok(reader)
    }

    /// The row the reader stands on; `None` at the end of the run.
    #[inline]
    pub(super) fn row(&self) -> Option<&[u8]> {
        self.buffer.get(self.at..self.at + self.row_bytes)
    }

    /// Moves to the next row; `file` is the one it was made with.
    #[inline]
    pub(super) fn advance(&mut self, file: &dyn StoreFile) -> Result<()> {
        self.at += self.row_bytes;
        if self.at + self.row_bytes > self.buffer.len() {
            self.refill(file)?;
        }
        Ok(())
    }

    /// Keeps the bytes of a row that crosses blocks and reads on until a whole row is there.
    fn refill(&mut self, file: &dyn StoreFile) -> Result<()> {
        self.buffer.drain(..self.at.min(self.buffer.len()));
        self.at = 0;
        while self.buffer.len() < self.row_bytes && self.left > 0 {
            let kept = self.buffer.len();
            let wanted = usize::try_from(self.left)
                .unwrap_or(usize::MAX)
                .min(self.block_bytes);
            self.buffer.resize(kept + wanted, 0);
            let count = file.read_at(self.next, &mut self.buffer[kept..])?;
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::store::memory::MemoryStore;
    use base::store::{Channel, Creation, Store};

    use super::*;

    #[test]
    fn a_reader_never_holds_more_than_a_row_and_a_block() {
        for (row_bytes, block_bytes) in [(24u32, 4096u64), (4096, 4096), (10_000, 4096), (7, 4099)]
        {
            let path = Path::new("/u");
            let file = MemoryStore::new()
                .create(Channel::Util, path, Creation::New)
                .unwrap();
            let mut file = UtilityFile {
                file,
                path: path.to_owned(),
                end: 0,
            };
            let row = |number: u8| vec![number; row_bytes as usize];
            let mut writer = RunWriter::new(&mut file, block_bytes);
            for number in 0..200 {
                writer.write_row(&row(number)).unwrap();
            }
            let run = writer.finish().unwrap();
            let mut reader =
                RunReader::new(file.file.as_ref(), run, row_bytes, block_bytes).unwrap();
            let most = RunReader::buffer_bytes(row_bytes, block_bytes);
            for number in 0..200 {
                assert_eq!(reader.row(), Some(row(number).as_slice()));
                assert!(reader.buffer.capacity() as u64 <= most, "{row_bytes}");
                reader.advance(file.file.as_ref()).unwrap();
            }
            assert_eq!(reader.row(), None);
        }
    }
}
