//! Running INPUT.

use super::infile::{Infile, Over};
use super::program::{Hold, Move, ReadForm, ReadItem, ReadList, ReadValue, ValuePlace};
use crate::dataset::copy::{store_number, store_text};
use crate::datastep::run::{Flow, Running};
use crate::expr::evaluate::{compare_padded, trimmed};
use crate::failure::{Failure, Outcome};

/// What was found for a value.
enum Found {
    /// Bytes of the record (quotes may have been taken out).
    Bytes(Vec<u8>),
    /// The line had no more; the value is missing.
    Nothing,
    /// The line had no more and there is no other.
    End,
}

impl Running<'_> {
    /// INPUT: stops the step at the end of the file.
    pub(in crate::datastep) fn input(&mut self, list: &ReadList) -> Outcome<Flow> {
        self.read = true;
        let index = self.infile;
        if self.infiles[index].loaded {
            self.take_record();
        } else if !self.infiles[index].first_record(&mut self.row)? {
            return Ok(Flow::Stop);
        } else {
            self.show_record();
        }
        let line = self.infiles[index].line_number();
        // Where lines end before the first value, nothing is lost.
        let mut begun = false;
        for item in &list.items {
            let goes_on = match item {
                ReadItem::Move(to) => self.move_in(index, to)?,
                ReadItem::Value(value) => self.read_value(index, value)?,
                ReadItem::Named(values) => self.read_named(index, values)?,
            };
            if !goes_on {
                self.infiles[index].lost_card |= begun;
                return Ok(Flow::Stop);
            }
            begun |= matches!(item, ReadItem::Value(_));
        }
        let infile = &mut self.infiles[index];
        infile.hold = list.hold;
        infile.loaded = list.hold != Hold::No;
        if infile.line_number() != line {
            self.show_record();
        }
        Ok(Flow::On)
    }

    /// What was given to `_INFILE_` becomes the present record.
    pub(in crate::datastep) fn take_record(&mut self) {
        let (Some(slot), Some(infile)) = (&self.record, self.infiles.get_mut(self.infile)) else {
            return;
        };
        let text = slot.bytes(&self.row);
        let seen = infile.record.len().min(text.len());
        if compare_padded(text, &infile.record[..seen]).is_eq() {
            return;
        }
        let columns = infile.record.len();
        infile.record = trimmed(text).to_vec();
        // A shorter text leaves the record as long as it was.
        if infile.record.len() < columns {
            infile.record.resize(columns, b' ');
        }
    }

    /// The present record becomes the value of `_INFILE_`.
    pub(in crate::datastep) fn show_record(&mut self) {
        if let (Some(slot), Some(infile)) = (&self.record, self.infiles.get(self.infile)) {
            store_text(slot, &mut self.row, &infile.record);
        }
    }

    /// Moves the pointer; false if there is no line to move to.
    fn move_in(&mut self, index: usize, to: &Move) -> Outcome<bool> {
        match to {
            Move::NextLine => return self.infiles[index].next_record(&mut self.row),
            Move::Line(line) => self.infiles[index].go_to_line(*line),
            Move::Column(column) => {
                let column = column.value(&self.row, &mut self.events);
                self.infiles[index].pointer = place(column - 1.0);
            }
            Move::Relative(columns) => {
                let columns = columns.value(&self.row, &mut self.events);
                let infile = &mut self.infiles[index];
                infile.pointer = place(infile.pointer as f64 + columns);
            }
            Move::Find(text) => {
                let text = text.value(&self.row, &mut self.events).into_owned();
                let infile = &mut self.infiles[index];
                let from = infile.pointer.min(infile.record.len());
                let rest = &infile.record[from..];
                let found = rest
                    .windows(text.len().max(1))
                    .position(|part| part == text);
                infile.pointer = match found {
                    Some(at) => from + at + text.len(),
                    None => infile.record.len(),
                };
            }
        }
        Ok(true)
    }

    /// Reads a value; false if the file ended in the middle of it.
    fn read_value(&mut self, index: usize, value: &ReadValue) -> Outcome<bool> {
        let infile = &mut self.infiles[index];
        let from = infile.pointer;
        let found = match value.form {
            ReadForm::List { ampersand, tilde } => {
                infile.list_value(ampersand, tilde, &mut self.row)?
            }
            ReadForm::Width(width) => infile.field(None, width, &mut self.row)?,
            ReadForm::Columns(start, width) => infile.field(Some(start), width, &mut self.row)?,
            ReadForm::Named { .. } => Found::Nothing,
        };
        let bytes = match found {
            Found::End => return Ok(false),
            Found::Nothing => Vec::new(),
            Found::Bytes(bytes) => bytes,
        };
        Ok(self.store_value(index, value, &bytes, from))
    }

    /// Named input: `name=value` up to the end of the line, in any order.
    fn read_named(&mut self, index: usize, values: &[ReadValue]) -> Outcome<bool> {
        loop {
            let infile = &mut self.infiles[index];
            let Some((from, name)) = infile.next_name() else {
                return Ok(true);
            };
            if name == b"/" {
                if !infile.next_record(&mut self.row)? {
                    return Ok(false);
                }
                continue;
            }
            let known = |name: &[u8]| {
                let named = |one: &&ReadValue| one.name.as_bytes().eq_ignore_ascii_case(name);
                values.iter().find(named)
            };
            let Some(value) = known(&name) else {
                infile.named_value(false, |_| false);
                self.undefined(&name);
                continue;
            };
            let blanks = value.form == ReadForm::Named { blanks: true };
            let bytes = infile.named_value(blanks, |name| known(name).is_some());
            self.store_value(index, value, &bytes, from);
        }
    }

    #[cold]
    fn undefined(&mut self, name: &[u8]) {
        self.raise_error();
        if !self.is_quiet() {
            let name = String::from_utf8_lossy(name).to_ascii_uppercase();
            self.world.note(&format!("{name} is not defined."));
        }
    }

    /// Stores what was found; true.
    fn store_value(&mut self, index: usize, value: &ReadValue, bytes: &[u8], from: usize) -> bool {
        let slot = match &value.place {
            ValuePlace::Variable(slot) => *slot,
            ValuePlace::Element(element) => match element.slot(&self.row, &mut self.events) {
                Some(slot) => slot,
                None => return true,
            },
        };
        if value.informat.is_text() {
            let text = value.informat.text(bytes, &self.world.formats);
            store_text(&slot, &mut self.row, text.as_deref().unwrap_or_default());
            if text.is_none() && value.quiet < 2 {
                self.invalid_data(index, value, from);
            }
            return true;
        }
        let number = value.informat.number_with(bytes, &self.world.formats);
        store_number(
            &slot,
            &mut self.row,
            number.unwrap_or_else(|| sas7bdat::missing::encode(0)),
        );
        if number.is_none() && value.quiet < 2 {
            self.invalid_data(index, value, from);
        }
        true
    }

    #[cold]
    fn invalid_data(&mut self, index: usize, value: &ReadValue, from: usize) {
        self.raise_error();
        if value.quiet > 0 || self.is_quiet() {
            return;
        }
        let infile = &self.infiles[index];
        let end = infile.pointer.min(infile.record.len()).max(from + 1);
        let (name, line) = (&value.name, infile.line_number());
        let text = format!("Invalid data for {name} in line {line} {}-{end}.", from + 1);
        let record = String::from_utf8_lossy(&infile.record)
            .trim_end()
            .to_owned();
        self.world.note(&text);
        self.log_record(line, &record);
    }

    fn log_record(&mut self, line: u64, record: &str) {
        self.world.log.line(
            "RULE:     ----+----1----+----2----+----3----+----4----+----5----+----6----+----7----+\
             ----8----+----9----+----0",
        );
        self.world.log.line(&format!("{line:<10}{record}"));
    }

    /// What LIST asked for: the record of the iteration that ends.
    pub(in crate::datastep) fn list_record(&mut self) {
        let infile = &self.infiles[self.infile];
        let record = String::from_utf8_lossy(&infile.record)
            .trim_end()
            .to_owned();
        self.log_record(infile.line_number(), &record);
    }
}

impl Infile {
    /// The line has no more values.
    fn past_end(&mut self, row: &mut [u8]) -> Outcome<Option<Found>> {
        match self.options.over {
            Over::Flow => {
                if !self.next_record(row)? {
                    return Ok(Some(Found::End));
                }
                self.went_on = true;
                Ok(None)
            }
            Over::Miss | Over::Truncate => Ok(Some(Found::Nothing)),
            Over::Stop => Err(Failure::world(
                "INPUT statement exceeded record length. INFILE option STOPOVER specified.",
            )),
        }
    }

    /// `width` bytes from the pointer on, or from `start`.
    fn field(&mut self, start: Option<usize>, width: usize, row: &mut [u8]) -> Outcome<Found> {
        let mut at = start.unwrap_or(self.pointer);
        if at + width > self.record.len() {
            match self.options.over {
                Over::Truncate => {}
                // A column that the line does not reach is looked for on the next one.
                Over::Flow => {
                    if let Some(found) = self.past_end(row)? {
                        return Ok(found);
                    }
                    at = start.unwrap_or(0);
                }
                Over::Miss | Over::Stop => {
                    self.pointer = self.record.len();
                    if let Some(found) = self.past_end(row)? {
                        return Ok(found);
                    }
                }
            }
        }
        let end = (at + width).min(self.record.len());
        self.pointer = at + width;
        Ok(Found::Bytes(
            self.record.get(at..end).unwrap_or(&[]).to_vec(),
        ))
    }

    /// The next `name=` of named input, or `/`, and where it begins; the pointer goes behind it.
    /// Without one what is left of the line is passed over.
    fn next_name(&mut self) -> Option<(usize, Vec<u8>)> {
        let rest = self.record.get(self.pointer..)?;
        let from = self.pointer + rest.iter().position(|byte| *byte != b' ')?;
        let rest = &self.record[from..];
        let word = rest.iter().position(|byte| *byte == b' ');
        let word = &rest[..word.unwrap_or(rest.len())];
        if word == b"/" {
            self.pointer = from + 1;
            return Some((from, b"/".to_vec()));
        }
        let length = word.iter().position(|byte| *byte == b'=');
        let name = word[..length.unwrap_or(word.len())].to_vec();
        self.pointer = from + name.len() + 1;
        Some((from, name))
    }

    /// The value behind `name=`: up to a blank, or to the next name that is `known`.
    fn named_value(&mut self, blanks: bool, known: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let rest = self.record.get(self.pointer..).unwrap_or(&[]);
        let begins = |at: usize| {
            let word = rest[at + 1..].split(|byte| *byte == b' ').next();
            let word = word.unwrap_or_default();
            let name = word.iter().position(|byte| *byte == b'=');
            name.is_some_and(|length| known(&word[..length]))
        };
        let ends = |at: &usize| rest[*at] == b' ' && (!blanks || begins(*at));
        let length = (0..rest.len()).find(ends).unwrap_or(rest.len());
        let value = rest[..length].to_vec();
        self.pointer += length;
        value
    }

    /// DLMSTR=: values between whole texts; several of them are one unless DSD is said.
    fn string_value(&mut self, ampersand: bool, row: &mut [u8]) -> Outcome<Found> {
        let dsd = self.options.dsd;
        loop {
            let delimiter = self.options.delimiters.as_deref().unwrap_or(b" ");
            let rest = self.record.get(self.pointer..).unwrap_or(&[]);
            let skipped = if dsd { 0 } else { blank(rest, delimiter) };
            let rest = &rest[skipped..];
            if (rest.is_empty() && !dsd) || self.pointer > self.record.len() {
                self.pointer = self.record.len();
                if let Some(found) = self.past_end(row)? {
                    return Ok(found);
                }
                continue;
            }
            let at = |from: usize| rest[from..].starts_with(delimiter);
            let ends = |from: &usize| at(*from) && (!ampersand || at(from + delimiter.len()));
            let length = (0..rest.len()).find(ends);
            let value = rest[..length.unwrap_or(rest.len())].trim_ascii().to_vec();
            self.pointer += skipped + length.unwrap_or(rest.len()) + delimiter.len();
            return Ok(Found::Bytes(value));
        }
    }

    fn list_value(&mut self, ampersand: bool, tilde: bool, row: &mut [u8]) -> Outcome<Found> {
        if self.options.whole_delimiter {
            return self.string_value(ampersand, row);
        }
        if self.options.dsd {
            return self.dsd_value(tilde, row);
        }
        let blank = [b' '];
        loop {
            let delimiters = self.options.delimiters.as_deref().unwrap_or(&blank);
            let rest = self.record.get(self.pointer..).unwrap_or(&[]);
            let Some(skipped) = rest.iter().position(|byte| !delimiters.contains(byte)) else {
                self.pointer = self.record.len();
                if let Some(found) = self.past_end(row)? {
                    return Ok(found);
                }
                continue;
            };
            let rest = &rest[skipped..];
            let ends = |at: usize| {
                delimiters.contains(&rest[at])
                    && (!ampersand
                        || rest
                            .get(at + 1)
                            .is_none_or(|next| delimiters.contains(next)))
            };
            let length = (0..rest.len()).find(|at| ends(*at)).unwrap_or(rest.len());
            let bytes = rest[..length].to_vec();
            self.pointer += skipped + length + 1;
            return Ok(Found::Bytes(bytes));
        }
    }

    /// DSD: every delimiter ends a value, and quotes keep delimiters in one.
    fn dsd_value(&mut self, tilde: bool, row: &mut [u8]) -> Outcome<Found> {
        while self.pointer > self.record.len() {
            if let Some(found) = self.past_end(row)? {
                return Ok(found);
            }
        }
        let comma = [b','];
        let delimiters = self.options.delimiters.as_deref().unwrap_or(&comma);
        let rest = &self.record[self.pointer..];
        let leading = if delimiters.contains(&b' ') {
            0
        } else {
            rest.iter().take_while(|byte| **byte == b' ').count()
        };
        let value = &rest[leading..];
        let quote = value.first().copied().filter(|byte| b"\"'".contains(byte));
        let (bytes, length) = match quote {
            Some(quote) if !tilde => quoted(value, quote, delimiters),
            _ => {
                let length = value
                    .iter()
                    .position(|byte| delimiters.contains(byte))
                    .unwrap_or(value.len());
                (value[..length].to_vec(), length)
            }
        };
        self.pointer += leading + length + 1;
        Ok(Found::Bytes(bytes))
    }
}

/// Bytes of blanks and delimiters before a value.
fn blank(rest: &[u8], delimiter: &[u8]) -> usize {
    let mut skipped = 0;
    loop {
        let behind = &rest[skipped..];
        if behind.starts_with(delimiter) {
            skipped += delimiter.len();
        } else if behind.first() == Some(&b' ') {
            skipped += 1;
        } else {
            return skipped;
        }
    }
}

/// A quoted value without its quotes, and the bytes up to its delimiter.
fn quoted(value: &[u8], quote: u8, delimiters: &[u8]) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    let mut at = 1;
    let mut inside = true;
    while let Some(byte) = value.get(at) {
        if inside && *byte == quote {
            if value.get(at + 1) == Some(&quote) {
                bytes.push(quote);
                at += 2;
                continue;
            }
            inside = false;
        } else if !inside && delimiters.contains(byte) {
            break;
        } else {
            bytes.push(*byte);
        }
        at += 1;
    }
    (bytes, at)
}

/// A pointer: never before the first column.
fn place(column: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is bounded, and a missing one is 0"
    )]
    let place = column.clamp(0.0, 1_048_576.0) as usize;
    place
}
