//! What the CSV parser lets pass: quotes that are never closed, and lines without anything.

use std::io::{self, Read};

const BUFFER_BYTES: usize = 64 * 1024;
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Where a byte lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Behind the end of a line.
    LineStart,
    FieldStart,
    Field,
    Quoted,
    /// Behind a quote in a quoted field: its end, or the first of two.
    Quote,
}

/// The bytes of a CSV file on their way to the parser.
pub struct Lines<R> {
    inner: R,
    /// A line without anything is a row of one empty value.
    keeps_empty: bool,
    at: At,
    /// The byte before ended a line as a carriage return, to which a line feed may belong.
    carriage_return: bool,
    /// There was a line with something in it: the header.
    started: bool,
    bytes: u64,
    line: u64,
    /// Line of the quote that opened last.
    quote_line: u64,
    read: Vec<u8>,
    /// Bytes to give, from `given` on.
    out: Vec<u8>,
    given: usize,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// Of a file; `keeps_empty` for one with a single column, where the parser would skip rows.
    pub fn new(inner: R, keeps_empty: bool) -> Self {
        Self {
            inner,
            keeps_empty,
            at: At::LineStart,
            carriage_return: false,
            started: false,
            bytes: 0,
            line: 1,
            quote_line: 0,
            read: vec![0; BUFFER_BYTES],
            out: Vec::new(),
            given: 0,
            ended: false,
        }
    }

    /// The line of the quote that is open at the end of the file, if that was reached.
    pub fn unclosed(&self) -> Option<u64> {
        (self.ended && self.at == At::Quoted).then_some(self.quote_line)
    }

    /// Goes past a byte; whether it ends a line without anything.
    fn pass(&mut self, byte: u8) -> bool {
        let number = self.bytes;
        self.bytes += 1;
        let mark = usize::try_from(number)
            .ok()
            .and_then(|number| BYTE_ORDER_MARK.get(number));
        if self.at == At::LineStart && mark == Some(&byte) {
            return false;
        }
        let ends_line = byte == b'\n' || byte == b'\r';
        let belongs = byte == b'\n' && self.carriage_return;
        let was = self.at;
        if was == At::Quoted {
            self.line += u64::from(byte == b'\n');
        } else {
            self.line += u64::from(ends_line && !belongs);
        }
        self.at = match (was, byte) {
            (At::Quoted, b'"') => At::Quote,
            (At::Quoted, _) | (At::Quote, b'"') => At::Quoted,
            (At::LineStart | At::FieldStart, b'"') => {
                self.quote_line = self.line;
                At::Quoted
            }
            (_, b',') => At::FieldStart,
            _ if ends_line => At::LineStart,
            _ => At::Field,
        };
        self.carriage_return = byte == b'\r' && self.at == At::LineStart;
        let is_empty = was == At::LineStart && ends_line && !belongs && self.started;
        self.started |= self.at != At::LineStart;
        is_empty
    }

    /// Goes past bytes that change nothing but the line, if they are all such: how many.
    fn pass_plain(&mut self, bytes: &[u8]) -> usize {
        let is_quoted = self.at == At::Quoted || self.at == At::Quote;
        let is_plain = !is_quoted && self.started && !self.keeps_empty && !self.carriage_return;
        if !is_plain || bytes.contains(&b'"') || bytes.contains(&b'\r') {
            return 0;
        }
        if let Some(byte) = bytes.last() {
            self.line += bytes.split(|byte| *byte == b'\n').count() as u64 - 1;
            self.bytes += bytes.len() as u64;
            self.at = match byte {
                b'\n' => At::LineStart,
                b',' => At::FieldStart,
                _ => At::Field,
            };
        }
        bytes.len()
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut read = std::mem::take(&mut self.read);
        let count = self.inner.read(&mut read);
        self.out.clear();
        self.given = 0;
        if let Ok(count) = count {
            let read = &read[..count];
            let plain = self.pass_plain(read);
            self.out.extend_from_slice(&read[..plain]);
            for byte in &read[plain..] {
                if self.pass(*byte) && self.keeps_empty {
                    self.out.extend_from_slice(b"\"\"");
                }
                self.out.push(*byte);
            }
            self.ended = count == 0;
        }
        self.read = read;
        count.map(|_| ())
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.out.len() && !self.ended {
            self.fill()?;
        }
        let rest = &self.out[self.given..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the parser gets of a file with one column, and the line of an open quote.
    fn passed(text: &str) -> (String, Option<u64>) {
        let mut lines = Lines::new(text.as_bytes(), true);
        let mut out = String::new();
        lines.read_to_string(&mut out).unwrap();
        (out, lines.unclosed())
    }

    #[test]
    fn lines_without_anything_become_empty_values() {
        for (text, expected) in [
            ("a\n1\n\n2\n", "a\n1\n\"\"\n2\n"),
            ("a\r\n1\r\n\r\n2\r\n", "a\r\n1\r\n\"\"\r\n2\r\n"),
            ("a\r1\r\r2", "a\r1\r\"\"\r2"),
            ("\n\na\n\n", "\n\na\n\"\"\n"),
            ("a\n\"1\n\n2\"\n3\n", "a\n\"1\n\n2\"\n3\n"),
        ] {
            assert_eq!(passed(text), (expected.to_owned(), None), "{text:?}");
        }
    }

    #[test]
    fn lines_are_counted_however_they_come() {
        let text = format!("a,b\n{}1,\"open\n2,3\n", "1,2\n".repeat(50_000));
        for keeps_empty in [false, true] {
            let mut lines = Lines::new(text.as_bytes(), keeps_empty);
            let mut out = String::new();
            lines.read_to_string(&mut out).unwrap();
            assert!(out == text);
            assert_eq!(lines.unclosed(), Some(50_002));
        }
    }

    #[test]
    fn a_quote_that_is_never_closed_is_told_by_its_line() {
        for (text, line) in [
            ("a,b\n1,\"x\"\"\ny\"\n2,\"z\n3\n", Some(4)),
            ("\u{FEFF}\"a\n1\n", Some(1)),
            ("\u{FEFF}\"a\"\n1\n", None),
            ("a\r\n1\r\n\"", Some(3)),
            ("a\n12\" wide\n\"x\"y\"\n", None),
            ("a\n\"x\"\"", Some(2)),
        ] {
            assert_eq!(passed(text).1, line, "{text:?}");
        }
    }
}
