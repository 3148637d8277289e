//! What SQL statements are made of. Expressions are the language's own; what only SQL has (CASE,
//! subqueries, summary functions, qualified names) stands in a list of parts, and the expression has
//! a variable with the part's number as its name in its place.

use base::diag::Span;
use engine::index::definition::Definition;
use lang::ast::{DatasetRef, Expr, FormatRef, VariableKind};

/// What a part's name starts with; no name of a program can.
const PART: char = '\u{1}';

/// The variable that stands for a part.
pub(super) fn part_name(number: usize) -> String {
    format!("{PART}{number}")
}

/// The part that a variable stands for.
pub(super) fn part_number(name: &str) -> Option<usize> {
    name.strip_prefix(PART)?.parse().ok()
}

/// What only SQL has in expressions.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// `alias.column`
    Column { table: String, name: String },
    /// `CALCULATED name`
    Calculated(String),
    /// `CASE [operand] WHEN … THEN … [ELSE …] END`
    Case(Case),
    /// A summary function.
    Summary(Summary),
    /// `(SELECT …)` as a value.
    Scalar(Box<Query>),
    /// `EXISTS (SELECT …)`
    Exists(Box<Query>),
    /// The right side of `IN (SELECT …)`, which is compared with `=`.
    Among(Box<Query>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Case {
    pub(super) operand: Option<Expr>,
    pub(super) arms: Vec<(Expr, Expr)>,
    pub(super) otherwise: Option<Expr>,
}

/// A summary function of one argument; `None` is `COUNT(*)`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Summary {
    pub(super) function: Function,
    pub(super) distinct: bool,
    pub(super) argument: Option<Expr>,
}

/// The summary functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Count,
    NMiss,
    Sum,
    Mean,
    Min,
    Max,
    Range,
    Std,
    StdErr,
    Var,
    Uss,
    Css,
    Cv,
}

impl Function {
    /// The function of this name if it summarizes when it has one argument.
    pub(super) fn find(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "COUNT" | "FREQ" | "N" => Self::Count,
            "NMISS" => Self::NMiss,
            "SUM" => Self::Sum,
            "MEAN" | "AVG" => Self::Mean,
            "MIN" => Self::Min,
            "MAX" => Self::Max,
            "RANGE" => Self::Range,
            "STD" => Self::Std,
            "STDERR" => Self::StdErr,
            "VAR" => Self::Var,
            "USS" => Self::Uss,
            "CSS" => Self::Css,
            "CV" => Self::Cv,
            _ => return None,
        })
    }
}

/// A query expression with the order of its rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Query {
    pub(super) span: Span,
    pub(super) body: Body,
    pub(super) order: Vec<OrderItem>,
    pub(super) into: Vec<Into>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    Select(Box<Select>),
    Set {
        operator: SetOperator,
        all: bool,
        corresponding: bool,
        left: Box<Body>,
        right: Box<Body>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetOperator {
    Union,
    OuterUnion,
    Except,
    Intersect,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Select {
    pub(super) distinct: bool,
    pub(super) items: Vec<SelectItem>,
    pub(super) from: Option<From>,
    pub(super) condition: Option<Expr>,
    pub(super) groups: Vec<Expr>,
    pub(super) having: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SelectItem {
    /// `*` or `alias.*`
    All(Option<String>, Span),
    Value(Box<SelectValue>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SelectValue {
    pub(super) expr: Expr,
    pub(super) name: Option<String>,
    pub(super) label: Option<String>,
    pub(super) format: Option<FormatRef>,
    pub(super) informat: Option<FormatRef>,
    pub(super) length: Option<u32>,
}

/// A tree of joins.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum From {
    Table {
        dataset: DatasetRef,
        alias: Option<String>,
    },
    View {
        query: Box<Query>,
        alias: Option<String>,
        span: Span,
    },
    Join {
        kind: JoinKind,
        left: Box<From>,
        right: Box<From>,
        /// ON; `None` for commas and CROSS JOIN.
        condition: Option<Expr>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct OrderItem {
    pub(super) expr: Expr,
    pub(super) descending: bool,
}

/// A target of INTO.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Into {
    pub(super) span: Span,
    /// `:a`, or `:a1 - :a9` with the numbers; `:a1 -` is open.
    pub(super) target: Target,
    pub(super) separator: Option<String>,
    /// TRIMMED or NOTRIM, if either was said.
    pub(super) trimmed: Option<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    One(String),
    Range {
        prefix: String,
        first: u32,
        last: u32,
        digits: usize,
    },
}

/// A column of CREATE TABLE with column definitions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnDefinition {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) kind: VariableKind,
    pub(super) length: u32,
    pub(super) format: Option<FormatRef>,
    pub(super) informat: Option<FormatRef>,
    pub(super) label: Option<String>,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Statement {
    Select(Query),
    CreateAs(DatasetRef, Query),
    CreateLike(DatasetRef, DatasetRef),
    CreateWith(DatasetRef, Vec<ColumnDefinition>),
    CreateIndex {
        span: Span,
        table: DatasetRef,
        definition: Definition,
    },
    DropIndex {
        span: Span,
        table: DatasetRef,
        names: Vec<String>,
    },
    InsertValues {
        into: DatasetRef,
        columns: Vec<String>,
        rows: Vec<Vec<Expr>>,
    },
    InsertQuery {
        into: DatasetRef,
        columns: Vec<String>,
        query: Query,
    },
    Update {
        table: DatasetRef,
        alias: Option<String>,
        sets: Vec<(String, Span, Expr)>,
        condition: Option<Expr>,
    },
    Delete {
        from: DatasetRef,
        alias: Option<String>,
        condition: Option<Expr>,
    },
    Drop(Vec<DatasetRef>),
}
