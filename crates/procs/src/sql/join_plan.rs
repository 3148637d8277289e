//! From FROM, ON and WHERE to joins: conditions go as far down as they may, equal columns become keys.

use std::collections::BTreeSet;
use std::rc::Rc;

use engine::dataset::copy::RowCopy;
use engine::dataset::input::{Field, Input};
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{BinaryOp, Comparison, Expr, ExprKind};

use super::frame::Frame;
use super::join::{Join, Residual, Side};
use super::key::{Key, KeyPart};
use super::machine::Program;
use super::plan;
use super::rows::{Filter, Rows, Scan, packed};
use super::scope::{Context, Outer, Scope, ScopeColumn};
use super::syntax::{From, JoinKind, Part};
use super::uses::{Finder, Uses, conjuncts};

type Columns = BTreeSet<usize>;

/// A table of FROM, opened.
pub(super) struct Leaf {
    first: usize,
    fields: Vec<Field>,
    rows: Box<dyn Rows>,
    row_bytes: u32,
    most: u64,
    guess: u64,
    exact: bool,
}

/// FROM with its tables opened and its columns numbered.
pub(super) enum Node {
    Leaf(Leaf),
    Join {
        kind: JoinKind,
        left: Box<Node>,
        right: Box<Node>,
        condition: Option<Expr>,
    },
}

impl Node {
    /// No table at all.
    pub(super) fn nothing() -> Self {
        Self::Leaf(Leaf {
            first: 0,
            fields: Vec::new(),
            rows: Box::new(super::rows::Nothing),
            row_bytes: 0,
            most: 0,
            guess: 0,
            exact: true,
        })
    }
}

/// A condition and what it uses.
struct Condition {
    expr: Expr,
    uses: Uses,
}

/// Rows on the way, with the places of the columns that they have.
pub(super) struct Joined {
    pub(super) rows: Box<dyn Rows>,
    pub(super) slots: Vec<Option<Slot>>,
    pub(super) row_bytes: u32,
    /// There are not more rows than this.
    pub(super) most: u64,
    /// There are perhaps so many.
    pub(super) guess: u64,
    exact: bool,
}

/// Opens the tables of FROM; their columns are added to `columns`.
pub(super) fn open(
    from: &From,
    context: &Rc<Context>,
    outer: &Rc<Outer>,
    columns: &mut Vec<ScopeColumn>,
    world: &mut World,
) -> Outcome<Node> {
    let (leaf, alias) = match from {
        From::Join {
            kind,
            left,
            right,
            condition,
        } => {
            return Ok(Node::Join {
                kind: *kind,
                left: Box::new(open(left, context, outer, columns, world)?),
                right: Box::new(open(right, context, outer, columns, world)?),
                condition: condition.clone(),
            });
        }
        From::Table { dataset, alias } => {
            let input = Input::open(world, dataset)?;
            let metadata = input.metadata();
            context.meet(metadata.encoding, &input.member().full_name())?;
            let most = metadata.rows.min(context.rows_in.unwrap_or(u64::MAX));
            let leaf = Leaf {
                first: columns.len(),
                fields: input.fields().to_vec(),
                row_bytes: metadata.layout.row_bytes,
                most,
                guess: most,
                exact: !input.is_filtered(),
                rows: Box::new(Scan::new(input, context.rows_in)),
            };
            (
                leaf,
                Some(alias.clone().unwrap_or_else(|| dataset.member.clone())),
            )
        }
        From::View { query, alias, .. } => {
            let relation = plan::query(context, query, outer, world)?;
            let leaf = Leaf {
                first: columns.len(),
                fields: relation.fields,
                row_bytes: relation.row_bytes,
                most: relation.most,
                guess: relation.guess,
                exact: false,
                rows: relation.rows,
            };
            (leaf, alias.clone())
        }
    };
    let named = leaf.fields.iter().map(|field| ScopeColumn {
        table: alias.clone(),
        variable: field.variable.clone(),
    });
    columns.extend(named);
    Ok(Node::Leaf(leaf))
}

/// Plans the joins of one query.
pub(super) struct Planner<'a> {
    pub(super) context: &'a Rc<Context>,
    pub(super) scope: &'a Rc<Scope>,
}

impl Planner<'_> {
    /// The rows of FROM that meet WHERE, with at least the columns of `above`.
    pub(super) fn plan(
        &self,
        node: Node,
        condition: Option<&Expr>,
        above: &Columns,
        world: &mut World,
    ) -> Outcome<Joined> {
        let filters = self.conditions(condition, world)?;
        self.build(node, filters, above, world)
    }

    fn conditions(&self, expr: Option<&Expr>, world: &mut World) -> Outcome<Vec<Condition>> {
        let mut parts = Vec::new();
        if let Some(expr) = expr {
            conjuncts(expr, &mut parts);
        }
        let with_uses = parts.into_iter().map(|expr| {
            let uses = Finder::of(self.context, self.scope, &expr, world)?;
            Ok(Condition { expr, uses })
        });
        with_uses.collect()
    }

    fn build(
        &self,
        node: Node,
        filters: Vec<Condition>,
        above: &Columns,
        world: &mut World,
    ) -> Outcome<Joined> {
        match node {
            Node::Leaf(leaf) => {
                let mut slots = vec![None; self.scope.columns.len()];
                for (at, field) in leaf.fields.iter().enumerate() {
                    slots[leaf.first + at] = Some(field.slot);
                }
                let joined = Joined {
                    rows: leaf.rows,
                    slots,
                    row_bytes: leaf.row_bytes,
                    most: leaf.most,
                    guess: leaf.guess,
                    exact: leaf.exact,
                };
                self.filtered(joined, &filters, world)
            }
            Node::Join {
                kind: JoinKind::Inner,
                ..
            } => self.inner(node, filters, above, world),
            Node::Join {
                kind,
                left,
                right,
                condition,
            } => {
                let on = self.conditions(condition.as_ref(), world)?;
                self.outer(kind, (*left, *right), on, filters, above, world)
            }
        }
    }

    /// Adds conditions.
    fn filtered(
        &self,
        joined: Joined,
        conditions: &[Condition],
        world: &mut World,
    ) -> Outcome<Joined> {
        if conditions.is_empty() {
            return Ok(joined);
        }
        let mut frame = self.frame(&joined);
        let programs = conditions.iter().map(|one| frame.number(&one.expr, world));
        let conditions = programs.collect::<Outcome<Vec<Program>>>()?;
        Ok(Joined {
            rows: Box::new(Filter {
                rows: joined.rows,
                machine: frame.machine(world),
                conditions,
                held: Vec::new(),
            }),
            exact: false,
            // A condition leaves, say, a third.
            guess: joined.guess / 3 + 1,
            ..joined
        })
    }

    fn frame(&self, joined: &Joined) -> Frame {
        let slots = joined.slots.clone();
        Frame::new(self.context, self.scope, slots, joined.row_bytes)
    }

    /// Inner joins of any number of items: each next one is the first with equal columns.
    fn inner(
        &self,
        node: Node,
        mut conditions: Vec<Condition>,
        above: &Columns,
        world: &mut World,
    ) -> Outcome<Joined> {
        let mut items = Vec::new();
        self.flatten(node, &mut items, &mut conditions, world)?;
        let mut waiting = Vec::new();
        let mut own: Vec<Vec<Condition>> = items.iter().map(|_| Vec::new()).collect();
        let have: Vec<Columns> = items.iter().map(columns_of).collect();
        for condition in conditions {
            let uses = &condition.uses.columns;
            let within = |columns: &Columns| !uses.is_empty() && uses.is_subset(columns);
            match have.iter().position(within) {
                Some(item) => own[item].push(condition),
                None => waiting.push(condition),
            }
        }
        let needed = with(above, &waiting);
        let mut left: Vec<(Joined, Columns)> = Vec::new();
        for ((item, own), columns) in items.into_iter().zip(own).zip(have) {
            left.push((self.build(item, own, &needed, world)?, columns));
        }
        let (mut joined, mut columns) = left.remove(0);
        while !left.is_empty() {
            let linked = left.iter().position(|(_, other)| {
                waiting
                    .iter()
                    .any(|one| self.equal_sides(one, &columns, other, world).is_some())
            });
            let (next, other) = left.remove(linked.unwrap_or(0));
            let union: Columns = columns.union(&other).copied().collect();
            let (mut keys, mut residual, mut later) = (Vec::new(), Vec::new(), Vec::new());
            for condition in waiting {
                if let Some(sides) = self.equal_sides(&condition, &columns, &other, world) {
                    keys.push(sides);
                } else if condition.uses.columns.is_subset(&union) {
                    residual.push(condition);
                } else {
                    later.push(condition);
                }
            }
            waiting = later;
            let needed = with(above, &waiting);
            let sides = ((joined, false), (next, false));
            joined = self.join(sides, &keys, &residual, &needed, world)?;
            columns = union;
        }
        self.filtered(joined, &waiting, world)
    }

    fn flatten(
        &self,
        node: Node,
        items: &mut Vec<Node>,
        conditions: &mut Vec<Condition>,
        world: &mut World,
    ) -> Outcome<()> {
        match node {
            Node::Join {
                kind: JoinKind::Inner,
                left,
                right,
                condition,
            } => {
                self.flatten(*left, items, conditions, world)?;
                self.flatten(*right, items, conditions, world)?;
                conditions.extend(self.conditions(condition.as_ref(), world)?);
            }
            other => items.push(other),
        }
        Ok(())
    }

    fn outer(
        &self,
        kind: JoinKind,
        (left, right): (Node, Node),
        on: Vec<Condition>,
        filters: Vec<Condition>,
        above: &Columns,
        world: &mut World,
    ) -> Outcome<Joined> {
        let (have_left, have_right) = (columns_of(&left), columns_of(&right));
        let within = |one: &Condition, columns: &Columns| {
            !one.uses.columns.is_empty() && one.uses.columns.is_subset(columns)
        };
        let (mut to_left, mut to_right) = (Vec::new(), Vec::new());
        let (mut keys, mut residual, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for condition in on {
            if let Some(sides) = self.equal_sides(&condition, &have_left, &have_right, world) {
                keys.push(sides);
            } else if kind == JoinKind::Left && within(&condition, &have_right) {
                to_right.push(condition);
            } else if kind == JoinKind::Right && within(&condition, &have_left) {
                to_left.push(condition);
            } else {
                residual.push(condition);
            }
        }
        for condition in filters {
            if kind == JoinKind::Left && within(&condition, &have_left) {
                to_left.push(condition);
            } else if kind == JoinKind::Right && within(&condition, &have_right) {
                to_right.push(condition);
            } else {
                after.push(condition);
            }
        }
        let needed = with(above, &after);
        let mut below = with(&needed, &residual);
        for key in &keys {
            below.extend(&key.uses);
        }
        let left = self.build(left, to_left, &below, world)?;
        let right = self.build(right, to_right, &below, world)?;
        let keep_left = kind != JoinKind::Right;
        let keep_right = kind != JoinKind::Left;
        let sides = ((left, keep_left), (right, keep_right));
        let joined = self.join(sides, &keys, &residual, &needed, world)?;
        self.filtered(joined, &after, world)
    }

    /// The sides of `a = b` if one is of `left` and the other of `right`.
    fn equal_sides(
        &self,
        condition: &Condition,
        left: &Columns,
        right: &Columns,
        world: &mut World,
    ) -> Option<Equal> {
        let ExprKind::Binary(BinaryOp::Compare(Comparison::Equal, false), one, two) =
            &condition.expr.kind
        else {
            return None;
        };
        if matches!(self.context.part(two), Some((_, Part::Among(_)))) {
            return None;
        }
        let mut uses = |expr: &Expr| {
            let found = Finder::of(self.context, self.scope, expr, world).ok()?;
            (!found.columns.is_empty() && !found.subquery).then_some(found.columns)
        };
        let (first, second) = (uses(one)?, uses(two)?);
        let equal = |left: &Expr, right: &Expr| Equal {
            left: left.clone(),
            right: right.clone(),
            uses: condition.uses.columns.clone(),
        };
        if first.is_subset(left) && second.is_subset(right) {
            Some(equal(one, two))
        } else if first.is_subset(right) && second.is_subset(left) {
            Some(equal(two, one))
        } else {
            None
        }
    }

    /// Conditions on the joined rows.
    fn residual(
        &self,
        conditions: &[Condition],
        slots: &[Option<Slot>],
        row_bytes: u32,
        world: &mut World,
    ) -> Outcome<Option<Residual>> {
        if conditions.is_empty() {
            return Ok(None);
        }
        let mut frame = Frame::new(self.context, self.scope, slots.to_vec(), row_bytes);
        let programs = conditions.iter().map(|one| frame.number(&one.expr, world));
        let conditions = programs.collect::<Outcome<Vec<Program>>>()?;
        let machine = frame.machine(world);
        Ok(Some(Residual {
            machine,
            conditions,
        }))
    }

    fn join(
        &self,
        ((left, keep_left), (right, keep_right)): ((Joined, bool), (Joined, bool)),
        keys: &[Equal],
        residual: &[Condition],
        needed: &Columns,
        world: &mut World,
    ) -> Outcome<Joined> {
        const CARTESIAN: &str = "The execution of this query involves performing one or more \
                                 Cartesian product joins that can not be optimized.";
        if keys.is_empty() && self.context.first_time(CARTESIAN) {
            world.note(CARTESIAN);
        }
        let kept = with(needed, residual);
        let (mut left_frame, mut right_frame) = (self.frame(&left), self.frame(&right));
        let (mut left_parts, mut right_parts) = (Vec::new(), Vec::new());
        for key in keys {
            let left = left_frame.compile(&key.left, world)?;
            let right = right_frame.compile(&key.right, world)?;
            if left.kind() != right.kind() {
                let message =
                    "Expression using equals (=) has components that are of different data types.";
                return Err(Failure::at(&key.left.span, message));
            }
            let bytes = left.length().max(right.length()) as usize;
            let part = |program| KeyPart {
                program,
                bytes,
                descending: false,
            };
            left_parts.push(part(left));
            right_parts.push(part(right));
        }
        let most = left.most.saturating_mul(right.most);
        let most = most.saturating_add(left.most).saturating_add(right.most);
        let guess = if keys.is_empty() {
            most
        } else {
            left.guess.max(right.guess)
        };
        let mut slots = vec![None; self.scope.columns.len()];
        let left = side(left, &left_frame, left_parts, &kept, 0, &mut slots, world);
        let start = u32::try_from(left.bytes).unwrap_or(u32::MAX);
        let right = side(
            right,
            &right_frame,
            right_parts,
            &kept,
            start,
            &mut slots,
            world,
        );
        let (left, right) = (
            Side {
                preserved: keep_left,
                ..left
            },
            Side {
                preserved: keep_right,
                ..right
            },
        );
        let row_bytes = start.saturating_add(u32::try_from(right.bytes).unwrap_or(u32::MAX));
        let residual = self.residual(residual, &slots, row_bytes, world)?;
        Ok(Joined {
            rows: Box::new(Join::new(left, right, residual, self.context.memory)),
            slots,
            row_bytes,
            most,
            guess,
            exact: false,
        })
    }
}

/// Expressions that must be equal.
struct Equal {
    left: Expr,
    right: Expr,
    uses: Columns,
}

/// A side of a join that hands on the columns of `kept`; their places in the joined row, from `start`,
/// go to `places`.
fn side(
    joined: Joined,
    frame: &Frame,
    parts: Vec<KeyPart>,
    kept: &Columns,
    start: u32,
    places: &mut [Option<Slot>],
    world: &World,
) -> Side {
    let available: Vec<(usize, Slot)> = kept
        .iter()
        .filter_map(|column| Some((*column, joined.slots.get(*column).copied().flatten()?)))
        .collect();
    // Numbers keep their length, texts theirs.
    let lengths = available.iter().map(|(_, slot)| (slot.kind, slot.length));
    let (slots, bytes) = packed(lengths);
    let pairs: Vec<(Slot, Slot)> = available
        .iter()
        .zip(&slots)
        .map(|((_, from), to)| (*from, *to))
        .collect();
    for ((column, _), slot) in available.iter().zip(&slots) {
        places[*column] = Some(Slot {
            offset: slot.offset + start,
            ..*slot
        });
    }
    Side {
        rows: joined.rows,
        machine: frame.machine(world),
        key: Key::new(parts),
        copy: RowCopy::new(&pairs),
        bytes: bytes as usize,
        slots,
        most: joined.most,
        guess: joined.guess,
        exact: joined.exact,
        preserved: false,
    }
}

fn columns_of(node: &Node) -> Columns {
    match node {
        Node::Leaf(leaf) => (leaf.first..leaf.first + leaf.fields.len()).collect(),
        Node::Join { left, right, .. } => {
            let mut columns = columns_of(left);
            columns.extend(columns_of(right));
            columns
        }
    }
}

fn with(columns: &Columns, conditions: &[Condition]) -> Columns {
    let mut all = columns.clone();
    for condition in conditions {
        all.extend(&condition.uses.columns);
    }
    all
}
