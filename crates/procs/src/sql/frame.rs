//! Compiling expressions of SQL over the rows of one place in a query.

use std::collections::HashMap;
use std::rc::Rc;

use base::diag::Span;
use engine::expr::compile::{Compiler, Scope as Variables, Site, Sites};
use engine::expr::{Slot, Value};
use engine::failure::{Failure, Outcome};
use engine::format::user::Formats;
use engine::session::World;
use lang::ast::{BinaryOp, Comparison, Expr, ExprKind, UnaryOp, VariableList};
use sas7bdat::Kind;

use super::machine::{Machine, Program, Step};
use super::scope::{Context, Meaning, Names, Scope, children_mut};
use super::subquery;
use super::syntax::{Case, Part};

/// Where names lie in the rows of one place, and what is gathered while its expressions are compiled.
pub(super) struct Frame {
    pub(super) context: Rc<Context>,
    pub(super) scope: Rc<Scope>,
    /// Places of columns.
    pub(super) slots: Vec<Option<Slot>>,
    /// Places of summary functions by the number of their part.
    pub(super) summaries: HashMap<usize, Slot>,
    /// Places of expressions that rows are grouped by, as [`Scope::canonical`] has them.
    pub(super) keys: Vec<(String, Slot)>,
    pub(super) names: Names,
    base: u32,
    end: u32,
    cells: Vec<Slot>,
    sites: Sites,
    depth: u32,
}

/// Expressions of SELECT that name each other.
const DEPTH_MAX: u32 = 40;

/// Names of places in bound expressions.
struct Cells<'a>(&'a [Slot]);

impl Variables for Cells<'_> {
    fn variable(&mut self, name: &str, span: &Span) -> Outcome<Slot> {
        let number = name.strip_prefix('#').and_then(|text| text.parse().ok());
        let slot = number.and_then(|number: usize| self.0.get(number));
        slot.copied()
            .ok_or_else(|| Failure::at(span, format!("{name} cannot stand here.")))
    }

    fn list(&mut self, list: &VariableList) -> Outcome<Vec<Slot>> {
        let _ = list;
        Err(Failure::world("Variable lists cannot be used in SQL."))
    }
}

impl Frame {
    pub(super) fn new(
        context: &Rc<Context>,
        scope: &Rc<Scope>,
        slots: Vec<Option<Slot>>,
        row_bytes: u32,
    ) -> Self {
        Self {
            context: context.clone(),
            scope: scope.clone(),
            slots,
            summaries: HashMap::new(),
            keys: Vec::new(),
            names: Names::Columns,
            base: row_bytes,
            end: row_bytes,
            cells: Vec::new(),
            sites: Sites::default(),
            depth: 0,
        }
    }

    /// What evaluates the programs compiled here.
    pub(super) fn machine(&self, world: &World) -> Machine {
        let sites: Vec<Site> = self.sites.counted.iter().map(|one| one.0).collect();
        let surroundings = world.surroundings(self.sites.reads_macros);
        Machine::new(&self.context, (self.base, self.end), sites, surroundings)
    }

    /// Compiles an expression.
    pub(super) fn compile(&mut self, expr: &Expr, world: &mut World) -> Outcome<Program> {
        let mut bound = expr.clone();
        let mut steps = Vec::new();
        self.bind(&mut bound, &mut steps, world)?;
        let value = self.value(&bound, &world.formats)?;
        Ok(Program { steps, value })
    }

    fn value(&mut self, bound: &Expr, formats: &Formats) -> Outcome<Value> {
        let mut compiler = Compiler {
            scope: &mut Cells(&self.cells),
            sites: &mut self.sites,
            encoding: Some(self.context.encoding()),
            formats,
        };
        let value = compiler.value(bound)?;
        let converted = self.sites.to_number.first().or(self.sites.to_text.first());
        if let Some(span) = converted {
            return Err(type_failure(bound, span));
        }
        Ok(match value {
            Value::Number(number) => Value::Number(number.lowered()),
            text @ Value::Text(_) => text,
        })
    }

    /// The value of a name.
    pub(super) fn named(
        &mut self,
        table: Option<&str>,
        name: &str,
        span: &Span,
        world: &mut World,
    ) -> Outcome<Program> {
        let mut steps = Vec::new();
        let kind = self.name(table, name, span, &mut steps, world)?;
        let span = span.clone();
        let value = self.value(&Expr { kind, span }, &world.formats)?;
        Ok(Program { steps, value })
    }

    /// A value that must be a number, such as a condition.
    pub(super) fn number(&mut self, expr: &Expr, world: &mut World) -> Outcome<Program> {
        let program = self.compile(expr, world)?;
        match program.kind() {
            Kind::Numeric => Ok(program),
            Kind::Character => Err(Failure::at(
                &expr.span,
                "The expression must be numeric here.",
            )),
        }
    }

    fn cell(&mut self, slot: Slot) -> ExprKind {
        self.cells.push(slot);
        ExprKind::Variable(format!("#{}", self.cells.len() - 1))
    }

    /// A place behind the row.
    pub(super) fn room(&mut self, kind: Kind, length: u32) -> Slot {
        let length = if kind == Kind::Numeric { 8 } else { length };
        let offset = self.end;
        self.end += length;
        Slot {
            kind,
            offset,
            length,
            big_endian: false,
        }
    }

    /// Puts places into the place of names, and steps for what only SQL has.
    fn bind(&mut self, expr: &mut Expr, steps: &mut Vec<Step>, world: &mut World) -> Outcome<()> {
        if !self.keys.is_empty() {
            let text = self.scope.canonical(expr, &self.context, self.names);
            let key = self.keys.iter().find(|(key, _)| *key == text);
            if let Some((_, slot)) = key {
                expr.kind = self.cell(*slot);
                return Ok(());
            }
        }
        if let Some(kind) = self.among(expr, steps, world)? {
            expr.kind = kind;
            return Ok(());
        }
        if let Some((number, part)) = self.context.clone().part(expr) {
            expr.kind = self.part(number, part, &expr.span, steps, world)?;
            return Ok(());
        }
        if let ExprKind::Variable(name) = &expr.kind {
            expr.kind = self.name(None, name, &expr.span, steps, world)?;
            return Ok(());
        }
        for child in children_mut(expr) {
            self.bind(child, steps, world)?;
        }
        if let ExprKind::Call(name, _) = &mut expr.kind {
            // The names of standard SQL.
            for (standard, own) in [("UPPER", "UPCASE"), ("LOWER", "LOWCASE")] {
                if name.eq_ignore_ascii_case(standard) {
                    own.clone_into(name);
                }
            }
        }
        self.coalesce(expr, &world.formats)
    }

    /// COALESCE of texts is as long as the longest of them; COALESCEC always has 200 bytes.
    fn coalesce(&mut self, expr: &mut Expr, formats: &Formats) -> Outcome<()> {
        let ExprKind::Call(name, arguments) = &mut expr.kind else {
            return Ok(());
        };
        if let (true, Some(lang::ast::Argument::Value(first))) =
            (name.eq_ignore_ascii_case("COALESCE"), arguments.first())
        {
            let first = first.clone();
            if matches!(self.value(&first, formats)?, Value::Text(_))
                && let ExprKind::Call(name, _) = &mut expr.kind
            {
                "COALESCE C".clone_into(name);
            }
        }
        Ok(())
    }

    fn name(
        &mut self,
        table: Option<&str>,
        name: &str,
        span: &Span,
        steps: &mut Vec<Step>,
        world: &mut World,
    ) -> Outcome<ExprKind> {
        match self.scope.clone().meaning(table, name, span, self.names)? {
            Meaning::Column(column) => match self.slots.get(column).copied().flatten() {
                Some(slot) => Ok(self.cell(slot)),
                None => Err(Failure::at(
                    span,
                    format!("The column {name} cannot be used here."),
                )),
            },
            Meaning::Given(expr) => self.given(expr, steps, world),
            Meaning::Outside(value) => Ok(value),
        }
    }

    /// An expression of SELECT, whose own names mean columns.
    fn given(
        &mut self,
        mut expr: Expr,
        steps: &mut Vec<Step>,
        world: &mut World,
    ) -> Outcome<ExprKind> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = "The columns of SELECT are calculated from each other.";
            return Err(Failure::at(&expr.span, message));
        }
        let names = std::mem::replace(&mut self.names, Names::Columns);
        self.bind(&mut expr, steps, world)?;
        self.names = names;
        self.depth -= 1;
        Ok(expr.kind)
    }

    fn part(
        &mut self,
        number: usize,
        part: &Part,
        span: &Span,
        steps: &mut Vec<Step>,
        world: &mut World,
    ) -> Outcome<ExprKind> {
        match part {
            Part::Column { table, name } => self.name(Some(table), name, span, steps, world),
            Part::Calculated(name) => {
                let expr = self.scope.calculated(name, span)?;
                self.given(expr, steps, world)
            }
            Part::Case(case) => self.case(case, span, steps, world),
            Part::Summary(_) => match self.summaries.get(&number) {
                Some(slot) => {
                    let slot = *slot;
                    Ok(self.cell(slot))
                }
                None => Err(Failure::at(
                    span,
                    "Summary functions are restricted to the SELECT and HAVING clauses only.",
                )),
            },
            Part::Scalar(query) => subquery::scalar(self, query, span, steps, world),
            Part::Exists(query) => subquery::exists(self, query, steps, world),
            Part::Among(_) => Err(Failure::at(span, "IN with a subquery cannot stand here.")),
        }
    }

    /// `x IN (SELECT …)`, which was parsed as a comparison.
    fn among(
        &mut self,
        expr: &Expr,
        steps: &mut Vec<Step>,
        world: &mut World,
    ) -> Outcome<Option<ExprKind>> {
        let ExprKind::Binary(BinaryOp::Compare(relation, _), left, right) = &expr.kind else {
            return Ok(None);
        };
        let context = self.context.clone();
        let Some((_, Part::Among(query))) = context.part(right) else {
            return Ok(None);
        };
        let found = subquery::among(self, left, query, steps, world)?;
        if *relation == Comparison::Equal {
            return Ok(Some(found));
        }
        let found = Expr {
            kind: found,
            span: expr.span.clone(),
        };
        Ok(Some(ExprKind::Unary(UnaryOp::Not, Box::new(found))))
    }

    /// A place for the result of a step.
    pub(super) fn result(&mut self, kind: Kind, length: u32) -> (Slot, ExprKind) {
        let slot = self.room(kind, length);
        (slot, self.cell(slot))
    }

    fn case(
        &mut self,
        case: &Case,
        span: &Span,
        steps: &mut Vec<Step>,
        world: &mut World,
    ) -> Outcome<ExprKind> {
        let mut arms = Vec::new();
        for (when, then) in &case.arms {
            let condition = match &case.operand {
                None => when.clone(),
                Some(operand) => Expr {
                    span: when.span.clone(),
                    kind: ExprKind::Binary(
                        BinaryOp::Compare(Comparison::Equal, false),
                        Box::new(operand.clone()),
                        Box::new(when.clone()),
                    ),
                },
            };
            let when = self.number(&condition, world)?;
            arms.push((when, self.compile(then, world)?));
        }
        let otherwise = match &case.otherwise {
            Some(expr) => Some(self.compile(expr, world)?),
            None => None,
        };
        let results = || arms.iter().map(|arm| &arm.1).chain(&otherwise);
        let Some(kind) = results().next().map(Program::kind) else {
            return Ok(ExprKind::Missing(0));
        };
        if results().any(|one| one.kind() != kind) {
            let message =
                "Result of WHEN clause is not the same data type as the preceding results.";
            return Err(Failure::at(span, message));
        }
        let length = results().map(Program::length).max().unwrap_or(8);
        let (target, value) = self.result(kind, length);
        steps.push(Step::Case {
            target,
            arms,
            otherwise,
        });
        Ok(value)
    }
}

/// What was converted: SQL, unlike the DATA step, does not convert.
fn type_failure(expr: &Expr, converted: &Span) -> Failure {
    fn operator(expr: &Expr, converted: &Span) -> Option<String> {
        // The place of an operation is that of its left side: the innermost is meant.
        let inside = super::scope::children(expr);
        let found = inside.into_iter().find_map(|one| operator(one, converted));
        if found.is_some() {
            return found;
        }
        let ExprKind::Binary(operator, left, right) = &expr.kind else {
            return None;
        };
        if left.span != *converted && right.span != *converted {
            return None;
        }
        let (name, needs) = match operator {
            BinaryOp::Compare(Comparison::Equal, _) => ("equals (=)", None),
            BinaryOp::Compare(Comparison::NotEqual, _) => ("not equals (<>)", None),
            BinaryOp::Compare(Comparison::Less, _) => ("less than (<)", None),
            BinaryOp::Compare(Comparison::LessOrEqual, _) => ("less than or equal (<=)", None),
            BinaryOp::Compare(Comparison::Greater, _) => ("greater than (>)", None),
            BinaryOp::Compare(Comparison::GreaterOrEqual, _) => {
                ("greater than or equal (>=)", None)
            }
            BinaryOp::Add => ("addition (+)", Some("numeric")),
            BinaryOp::Subtract => ("subtraction (-)", Some("numeric")),
            BinaryOp::Multiply => ("multiplication (*)", Some("numeric")),
            BinaryOp::Divide => ("division (/)", Some("numeric")),
            BinaryOp::Concatenate => ("concatenation (||)", Some("character")),
            _ => return None,
        };
        Some(match needs {
            Some(kind) => format!("{name} requires {kind} types."),
            None => format!("{name} has components that are of different data types."),
        })
    }
    let what = operator(expr, converted);
    let text = match what {
        Some(what) => format!("Expression using {what}"),
        None => "A function or operator has an argument of the wrong data type.".to_owned(),
    };
    Failure::at(converted, text)
}
