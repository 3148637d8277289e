//! Which columns and summary functions expressions use.

use std::collections::BTreeSet;
use std::rc::Rc;

use base::diag::Span;
use engine::failure::Outcome;
use engine::session::World;
use lang::ast::{BinaryOp, Expr, ExprKind};

use super::scope::{Context, Meaning, Names, Scope, children};
use super::subquery;
use super::syntax::{Part, Summary};

/// What was found in some expressions.
#[derive(Debug, Clone, Default)]
pub(super) struct Uses {
    /// Columns of the query itself.
    pub(super) columns: BTreeSet<usize>,
    /// Parts that are summary functions, in order.
    pub(super) summaries: Vec<usize>,
    /// There is a subquery.
    pub(super) subquery: bool,
}

/// Finds them.
pub(super) struct Finder<'a> {
    pub(super) context: &'a Rc<Context>,
    pub(super) scope: &'a Rc<Scope>,
    /// Expressions that rows are grouped by: what they use does not count.
    pub(super) keys: &'a [String],
    /// Whether arguments of summary functions count.
    pub(super) inside_summaries: bool,
    pub(super) found: Uses,
    depth: u32,
}

impl<'a> Finder<'a> {
    pub(super) fn new(context: &'a Rc<Context>, scope: &'a Rc<Scope>) -> Self {
        Self {
            context,
            scope,
            keys: &[],
            inside_summaries: true,
            found: Uses::default(),
            depth: 0,
        }
    }

    /// What one expression uses.
    pub(super) fn of(
        context: &Rc<Context>,
        scope: &Rc<Scope>,
        expr: &Expr,
        world: &mut World,
    ) -> Outcome<Uses> {
        let mut finder = Finder::new(context, scope);
        finder.add(expr, Names::Columns, world)?;
        Ok(finder.found)
    }

    pub(super) fn add(&mut self, expr: &Expr, names: Names, world: &mut World) -> Outcome<()> {
        self.depth += 1;
        if self.depth <= base::limits::NESTING_MAX {
            self.add_inside(expr, names, world)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn add_inside(&mut self, expr: &Expr, names: Names, world: &mut World) -> Outcome<()> {
        if !self.keys.is_empty() {
            let text = self.scope.canonical(expr, self.context, names);
            if self.keys.contains(&text) {
                return Ok(());
            }
        }
        let context = self.context.clone();
        if let Some((number, part)) = context.part(expr) {
            return self.add_part(number, part, &expr.span, world);
        }
        if let ExprKind::Variable(name) = &expr.kind {
            return self.add_name(None, name, &expr.span, names, world);
        }
        for child in children(expr) {
            self.add(child, names, world)?;
        }
        Ok(())
    }

    fn add_name(
        &mut self,
        table: Option<&str>,
        name: &str,
        span: &Span,
        names: Names,
        world: &mut World,
    ) -> Outcome<()> {
        match self.scope.meaning(table, name, span, names)? {
            Meaning::Column(column) => {
                if !self.keys.contains(&format!("#{column}()")) {
                    self.found.columns.insert(column);
                }
                Ok(())
            }
            Meaning::Given(expr) => self.add(&expr, Names::Columns, world),
            Meaning::Outside(..) => Ok(()),
        }
    }

    fn add_part(
        &mut self,
        number: usize,
        part: &Part,
        span: &Span,
        world: &mut World,
    ) -> Outcome<()> {
        match part {
            Part::Column { table, name } => {
                self.add_name(Some(table), name, span, Names::Columns, world)
            }
            Part::Calculated(name) => {
                let expr = self.scope.calculated(name, span)?;
                self.add(&expr, Names::Columns, world)
            }
            Part::Case(case) => {
                let arms = case.arms.iter().flat_map(|(when, then)| [when, then]);
                for one in case.operand.iter().chain(arms).chain(&case.otherwise) {
                    self.add(one, Names::Columns, world)?;
                }
                Ok(())
            }
            Part::Summary(Summary { argument, .. }) => {
                if !self.found.summaries.contains(&number) {
                    self.found.summaries.push(number);
                }
                match argument {
                    Some(argument) if self.inside_summaries => {
                        self.add(argument, Names::Columns, world)
                    }
                    _ => Ok(()),
                }
            }
            Part::Scalar(query) | Part::Exists(query) | Part::Among(query) => {
                self.found.subquery = true;
                let query = (number, query.as_ref());
                for (table, name) in subquery::inputs(self.context, self.scope, query, world)? {
                    self.add_name(table.as_deref(), &name, span, Names::Columns, world)?;
                }
                Ok(())
            }
        }
    }
}

/// The conditions that AND joins.
pub(super) fn conjuncts(expr: &Expr, into: &mut Vec<Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            conjuncts(left, into);
            conjuncts(right, into);
        }
        _ => into.push(expr.clone()),
    }
}
