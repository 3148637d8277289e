//! What a program is made of. Names are kept as written; comparing them ignores case.

mod text;

use base::diag::{Diagnostic, Span};

use crate::finding;

pub use self::text::{
    FileName, FileOption, FileValue, Form, GroupStyle, Pointer, Style, TextFile, TextItem,
    ValueItem,
};

/// One unit that the engine executes before the next one is read.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A statement that stands outside steps: OPTIONS, LIBNAME, TITLE.
    Global(Global),
    /// A DATA step.
    Data(DataStep),
    /// A procedure, its statements still as tokens: each procedure reads its own grammar.
    Proc(ProcStep),
}

/// A global statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Global {
    /// Where it starts.
    pub span: Span,
    /// What it is.
    pub kind: GlobalKind,
}

/// The global statements.
#[derive(Debug, Clone, PartialEq)]
pub enum GlobalKind {
    /// `OPTIONS name[=value] …;` (`NOname` stays one name).
    Options(Vec<Setting>),
    /// `LIBNAME libref [engine] 'path' [options];`, `LIBNAME libref ('path' libref …);`
    Libname {
        /// The libref.
        libref: String,
        /// Where members are searched, in this order; empty with `clear`.
        locations: Vec<Location>,
        /// `LIBNAME libref CLEAR;`
        clear: bool,
        /// Engine name if one was given (`v9`, `base`).
        engine: Option<String>,
        /// `FILELOCKS=NONE`, `COMPRESS=BINARY`, `ACCESS=READONLY` …
        options: Vec<Setting>,
    },
    /// `FILENAME fileref 'path' options;`
    Filename {
        /// The fileref; `_ALL_` with `clear`.
        fileref: String,
        /// The path; `None` with `clear` and `temporary`.
        path: Option<String>,
        /// `FILENAME fileref TEMP;`
        temporary: bool,
        /// `FILENAME fileref CLEAR;`
        clear: bool,
        /// LRECL= and the like: defaults of INFILE and FILE.
        options: Vec<FileOption>,
    },
    /// `TITLEn 'text';` and `FOOTNOTEn`; an empty text clears.
    Title {
        /// True for FOOTNOTE.
        footnote: bool,
        /// 1 to 10.
        number: u8,
        /// The text; `None` clears this line and those after it.
        text: Option<String>,
    },
    /// `%put text;` with its references resolved: the log gets the text as it is. Comes in the
    /// middle of a step if it stands there.
    Put(String),
    /// ODS or GOPTIONS, which say how output looks.
    Appearance(String),
    /// `LOCK libref.member;`
    Lock {
        /// The data set.
        dataset: DatasetRef,
        /// What is asked.
        action: LockAction,
        /// NOMSG: nothing goes to the log.
        quiet: bool,
    },
    /// `ENDSAS;`
    EndSas,
}

/// What a LOCK statement asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockAction {
    /// Nobody else may use the data set from now on.
    Lock,
    /// CLEAR: others may.
    Clear,
    /// LIST, QUERY, SHOW: whether it is locked.
    List,
}

/// Where a library has its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A directory.
    Path(String),
    /// Where another libref has them.
    Libref(String),
}

/// `name` or `name=value` of an OPTIONS statement, a data set option list or a PROC statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// As written.
    pub name: String,
    /// The value's text without quotes; `None` for a bare name.
    pub value: Option<String>,
    /// Where the name stands.
    pub span: Span,
}

/// `DATA …; … RUN;`
#[derive(Debug, Clone, PartialEq)]
pub struct DataStep {
    /// The DATA keyword.
    pub span: Span,
    /// Data sets to make; empty means `_NULL_`. `DATA;` alone gives one ref named by the engine.
    pub outputs: Vec<DatasetRef>,
    /// Statements in order.
    pub statements: Vec<Statement>,
    /// The lines after DATALINES, if it is there.
    pub data_lines: Option<Vec<String>>,
}

/// A data set with its options: `lib.member(keep=a b where=(x>1))`.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetRef {
    /// Where it stands.
    pub span: Span,
    /// `None` means WORK (or USER).
    pub libref: Option<String>,
    /// Member name. In SET, MERGE and UPDATE `d:` stands for all members whose names start so.
    pub member: String,
    /// Data set options in order.
    pub options: Vec<DatasetOption>,
}

/// One data set option.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetOption {
    /// As written.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// Its value.
    pub value: DatasetOptionValue,
}

/// Values of data set options by shape.
#[derive(Debug, Clone, PartialEq)]
pub enum DatasetOptionValue {
    /// KEEP=, DROP=.
    Variables(Vec<VariableList>),
    /// RENAME=(old=new …).
    Renames(Vec<(String, String)>),
    /// WHERE=(expression).
    Where(Expr),
    /// Everything else: the text without quotes or outer parentheses.
    Text(String),
}

/// An item of a variable list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableList {
    /// `name`
    Name(String, Span),
    /// `x1-x9`
    Numbered {
        /// Common prefix.
        prefix: String,
        /// First number.
        first: u32,
        /// Last number.
        last: u32,
        /// Digits of the first number as written, for leading zeros.
        digits: usize,
        /// Where.
        span: Span,
    },
    /// `a--b`, `a-numeric-b`, `a-character-b`: by position in the data set or PDV.
    Range {
        /// First variable.
        from: String,
        /// Last variable.
        to: String,
        /// Restriction to one type.
        only: Option<VariableKind>,
        /// Where.
        span: Span,
    },
    /// `ab:`
    Prefix(String, Span),
    /// `_ALL_` (`None`), `_NUMERIC_`, `_CHARACTER_`.
    All(Option<VariableKind>, Span),
    /// `a{*}`: every element of an array.
    Array(String, Span),
}

/// Type of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// 8-byte double in memory.
    Numeric,
    /// Fixed-length text.
    Character,
}

/// A DATA step statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Where it starts.
    pub span: Span,
    /// What it is.
    pub kind: StatementKind,
}

/// DATA step statements.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// `SET a b(options) END= NOBS= …;` Options other than data sets come as settings.
    Set {
        /// Data sets read one after the other (or interleaved with BY).
        datasets: Vec<DatasetRef>,
        /// END=, NOBS=, POINT=, KEY=, INDSNAME=.
        options: Vec<Setting>,
    },
    /// `MERGE a b(options) END=;` Without a BY statement row by row.
    Merge {
        /// Data sets.
        datasets: Vec<DatasetRef>,
        /// END= and the like.
        options: Vec<Setting>,
    },
    /// `UPDATE master transactions UPDATEMODE= END=;`
    Update {
        /// Both data sets.
        datasets: Vec<DatasetRef>,
        /// UPDATEMODE=, END=.
        options: Vec<Setting>,
    },
    /// `ARRAY name{…} …;`
    Array(Box<ArrayDeclaration>),
    /// `target = value;`
    Assign {
        /// The variable.
        target: String,
        /// What it gets.
        value: Expr,
    },
    /// `target + value;` the sum statement.
    Sum {
        /// The accumulator.
        target: String,
        /// What is added.
        value: Expr,
    },
    /// `a{i} = value;`, `a{i} + value;`, `substr(c, 1, 2) = value;`
    Store {
        /// Where the value goes.
        place: Box<Place>,
        /// True for a sum statement.
        sum: bool,
        /// The value.
        value: Expr,
    },
    /// `SELECT [(value)]; WHEN (…) …; OTHERWISE …; END;`
    Select(Box<Select>),
    /// `INFILE file options;`
    Infile(TextFile),
    /// `INPUT items;`
    Input(Vec<TextItem>),
    /// `FILE file options;`
    File(TextFile),
    /// `PUT items;`; PUTLOG writes to the log whatever FILE says.
    Put {
        /// Items in order.
        items: Vec<TextItem>,
        /// PUTLOG.
        log: bool,
    },
    /// `name:` before a statement.
    Mark(String),
    /// `GOTO label;`
    GoTo(String),
    /// `LINK label;`
    Link(String),
    /// `ATTRIB list LENGTH= FORMAT= INFORMAT= LABEL= …;`
    Attrib(Vec<Attributes>),
    /// `DECLARE HASH name(…);` or `DECLARE HITER name('hash');`
    Declare {
        /// HITER.
        iterator: bool,
        /// The object.
        name: String,
        /// `dataset: 'a', ordered: 'y'`; `None` without parentheses.
        arguments: Option<Vec<MethodArgument>>,
    },
    /// `h.find();` as a statement.
    Method(Expr),
    /// `IF condition THEN … [ELSE …];`
    If {
        /// The condition.
        condition: Expr,
        /// Statement after THEN.
        then: Box<Statement>,
        /// Statement after ELSE.
        otherwise: Option<Box<Statement>>,
    },
    /// `IF condition;`
    SubsettingIf(Expr),
    /// `WHERE condition;`
    Where(Restriction),
    /// `DO; … END;`
    Block(Vec<Statement>),
    /// `DO index = a TO b BY c, … [WHILE(e)] [UNTIL(e)]; … END;` and the forms without an index.
    Loop(Box<Loop>),
    /// `KEEP list;`
    Keep(Vec<VariableList>),
    /// `DROP list;`
    Drop(Vec<VariableList>),
    /// `RENAME old=new …;`
    Rename(Vec<(String, String)>),
    /// `RETAIN list [initial] …;` Empty list = everything.
    Retain(Vec<(VariableList, Option<Expr>)>),
    /// `LENGTH list [$] n …;`
    Length(Vec<(VariableList, VariableKind, u32)>),
    /// `FORMAT list format. …;` A missing format removes one.
    Format(Vec<(VariableList, Option<FormatRef>)>),
    /// `INFORMAT list informat. …;`
    Informat(Vec<(VariableList, Option<FormatRef>)>),
    /// `LABEL name='text' …;`
    Label(Vec<(String, String)>),
    /// `BY [DESCENDING] name … [NOTSORTED];`
    By(ByList),
    /// `OUTPUT [data sets];`
    Output(Vec<DatasetRef>),
    /// `DELETE;`
    Delete,
    /// `CALL routine(arguments);`
    Call(String, Vec<Argument>),
    /// `STOP;`
    Stop,
    /// `LIST;`
    List,
    /// `ABORT;`, `ABORT ABEND code;`: how the session ends, and with which code.
    Abort(Option<(SessionEnd, Option<u8>)>),
    /// `RETURN;`
    Return,
    /// `LEAVE;`
    Leave,
    /// `CONTINUE;`
    Continue,
    /// `;`
    Empty,
}

/// How ABORT ends the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// ABORT ABEND.
    Abend,
    /// ABORT RETURN.
    Return,
}

/// Conditions that WHERE ALSO can add to one another.
const ALSO_MAX: u32 = 100;

/// A WHERE statement, of a DATA step or a procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct Restriction {
    /// What rows must meet.
    pub condition: Expr,
    /// `WHERE ALSO` or `WHERE SAME AND`: beside what earlier statements say.
    pub also: bool,
}

impl Restriction {
    /// Adds to the condition that is in force, or takes its place; returns SAS's note if there
    /// was one. Errors when too many have been added, since who walks a tree recurses.
    pub fn join(self, known: &mut Option<Expr>) -> Result<Option<&'static str>, Diagnostic> {
        let Some(before) = known.take() else {
            *known = Some(self.condition);
            return Ok(None);
        };
        if !self.also {
            *known = Some(self.condition);
            return Ok(Some("WHERE clause has been replaced."));
        }
        let mut depth = 0;
        let mut inner = &before;
        while let ExprKind::Binary(BinaryOp::And, left, _) = &inner.kind {
            (depth, inner) = (depth + 1, left.as_ref());
        }
        if depth >= ALSO_MAX {
            let message = format!("There are more than {ALSO_MAX} WHERE ALSO statements");
            return Err(finding::error(&self.condition.span, message));
        }
        *known = Some(Expr {
            span: before.span.clone(),
            kind: ExprKind::Binary(BinaryOp::And, Box::new(before), Box::new(self.condition)),
        });
        Ok(Some("WHERE clause has been augmented."))
    }
}

/// Where a value is stored.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// An array element.
    Element {
        /// The array.
        array: String,
        /// Subscripts.
        subscripts: Vec<Expr>,
    },
    /// `SUBSTR(place, start [, length])`
    Substr {
        /// The variable or element changed.
        of: Box<Expr>,
        /// First byte, from 1.
        start: Box<Expr>,
        /// Bytes; up to the end if it is not there.
        length: Option<Box<Expr>>,
    },
}

/// The function that `x in: ('a', 'b')` calls with the value and the texts: whether one of them is equal
/// over the shorter length. No program can write this name.
pub const IN_PREFIX: &str = "IN:";

/// The function that the rest of a long sum becomes: the sum of the arguments, taken one by one from left to
/// right. No program can write this name.
pub const SUM_CHAIN: &str = "+";

/// The variable that chooses the element of an array without dimensions.
pub const IMPLICIT_INDEX: &str = "_I_";

/// An ARRAY statement.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayDeclaration {
    /// The array.
    pub name: String,
    /// Bounds of each dimension; empty for `{*}`.
    pub dimensions: Vec<(i64, i64)>,
    /// No dimensions are given: the name alone stands for the element of number `_I_`.
    pub implicit: bool,
    /// Type, if it is given.
    pub kind: Option<VariableKind>,
    /// Length of its elements, if it is given.
    pub length: Option<u32>,
    /// `_TEMPORARY_`
    pub temporary: bool,
    /// Its variables; none means `name1`, `name2`, …
    pub elements: Vec<VariableList>,
    /// Initial values, repetitions taken apart.
    pub initial: Vec<Expr>,
}

/// A SELECT group.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// What WHEN values are compared with; without it they are conditions.
    pub value: Option<Expr>,
    /// WHEN clauses.
    pub whens: Vec<(Vec<Expr>, Statement)>,
    /// OTHERWISE.
    pub otherwise: Option<Statement>,
}

/// Variables and their attributes in an ATTRIB statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Attributes {
    /// The variables.
    pub variables: Vec<VariableList>,
    /// LENGTH=.
    pub length: Option<(VariableKind, u32)>,
    /// FORMAT=.
    pub format: Option<FormatRef>,
    /// INFORMAT=.
    pub informat: Option<FormatRef>,
    /// LABEL=.
    pub label: Option<String>,
}

/// An argument of a method or a declaration: `key: value` or `value`.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodArgument {
    /// The tag before the colon.
    pub tag: Option<String>,
    /// The value.
    pub value: Expr,
}

/// A DO loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// Index variable with its ranges; `None` for DO WHILE / DO UNTIL alone.
    pub index: Option<(String, Vec<LoopRange>)>,
    /// WHILE(…) of a loop without an index.
    pub while_: Option<Expr>,
    /// UNTIL(…) of a loop without an index.
    pub until: Option<Expr>,
    /// Body.
    pub body: Vec<Statement>,
}

/// `start [TO stop] [BY step] [WHILE(e)] [UNTIL(e)]`
#[derive(Debug, Clone, PartialEq)]
pub struct LoopRange {
    /// First value.
    pub start: Expr,
    /// TO.
    pub stop: Option<Expr>,
    /// BY.
    pub step: Option<Expr>,
    /// WHILE(…).
    pub while_: Option<Expr>,
    /// UNTIL(…).
    pub until: Option<Expr>,
}

/// A BY list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByList {
    /// Variables in order of significance.
    pub keys: Vec<ByKey>,
    /// NOTSORTED.
    pub not_sorted: bool,
}

/// One BY variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByKey {
    /// The variable (or list).
    pub variable: VariableList,
    /// DESCENDING.
    pub descending: bool,
}

/// `best12.2`, `$char8.`: name without `$`… kept as written including `$`, without width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatRef {
    /// `BEST`, `$CHAR`, empty for `8.2`; `$` alone for `$8.`.
    pub name: String,
    /// Width; 0 if none was given.
    pub width: u16,
    /// Decimals; 0 if none was given.
    pub decimals: u16,
    /// What PUT and the functions PUT and INPUT say beside it.
    pub modifier: FormatModifier,
    /// Where.
    pub span: Span,
}

/// What stands beside a format or informat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormatModifier {
    /// Nothing.
    #[default]
    None,
    /// `-L`: the value stands at the left of its width.
    Left,
    /// `-R`: at the right.
    Right,
    /// `-C`: in the middle.
    Center,
    /// `??` before an informat: nothing is said of invalid data.
    Silent,
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Where it starts.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// Expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A number, date, time or datetime literal.
    Number(f64),
    /// `.`, `._`, `.A`: the code is 0 for `.`, `b'_'`, or the upper-case letter.
    Missing(u8),
    /// A text literal, quotes removed.
    Text(String),
    /// A variable; `FIRST.x` and `LAST.x` keep their prefix.
    Variable(String),
    /// `-x`, `+x`, `not x`.
    Unary(UnaryOp, Box<Expr>),
    /// `a op b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `x in (1, 2, 5:8)`; `negated` for NOT IN.
    In {
        /// The value looked for.
        value: Box<Expr>,
        /// Constants and ranges (low, high).
        items: Vec<InItem>,
        /// NOT IN.
        negated: bool,
    },
    /// `name(arguments)`; [`IN_PREFIX`] stands for `IN:`, [`SUM_CHAIN`] for a long sum.
    Call(String, Vec<Argument>),
    /// `a{i}` or `a[i, j]`.
    Element(String, Vec<Expr>),
    /// `object.method(arguments)`; without parentheses an attribute.
    Method {
        /// The object.
        object: String,
        /// Its method or attribute.
        method: String,
        /// Arguments.
        arguments: Option<Vec<MethodArgument>>,
    },
    /// WHERE only: `x between a and b`.
    Between {
        /// Tested value.
        value: Box<Expr>,
        /// Inclusive lower bound.
        low: Box<Expr>,
        /// Inclusive upper bound.
        high: Box<Expr>,
        /// NOT BETWEEN.
        negated: bool,
    },
    /// WHERE only: `x is missing`, `x is null`.
    IsMissing(Box<Expr>, bool),
    /// WHERE only: `x like 'pattern'`, `x contains 'text'` / `x ? 'text'`.
    Like {
        /// Tested value.
        value: Box<Expr>,
        /// Pattern or text.
        pattern: String,
        /// CONTAINS instead of LIKE.
        contains: bool,
        /// NOT.
        negated: bool,
    },
}

/// An item of an IN list.
#[derive(Debug, Clone, PartialEq)]
pub enum InItem {
    /// One constant.
    Value(Expr),
    /// `low:high`, integers.
    Range(i64, i64),
}

/// A function argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// An expression.
    Value(Expr),
    /// `of x1-x9 y`.
    Of(Vec<VariableList>),
    /// The second argument of PUT and INPUT.
    Format(FormatRef),
    /// Nothing between commas: `compress(x, , 'd')`.
    Omitted(Span),
}

/// Prefix operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `not`, `^`, `~`
    Not,
}

/// Infix operators. Comparisons carry whether `:` followed (compare over the shorter length).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `**`
    Power,
    /// `><`, MIN
    Min,
    /// `<>`, MAX (not-equal in WHERE: the parser has already decided)
    Max,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `||`
    Concatenate,
    /// A comparison.
    Compare(Comparison, bool),
    /// `&`, AND
    And,
    /// `|`, OR
    Or,
}

/// Comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`, EQ
    Equal,
    /// `^=`, NE
    NotEqual,
    /// `<`, LT
    Less,
    /// `<=`, LE
    LessOrEqual,
    /// `>`, GT
    Greater,
    /// `>=`, GE
    GreaterOrEqual,
}

/// `PROC name …; statements RUN;`
#[derive(Debug, Clone, PartialEq)]
pub struct ProcStep {
    /// The PROC keyword.
    pub span: Span,
    /// Procedure name as written.
    pub name: String,
    /// The PROC statement's tokens after the name, without the semicolon.
    pub options: Vec<Token>,
    /// The statements up to RUN or QUIT (or the next step), each without its semicolon. SQL gives
    /// them one by one.
    pub statements: Vec<ProcStatement>,
    /// Procedures with run groups (DATASETS, REG, GLM, SQL …) come once per group, counted from 0;
    /// the last one may be empty. All others come once, as group 0.
    pub group: u32,
    /// False if the procedure stays: further groups of the same step follow.
    pub ended: bool,
}

/// A statement inside a procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcStatement {
    /// Where it starts.
    pub span: Span,
    /// Its tokens, the keyword first.
    pub tokens: Vec<Token>,
}

/// A token with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where.
    pub span: Span,
    /// True if white space or a comment stood before it (`x1 - x3` differs from `x1-x3` nowhere,
    /// but `8.2` after a name, `a.b` and macro text need it).
    pub spaced: bool,
}

/// Tokens.
#[derive(Debug, Clone, PartialEq)]
pub enum TokenKind {
    /// A name.
    Word(String),
    /// A number literal (hexadecimal resolved), with its text.
    Number(f64, String),
    /// `.`, `._`, `.A` literals as in [`ExprKind::Missing`].
    Missing(u8),
    /// A quoted text, quotes removed and doubled ones undone; `true` if double-quoted.
    Text(String, bool),
    /// `'…'n`
    Name(String),
    /// A format: `best12.2`, `$8.`, `8.2` stays a number.
    Format(FormatRef),
    /// An operator or punctuation, as written: `=`, `<=`, `(`, `||`, `:` …
    Symbol(&'static str),
}
