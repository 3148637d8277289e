//! Procedure output as text: titles, then lines.

use std::io::{self, Write};

/// Where procedure output goes.
pub struct Listing {
    out: Box<dyn Write + Send>,
    line_size: u32,
    titles: [Option<String>; 10],
    footnotes: [Option<String>; 10],
    failed: Option<io::Error>,
}

impl Listing {
    /// A listing written to `out`.
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        let mut titles = [const { None }; 10];
        titles[0] = Some("The SAS System".to_owned());
        Self {
            out,
            line_size: 132,
            titles,
            footnotes: [const { None }; 10],
            failed: None,
        }
    }

    /// Columns of a line.
    pub fn line_size(&self) -> usize {
        self.line_size as usize
    }

    /// LINESIZE=.
    pub fn set_line_size(&mut self, columns: u32) {
        self.line_size = columns;
    }

    /// `TITLEn` or `FOOTNOTEn`: sets line `number` (1 to 10) and clears those after it.
    pub fn set_title(&mut self, footnote: bool, number: u8, text: Option<String>) {
        let lines = if footnote {
            &mut self.footnotes
        } else {
            &mut self.titles
        };
        let index = usize::from(number.clamp(1, 10)) - 1;
        lines[index] = text;
        for line in &mut lines[index + 1..] {
            *line = None;
        }
    }

    /// Starts the output of a step: the titles, centred.
    pub fn begin(&mut self) {
        let lines: Vec<String> = self.titles.iter().flatten().cloned().collect();
        self.centered(&lines);
        self.line("");
    }

    /// Ends the output of a step: the footnotes.
    pub fn end(&mut self) {
        let lines: Vec<String> = self.footnotes.iter().flatten().cloned().collect();
        self.line("");
        self.centered(&lines);
    }

    fn centered(&mut self, lines: &[String]) {
        for line in lines {
            let indent = self.line_size().saturating_sub(line.chars().count()) / 2;
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    /// One line in the middle of the page.
    pub fn centered_line(&mut self, text: &str) {
        self.centered(&[text.to_owned()]);
    }

    /// One line. A listing that cannot be written does not stop the program; the first failure is
    /// kept.
    pub fn line(&mut self, text: &str) {
        let written = writeln!(self.out, "{}", text.trim_end());
        self.note(written);
    }

    /// Pushes what was written to the file.
    pub fn flush(&mut self) {
        let flushed = self.out.flush();
        self.note(flushed);
    }

    fn note(&mut self, result: io::Result<()>) {
        if let (Err(error), None) = (result, &self.failed) {
            self.failed = Some(error);
        }
    }

    /// Why the listing could not be written, if it could not.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }
}
