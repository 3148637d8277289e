//! Where PUT writes: a text file by blocks, or the log; and the line being built.

use std::path::{Path, PathBuf};

use base::store::{Access, Channel, Creation, StoreError, StoreFile};

use super::infile::{BLOCK_BYTES, channel};
use super::program::Hold;
use crate::failure::{Failure, Outcome};
use crate::session::World;

/// A line being built.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// Where the pointer stands, from 0.
    pub(super) pointer: usize,
    /// The last item was a list value: the next one is set apart.
    pub(super) apart: bool,
    pub(super) hold: Option<Hold>,
}

impl Line {
    /// Puts `text` at the pointer.
    pub(super) fn put(&mut self, text: &[u8]) {
        if self.pointer == self.bytes.len() {
            self.bytes.extend_from_slice(text);
        } else {
            let end = self.pointer + text.len();
            if self.bytes.len() < end {
                self.bytes.resize(end, b' ');
            }
            self.bytes[self.pointer..end].copy_from_slice(text);
        }
        self.pointer += text.len();
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        (self.pointer, self.apart, self.hold) = (0, false, None);
    }
}

/// Options of FILE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileOptions {
    pub(super) delimiter: Option<Vec<u8>>,
    pub(super) dsd: bool,
    pub(super) lrecl: usize,
    /// MOD: lines are added to a file that is there.
    pub(super) append: bool,
}

/// A text file being written.
pub(in crate::datastep) struct OutFile {
    pub(super) label: String,
    pub(super) path: PathBuf,
    pub(super) options: FileOptions,
    file: Option<Box<dyn StoreFile>>,
    offset: u64,
    block: Vec<u8>,
    pub(super) line: Line,
    written: u64,
    shortest: usize,
    longest: usize,
}

/// The line that PUT builds for the log.
#[derive(Debug, Default)]
pub(in crate::datastep) struct LogLine {
    pub(super) line: Line,
}

impl LogLine {
    /// Writes the line.
    pub(super) fn end_line(&mut self, world: &mut World) {
        world.log.line(&String::from_utf8_lossy(&self.line.bytes));
        self.line.clear();
    }

    /// Writes a line held by a single `@`.
    pub(in crate::datastep) fn release(&mut self, world: &mut World) {
        if self.line.hold == Some(Hold::Iteration) {
            self.end_line(world);
        }
    }

    /// Writes what is left at the end of the step.
    pub(in crate::datastep) fn finish(&mut self, world: &mut World) {
        if self.line.hold.is_some() {
            self.end_line(world);
        }
    }
}

impl OutFile {
    pub(super) fn new(label: String, path: &Path, options: FileOptions) -> Self {
        Self {
            label,
            path: path.to_owned(),
            options,
            file: None,
            offset: 0,
            block: Vec::with_capacity(BLOCK_BYTES),
            line: Line::default(),
            written: 0,
            shortest: usize::MAX,
            longest: 0,
        }
    }

    /// Creates the file, or opens it with MOD, and says so.
    pub(in crate::datastep) fn open(&mut self, world: &mut World) -> Outcome<()> {
        let channel = channel(world, &self.path, Channel::Output);
        let failure = |error: &StoreError| write_failure(&self.label, error);
        let there = self.options.append
            && world
                .store
                .stat(channel, &self.path)
                .map_err(|error| failure(&error))?
                .is_some();
        let file = if there {
            world.store.open(channel, &self.path, Access::Update)
        } else {
            world.store.create(channel, &self.path, Creation::Replace)
        };
        let file = file.map_err(|error| failure(&error))?;
        if there {
            self.offset = file.size().map_err(|error| failure(&error))?;
        }
        self.file = Some(world.tolled_text(file));
        world.note(&format!(
            "The file {} is:\nFilename={}",
            self.label,
            self.path.display()
        ));
        world.log.line("");
        Ok(())
    }

    /// Ends the line.
    pub(super) fn end_line(&mut self) -> Outcome<()> {
        let length = self.line.bytes.len();
        self.written += 1;
        self.shortest = self.shortest.min(length);
        self.longest = self.longest.max(length);
        if self.block.len() + length + 1 > BLOCK_BYTES {
            self.flush()?;
        }
        self.block.extend_from_slice(&self.line.bytes);
        self.block.push(b'\n');
        self.line.clear();
        Ok(())
    }

    fn flush(&mut self) -> Outcome<()> {
        if let Some(file) = self.file.as_ref().filter(|_| !self.block.is_empty()) {
            file.write_at(self.offset, &self.block)
                .map_err(|error| write_failure(&self.label, &error))?;
            self.offset += self.block.len() as u64;
            self.block.clear();
        }
        Ok(())
    }

    /// Writes a line held by a single `@`.
    pub(in crate::datastep) fn release(&mut self) -> Outcome<()> {
        if self.line.hold == Some(Hold::Iteration) {
            self.end_line()?;
        }
        Ok(())
    }

    /// Writes what is left, closes the file and says what was written.
    pub(in crate::datastep) fn finish(mut self, world: &mut World) -> Outcome<()> {
        if self.line.hold.is_some() {
            self.end_line()?;
        }
        self.flush()?;
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let failure = |error: StoreError| write_failure(&self.label, &error);
        if world.sync_outputs {
            file.sync().map_err(failure)?;
        }
        file.close()
            .map_err(|error| write_failure(&self.label, &error))?;
        let (plural, was) = if self.written == 1 {
            ("", "was")
        } else {
            ("s", "were")
        };
        let lengths = if self.written == 0 {
            String::new()
        } else {
            format!(
                "\nThe minimum record length was {}.\nThe maximum record length was {}.",
                self.shortest, self.longest
            )
        };
        world.note(&format!(
            "{} record{plural} {was} written to the file {}.{lengths}",
            self.written, self.label
        ));
        Ok(())
    }
}

fn write_failure(label: &str, error: &StoreError) -> Failure {
    let full = matches!(
        error.source.kind(),
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
    );
    let what = if full {
        "Insufficient space in file"
    } else {
        "Write to the file failed:"
    };
    Failure::world(format!("{what} {label}: {error}."))
}
