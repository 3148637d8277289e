//! Subqueries in expressions: what takes nothing from outside runs once, all others for the rows.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use base::diag::Span;
use engine::dataset::copy::store_number;
use engine::dataset::input::Field;
use engine::expr::Slot;
use engine::expr::evaluate::{compare_padded, order_key};
use engine::failure::{Failure, Outcome};
use engine::hash_table::Table;
use engine::session::World;
use lang::ast::{Expr, ExprKind};
use sas7bdat::{Kind, missing};

use super::frame::Frame;
use super::machine::{Correlated, Program, Set, Step, Wanted};
use super::plan;
use super::rows::{Relation, fill_missing, out_of_memory};
use super::scope::{Context, Inputs, Names, Outer, Scope};
use super::syntax::Query;

/// A subquery that was looked at.
struct Looked {
    relation: Relation,
    inputs: Inputs,
    /// Nothing comes from outside.
    closed: bool,
}

fn look(
    context: &Rc<Context>,
    scope: &Rc<Scope>,
    query: &Query,
    world: &mut World,
) -> Outcome<Looked> {
    let outer = Rc::new(Outer::Looked {
        scope: scope.clone(),
        used: RefCell::default(),
        unsettled: Cell::new(false),
    });
    let relation = plan::query(context, query, &outer, world)?;
    let Outer::Looked {
        used, unsettled, ..
    } = outer.as_ref()
    else {
        return Err(Failure::world("A subquery lost its surroundings."));
    };
    let inputs = used.borrow().clone();
    let closed = inputs.is_empty() && !unsettled.get();
    Ok(Looked {
        relation,
        inputs,
        closed,
    })
}

/// The names that the subquery of a part takes from the query around it. They are found once: looking
/// again for each level would take twice as long for every further one.
pub(super) fn inputs(
    context: &Rc<Context>,
    scope: &Rc<Scope>,
    (number, query): (usize, &Query),
    world: &mut World,
) -> Outcome<Inputs> {
    if let Some(known) = context.inputs.borrow().get(&number) {
        return Ok(known.clone());
    }
    let inputs = look(context, scope, query, world)?.inputs;
    context.inputs.borrow_mut().insert(number, inputs.clone());
    Ok(inputs)
}

fn only_column(relation: &Relation, span: &Span) -> Outcome<Field> {
    match relation.fields.as_slice() {
        [only] => Ok(only.clone()),
        _ => Err(Failure::at(
            span,
            "A subquery cannot select more than one column.",
        )),
    }
}

fn more_than_one() -> Failure {
    Failure::world("Subquery evaluated to more than one row.")
}

/// `(SELECT …)` as a value.
pub(super) fn scalar(
    frame: &mut Frame,
    query: &Query,
    span: &Span,
    steps: &mut Vec<Step>,
    world: &mut World,
) -> Outcome<ExprKind> {
    let mut looked = look(&frame.context, &frame.scope, query, world)?;
    let field = only_column(&looked.relation, span)?;
    if !looked.closed {
        let length = field.variable.length;
        let (target, value) = frame.result(field.variable.kind, length);
        correlate(
            frame,
            query,
            looked.inputs,
            (target, Wanted::Scalar),
            steps,
            world,
        )?;
        return Ok(value);
    }
    let rows = &mut looked.relation.rows;
    let Some(row) = rows.next(world)? else {
        rows.close(world)?;
        return Ok(match field.variable.kind {
            Kind::Numeric => ExprKind::Missing(0),
            Kind::Character => ExprKind::Text(String::new()),
        });
    };
    let value = match field.variable.kind {
        Kind::Numeric => {
            let value = field.slot.number(row);
            missing::code(value).map_or(ExprKind::Number(value), ExprKind::Missing)
        }
        Kind::Character => {
            let encoding = frame.context.encoding();
            ExprKind::Text(encoding.decode(field.slot.bytes(row)).into_owned())
        }
    };
    if rows.next(world)?.is_some() {
        return Err(more_than_one());
    }
    rows.close(world)?;
    Ok(value)
}

/// `EXISTS (SELECT …)`
pub(super) fn exists(
    frame: &mut Frame,
    query: &Query,
    steps: &mut Vec<Step>,
    world: &mut World,
) -> Outcome<ExprKind> {
    let mut looked = look(&frame.context, &frame.scope, query, world)?;
    if looked.closed {
        let found = looked.relation.rows.next(world)?.is_some();
        return Ok(ExprKind::Number(f64::from(u8::from(found))));
    }
    let (target, value) = frame.result(Kind::Numeric, 8);
    correlate(
        frame,
        query,
        looked.inputs,
        (target, Wanted::Exists),
        steps,
        world,
    )?;
    Ok(value)
}

/// `left IN (SELECT …)`
pub(super) fn among(
    frame: &mut Frame,
    left: &Expr,
    query: &Query,
    steps: &mut Vec<Step>,
    world: &mut World,
) -> Outcome<ExprKind> {
    let mut looked = look(&frame.context, &frame.scope, query, world)?;
    let field = only_column(&looked.relation, &query.span)?;
    let value = frame.compile(left, world)?;
    if value.kind() != field.variable.kind {
        let message = "Expression using IN has components that are of different data types.";
        return Err(Failure::at(&left.span, message));
    }
    let (target, result) = frame.result(Kind::Numeric, 8);
    if !looked.closed {
        let wanted = (target, Wanted::Among(value));
        correlate(frame, query, looked.inputs, wanted, steps, world)?;
        return Ok(result);
    }
    let set = Rc::new(set(
        &mut looked.relation,
        &field,
        frame.context.memory,
        world,
    )?);
    steps.push(Step::Member { target, value, set });
    Ok(result)
}

/// All values of a subquery.
fn set(relation: &mut Relation, field: &Field, limit: u64, world: &mut World) -> Outcome<Set> {
    // A table takes at least one chunk.
    let limit = limit.max(2 << 20);
    let kind = field.variable.kind;
    let bytes = match kind {
        Kind::Numeric => 8,
        Kind::Character => field.slot.length as usize,
    };
    let mut table = Table::new(bytes, 0);
    while let Some(row) = relation.rows.next(world)? {
        let number = match kind {
            Kind::Numeric => order_key(field.slot.number(row)).to_be_bytes(),
            Kind::Character => [0; 8],
        };
        let key = match kind {
            Kind::Numeric => number.as_slice(),
            Kind::Character => field.slot.bytes(row),
        };
        if table.find(key).is_some() {
            continue;
        }
        let growth = table.growth();
        if growth > 0 && table.bytes() + growth > limit {
            return Err(out_of_memory("the result of a subquery behind IN", limit));
        }
        table.add(key, &[]);
    }
    relation.rows.close(world)?;
    Ok(Set { bytes, table })
}

/// A step that runs the subquery for the values of a row.
fn correlate(
    frame: &mut Frame,
    query: &Query,
    names: Inputs,
    (target, wanted): (Slot, Wanted),
    steps: &mut Vec<Step>,
    world: &mut World,
) -> Outcome<()> {
    let mut inputs = Vec::new();
    for (table, name) in names {
        let program = input(frame, table.as_deref(), &name, &query.span, world)?;
        inputs.push((table, name, program));
    }
    steps.push(Step::Subquery(Box::new(Correlated {
        target,
        context: frame.context.clone(),
        query: query.clone(),
        wanted,
        inputs,
        around: frame.scope.outer.clone(),
        known: HashMap::new(),
        known_bytes: 0,
    })));
    Ok(())
}

fn input(
    frame: &mut Frame,
    table: Option<&str>,
    name: &str,
    span: &Span,
    world: &mut World,
) -> Outcome<Program> {
    let names = std::mem::replace(&mut frame.names, Names::Columns);
    let program = frame.named(table, name, span, world);
    frame.names = names;
    program
}

/// Runs a subquery with the values of a row and puts the result into the row.
pub(super) fn run_for_row(
    subquery: &Correlated,
    outer: &Rc<Outer>,
    compared: &[u8],
    row: &mut [u8],
    world: &mut World,
) -> Outcome<()> {
    let mut relation = plan::query(&subquery.context, &subquery.query, outer, world)?;
    let target = subquery.target;
    let rows = &mut relation.rows;
    match &subquery.wanted {
        Wanted::Exists => {
            let found = rows.next(world)?.is_some();
            store_number(&target, row, f64::from(u8::from(found)));
        }
        Wanted::Scalar => {
            fill_missing(&[target], row);
            if let (Some(result), Some(field)) = (rows.next(world)?, relation.fields.first()) {
                let copy = engine::dataset::copy::RowCopy::new(&[(field.slot, target)]);
                copy.apply(result, row);
                if rows.next(world)?.is_some() {
                    return Err(more_than_one());
                }
            }
        }
        Wanted::Among(value) => {
            let mut found = false;
            while let (false, Some(result)) = (found, rows.next(world)?) {
                let Some(field) = relation.fields.first() else {
                    break;
                };
                found = match value.kind() {
                    Kind::Numeric => order_key(field.slot.number(result)).to_be_bytes() == compared,
                    Kind::Character => compare_padded(field.slot.bytes(result), compared).is_eq(),
                };
            }
            store_number(&target, row, f64::from(u8::from(found)));
        }
    }
    Ok(())
}
