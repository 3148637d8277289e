//! UNION, OUTER UNION, EXCEPT and INTERSECT, and DISTINCT.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use engine::dataset::copy::RowCopy;
use engine::dataset::input::Field;
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{Expr, ExprKind};
use sas7bdat::Variable;

use super::frame::Frame;
use super::group::{Grouped, Groups};
use super::key::{Key, KeyPart};
use super::machine::Machine;
use super::order::{Compared, Side};
use super::rows::{Concat, Relation, Rows, fill_missing, packed};
use super::scope::{Context, Outer, Scope, ScopeColumn, column_name};
use super::syntax::SetOperator;

/// Different rows, in order.
pub(super) fn distinct(
    context: &Rc<Context>,
    relation: Relation,
    world: &mut World,
) -> Outcome<Relation> {
    let (machine, key) = whole_key(context, &relation, world)?;
    let slots: Vec<Slot> = relation.fields.iter().map(|field| field.slot).collect();
    let limits = (context.memory, relation.most);
    let groups = Groups::new(machine, key, slots, Vec::new(), limits);
    Ok(Relation {
        rows: Box::new(Grouped {
            rows: relation.rows,
            groups,
            read: false,
        }),
        ..relation
    })
}

/// A key of all columns.
fn whole_key(
    context: &Rc<Context>,
    relation: &Relation,
    world: &mut World,
) -> Outcome<(Machine, Key)> {
    let columns = relation.fields.iter().map(|field| ScopeColumn {
        table: None,
        variable: field.variable.clone(),
    });
    let scope = Rc::new(Scope {
        columns: columns.collect(),
        named: HashMap::new(),
        outer: Rc::new(Outer::None),
    });
    let slots = relation
        .fields
        .iter()
        .map(|field| Some(field.slot))
        .collect();
    let mut frame = Frame::new(context, &scope, slots, relation.row_bytes);
    let mut parts = Vec::new();
    for number in 0..relation.fields.len() {
        let expr = Expr {
            kind: ExprKind::Variable(column_name(number)),
            span: base::diag::Span {
                source: std::sync::Arc::from(""),
                line: 1,
                column: 1,
                length: 1,
            },
        };
        let program = frame.compile(&expr, world)?;
        parts.push(KeyPart {
            bytes: program.length() as usize,
            program,
            descending: false,
        });
    }
    Ok((frame.machine(world), Key::new(parts)))
}

/// Which column of each side goes into each column of the result.
type Matched = Vec<(Option<usize>, Option<usize>)>;

/// Two results as one.
pub(super) fn combined(
    context: &Rc<Context>,
    (operator, all, corresponding): (SetOperator, bool, bool),
    left: Relation,
    right: Relation,
    world: &mut World,
) -> Outcome<Relation> {
    let matched = matched(operator, corresponding, &left, &right, world);
    let mut variables = Vec::new();
    for pair in &matched {
        variables.push(joined_variable(pair, &left, &right)?);
    }
    let lengths = variables.iter().map(|one| (one.kind, one.length));
    let (slots, row_bytes) = packed(lengths.collect::<Vec<_>>());
    let fields: Vec<Field> = variables
        .into_iter()
        .zip(&slots)
        .map(|(variable, slot)| Field {
            variable,
            slot: *slot,
        })
        .collect();
    let most = left.most.saturating_add(right.most);
    let guess = left.guess.saturating_add(right.guess);
    let left_pairs = pairs(matched.iter().map(|pair| pair.0), &left, &slots);
    let right_pairs = pairs(matched.iter().map(|pair| pair.1), &right, &slots);
    let mut blank = vec![0; row_bytes as usize];
    fill_missing(&slots, &mut blank);
    let concat = |sources: Vec<(Box<dyn Rows>, RowCopy)>| -> Box<dyn Rows> {
        Box::new(Concat {
            sources: VecDeque::from(sources),
            row: blank.clone(),
            blank: blank.clone(),
        })
    };
    let sources = [(left.rows, left_pairs), (right.rows, right_pairs)];
    let relation = |rows: Box<dyn Rows>, most: u64| Relation {
        rows,
        fields: fields.clone(),
        row_bytes,
        most,
        guess,
    };
    match operator {
        SetOperator::OuterUnion => Ok(relation(concat(sources.into()), most)),
        SetOperator::Union => {
            let union = relation(concat(sources.into()), most);
            if all {
                return Ok(union);
            }
            distinct(context, union, world)
        }
        SetOperator::Except | SetOperator::Intersect => {
            let [left_source, right_source] = sources;
            let left_side = relation(concat(vec![left_source]), left.most);
            let right_side = relation(concat(vec![right_source]), right.most);
            let compared = Compared {
                left: side(context, left_side, world)?,
                right: side(context, right_side, world)?,
                memory: context.memory,
                intersect: operator == SetOperator::Intersect,
                all,
                slots: slots.clone(),
                state: None,
                row: blank.clone(),
                repeat: 0,
            };
            Ok(relation(Box::new(compared), left.most))
        }
    }
}

fn side(context: &Rc<Context>, relation: Relation, world: &mut World) -> Outcome<Side> {
    let (machine, key) = whole_key(context, &relation, world)?;
    Ok(Side {
        rows: relation.rows,
        machine,
        key,
        most: relation.most,
    })
}

fn pairs(
    columns: impl Iterator<Item = Option<usize>>,
    relation: &Relation,
    slots: &[Slot],
) -> RowCopy {
    let pairs: Vec<(Slot, Slot)> = columns
        .zip(slots)
        .filter_map(|(column, slot)| Some((relation.fields[column?].slot, *slot)))
        .collect();
    RowCopy::new(&pairs)
}

/// By position, or with CORR by name; OUTER UNION keeps what only one side has.
fn matched(
    operator: SetOperator,
    corresponding: bool,
    left: &Relation,
    right: &Relation,
    world: &mut World,
) -> Matched {
    let (lefts, rights) = (left.fields.len(), right.fields.len());
    if !corresponding {
        if operator == SetOperator::OuterUnion {
            let left = (0..lefts).map(|at| (Some(at), None));
            return left.chain((0..rights).map(|at| (None, Some(at)))).collect();
        }
        if lefts != rights {
            world.log.warning(
                "A table has been extended with null columns to perform the UNION/EXCEPT/INTERSECT \
                 set operation.",
            );
        }
        let side = |at: usize, count: usize| (at < count).then_some(at);
        let all = 0..lefts.max(rights);
        return all.map(|at| (side(at, lefts), side(at, rights))).collect();
    }
    let name = |field: &Field| field.variable.name.to_ascii_uppercase();
    let other = |field: &Field| {
        let wanted = name(field);
        right.fields.iter().position(|one| name(one) == wanted)
    };
    let mut matched: Matched = left
        .fields
        .iter()
        .enumerate()
        .map(|(at, field)| (Some(at), other(field)))
        .collect();
    if operator != SetOperator::OuterUnion {
        matched.retain(|pair| pair.1.is_some());
        return matched;
    }
    let taken: Vec<usize> = matched.iter().filter_map(|pair| pair.1).collect();
    matched.extend(
        (0..rights)
            .filter(|at| !taken.contains(at))
            .map(|at| (None, Some(at))),
    );
    matched
}

fn joined_variable(
    pair: &(Option<usize>, Option<usize>),
    left: &Relation,
    right: &Relation,
) -> Outcome<Variable> {
    let first = pair.0.map(|at| &left.fields[at].variable);
    let second = pair.1.map(|at| &right.fields[at].variable);
    let (Some(variable), other) = (first.or(second), second) else {
        return Err(Failure::world("A set operation has no columns."));
    };
    let mut variable = variable.clone();
    if let Some(other) = other {
        if other.kind != variable.kind {
            return Err(Failure::world(format!(
                "Column {} from the first contributor of a set operation is not the same type as its \
                 counterpart from the second.",
                pair.0.map_or(0, |at| at + 1)
            )));
        }
        variable.length = variable.length.max(other.length);
    }
    Ok(variable)
}
