//! Running PUT.

use sas7bdat::{Format, Kind};

use super::output::{FileOptions, Line};
use super::program::{Hold, Move, ValuePlace, WriteForm, WriteItem, WriteList, WriteValue};
use crate::datastep::run::Running;
use crate::expr::Slot;
use crate::expr::evaluate::trimmed;
use crate::expr::function::conversion::aligned;
use crate::failure::Outcome;
use crate::format;
use crate::format::user::Formats;

/// Highest column that a pointer moves to.
const COLUMN_MAX: f64 = 1_048_576.0;

/// A list value, a text at the pointer, or a value in columns.
enum Piece {
    List(Vec<u8>),
    Text(Vec<u8>),
    At(usize, Vec<u8>),
}

impl Running<'_> {
    /// PUT to the file in force, or to the log.
    pub(in crate::datastep) fn put(&mut self, list: &WriteList, to_log: bool) -> Outcome<()> {
        let target = self.file.filter(|_| !to_log);
        for item in &list.items {
            match item {
                WriteItem::Move(to) => self.move_out(target, to)?,
                WriteItem::Text(text) => self.add(target, Piece::Text(text.clone()))?,
                WriteItem::All => {
                    let items: Vec<String> = self.dump.items(&self.row).collect();
                    for item in items {
                        self.add(target, Piece::List(item.into_bytes()))?;
                    }
                }
                WriteItem::Infile(_) => {
                    self.take_record();
                    let record = self.infiles[self.infile].record.clone();
                    self.add(target, Piece::Text(record))?;
                }
                WriteItem::Value(value) => {
                    if let Some(piece) = self.piece(value) {
                        self.add(target, piece)?;
                    }
                }
            }
        }
        if list.hold == Hold::No {
            return self.end_line(target);
        }
        self.line(target).hold = Some(list.hold);
        Ok(())
    }

    fn line(&mut self, target: Option<usize>) -> &mut Line {
        match target {
            Some(index) => &mut self.files[index].line,
            None => &mut self.log_line.line,
        }
    }

    fn end_line(&mut self, target: Option<usize>) -> Outcome<()> {
        match target {
            Some(index) => self.files[index].end_line(),
            None => {
                self.log_line.end_line(self.world);
                Ok(())
            }
        }
    }

    fn options(&self, target: Option<usize>) -> Option<&FileOptions> {
        target.map(|index| &self.files[index].options)
    }

    /// Longest line.
    fn width(&self, target: Option<usize>) -> usize {
        let log = self.world.options.linesize as usize;
        self.options(target).map_or(log, |options| options.lrecl)
    }

    fn move_out(&mut self, target: Option<usize>, to: &Move) -> Outcome<()> {
        let column = |value: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the value is bounded, and a missing one is 0"
            )]
            let place = value.clamp(0.0, COLUMN_MAX) as usize;
            place
        };
        match to {
            Move::NextLine => return self.end_line(target),
            Move::Column(value) => {
                let value = value.value(&self.row, &mut self.events);
                let width = self.width(target);
                let line = self.line(target);
                line.pointer = column(value - 1.0).min(width);
                line.apart = false;
            }
            Move::Relative(value) => {
                let value = value.value(&self.row, &mut self.events);
                let width = self.width(target);
                let line = self.line(target);
                let gap = f64::from(u8::from(std::mem::take(&mut line.apart)));
                line.pointer = column(line.pointer as f64 + gap + value).min(width);
            }
            Move::Find(_) | Move::Line(_) => {}
        }
        let line = self.line(target);
        if line.bytes.len() < line.pointer {
            let pointer = line.pointer;
            line.bytes.resize(pointer, b' ');
        }
        Ok(())
    }

    fn add(&mut self, target: Option<usize>, piece: Piece) -> Outcome<()> {
        let width = self.width(target);
        let (text, list) = match piece {
            Piece::List(text) => (text, true),
            Piece::Text(text) => (text, false),
            Piece::At(start, text) => {
                let line = self.line(target);
                (line.pointer, line.apart) = (start, false);
                if line.bytes.len() < start {
                    line.bytes.resize(start, b' ');
                }
                (text, false)
            }
        };
        let line = self.line(target);
        let gap = usize::from(line.apart);
        if line.pointer + gap + text.len() > width && line.pointer > 0 {
            self.end_line(target)?;
        } else if gap > 0 {
            let separator = self.separator(target, list);
            self.line(target).put(&separator);
        }
        let line = self.line(target);
        line.put(&text);
        line.apart = list;
        if self.line(target).bytes.len() > width.max(1) {
            self.cut(target, width.max(1), list)?;
        }
        Ok(())
    }

    /// A text longer than a line is cut into lines.
    fn cut(&mut self, target: Option<usize>, width: usize, list: bool) -> Outcome<()> {
        let bytes = std::mem::take(&mut self.line(target).bytes);
        let mut parts = bytes.chunks(width).peekable();
        while let Some(part) = parts.next() {
            self.line(target).clear();
            self.line(target).put(part);
            if parts.peek().is_some() {
                self.end_line(target)?;
            }
        }
        self.line(target).apart = list;
        Ok(())
    }

    /// What stands between a list value and the next item.
    fn separator(&self, target: Option<usize>, list: bool) -> Vec<u8> {
        let options = self.options(target).filter(|_| list);
        options.map_or_else(
            || vec![b' '],
            |options| match &options.delimiter {
                Some(delimiter) => delimiter.clone(),
                None if options.dsd => vec![b','],
                None => vec![b' '],
            },
        )
    }

    /// A value as it is written; `None` if it is an element that is not there.
    fn piece(&mut self, value: &WriteValue) -> Option<Piece> {
        let (slot, number) = match &value.place {
            ValuePlace::Variable(slot) => (*slot, None),
            ValuePlace::Element(element) => {
                let number = element.number(&self.row, &mut self.events)?;
                (*element.array().slots.get(number)?, Some(number))
            }
        };
        let format = match &value.form {
            WriteForm::List(given) => given.as_ref().or_else(|| self.dump.format_at(slot)),
            WriteForm::Formatted(format) | WriteForm::Columns(_, _, format) => Some(format),
        };
        let plain = Format::default();
        let format = format.unwrap_or(&plain);
        let mut text = formatted(&slot, format, &self.row, &self.world.formats);
        if let Some(name) = &value.named {
            let element = match (&value.place, number) {
                (ValuePlace::Element(element), Some(number)) => {
                    let named = self.dump.name_at(slot).map(str::to_owned);
                    Some(named.unwrap_or_else(|| element.array().element_name(number)))
                }
                _ => None,
            };
            let name = element.as_ref().unwrap_or(name);
            let text = [name.as_bytes(), b"=", stripped(&text)].concat();
            return Some(Piece::List(text));
        }
        Some(match &value.form {
            WriteForm::List(_) => {
                let target = self.file;
                let text = stripped(&text).to_vec();
                Piece::List(match self.options(target) {
                    Some(options) if options.dsd => quoted_if_needed(text, options),
                    // A blank text takes one column.
                    _ if text.is_empty() => vec![b' '],
                    _ => text,
                })
            }
            WriteForm::Formatted(_) => Piece::Text(aligned(&text, value.align)),
            WriteForm::Columns(start, width, _) => {
                text.resize(*width, b' ');
                Piece::At(*start, text)
            }
        })
    }
}

/// A value in `format`: numbers right-aligned in its width, texts blank padded.
fn formatted(slot: &Slot, format: &Format, row: &[u8], formats: &Formats) -> Vec<u8> {
    match slot.kind {
        Kind::Numeric => {
            let value = slot.number(row);
            let text = format::number_with(value, format, formats);
            text.unwrap_or_else(|| format::best(value, 12)).into_bytes()
        }
        Kind::Character => format::text_with(slot.bytes(row), format, formats),
    }
}

/// Without blanks around it.
fn stripped(text: &[u8]) -> &[u8] {
    let text = trimmed(text);
    let start = text.iter().position(|byte| *byte != b' ');
    &text[start.unwrap_or(0)..]
}

/// DSD: values with delimiters or quotes in them stand in quotes.
fn quoted_if_needed(text: Vec<u8>, options: &FileOptions) -> Vec<u8> {
    let delimiter = options.delimiter.as_deref().unwrap_or(b",");
    let needed = text
        .iter()
        .any(|byte| *byte == b'"' || delimiter.contains(byte));
    if !needed {
        return text;
    }
    let mut quoted = vec![b'"'];
    for byte in text {
        if byte == b'"' {
            quoted.push(b'"');
        }
        quoted.push(byte);
    }
    quoted.push(b'"');
    quoted
}
