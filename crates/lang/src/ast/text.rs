//! INPUT and PUT, and the files they read and write.

use super::{Expr, FormatRef, VariableList};
use base::diag::Span;

/// A text file as INFILE and FILE name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileName {
    /// `'path'`
    Path(String),
    /// A fileref, or DATALINES, LOG, PRINT.
    Reference(String),
}

/// `INFILE file options;` or `FILE file options;`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Which file.
    pub name: FileName,
    /// Where its name stands.
    pub span: Span,
    /// Options in order.
    pub options: Vec<FileOption>,
}

/// An option of INFILE, FILE or FILENAME.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOption {
    /// As written.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its value; `None` for a bare name.
    pub value: Option<FileValue>,
}

/// The value of such an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileValue {
    /// In quotes.
    Text(String),
    /// A word or number.
    Word(String),
}

/// One item of an INPUT or PUT statement.
#[derive(Debug, Clone, PartialEq)]
pub enum TextItem {
    /// PUT: `'text'`, `3*'text'`.
    Text(String, u32),
    /// A value and how it is read or written.
    Value(ValueItem, Style),
    /// `(items)(styles)`: the styles are used in turn.
    Group(Vec<ValueItem>, Vec<GroupStyle>),
    /// PUT: `_ALL_`.
    All(Span),
    /// PUT: `_INFILE_`.
    Infile(Span),
    /// A move of the pointer.
    Move(Pointer),
}

/// What is read or written.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueItem {
    /// A variable, a list of them, or a whole array.
    Variables(VariableList),
    /// An array element.
    Element {
        /// The array.
        array: String,
        /// Subscripts.
        subscripts: Vec<Expr>,
        /// Where.
        span: Span,
    },
}

/// How a value is read or written.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// `$`: a new variable is character.
    pub dollar: bool,
    /// `x=`
    pub named: bool,
    /// How the value is found or laid out.
    pub form: Form,
    /// `?` (1) or `??` (2): how much is kept quiet about invalid data.
    pub quiet: u8,
}

/// How a value is found or laid out.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// Separated by delimiters; `ampersand`: single blanks belong to the value.
    List {
        /// `: format.`
        format: Option<FormatRef>,
        /// `&`
        ampersand: bool,
        /// `~`
        tilde: bool,
    },
    /// `format.`: as wide as the format is.
    Formatted(FormatRef),
    /// `first-last .decimals`
    Columns {
        /// First column, from 1.
        first: u32,
        /// Last column.
        last: u32,
        /// Implied decimals.
        decimals: u16,
    },
}

/// A style inside a group.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupStyle {
    /// For one value; repeated that often.
    Style(Style, u32),
    /// Between values.
    Move(Pointer),
    /// PUT: text between values.
    Text(String),
}

/// A move of the pointer.
#[derive(Debug, Clone, PartialEq)]
pub enum Pointer {
    /// `@n`
    Column(Expr),
    /// `@'text'`: behind that text.
    Find(Expr),
    /// `+n`
    Relative(Expr),
    /// `#n`
    Line(Expr),
    /// `/`
    NextLine,
    /// `@` at the end: the line is held for the next statement of this iteration.
    Hold,
    /// `@@` at the end: the line is held over iterations.
    HoldAcross,
}
