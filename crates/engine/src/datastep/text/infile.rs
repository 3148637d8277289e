//! A text file that INPUT reads: records by blocks, with FIRSTOBS=, OBS= and LRECL=.

use std::path::{Path, PathBuf};

use base::store::{Access, Channel, StoreFile};

use super::program::Hold;
use crate::dataset::copy::store_number;
use crate::expr::Slot;
use crate::expr::evaluate::trimmed;
use crate::failure::{Failure, Outcome};
use crate::session::World;

/// Columns from one tab stop to the next.
const TAB: usize = 8;

/// Bytes of one read or write of a text file.
pub(super) const BLOCK_BYTES: usize = 64 << 10;

/// What happens when a line has no more values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// The next line is read.
    Flow,
    /// The rest of the variables is missing.
    Miss,
    /// As `Miss`, but a field that is cut short is taken as it is.
    Truncate,
    /// An error.
    Stop,
}

/// Options of INFILE.
#[derive(Debug, Clone)]
pub(super) struct InfileOptions {
    pub(super) delimiters: Option<Vec<u8>>,
    /// DLM= names a variable: what it has when INPUT begins.
    pub(super) delimiter_variable: Option<Slot>,
    /// DLMSTR=: the delimiters are one text.
    pub(super) whole_delimiter: bool,
    /// N=: lines that `#` moves among; INPUT statements may name more.
    pub(super) group: usize,
    pub(super) dsd: bool,
    pub(super) firstobs: u64,
    pub(super) obs: u64,
    pub(super) over: Over,
    pub(super) lrecl: usize,
    pub(super) end: Option<Slot>,
    /// EXPANDTABS.
    pub(super) expand_tabs: bool,
}

/// A text file being read.
pub(in crate::datastep) struct Infile {
    /// As the log names it: the path in quotes, or the fileref.
    pub(super) label: String,
    pub(super) path: PathBuf,
    lines: Lines,
    pub(super) options: InfileOptions,
    /// The present record without its end, and where the pointer stands in it.
    pub(super) record: Vec<u8>,
    pub(super) pointer: usize,
    pub(super) hold: Hold,
    /// A record is loaded that INPUT has not let go.
    pub(super) loaded: bool,
    /// Records passed so far, those before FIRSTOBS= too.
    pub(super) number: u64,
    /// The lines of the group, and which of them is the present record; none without `#`.
    lines_of_group: Vec<Vec<u8>>,
    place: usize,
    read: u64,
    shortest: usize,
    longest: usize,
    truncated: bool,
    pub(super) went_on: bool,
    pub(super) lost_card: bool,
}

enum Lines {
    File(FileLines),
    /// Lines of the program.
    Program(Vec<String>, usize),
}

struct FileLines {
    file: Box<dyn StoreFile>,
    offset: u64,
    block: Vec<u8>,
    at: usize,
    filled: usize,
}

impl Infile {
    /// Opens the file at `path`.
    pub(super) fn open(
        world: &World,
        label: String,
        path: &Path,
        options: InfileOptions,
    ) -> Outcome<Self> {
        let channel = channel(world, path, Channel::Input);
        let file = world
            .store
            .open(channel, path, Access::Read)
            .map_err(|error| match error.source.kind() {
                std::io::ErrorKind::NotFound => {
                    Failure::world(format!("Physical file does not exist, {}.", path.display()))
                }
                _ => Failure::world(format!("The infile {label} cannot be read: {error}.")),
            })?;
        let lines = Lines::File(FileLines {
            file: world.tolled_text(file),
            offset: 0,
            block: vec![0; BLOCK_BYTES],
            at: 0,
            filled: 0,
        });
        Ok(Self::new(label, path.to_owned(), lines, options))
    }

    /// Reads the lines after DATALINES.
    pub(super) fn of_program(lines: &[String], options: InfileOptions) -> Self {
        let lines = Lines::Program(lines.to_vec(), 0);
        Self::new("CARDS".to_owned(), PathBuf::new(), lines, options)
    }

    fn new(label: String, path: PathBuf, lines: Lines, options: InfileOptions) -> Self {
        Self {
            label,
            path,
            lines,
            options,
            record: Vec::new(),
            pointer: 0,
            hold: Hold::No,
            loaded: false,
            number: 0,
            lines_of_group: Vec::new(),
            place: 0,
            read: 0,
            shortest: usize::MAX,
            longest: 0,
            truncated: false,
            went_on: false,
            lost_card: false,
        }
    }

    /// Says which file will be read.
    pub(in crate::datastep) fn introduce(&self, world: &mut World) {
        if let Lines::File(lines) = &self.lines {
            let bytes = lines.file.size().unwrap_or(0);
            world.note(&format!(
                "The infile {} is:\nFilename={},\nFile Size (bytes)={bytes}",
                self.label,
                self.path.display()
            ));
            world.log.line("");
        }
    }

    /// Loads the first record of an INPUT statement, with the others of its group; false at the end.
    pub(super) fn first_record(&mut self, row: &mut [u8]) -> Outcome<bool> {
        self.lines_of_group.clear();
        self.place = 0;
        if let Some(slot) = &self.options.delimiter_variable {
            let text = trimmed(slot.bytes(row));
            // A blank is one too.
            let text = if text.is_empty() { b" " } else { text };
            self.options.delimiters = Some(text.to_vec());
        }
        if self.options.group <= 1 {
            return self.next_line(row);
        }
        let mut lines = Vec::new();
        while lines.len() < self.options.group && self.next_line(row)? {
            lines.push(self.record.clone());
        }
        if lines.len() < self.options.group {
            self.lost_card |= !lines.is_empty();
            return Ok(false);
        }
        self.lines_of_group = lines;
        self.go_to_line(1);
        Ok(true)
    }

    /// `#n`, from 1, of the group.
    pub(super) fn go_to_line(&mut self, line: usize) {
        if let Some(text) = self.lines_of_group.get(line.wrapping_sub(1)) {
            self.record.clone_from(text);
            (self.place, self.pointer) = (line, 0);
        }
    }

    /// The number of the present record among all of the file.
    pub(super) fn line_number(&self) -> u64 {
        let behind = self.lines_of_group.len().saturating_sub(self.place);
        self.number - behind as u64
    }

    /// Goes on to the next record; false at the end.
    pub(super) fn next_record(&mut self, row: &mut [u8]) -> Outcome<bool> {
        if self.place < self.lines_of_group.len() {
            self.go_to_line(self.place + 1);
            return Ok(true);
        }
        self.lines_of_group.clear();
        self.place = 0;
        self.next_line(row)
    }

    fn next_line(&mut self, row: &mut [u8]) -> Outcome<bool> {
        loop {
            if self.number >= self.options.obs || !self.take_line()? {
                return Ok(false);
            }
            self.number += 1;
            if self.number >= self.options.firstobs {
                break;
            }
        }
        if self.options.expand_tabs && self.record.contains(&b'\t') {
            self.record = without_tabs(&self.record);
        }
        self.read += 1;
        self.shortest = self.shortest.min(self.record.len());
        self.longest = self.longest.max(self.record.len());
        (self.pointer, self.loaded) = (0, true);
        if let Some(end) = self.options.end {
            let last = self.number >= self.options.obs || !self.has_more()?;
            store_number(&end, row, f64::from(u8::from(last)));
        }
        Ok(true)
    }

    fn take_line(&mut self) -> Outcome<bool> {
        self.record.clear();
        match &mut self.lines {
            Lines::Program(lines, next) => {
                let Some(line) = lines.get(*next) else {
                    return Ok(false);
                };
                *next += 1;
                self.record.extend_from_slice(line.as_bytes());
                // Data lines are records of 80 columns.
                if self.record.len() < 80 {
                    self.record.resize(80, b' ');
                }
                Ok(true)
            }
            Lines::File(lines) => {
                let (found, truncated) = lines
                    .take(&mut self.record, self.options.lrecl)
                    .map_err(|error| read_failure(&self.label, &error))?;
                self.truncated |= truncated;
                Ok(found)
            }
        }
    }

    fn has_more(&mut self) -> Outcome<bool> {
        match &mut self.lines {
            Lines::Program(lines, next) => Ok(*next < lines.len()),
            Lines::File(lines) => lines
                .has_more()
                .map_err(|error| read_failure(&self.label, &error)),
        }
    }

    /// The end of an iteration lets go of a record held by a single `@`.
    pub(in crate::datastep) fn release(&mut self) {
        if self.hold != Hold::Across {
            self.loaded = false;
        }
    }

    /// Tells what was read and closes the file.
    pub(in crate::datastep) fn finish(self, world: &mut World) -> Outcome<()> {
        if let Lines::File(lines) = self.lines {
            let (plural, was) = if self.read == 1 {
                ("", "was")
            } else {
                ("s", "were")
            };
            let lengths = if self.read == 0 {
                String::new()
            } else {
                format!(
                    "\nThe minimum record length was {}.\nThe maximum record length was {}.",
                    self.shortest, self.longest
                )
            };
            world.note(&format!(
                "{} record{plural} {was} read from the infile {}.{lengths}",
                self.read, self.label
            ));
            lines
                .file
                .close()
                .map_err(|error| read_failure(&self.label, &error))?;
        }
        if self.truncated {
            world.note("One or more lines were truncated.");
        }
        if self.lost_card {
            world.note("LOST CARD.");
        }
        if self.went_on {
            world.note(
                "SAS went to a new line when INPUT statement reached past the end of a line.",
            );
        }
        Ok(())
    }
}

impl FileLines {
    /// Makes sure that there is a byte ready; false at the end of the file.
    fn has_more(&mut self) -> base::store::Result<bool> {
        if self.at == self.filled {
            self.filled = self.file.read_at(self.offset, &mut self.block)?;
            self.offset += self.filled as u64;
            self.at = 0;
        }
        Ok(self.at < self.filled)
    }

    /// Appends a line of at most `limit` bytes to `record`; returns whether there was one, and
    /// whether it was longer.
    fn take(&mut self, record: &mut Vec<u8>, limit: usize) -> base::store::Result<(bool, bool)> {
        let (mut found, mut truncated) = (false, false);
        while self.has_more()? {
            found = true;
            let rest = &self.block[self.at..self.filled];
            let end = rest.iter().position(|byte| *byte == b'\n');
            let part = &rest[..end.unwrap_or(rest.len())];
            // One byte more: it may be the carriage return of a line that just fits.
            let room = (limit + 1).saturating_sub(record.len());
            truncated |= part.len() > room;
            record.extend_from_slice(&part[..part.len().min(room)]);
            self.at += part.len() + usize::from(end.is_some());
            if end.is_some() {
                break;
            }
        }
        if record.last() == Some(&b'\r') {
            record.pop();
        }
        truncated |= record.len() > limit;
        record.truncate(limit);
        Ok((found, truncated))
    }
}

/// Tabs lead to the next column that is a multiple of [`TAB`].
fn without_tabs(record: &[u8]) -> Vec<u8> {
    let mut expanded = Vec::with_capacity(record.len() + TAB);
    for byte in record {
        if *byte == b'\t' {
            expanded.resize((expanded.len() / TAB + 1) * TAB, b' ');
        } else {
            expanded.push(*byte);
        }
    }
    expanded
}

fn read_failure(label: &str, error: &base::store::StoreError) -> Failure {
    Failure::world(format!("The infile {label} cannot be read: {error}."))
}

/// Text files in the WORK directory count as WORK, all others as permanent data.
pub(super) fn channel(world: &World, path: &Path, permanent: Channel) -> Channel {
    let work = world.libraries.get("WORK");
    if work.is_some_and(|work| path.starts_with(&work.directory)) {
        Channel::Work
    } else {
        permanent
    }
}
