//! A stream as lines, in a buffer of fixed size.

use std::io::{self, ErrorKind, Read};

/// Longer lines are cut: SAS breaks its lines at 256 columns, but notebooks and HTML do not.
const BUFFER_BYTES: usize = 256 * 1024;

/// Lines of a stream.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// What was read and not given yet.
    start: usize,
    end: usize,
    at_end: bool,
    /// The rest of a line that was cut is not given.
    skipping: bool,
    /// Bytes given so far, line ends and what was cut included.
    pub(super) bytes: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            at_end: false,
            skipping: false,
            bytes: 0,
        }
    }

    /// The next line without its line feed; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.start..self.end];
            if let Some(found) = rest[searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.start..self.start + searched + found;
                self.start = line.end + 1;
                self.bytes += line.len() as u64 + 1;
                searched = 0;
                if std::mem::take(&mut self.skipping) {
                    continue;
                }
                return Ok(Some(&self.buffer[line]));
            }
            searched = rest.len();
            let full = self.start == 0 && self.end == self.buffer.len();
            if self.at_end || full {
                let line = self.start..self.end;
                (self.start, self.end) = (0, 0);
                self.bytes += line.len() as u64;
                let skipped = self.skipping;
                self.skipping = full && !self.at_end;
                if line.is_empty() || (skipped && self.at_end) {
                    return Ok(None);
                }
                searched = 0;
                if skipped {
                    continue;
                }
                return Ok(Some(&self.buffer[line]));
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte or two at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(buffer.len()).min(2);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn lines(input: impl Read) -> (Vec<String>, u64) {
        let mut lines = Lines::new(input);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(String::from_utf8_lossy(line).into_owned());
        }
        (all, lines.bytes)
    }

    #[test]
    fn every_line_comes_once_however_the_bytes_come() {
        let text = b"a\n\nbcd\ne";
        let expected = ["a", "", "bcd", "e"].map(str::to_owned).to_vec();
        assert_eq!(lines(&text[..]), (expected.clone(), 8));
        assert_eq!(lines(Slow(text)), (expected, 8));
        assert_eq!(lines(&b""[..]), (vec![], 0));
        assert_eq!(lines(&b"a\n"[..]), (vec!["a".to_owned()], 2));
    }

    #[test]
    fn a_line_without_end_is_cut_and_the_next_one_is_whole() {
        for long in [
            BUFFER_BYTES - 1,
            BUFFER_BYTES,
            BUFFER_BYTES + 1,
            3 * BUFFER_BYTES,
        ] {
            let text = format!("a\n{}\nb\n", "x".repeat(long));
            let (all, bytes) = lines(text.as_bytes());
            assert_eq!(bytes, text.len() as u64);
            assert_eq!(all.len(), 3, "{long}");
            assert_eq!(all[1].len(), long.min(BUFFER_BYTES), "{long}");
            assert_eq!(all[2], "b");
        }
        let (all, _) = lines("x".repeat(3 * BUFFER_BYTES).as_bytes());
        assert_eq!(all.len(), 1);
    }
}
