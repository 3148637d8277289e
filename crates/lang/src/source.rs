//! The stack of texts being read: the program, included files, and what macro references turned
//! into. Words run across the end of a macro text (`&prefix.1` is one word) but not across the end
//! of a file.

use crate::macros::body::{Definition, Piece};
use crate::macros::mask::{has_masked, is_masked, unmask};
use crate::macros::run::Activation;
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
    text: Arc<str>,
    offset: usize,
    end: usize,
    kind: FrameKind,
}

enum FrameKind {
    File {
        name: Arc<str>,
        line: u32,
        column: u32,
    },
    /// A part of a macro's text, where it stands in its file.
    Body {
        name: Arc<str>,
        line: u32,
        column: u32,
    },
    /// What a reference or a call turned into.
    Expansion { at: Span, live: bool },
    /// A macro that runs; its text comes as frames above it.
    Activation(Box<Activation>),
    /// The bottom of a text that is read on its own.
    Barrier,
}

impl Frame {
    #[inline]
    fn rest(&self) -> &str {
        self.text.get(self.offset..self.end).unwrap_or("")
    }

    /// Whether the frame goes away with its last character.
    const fn is_passing(&self) -> bool {
        matches!(
            self.kind,
            FrameKind::Body { .. } | FrameKind::Expansion { .. }
        )
    }
}

/// The stack. The bottom frame is the program and stays.
pub(crate) struct Source {
    frames: Vec<Frame>,
    nothing: Arc<str>,
    lines: Vec<SourceLine>,
    lines_seen: u32,
    /// Texts that are being read on their own: what they hold does not count for the step.
    apart: u32,
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
            nothing: Arc::from(""),
            lines: Vec::new(),
            lines_seen: 0,
            apart: 0,
            limit: Budget::STEP,
            left: Budget::STEP,
            over: false,
        };
        source.push_file(name, text);
        source
    }

    fn push(&mut self, text: Arc<str>, kind: FrameKind) {
        let (offset, end) = (0, text.len());
        self.frames.push(Frame {
            text,
            offset,
            end,
            kind,
        });
    }

    pub(crate) fn push_file(&mut self, name: &str, text: &str) {
        let text = text.trim_start_matches('\u{feff}');
        // Characters that stand for quoted ones inside the macro processor mean nothing outside.
        let text = if has_masked(text) {
            Arc::from(text.replace(is_masked, "\u{fffd}"))
        } else {
            Arc::from(text)
        };
        let name = Arc::from(name);
        let (line, column) = (1, 1);
        self.push(text, FrameKind::File { name, line, column });
    }

    /// Text that stands for a macro reference at `at`: every token of it is reported there. In
    /// live text `&` acts.
    pub(crate) fn push_expansion(&mut self, at: Span, text: String, live: bool) {
        if !text.is_empty() {
            self.push(Arc::from(text), FrameKind::Expansion { at, live });
        }
    }

    /// A part of a macro's text.
    pub(crate) fn push_body(&mut self, definition: &Definition, piece: Piece) {
        let (name, line, column) = (Arc::clone(&definition.file), piece.line, piece.column);
        if piece.start < piece.end {
            self.frames.push(Frame {
                text: Arc::clone(&definition.text),
                offset: piece.start,
                end: piece.end,
                kind: FrameKind::Body { name, line, column },
            });
        }
    }

    /// A macro that starts to run.
    pub(crate) fn push_activation(&mut self, activation: Activation) {
        let nothing = Arc::clone(&self.nothing);
        self.push(nothing, FrameKind::Activation(Box::new(activation)));
    }

    /// What is pushed from now on ends for itself. The result goes to [`Self::leave_apart`].
    pub(crate) fn read_apart(&mut self) -> usize {
        let mark = self.frames.len();
        let nothing = Arc::clone(&self.nothing);
        self.push(nothing, FrameKind::Barrier);
        self.apart += 1;
        mark
    }

    /// Forgets what is left of the text read apart.
    pub(crate) fn leave_apart(&mut self, mark: usize) {
        self.frames.truncate(mark.max(1));
        self.apart = self.apart.saturating_sub(1);
    }

    /// Text is collected, not made into tokens, until [`Self::stop_collecting`].
    pub(crate) fn start_collecting(&mut self) {
        self.apart += 1;
    }

    pub(crate) fn stop_collecting(&mut self) {
        self.apart = self.apart.saturating_sub(1);
    }

    /// The macro that must run on before there is a next character.
    pub(crate) fn waiting_activation(&mut self) -> Option<&mut Activation> {
        match self.frames.last_mut().map(|frame| &mut frame.kind) {
            Some(FrameKind::Activation(activation)) if !self.over => Some(activation),
            _ => None,
        }
    }

    /// The macro that runs, the innermost one.
    pub(crate) fn activation(&self) -> Option<&Activation> {
        self.activations().next()
    }

    /// The macros that run, innermost first.
    pub(crate) fn activations(&self) -> impl Iterator<Item = &Activation> {
        self.frames
            .iter()
            .rev()
            .filter_map(|frame| match &frame.kind {
                FrameKind::Activation(activation) => Some(activation.as_ref()),
                _ => None,
            })
    }

    /// Ends the innermost macro with all text above it; nothing if a text read on its own is above.
    pub(crate) fn end_activation(&mut self) {
        let found = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame.kind, FrameKind::Activation(_) | FrameKind::Barrier));
        if let Some(index) = found
            && let Some(Frame {
                kind: FrameKind::Activation(_),
                ..
            }) = self.frames.get(index)
        {
            self.frames.truncate(index);
            self.drop_exhausted();
        }
    }

    /// The text at hand, if it is a file's or a macro's: definitions are read from it.
    pub(crate) fn definable(&self) -> Option<(Arc<str>, Arc<str>, Piece)> {
        let frame = self.frames.last()?;
        let (FrameKind::File { name, line, column } | FrameKind::Body { name, line, column }) =
            &frame.kind
        else {
            return None;
        };
        let piece = Piece {
            start: frame.offset,
            end: frame.end,
            line: *line,
            column: *column,
        };
        Some((Arc::clone(&frame.text), Arc::clone(name), piece))
    }

    /// Takes everything up to `offset` of the text at hand.
    pub(crate) fn bump_to(&mut self, offset: usize) {
        let depth = self.frames.len();
        while self.frames.len() == depth
            && self
                .frames
                .last()
                .is_some_and(|frame| frame.offset < offset)
            && self.bump().is_some()
        {}
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
            frame.offset = frame.end;
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
    #[inline]
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

    /// Forgets what macro references turned into, and the macros that run.
    pub(crate) fn abandon_expansions(&mut self) {
        self.frames
            .retain(|frame| matches!(frame.kind, FrameKind::File { .. }));
    }

    /// Whether `&` acts at the next character; in most expansions it has been dealt with.
    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        !matches!(
            self.frames.last().map(|frame| &frame.kind),
            Some(FrameKind::Expansion { live: false, .. })
        )
    }

    /// Whether raw data lines can stand here: only in a file, and not in the text of a macro.
    pub(crate) fn in_file(&self) -> bool {
        matches!(
            self.frames.last().map(|frame| &frame.kind),
            Some(FrameKind::File { .. })
        )
    }

    /// The next character, macro quoting undone. The end of an included file reads as a line end.
    #[inline]
    pub(crate) fn peek(&self) -> Option<char> {
        self.peek_quoted().map(unmask)
    }

    /// The next character as the macro processor sees it.
    #[inline]
    pub(crate) fn peek_quoted(&self) -> Option<char> {
        let first = self.frames.last()?.rest().chars().next();
        if first.is_some() && !self.over {
            return first;
        }
        self.ahead_quoted(0)
    }

    /// The character `count` places ahead, as [`Self::peek`] would see it.
    pub(crate) fn ahead(&self, count: usize) -> Option<char> {
        self.ahead_quoted(count).map(unmask)
    }

    /// The same as [`Self::peek_quoted`] would see it.
    pub(crate) fn ahead_quoted(&self, count: usize) -> Option<char> {
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
            match frame.kind {
                FrameKind::File { .. } => return (index > 0).then_some('\n'),
                FrameKind::Activation(_) | FrameKind::Barrier => return None,
                FrameKind::Body { .. } | FrameKind::Expansion { .. } => {}
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
                return found.map(unmask);
            }
            match frame.kind {
                FrameKind::File { .. } if index > 0 => return Some('\n'),
                FrameKind::Activation(_) | FrameKind::Barrier => return None,
                _ => {}
            }
        }
        None
    }

    fn drop_exhausted(&mut self) {
        while self.frames.len() > 1
            && self
                .frames
                .last()
                .is_some_and(|frame| frame.is_passing() && frame.offset >= frame.end)
        {
            self.frames.pop();
        }
    }

    /// Takes the next character, macro quoting undone.
    pub(crate) fn bump(&mut self) -> Option<char> {
        self.bump_quoted().map(unmask)
    }

    /// Takes the next character as the macro processor sees it.
    pub(crate) fn bump_quoted(&mut self) -> Option<char> {
        if self.over {
            return None;
        }
        let above_program = self.frames.len() > 1;
        let frame = self.frames.last_mut()?;
        let Some(character) = frame.rest().chars().next() else {
            // Expansions and pieces are popped with their last character, see below.
            if above_program && matches!(frame.kind, FrameKind::File { .. }) {
                self.frames.pop();
                self.drop_exhausted();
                return Some('\n');
            }
            return None;
        };
        match &mut frame.kind {
            FrameKind::File { line, column, .. } => {
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
                step_place(line, column, character);
            }
            FrameKind::Body { line, column, .. } => step_place(line, column, character),
            _ => {}
        }
        frame.offset += character.len_utf8();
        let exhausted = frame.offset >= frame.end;
        if exhausted {
            self.drop_exhausted();
        }
        if self.apart == 0 {
            self.spend(character.len_utf8(), 0);
        }
        Some(character)
    }

    /// Copies what is plain text at the start of what a reference turned into: long values are not
    /// worth a look at each character.
    pub(crate) fn take_plain(&mut self, out: &mut String) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        if !matches!(frame.kind, FrameKind::Expansion { .. }) || self.apart == 0 {
            return;
        }
        let rest = frame.rest();
        let special = ['%', '&', '\'', '"', '/', ';', '(', ')', ','];
        let length = rest.find(special).unwrap_or(rest.len());
        out.push_str(rest.get(..length).unwrap_or(""));
        frame.offset += length;
        if frame.offset >= frame.end {
            self.drop_exhausted();
        }
    }

    /// Where the next character stands; inside an expansion, where the reference stands.
    pub(crate) fn place(&self) -> Span {
        for frame in self.frames.iter().rev() {
            return match &frame.kind {
                FrameKind::Expansion { at, .. } => at.clone(),
                FrameKind::Activation(activation) => activation.at.clone(),
                FrameKind::File { name, line, column } | FrameKind::Body { name, line, column } => {
                    Span {
                        source: Arc::clone(name),
                        line: *line,
                        column: *column,
                        length: 1,
                    }
                }
                FrameKind::Barrier => continue,
            };
        }
        Span {
            source: Arc::clone(&self.nothing),
            line: 1,
            column: 1,
            length: 1,
        }
    }

    /// `start` stretched up to the present place.
    pub(crate) fn stretch(&self, mut start: Span) -> Span {
        let end = match self.frames.last().map(|frame| &frame.kind) {
            Some(
                FrameKind::File { name, line, column } | FrameKind::Body { name, line, column },
            ) => Some((name, *line, *column)),
            Some(FrameKind::Expansion { at, .. }) => Some((&at.source, at.line, at.column)),
            _ => None,
        };
        if let Some((name, line, column)) = end
            && line == start.line
            && column > start.column
            && *name == start.source
        {
            start.length = column - start.column;
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

    /// Lines first touched since the last call to [`Self::take_lines`].
    pub(crate) fn lines_taken(&self) -> usize {
        self.lines.len()
    }

    /// Lines first touched since the last call.
    pub(crate) fn take_lines(&mut self) -> Vec<SourceLine> {
        std::mem::take(&mut self.lines)
    }
}

fn step_place(line: &mut u32, column: &mut u32, character: char) {
    *column = column.saturating_add(1);
    if character == '\n' {
        *line = line.saturating_add(1);
        *column = 1;
    }
}
