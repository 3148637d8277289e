//! The text of a macro, read once into a tree of pieces when it is defined. Pieces are places in the
//! source text: nothing is copied, neither here nor when the macro runs.

use super::words::Function;
use crate::keywords::{NAME_CHARACTERS_MAX, in_name, starts_name};
use base::limits::NESTING_MAX;
use std::sync::Arc;

/// A defined macro.
#[derive(Debug, PartialEq)]
pub(crate) struct Definition {
    /// Upper case.
    pub(crate) name: Arc<str>,
    pub(crate) parameters: Vec<Parameter>,
    /// `/ parmbuff`
    pub(crate) parmbuff: bool,
    /// `/ minoperator`, `/ nominoperator`
    pub(crate) minoperator: Option<bool>,
    /// What all pieces are pieces of.
    pub(crate) text: Arc<str>,
    /// The file it stands in.
    pub(crate) file: Arc<str>,
    pub(crate) body: Block,
}

/// A parameter, keyword parameters with the text of their default.
#[derive(Debug, PartialEq)]
pub(crate) struct Parameter {
    /// Upper case.
    pub(crate) name: String,
    pub(crate) default: Option<Piece>,
}

/// A part of the text and where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

pub(crate) type Block = Arc<[Node]>;

/// What a macro consists of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// Text for whoever called the macro; references and calls in it still to be resolved.
    Text(Piece),
    If {
        condition: Piece,
        then: Block,
        otherwise: Option<Block>,
    },
    Group(Block),
    Count {
        variable: Piece,
        start: Piece,
        stop: Piece,
        by: Option<Piece>,
        body: Block,
    },
    While(Piece, Block),
    Until(Piece, Block),
    /// `%let …` and its kind: the keyword in upper case, and what follows it up to the semicolon.
    Statement(Keyword, Piece),
    /// A nested definition, from behind `%macro`.
    Define(Piece),
    Label(Arc<str>),
}

/// Statements without inner statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    Let,
    Put,
    Global,
    Local,
    Include,
    Goto,
    Return,
    Symdel,
    Sysmacdelete,
    /// One that has statements inside, or a part of it, or one that is refused.
    Other(&'static str),
}

/// What is wrong with a definition, and where: line and column.
pub(crate) struct Fault {
    pub(crate) text: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Reads text from a place on.
pub(crate) struct Reader<'a> {
    text: &'a str,
    pub(crate) offset: usize,
    pub(crate) line: u32,
    pub(crate) column: u32,
    depth: u32,
    /// Whether the text at hand is a `*` comment, in which quotes mean nothing.
    comment: bool,
    /// Whether a statement of the program may start here.
    fresh: bool,
}

/// What ends a block.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    End,
    Mend,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str, piece: Piece) -> Self {
        Self {
            text: text.get(..piece.end).unwrap_or(""),
            offset: piece.start,
            line: piece.line,
            column: piece.column,
            depth: 0,
            comment: false,
            fresh: true,
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.offset += character.len_utf8();
        if character == '\n' {
            self.line = self.line.saturating_add(1);
            self.column = 1;
        } else {
            self.column = self.column.saturating_add(1);
        }
        Some(character)
    }

    fn bump_to(&mut self, offset: usize) {
        while self.offset < offset && self.bump().is_some() {}
    }

    /// An empty piece here.
    fn here(&self) -> Piece {
        Piece {
            start: self.offset,
            end: self.offset,
            line: self.line,
            column: self.column,
        }
    }

    fn since(&self, start: Piece) -> Piece {
        let end = self.offset;
        Piece { end, ..start }
    }

    fn fault<T>(&self, text: impl Into<String>) -> Result<T, Fault> {
        Err(Fault {
            text: text.into(),
            line: self.line,
            column: self.column,
        })
    }

    fn skip_blanks(&mut self) {
        loop {
            if self.rest().starts_with("/*") {
                self.skip_comment();
            } else if self.peek().is_some_and(char::is_whitespace) {
                self.bump();
            } else {
                return;
            }
        }
    }

    fn skip_comment(&mut self) {
        // The star that begins it does not end it.
        let inner = self.rest().get(2..).unwrap_or_default();
        let length = inner.find("*/").map_or(self.rest().len(), |at| at + 4);
        self.bump_to(self.offset + length);
    }

    /// The name after a `%` here, in upper case.
    fn percent_name(&self) -> Option<String> {
        let name: String = self
            .rest()
            .strip_prefix('%')?
            .chars()
            .take_while(|c| in_name(*c))
            .collect();
        (name.starts_with(starts_name) && name.len() <= NAME_CHARACTERS_MAX)
            .then(|| name.to_ascii_uppercase())
    }

    fn at_keyword(&self, wanted: &str) -> bool {
        self.peek() == Some('%') && self.percent_name().is_some_and(|name| name == wanted)
    }

    fn skip_keyword(&mut self, name: &str) {
        self.bump_to(self.offset + 1 + name.len());
    }

    /// Passes one character, quoted text, comment or macro call with its parentheses.
    fn skip_item(&mut self) {
        let Some(character) = self.peek() else {
            return;
        };
        match character {
            '/' if self.rest().starts_with("/*") => return self.skip_comment(),
            '\'' | '"' if !self.comment => return self.skip_quoted(character),
            '%' => {
                if let Some(name) = self.percent_name() {
                    self.skip_keyword(&name);
                    if self.peek() == Some('(') {
                        self.skip_parentheses(&name);
                    }
                    self.fresh = false;
                    return;
                }
            }
            ';' => (self.comment, self.fresh) = (false, true),
            '*' if self.fresh => (self.comment, self.fresh) = (true, false),
            _ if character.is_whitespace() => {}
            _ => self.fresh = false,
        }
        self.bump();
    }

    /// Quoted text; a quote that is never closed is a character like others.
    fn skip_quoted(&mut self, quote: char) {
        self.fresh = false;
        self.bump();
        if let Some(length) = self.rest().find(quote) {
            self.bump_to(self.offset + length + 1);
        }
    }

    /// Balanced parentheses; without an end only the first one.
    fn skip_parentheses(&mut self, function: &str) {
        let marks = matches!(function, "STR" | "NRSTR" | "QUOTE" | "NRQUOTE");
        let quotes = !matches!(function, "BQUOTE" | "NRBQUOTE");
        let (offset, line, column) = (self.offset, self.line, self.column);
        let mut depth = 0_u32;
        while let Some(character) = self.peek() {
            match character {
                '%' if marks => {
                    self.bump();
                    if !matches!(self.peek(), Some('\'' | '"' | '(' | ')' | '%')) {
                        continue;
                    }
                }
                '\'' | '"' if quotes => {
                    self.skip_quoted(character);
                    continue;
                }
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return;
            }
        }
        (self.offset, self.line, self.column) = (offset, line, column);
        self.bump();
    }

    /// The piece up to `stop`, which is not taken, or to the end of the text.
    fn until(&mut self, stop: impl Fn(&Self) -> bool) -> Piece {
        let start = self.here();
        while self.peek().is_some() && !stop(self) {
            self.skip_item();
        }
        self.since(start)
    }

    /// The piece up to the semicolon, which is taken.
    fn statement(&mut self) -> Piece {
        let piece = self.until(|reader| reader.peek() == Some(';'));
        self.take_semicolon();
        piece
    }

    fn take_semicolon(&mut self) {
        if self.peek() == Some(';') {
            self.bump();
        }
        (self.comment, self.fresh) = (false, true);
    }

    fn enter(&mut self) -> Result<(), Fault> {
        if self.depth >= NESTING_MAX {
            return self.fault(format!(
                "The macro is nested more than {NESTING_MAX} levels deep"
            ));
        }
        self.depth += 1;
        Ok(())
    }

    /// Nodes up to `%end` or `%mend`, which is taken with its semicolon.
    fn block(&mut self, ending: Ending, opened: Piece) -> Result<Block, Fault> {
        self.enter()?;
        let mut nodes = Vec::new();
        let mut start = self.here();
        self.fresh = true;
        loop {
            let Some(character) = self.peek() else {
                return Err(Fault {
                    text: match ending {
                        Ending::End => "There is no matching %END for the %DO that stands here",
                        Ending::Mend => {
                            "There is no matching %MEND for the %MACRO that stands here"
                        }
                    }
                    .to_owned(),
                    line: opened.line,
                    column: opened.column,
                });
            };
            let name = if character == '%' {
                self.percent_name()
            } else {
                None
            };
            let ends = match name.as_deref() {
                Some("END") => Some(Ending::End),
                Some("MEND") => Some(Ending::Mend),
                _ => None,
            };
            if let Some(found) = ends {
                push_text(&mut nodes, self.since(start));
                if found != ending {
                    return self.fault(match found {
                        Ending::End => "There is no matching %DO statement for the %END",
                        Ending::Mend => "There is an unclosed %DO before the %MEND",
                    });
                }
                self.statement();
                break;
            }
            if character == '%' && self.rest().starts_with("%*") {
                push_text(&mut nodes, self.since(start));
                while !matches!(self.bump(), None | Some(';')) {}
                start = self.here();
                continue;
            }
            let text = self.since(start);
            match self.node(name)? {
                Some(node) => {
                    push_text(&mut nodes, text);
                    nodes.push(node);
                    start = self.here();
                    self.fresh = true;
                }
                None => self.skip_item(),
            }
        }
        self.depth -= 1;
        Ok(nodes.into())
    }

    /// The macro statement that starts here, if one does.
    fn node(&mut self, name: Option<String>) -> Result<Option<Node>, Fault> {
        let Some(name) = name else {
            return Ok(None);
        };
        let start = self.here();
        match name.as_str() {
            "IF" => {
                self.skip_keyword(&name);
                return self.condition().map(Some);
            }
            "DO" => {
                self.skip_keyword(&name);
                return self.group(start).map(Some);
            }
            "MACRO" => {
                self.skip_keyword(&name);
                let inner = self.here();
                self.skip_definition(start)?;
                return Ok(Some(Node::Define(self.since(inner))));
            }
            "THEN" | "ELSE" => {
                return self.fault(format!(
                    "There is no matching %IF statement for the %{name}"
                ));
            }
            "TO" | "BY" | "WHILE" | "UNTIL" => {
                return self.fault(format!(
                    "There is no matching %DO statement for the %{name}"
                ));
            }
            _ => {}
        }
        if let Some(keyword) = Keyword::find(&name) {
            self.skip_keyword(&name);
            return Ok(Some(Node::Statement(keyword, self.statement())));
        }
        if Function::is_of_language(&name) {
            return Ok(None);
        }
        let after = self.rest().get(1 + name.len()..).unwrap_or("");
        if after.trim_start().starts_with(':') && !after.trim_start().starts_with(":=") {
            self.skip_keyword(&name);
            self.skip_blanks();
            self.bump();
            return Ok(Some(Node::Label(name.into())));
        }
        Ok(None)
    }

    /// Passes a nested definition up to and with its `%mend`.
    fn skip_definition(&mut self, opened: Piece) -> Result<(), Fault> {
        let mut depth = 1_u32;
        while self.peek().is_some() {
            match self.percent_name().as_deref() {
                Some("MACRO") => depth += 1,
                Some("MEND") => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.statement();
                return Ok(());
            }
            self.skip_item();
        }
        Err(Fault {
            text: "There is no matching %MEND for the %MACRO that stands here".to_owned(),
            line: opened.line,
            column: opened.column,
        })
    }

    /// `%if` after its keyword.
    fn condition(&mut self) -> Result<Node, Fault> {
        self.enter()?;
        let condition =
            self.until(|reader| reader.at_keyword("THEN") || reader.peek() == Some(';'));
        if !self.at_keyword("THEN") {
            return self.fault("Macro keyword %THEN is missing after this %IF condition");
        }
        self.skip_keyword("THEN");
        let then = self.action()?;
        let (offset, line, column) = (self.offset, self.line, self.column);
        self.skip_blanks();
        let otherwise = if self.at_keyword("ELSE") {
            self.skip_keyword("ELSE");
            Some(self.action()?)
        } else {
            (self.offset, self.line, self.column) = (offset, line, column);
            None
        };
        self.depth -= 1;
        Ok(Node::If {
            condition,
            then,
            otherwise,
        })
    }

    /// What %THEN or %ELSE does: a macro statement, or text up to the semicolon.
    fn action(&mut self) -> Result<Block, Fault> {
        self.skip_blanks();
        self.fresh = true;
        let name = self.percent_name();
        if let Some(node) = self.node(name)? {
            return Ok([node].into());
        }
        let text = self.statement();
        let nodes: Vec<Node> = (text.start < text.end)
            .then_some(Node::Text(text))
            .into_iter()
            .collect();
        Ok(nodes.into())
    }

    /// `%do` after its keyword.
    fn group(&mut self, opened: Piece) -> Result<Node, Fault> {
        self.skip_blanks();
        for keyword in ["WHILE", "UNTIL"] {
            if self.at_keyword(keyword) {
                self.skip_keyword(keyword);
                self.skip_blanks();
                return self.conditional_loop(keyword, opened);
            }
        }
        if self.peek() == Some(';') {
            self.take_semicolon();
            return Ok(Node::Group(self.block(Ending::End, opened)?));
        }
        let variable = self.until(|reader| matches!(reader.peek(), Some('=' | ';')));
        if self.peek() != Some('=') {
            return self.fault("An equal sign is missing in this iterative %DO statement");
        }
        self.bump();
        let start = self.until(|reader| reader.at_keyword("TO") || reader.peek() == Some(';'));
        if !self.at_keyword("TO") {
            return self.fault("Macro keyword %TO is missing in this iterative %DO statement");
        }
        self.skip_keyword("TO");
        let stop = self.until(|reader| reader.at_keyword("BY") || reader.peek() == Some(';'));
        let by = if self.at_keyword("BY") {
            self.skip_keyword("BY");
            Some(self.until(|reader| reader.peek() == Some(';')))
        } else {
            None
        };
        self.take_semicolon();
        let body = self.block(Ending::End, opened)?;
        Ok(Node::Count {
            variable,
            start,
            stop,
            by,
            body,
        })
    }

    fn conditional_loop(&mut self, keyword: &str, opened: Piece) -> Result<Node, Fault> {
        if self.peek() != Some('(') {
            return self.fault(format!("%{keyword} needs a condition in parentheses"));
        }
        let whole = self.here();
        self.skip_parentheses(keyword);
        let whole = self.since(whole);
        if !self
            .text
            .get(..self.offset)
            .is_some_and(|text| text.ends_with(')'))
        {
            return self.fault(format!(
                "The condition of %{keyword} lacks a closing parenthesis"
            ));
        }
        let condition = Piece {
            start: whole.start + 1,
            end: whole.end.saturating_sub(1),
            column: whole.column.saturating_add(1),
            ..whole
        };
        self.statement();
        let body = self.block(Ending::End, opened)?;
        Ok(match keyword {
            "WHILE" => Node::While(condition, body),
            _ => Node::Until(condition, body),
        })
    }

    /// `%if` in open code, after its keyword: its actions are groups.
    pub(crate) fn open_condition(&mut self) -> Result<Block, Fault> {
        let node = self.condition()?;
        let grouped = |block: &Block| matches!(block.as_ref(), [Node::Group(_) | Node::If { .. }]);
        match &node {
            Node::If {
                then, otherwise, ..
            } if grouped(then) && otherwise.as_ref().is_none_or(grouped) => Ok([node].into()),
            _ => self.fault("In open code %IF needs %THEN %DO; and %END"),
        }
    }

    /// A definition, after `%macro`. The reader is left behind its `%mend`, also where the definition
    /// is faulty.
    pub(crate) fn definition(
        &mut self,
        text: &Arc<str>,
        file: &Arc<str>,
    ) -> Result<Definition, Fault> {
        let start = self.here();
        let (offset, line, column) = (self.offset, self.line, self.column);
        let result = self.header_and_body(text, file, start);
        if result.is_err() {
            (self.offset, self.line, self.column) = (offset, line, column);
            // Without any %mend, everything has been passed.
            drop(self.skip_definition(start));
        }
        result
    }

    fn header_and_body(
        &mut self,
        text: &Arc<str>,
        file: &Arc<str>,
        start: Piece,
    ) -> Result<Definition, Fault> {
        self.skip_blanks();
        let name = self.name()?;
        if Keyword::find(&name).is_some() || Function::is_of_language(&name) {
            return self.fault(format!(
                "Macro {name} cannot be named like a macro statement or function"
            ));
        }
        self.skip_blanks();
        let parameters = if self.peek() == Some('(') {
            self.parameters()?
        } else {
            Vec::new()
        };
        let mut definition = Definition {
            name: name.into(),
            parameters,
            parmbuff: false,
            minoperator: None,
            text: Arc::clone(text),
            file: Arc::clone(file),
            body: Block::from([]),
        };
        self.skip_blanks();
        if self.peek() == Some('/') {
            self.bump();
            self.options(&mut definition)?;
        }
        if self.peek() != Some(';') {
            return self.fault("The %MACRO statement is not ended by a semicolon here");
        }
        self.take_semicolon();
        definition.body = trimmed(self.text, self.block(Ending::Mend, start)?);
        Ok(definition)
    }

    fn name(&mut self) -> Result<String, Fault> {
        let name: String = self.rest().chars().take_while(|c| in_name(*c)).collect();
        if !name.starts_with(starts_name) {
            return self.fault("The name of a macro or parameter is expected here");
        }
        if name.len() > NAME_CHARACTERS_MAX {
            return self.fault(format!(
                "The name {name} is longer than {NAME_CHARACTERS_MAX} characters"
            ));
        }
        self.bump_to(self.offset + name.len());
        Ok(name.to_ascii_uppercase())
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>, Fault> {
        self.bump();
        let mut parameters: Vec<Parameter> = Vec::new();
        loop {
            self.skip_blanks();
            if self.peek() == Some(')') && parameters.is_empty() {
                break;
            }
            let name = self.name()?;
            if parameters.iter().any(|known| known.name == name) {
                return self.fault(format!("The parameter {name} is there twice"));
            }
            self.skip_blanks();
            let default = if self.peek() == Some('=') {
                self.bump();
                Some(self.default_value())
            } else {
                None
            };
            if default.is_none() && parameters.last().is_some_and(|last| last.default.is_some()) {
                return self.fault("All positional parameters must precede keyword parameters");
            }
            parameters.push(Parameter { name, default });
            match self.peek() {
                Some(',') => {
                    self.bump();
                }
                Some(')') => break,
                _ => return self.fault("A comma or a closing parenthesis is expected here"),
            }
        }
        self.bump();
        Ok(parameters)
    }

    fn default_value(&mut self) -> Piece {
        let start = self.here();
        let mut depth = 0_u32;
        while let Some(character) = self.peek() {
            match character {
                ',' | ')' if depth == 0 => break,
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            self.fresh = false;
            self.skip_item();
        }
        self.since(start)
    }

    /// What follows the slash of %MACRO.
    fn options(&mut self, definition: &mut Definition) -> Result<(), Fault> {
        loop {
            self.skip_blanks();
            if self.peek().is_none_or(|c| c == ';') {
                return Ok(());
            }
            let name = self.name()?;
            match name.as_str() {
                "PARMBUFF" | "PBUFF" => definition.parmbuff = true,
                "MINOPERATOR" => definition.minoperator = Some(true),
                "NOMINOPERATOR" => definition.minoperator = Some(false),
                // A description for catalogues.
                "DES" => {
                    self.skip_blanks();
                    if self.peek() == Some('=') {
                        self.bump();
                    }
                    self.skip_blanks();
                    self.skip_item();
                }
                _ => {
                    return self.fault(format!(
                        "The option {name} of the %MACRO statement is not implemented yet"
                    ));
                }
            }
        }
    }
}

fn push_text(nodes: &mut Vec<Node>, piece: Piece) {
    if piece.start < piece.end {
        nodes.push(Node::Text(piece));
    }
}

/// A body without the blanks before its %MEND, which are layout.
fn trimmed(text: &str, body: Block) -> Block {
    let Some(Node::Text(piece)) = body.last() else {
        return body;
    };
    let mut piece = *piece;
    let kept = text
        .get(piece.start..piece.end)
        .unwrap_or("")
        .trim_end()
        .len();
    piece.end = piece.start + kept;
    let mut nodes: Vec<Node> = body.iter().cloned().collect();
    nodes.pop();
    push_text(&mut nodes, piece);
    nodes.into()
}
