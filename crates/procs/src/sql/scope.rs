//! What names mean: columns of the tables of a query, names given by SELECT, columns of the queries
//! around it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use base::diag::Span;
use engine::failure::{Failure, Outcome};
use lang::ast::{Argument, Expr, ExprKind};
use sas7bdat::{Encoding, Kind, Variable};

use super::syntax::{Part, part_number};

/// What all parts of a statement share.
pub(super) struct Context {
    pub(super) parts: Vec<Part>,
    /// Memory of one join, sort or grouping, bytes.
    pub(super) memory: u64,
    /// INOBS=
    pub(super) rows_in: Option<u64>,
    encoding: RefCell<Option<(Encoding, String)>>,
    /// Functions that met invalid arguments.
    pub(super) invalid: RefCell<BTreeSet<&'static str>>,
    /// Notes that were given already, since subqueries run again and again.
    given: RefCell<BTreeSet<&'static str>>,
    /// What subqueries take from outside, by the number of their part.
    pub(super) inputs: RefCell<HashMap<usize, Inputs>>,
    /// Names made for columns without one.
    pub(super) unnamed: Cell<u32>,
}

impl Context {
    pub(super) fn new(parts: Vec<Part>, memory: u64, rows_in: Option<u64>) -> Self {
        Self {
            parts,
            memory,
            rows_in,
            encoding: RefCell::default(),
            invalid: RefCell::default(),
            given: RefCell::default(),
            inputs: RefCell::default(),
            unnamed: Cell::new(0),
        }
    }

    /// True the first time for each note.
    pub(super) fn first_time(&self, note: &'static str) -> bool {
        self.given.borrow_mut().insert(note)
    }

    /// Texts of `encoding` are read: they must go together with those before.
    pub(super) fn meet(&self, encoding: Encoding, dataset: &str) -> Outcome<()> {
        let ascii = |one: Encoding| one.name == "us-ascii";
        let mut known = self.encoding.borrow_mut();
        match &*known {
            Some((one, first)) if *one != encoding && !ascii(*one) && !ascii(encoding) => {
                Err(Failure::world(format!(
                    "Data set {first} has the encoding {} and {dataset} has {}: their texts cannot \
                     be read in one step, since nothing is transcoded yet.",
                    one.name, encoding.name
                )))
            }
            Some((one, _)) if !ascii(*one) || ascii(encoding) => Ok(()),
            _ => {
                *known = Some((encoding, dataset.to_owned()));
                Ok(())
            }
        }
    }

    /// Encoding of the texts of the statement.
    pub(super) fn encoding(&self) -> Encoding {
        let known = self.encoding.borrow();
        known
            .as_ref()
            .map_or(Encoding::UTF_8, |(encoding, _)| *encoding)
    }

    /// The part that an expression is.
    pub(super) fn part(&self, expr: &Expr) -> Option<(usize, &Part)> {
        let ExprKind::Variable(name) = &expr.kind else {
            return None;
        };
        let number = part_number(name)?;
        self.parts.get(number).map(|part| (number, part))
    }
}

/// Names taken from outside.
pub(super) type Inputs = Vec<(Option<String>, String)>;

/// Columns of the queries around a subquery.
pub(super) enum Outer {
    None,
    /// While a subquery is looked at: what it takes from outside is written down.
    Looked {
        scope: Rc<Scope>,
        used: RefCell<Vec<(Option<String>, String)>>,
        /// It takes something from further outside that is only looked at, too.
        unsettled: Cell<bool>,
    },
    /// While it runs for one row.
    Given {
        values: Vec<(Option<String>, String, ExprKind)>,
        around: Rc<Outer>,
    },
}

/// What a name from outside means, and whether it is the value of a row.
pub(super) type FromOutside = Option<(ExprKind, bool)>;

impl Outer {
    fn find(&self, table: Option<&str>, name: &str, span: &Span) -> Outcome<FromOutside> {
        match self {
            Self::None => Ok(None),
            Self::Looked {
                scope,
                used,
                unsettled,
            } => {
                let Some(meaning) = scope.column(table, name, span)? else {
                    let found = scope.outer.find(table, name, span)?;
                    if matches!(found, Some((_, false))) {
                        unsettled.set(true);
                    }
                    return Ok(found);
                };
                let wanted = (table.map(str::to_owned), name.to_owned());
                let mut used = used.borrow_mut();
                if !used.contains(&wanted) {
                    used.push(wanted);
                }
                Ok(Some((blank(&scope.columns[meaning].variable), false)))
            }
            Self::Given { values, around } => {
                let same = |one: &&(Option<String>, String, ExprKind)| {
                    one.0.as_deref() == table && one.1 == name
                };
                match values.iter().find(same) {
                    Some((_, _, value)) => Ok(Some((value.clone(), true))),
                    None => around.find(table, name, span),
                }
            }
        }
    }
}

/// A constant of the type and length of a variable.
fn blank(variable: &Variable) -> ExprKind {
    match variable.kind {
        Kind::Numeric => ExprKind::Missing(0),
        Kind::Character => ExprKind::Text(" ".repeat(variable.length as usize)),
    }
}

/// A column of a table of FROM.
#[derive(Clone)]
pub(super) struct ScopeColumn {
    pub(super) table: Option<String>,
    pub(super) variable: Variable,
}

/// The names of one query.
pub(super) struct Scope {
    pub(super) columns: Vec<ScopeColumn>,
    /// Names that SELECT gives, upper case.
    pub(super) named: HashMap<String, Expr>,
    pub(super) outer: Rc<Outer>,
}

/// Where names given by SELECT are seen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// Only by CALCULATED.
    Columns,
    /// If no column has the name.
    Both,
    /// Before columns.
    Given,
}

/// What a name means.
pub(super) enum Meaning {
    Column(usize),
    /// An expression of SELECT.
    Given(Expr),
    /// A value from outside.
    Outside(ExprKind),
}

impl Scope {
    /// The column that a name means, if there is one.
    fn column(&self, table: Option<&str>, name: &str, span: &Span) -> Outcome<Option<usize>> {
        let named = |one: &ScopeColumn| {
            let in_table = table.is_none_or(|table| {
                one.table
                    .as_deref()
                    .is_some_and(|own| own.eq_ignore_ascii_case(table))
            });
            in_table && one.variable.name.eq_ignore_ascii_case(name)
        };
        let mut found = (0..self.columns.len()).filter(|at| named(&self.columns[*at]));
        let first = found.next();
        if found.next().is_some() {
            let message = format!("Ambiguous reference, column {name} is in more than one table.");
            return Err(Failure::at(span, message));
        }
        Ok(first)
    }

    /// What a name means; it must mean something.
    pub(super) fn meaning(
        &self,
        table: Option<&str>,
        name: &str,
        span: &Span,
        names: Names,
    ) -> Outcome<Meaning> {
        if let Some(column) = column_number(name) {
            return Ok(Meaning::Column(column));
        }
        let given = self.named.get(&name.to_ascii_uppercase());
        let given = given.filter(|_| table.is_none());
        if let (Names::Given, Some(expr)) = (names, given) {
            return Ok(Meaning::Given(expr.clone()));
        }
        if let Some(column) = self.column(table, name, span)? {
            return Ok(Meaning::Column(column));
        }
        if let (Names::Both, Some(expr)) = (names, given) {
            return Ok(Meaning::Given(expr.clone()));
        }
        if let Some((value, _)) = self.outer.find(table, name, span)? {
            return Ok(Meaning::Outside(value));
        }
        let Some(table) = table else {
            let message =
                format!("The following columns were not found in the contributing tables: {name}.");
            return Err(Failure::at(span, message));
        };
        let known = self.columns.iter().any(|one| {
            one.table
                .as_deref()
                .is_some_and(|own| own.eq_ignore_ascii_case(table))
        });
        let message = if known {
            format!(
                "Column {name} could not be found in the table/view identified with the correlation \
                 name {}.",
                table.to_ascii_uppercase()
            )
        } else {
            format!("Unresolved reference to table/correlation name {table}.")
        };
        Err(Failure::at(span, message))
    }
}

/// The name of a column by its number, as `*` means it.
pub(super) fn column_name(number: usize) -> String {
    format!("\u{2}{number}")
}

/// The number of such a name.
fn column_number(name: &str) -> Option<usize> {
    name.strip_prefix('\u{2}')?.parse().ok()
}

/// The expressions inside of one.
pub(super) fn children_mut(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        ExprKind::Unary(_, one)
        | ExprKind::IsMissing(one, _)
        | ExprKind::In { value: one, .. }
        | ExprKind::Like { value: one, .. } => vec![one],
        ExprKind::Binary(_, left, right) => vec![left, right],
        ExprKind::Between {
            value, low, high, ..
        } => vec![value, low, high],
        ExprKind::Call(_, arguments) => arguments
            .iter_mut()
            .filter_map(|argument| match argument {
                Argument::Value(expr) => Some(expr),
                Argument::Of(_) | Argument::Format(_) | Argument::Omitted(_) => None,
            })
            .collect(),
        ExprKind::Element(_, subscripts) => subscripts.iter_mut().collect(),
        _ => Vec::new(),
    }
}

/// The same to be looked at.
pub(super) fn children(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Unary(_, one)
        | ExprKind::IsMissing(one, _)
        | ExprKind::In { value: one, .. }
        | ExprKind::Like { value: one, .. } => vec![one],
        ExprKind::Binary(_, left, right) => vec![left, right],
        ExprKind::Between {
            value, low, high, ..
        } => vec![value, low, high],
        ExprKind::Call(_, arguments) => arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Value(expr) => Some(expr),
                Argument::Of(_) | Argument::Format(_) | Argument::Omitted(_) => None,
            })
            .collect(),
        ExprKind::Element(_, subscripts) => subscripts.iter().collect(),
        _ => Vec::new(),
    }
}

impl Scope {
    /// The expression that SELECT gives this name to.
    pub(super) fn calculated(&self, name: &str, span: &Span) -> Outcome<Expr> {
        let given = self.named.get(&name.to_ascii_uppercase());
        given.cloned().ok_or_else(|| {
            let message = format!(
                "The following columns were not found as CALCULATED references in the immediate \
                 query: {name}."
            );
            Failure::at(span, message)
        })
    }
}
