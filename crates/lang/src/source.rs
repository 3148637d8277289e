//! The stack of texts being read: the program, included files, and what macro references turned
//! into. Words run across the end of a macro text (`&prefix.1` is one word) but not across the end
//! of a file.

use base::diag::Span;
use base::limits::{STEP_TEXT_BYTES_MAX, STEP_TOKENS_MAX};
use std::sync::Arc;

/// A line of a program, for the numbered echo in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// Running number over all sources, as SAS numbers its log; equals `line` until an %include.
    pub number: u32,
    /// Line within its own source, from 1: the one diagnostics name.
    pub line: u32,
    /// True for lines of an included file: SAS echoes them only under SOURCE2.
    pub included: bool,
    /// The text without its line end.
    pub text: String,
}

struct Frame {
    text: String,
    offset: usize,
    kind: FrameKind,
}

enum FrameKind {
    File {
        name: Arc<str>,
        line: u32,
        column: u32,
    },
    Expansion {
        at: Span,
    },
}

impl Frame {
    fn rest(&self) -> &str {
        self.text.get(self.offset..).unwrap_or("")
    }
}

/// The stack. The bottom frame is the program and stays.
pub(crate) struct Source {
    frames: Vec<Frame>,
    lines: Vec<SourceLine>,
    lines_seen: u32,
    /// What each step may take.
    pub(crate) limit: Budget,
    /// What the present one may still take.
    left: Budget,
    /// It took more: the text seems to end here.
    over: bool,
}

/// How much text, once macro variables are replaced.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) bytes: usize,
    pub(crate) tokens: usize,
}

impl Budget {
    const STEP: Self = Self {
        bytes: STEP_TEXT_BYTES_MAX,
        tokens: STEP_TOKENS_MAX,
    };
    const NO_LIMIT: Self = Self {
        bytes: usize::MAX,
        tokens: usize::MAX,
    };
}

impl Source {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let mut source = Self {
            frames: Vec::new(),
            lines: Vec::new(),
            lines_seen: 0,
            limit: Budget::STEP,
            left: Budget::STEP,
            over: false,
        };
        source.push_file(name, text);
        source
    }

    pub(crate) fn push_file(&mut self, name: &str, text: &str) {
        self.frames.push(Frame {
            text: text.trim_start_matches('\u{feff}').to_owned(),
            offset: 0,
            kind: FrameKind::File {
                name: Arc::from(name),
                line: 1,
                column: 1,
            },
        });
    }

    /// Text that stands for a macro reference at `at`: every token of it is reported there.
    pub(crate) fn push_expansion(&mut self, at: Span, text: String) {
        if !text.is_empty() {
            self.frames.push(Frame {
                text,
                offset: 0,
                kind: FrameKind::Expansion { at },
            });
        }
    }

    /// Files open above the program.
    pub(crate) fn include_depth(&self) -> usize {
        let files = self
            .frames
            .iter()
            .filter(|f| matches!(f.kind, FrameKind::File { .. }))
            .count();
        files.saturating_sub(1)
    }

    /// Forgets everything above the program: an endless chain of includes must end somewhere.
    pub(crate) fn abandon_includes(&mut self) {
        self.frames.truncate(1);
    }

    /// Forgets the rest of all text.
    pub(crate) fn abandon(&mut self) {
        self.abandon_includes();
        if let Some(frame) = self.frames.last_mut() {
            frame.offset = frame.text.len();
        }
    }

    /// A new step begins.
    pub(crate) fn start_budget(&mut self) {
        (self.left, self.over) = (self.limit, false);
    }

    /// What follows up to the next step is passed over and takes no memory.
    pub(crate) fn lift_budget(&mut self) {
        (self.left, self.over) = (Budget::NO_LIMIT, false);
    }

    /// Counts bytes and tokens of the step; once there are too many, the text seems to end.
    pub(crate) fn spend(&mut self, bytes: usize, tokens: usize) {
        let bytes = self.left.bytes.checked_sub(bytes);
        let tokens = self.left.tokens.checked_sub(tokens);
        match (bytes, tokens) {
            (Some(bytes), Some(tokens)) => self.left = Budget { bytes, tokens },
            _ => self.over = true,
        }
    }

    pub(crate) fn is_over_budget(&self) -> bool {
        self.over
    }

    /// Forgets what macro references turned into.
    pub(crate) fn abandon_expansions(&mut self) {
        self.frames
            .retain(|frame| matches!(frame.kind, FrameKind::File { .. }));
    }

    /// Whether the next character comes from a file; in an expansion `&` has been dealt with.
    pub(crate) fn in_file(&self) -> bool {
        matches!(
            self.frames.last(),
            Some(Frame {
                kind: FrameKind::File { .. },
                ..
            })
        )
    }

    /// The next character. The end of an included file reads as a line end.
    pub(crate) fn peek(&self) -> Option<char> {
        self.ahead(0)
    }

    /// The character `count` places ahead, as [`Self::peek`] would see it.
    pub(crate) fn ahead(&self, count: usize) -> Option<char> {
        let mut left = count;
        if self.over {
            return None;
        }
        for (index, frame) in self.frames.iter().enumerate().rev() {
            for character in frame.rest().chars() {
                if left == 0 {
                    return Some(character);
                }
                left -= 1;
            }
            if matches!(frame.kind, FrameKind::File { .. }) {
                return (index > 0).then_some('\n');
            }
        }
        None
    }

    /// How often `character` follows, counting no further than `limit`.
    pub(crate) fn run_length(&self, character: char, limit: usize) -> usize {
        let rest = self.frames.last().map_or("", Frame::rest);
        rest.chars()
            .take(limit)
            .take_while(|c| *c == character)
            .count()
    }

    /// The next character that is not blank, as [`Self::peek`] would see it.
    pub(crate) fn ahead_past_blanks(&self) -> Option<char> {
        for (index, frame) in self.frames.iter().enumerate().rev() {
            let found = frame.rest().chars().find(|c| !c.is_whitespace());
            if found.is_some() {
                return found;
            }
            if index > 0 && matches!(frame.kind, FrameKind::File { .. }) {
                return Some('\n');
            }
        }
        None
    }

    /// Takes the next character.
    pub(crate) fn bump(&mut self) -> Option<char> {
        if self.over {
            return None;
        }
        let above_program = self.frames.len() > 1;
        let frame = self.frames.last_mut()?;
        let Some(character) = frame.rest().chars().next() else {
            // Only a file frame can be exhausted here: expansions are popped with their last
            // character, see below.
            if above_program {
                self.frames.pop();
                return Some('\n');
            }
            return None;
        };
        if let FrameKind::File { line, column, .. } = &mut frame.kind {
            if *column == 1 {
                let text = frame.text.get(frame.offset..).unwrap_or("");
                let text = text.split('\n').next().unwrap_or("").trim_end_matches('\r');
                self.lines_seen = self.lines_seen.saturating_add(1);
                self.lines.push(SourceLine {
                    number: self.lines_seen,
                    line: *line,
                    included: above_program,
                    text: text.to_owned(),
                });
            }
            *column = column.saturating_add(1);
            if character == '\n' {
                *line = line.saturating_add(1);
                *column = 1;
            }
        }
        frame.offset += character.len_utf8();
        while self.frames.len() > 1
            && self.frames.last().is_some_and(|f| {
                matches!(f.kind, FrameKind::Expansion { .. }) && f.rest().is_empty()
            })
        {
            self.frames.pop();
        }
        self.spend(character.len_utf8(), 0);
        Some(character)
    }

    /// Where the next character stands; inside an expansion, where the reference stands.
    pub(crate) fn place(&self) -> Span {
        match self.frames.last().map(|frame| &frame.kind) {
            Some(FrameKind::Expansion { at }) => at.clone(),
            Some(FrameKind::File { name, line, column }) => Span {
                source: Arc::clone(name),
                line: *line,
                column: *column,
                length: 1,
            },
            None => Span {
                source: Arc::from(""),
                line: 1,
                column: 1,
                length: 1,
            },
        }
    }

    /// `start` stretched up to the present place.
    pub(crate) fn stretch(&self, mut start: Span) -> Span {
        let end = self.place();
        if end.source == start.source && end.line == start.line && end.column > start.column {
            start.length = end.column - start.column;
        }
        start
    }

    /// Takes the rest of the line that is being read.
    pub(crate) fn take_rest_of_line(&mut self) -> String {
        let mut line = String::new();
        while let Some(character) = self.bump() {
            if character == '\n' {
                break;
            }
            line.push(character);
        }
        line.truncate(line.trim_end_matches('\r').len());
        line
    }

    /// Takes a line of raw data, which is numbered but not echoed; `None` if it holds `end`, or if
    /// the text ends.
    pub(crate) fn take_data_line(&mut self, end: &str) -> Option<String> {
        let rest = self.frames.last().map_or("", Frame::rest);
        let line = rest.split('\n').next().unwrap_or("");
        if line.contains(end) || rest.is_empty() {
            return None;
        }
        let echoed = self.lines.len();
        let line = self.take_rest_of_line();
        self.lines.truncate(echoed);
        Some(line)
    }

    /// Lines first touched since the last call.
    pub(crate) fn take_lines(&mut self) -> Vec<SourceLine> {
        std::mem::take(&mut self.lines)
    }
}
