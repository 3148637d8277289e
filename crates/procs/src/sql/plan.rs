//! From queries to rows: FROM and WHERE, then groups, HAVING, the columns of SELECT, DISTINCT and the
//! order.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use base::diag::Span;
use engine::dataset::copy::RowCopy;
use engine::dataset::input::Field;
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{Expr, ExprKind, FormatRef};
use sas7bdat::{Format, Kind, Variable};

use super::frame::Frame;
use super::group::{Column, Grouped, Groups, Remerged, needs_numbers};
use super::join_plan::{self, Planner};
use super::key::{Key, KeyPart};
use super::machine::Program;
use super::order::Ordered;
use super::rows::{Filter, Project, Projection, Relation, Rows, packed};
use super::scope::{Context, Names, Outer, Scope, ScopeColumn, column_name};
use super::set;
use super::summary::Summarizer;
use super::syntax::{Body, OrderItem, Part, Query, Select, SelectItem, Summary};
use super::uses::Finder;

/// A column of SELECT.
struct Item {
    expr: Expr,
    name: Option<String>,
    label: Option<String>,
    format: Option<FormatRef>,
    informat: Option<FormatRef>,
    length: Option<u32>,
}

/// Rows between two clauses of a query, and where everything lies in them.
struct Stage {
    rows: Box<dyn Rows>,
    slots: Vec<Option<Slot>>,
    row_bytes: u32,
    most: u64,
    guess: u64,
    summaries: HashMap<usize, Slot>,
    keys: Vec<(String, Slot)>,
}

/// The rows of a query.
pub(super) fn query(
    context: &Rc<Context>,
    query: &Query,
    outer: &Rc<Outer>,
    world: &mut World,
) -> Outcome<Relation> {
    match &query.body {
        Body::Select(select) => {
            SelectPlan::open(context, select, outer, world)?.finish(&query.order, world)
        }
        body @ Body::Set { .. } => {
            let relation = body_rows(context, body, outer, world)?;
            ordered_by_columns(context, relation, &query.order, outer, world)
        }
    }
}

/// The rows of a query without its order.
pub(super) fn body_rows(
    context: &Rc<Context>,
    body: &Body,
    outer: &Rc<Outer>,
    world: &mut World,
) -> Outcome<Relation> {
    match body {
        Body::Select(select) => SelectPlan::open(context, select, outer, world)?.finish(&[], world),
        Body::Set {
            operator,
            all,
            corresponding,
            left,
            right,
        } => {
            let left = body_rows(context, left, outer, world)?;
            let right = body_rows(context, right, outer, world)?;
            set::combined(
                context,
                (*operator, *all, *corresponding),
                left,
                right,
                world,
            )
        }
    }
}

/// A SELECT whose tables are open.
struct SelectPlan<'a> {
    context: &'a Rc<Context>,
    select: &'a Select,
    scope: Rc<Scope>,
    node: join_plan::Node,
    items: Vec<Item>,
}

impl<'a> SelectPlan<'a> {
    fn open(
        context: &'a Rc<Context>,
        select: &'a Select,
        outer: &Rc<Outer>,
        world: &mut World,
    ) -> Outcome<Self> {
        let Some(from) = &select.from else {
            return Err(Failure::world("SELECT needs a FROM clause."));
        };
        let mut columns = Vec::new();
        let node = join_plan::open(from, context, outer, &mut columns, world)?;
        let items = expanded(&select.items, &columns)?;
        let named = items.iter().filter_map(|item| {
            let name = item.name.as_ref()?;
            Some((name.to_ascii_uppercase(), item.expr.clone()))
        });
        let scope = Rc::new(Scope {
            named: named.collect(),
            columns,
            outer: outer.clone(),
        });
        Ok(Self {
            context,
            select,
            scope,
            node,
            items,
        })
    }

    /// The expression that a position in SELECT stands for.
    fn positioned(&self, expr: &Expr, clause: &str) -> Outcome<Option<Expr>> {
        let ExprKind::Number(number) = expr.kind else {
            return Ok(None);
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the conversion saturates, and the fraction is looked at"
        )]
        let item = (number.fract() == 0.0)
            .then(|| self.items.get((number as usize).wrapping_sub(1)))
            .flatten();
        let Some(item) = item else {
            let message =
                format!("{clause} item number {number} is not in the range of SELECT columns.");
            return Err(Failure::at(&expr.span, message));
        };
        Ok(Some(item.expr.clone()))
    }

    fn finish(mut self, order: &[OrderItem], world: &mut World) -> Outcome<Relation> {
        let distinct = self.select.distinct;
        let groups = self.groups()?;
        let mut keys = if distinct {
            Vec::new()
        } else {
            self.order(order)?
        };
        let mut finder = Finder::new(self.context, &self.scope);
        for (expr, names) in self.read_expressions(&keys) {
            finder.add(&expr, names, world)?;
        }
        let summaries = finder.found.summaries.clone();
        for (expr, names) in &groups {
            finder.add(expr, *names, world)?;
        }
        let needed = finder.found.columns;
        let ungrouped = summaries.is_empty() && !groups.is_empty();
        if ungrouped {
            self.warn_ungrouped(world);
        }
        let planner = Planner {
            context: self.context,
            scope: &self.scope,
        };
        let node = std::mem::replace(&mut self.node, join_plan::Node::nothing());
        let joined = planner.plan(node, self.select.condition.as_ref(), &needed, world)?;
        let mut stage = Stage {
            rows: joined.rows,
            slots: joined.slots,
            row_bytes: joined.row_bytes,
            most: joined.most,
            guess: joined.guess,
            summaries: HashMap::new(),
            keys: Vec::new(),
        };
        if !summaries.is_empty() {
            stage = self.grouped(stage, &groups, &summaries, &needed, &keys, world)?;
        }
        if let Some(having) = &self.select.having {
            stage = self.having(stage, having, world)?;
        }
        if ungrouped && order.is_empty() && !distinct {
            keys.extend(groups.into_iter().map(|(expr, names)| (expr, names, false)));
        }
        let relation = self.projected(stage, &keys, world)?;
        if distinct {
            return self.distinct(relation, order, world);
        }
        Ok(relation)
    }

    fn groups(&self) -> Outcome<Vec<(Expr, Names)>> {
        let groups = self.select.groups.iter().map(|expr| {
            Ok(match self.positioned(expr, "GROUP BY")? {
                Some(given) => (given, Names::Columns),
                None => (expr.clone(), Names::Both),
            })
        });
        groups.collect()
    }

    fn warn_ungrouped(&self, world: &mut World) {
        const UNGROUPED: &str = "A GROUP BY clause has been transformed into an ORDER BY clause because \
             neither the SELECT clause nor the optional HAVING clause of the associated \
             table-expression referenced a summary function.";
        if self.context.first_time(UNGROUPED) {
            world.log.warning(UNGROUPED);
        }
    }

    /// Different rows, in an order of their columns.
    fn distinct(
        &self,
        relation: Relation,
        order: &[OrderItem],
        world: &mut World,
    ) -> Outcome<Relation> {
        let relation = set::distinct(self.context, relation, world)?;
        let canonical = |item: &Item| {
            self.scope
                .canonical(&item.expr, self.context, Names::Columns)
        };
        let exprs: Vec<String> = self.items.iter().map(canonical).collect();
        let order = order
            .iter()
            .map(|item| self.of_output(item.clone(), &exprs));
        let order = order.collect::<Vec<OrderItem>>();
        let outer = self.scope.outer.clone();
        ordered_by_columns(self.context, relation, &order, &outer, world)
    }

    /// An ORDER BY expression that is a column of SELECT, as that column.
    fn of_output(&self, item: OrderItem, exprs: &[String]) -> OrderItem {
        if matches!(item.expr.kind, ExprKind::Number(_)) {
            return item;
        }
        let text = self.scope.canonical(&item.expr, self.context, Names::Given);
        match exprs.iter().position(|expr| *expr == text) {
            Some(column) => OrderItem {
                expr: Expr {
                    kind: ExprKind::Variable(column_name(column)),
                    span: item.expr.span,
                },
                ..item
            },
            None => item,
        }
    }

    /// ORDER BY as expressions.
    fn order(&self, order: &[OrderItem]) -> Outcome<Vec<(Expr, Names, bool)>> {
        let keys = order.iter().map(|item| {
            Ok(match self.positioned(&item.expr, "ORDER BY")? {
                Some(expr) => (expr, Names::Columns, item.descending),
                None => (item.expr.clone(), Names::Given, item.descending),
            })
        });
        keys.collect()
    }

    /// The expressions behind grouping.
    fn read_expressions(&self, order: &[(Expr, Names, bool)]) -> Vec<(Expr, Names)> {
        let items = self
            .items
            .iter()
            .map(|item| (item.expr.clone(), Names::Columns));
        let having = self
            .select
            .having
            .iter()
            .map(|expr| (expr.clone(), Names::Both));
        let order = order.iter().map(|(expr, names, _)| (expr.clone(), *names));
        items.chain(having).chain(order).collect()
    }

    fn frame(&self, stage: &Stage) -> Frame {
        let slots = stage.slots.clone();
        let mut frame = Frame::new(self.context, &self.scope, slots, stage.row_bytes);
        frame.summaries.clone_from(&stage.summaries);
        frame.keys.clone_from(&stage.keys);
        frame
    }

    /// Groups, or rows with the summaries of their groups if they are used beside those.
    fn grouped(
        &self,
        stage: Stage,
        groups: &[(Expr, Names)],
        summaries: &[usize],
        needed: &BTreeSet<usize>,
        order: &[(Expr, Names, bool)],
        world: &mut World,
    ) -> Outcome<Stage> {
        let canonical: Vec<String> = groups
            .iter()
            .map(|(expr, names)| self.scope.canonical(expr, self.context, *names))
            .collect();
        let mut finder = Finder::new(self.context, &self.scope);
        finder.keys = &canonical;
        finder.inside_summaries = false;
        for (expr, names) in self.read_expressions(order) {
            finder.add(&expr, names, world)?;
        }
        let remerge = !finder.found.columns.is_empty();
        let mut frame = self.frame(&stage);
        let parts = group_key(&mut frame, groups, world)?;
        frame.names = Names::Columns;
        let arguments = self.arguments(&mut frame, summaries, world)?;
        let key_lengths = parts
            .iter()
            .map(|part| (part.program.kind(), part.program.length()));
        let results = arguments.iter().map(|(one, _, _)| {
            let (kind, bytes) = one.result();
            (kind, u32::try_from(bytes).unwrap_or(u32::MAX))
        });
        let lengths: Vec<(Kind, u32)> = key_lengths.chain(results).collect();
        let (slots, group_bytes) = packed(lengths);
        let (key_slots, result_slots) = slots.split_at(parts.len());
        let columns = arguments.into_iter().zip(result_slots).map(
            |((summarizer, argument, distinct), slot)| Column {
                summarizer,
                argument,
                distinct,
                slot: *slot,
            },
        );
        let limits = (self.context.memory, stage.most);
        let groups = Groups::new(
            frame.machine(world),
            Key::new(parts),
            key_slots.to_vec(),
            columns.collect(),
            limits,
        );
        let keys: Vec<(String, Slot)> = canonical
            .into_iter()
            .zip(key_slots.iter().copied())
            .collect();
        let summaries = summaries.iter().copied().zip(result_slots.iter().copied());
        let summaries = summaries.collect();
        if remerge {
            let places = (keys, summaries, group_bytes);
            return Ok(self.remerged(stage, groups, places, needed, world));
        }
        let slots = self.key_columns(&keys);
        Ok(Stage {
            rows: Box::new(Grouped {
                rows: stage.rows,
                groups,
                read: false,
            }),
            slots,
            row_bytes: group_bytes,
            most: stage.most.max(1),
            // Groups have, say, ten rows each.
            guess: stage.guess / 10 + 1,
            summaries,
            keys,
        })
    }

    fn remerged(
        &self,
        stage: Stage,
        groups: Groups,
        (keys, summaries, group_bytes): (Vec<(String, Slot)>, HashMap<usize, Slot>, u32),
        needed: &BTreeSet<usize>,
        world: &mut World,
    ) -> Stage {
        const REMERGE: &str =
            "The query requires remerging summary statistics back with the original data.";
        if self.context.first_time(REMERGE) {
            world.note(REMERGE);
        }
        let available: Vec<(usize, Slot)> = needed
            .iter()
            .filter_map(|column| Some((*column, stage.slots.get(*column).copied().flatten()?)))
            .collect();
        let (kept, bytes) = packed(available.iter().map(|(_, slot)| (slot.kind, slot.length)));
        let pairs: Vec<(Slot, Slot)> = available
            .iter()
            .zip(&kept)
            .map(|((_, from), to)| (*from, *to))
            .collect();
        let mut columns = vec![None; self.scope.columns.len()];
        for ((column, _), slot) in available.iter().zip(&kept) {
            columns[*column] = Some(*slot);
        }
        let behind = |slot: Slot| Slot {
            offset: slot.offset + bytes,
            ..slot
        };
        Stage {
            rows: Box::new(Remerged {
                rows: stage.rows,
                groups,
                copy: RowCopy::new(&pairs),
                row_bytes: bytes as usize,
                memory: self.context.memory,
                most: stage.most,
                sorted: None,
                row: vec![0; (bytes + group_bytes) as usize],
                key: None,
            }),
            slots: columns,
            row_bytes: bytes + group_bytes,
            most: stage.most,
            guess: stage.guess,
            summaries: summaries
                .into_iter()
                .map(|(part, slot)| (part, behind(slot)))
                .collect(),
            keys: keys
                .into_iter()
                .map(|(text, slot)| (text, behind(slot)))
                .collect(),
        }
    }

    /// Places of the columns that are keys themselves.
    fn key_columns(&self, keys: &[(String, Slot)]) -> Vec<Option<Slot>> {
        let mut columns = vec![None; self.scope.columns.len()];
        for (text, slot) in keys {
            let number = text
                .strip_prefix('#')
                .and_then(|text| text.strip_suffix("()"));
            if let Some(number) = number.and_then(|number| number.parse::<usize>().ok()) {
                columns[number] = Some(*slot);
            }
        }
        columns
    }

    fn arguments(
        &self,
        frame: &mut Frame,
        summaries: &[usize],
        world: &mut World,
    ) -> Outcome<Vec<(Summarizer, Option<Program>, bool)>> {
        let mut arguments = Vec::new();
        for number in summaries {
            let Some(Part::Summary(Summary {
                function,
                distinct,
                argument,
            })) = self.context.parts.get(*number)
            else {
                continue;
            };
            let program = match argument {
                Some(argument) => Some(frame.compile(argument, world)?),
                None => None,
            };
            let summarizer = Summarizer {
                function: *function,
                kind: program.as_ref().map(Program::kind),
                bytes: program.as_ref().map_or(0, |one| one.length() as usize),
            };
            if let (true, Some(argument)) = (needs_numbers(&summarizer), argument) {
                let name = format!("{function:?}").to_ascii_uppercase();
                let message = format!("The {name} summary function requires a numeric argument.");
                return Err(Failure::at(&argument.span, message));
            }
            arguments.push((summarizer, program, *distinct));
        }
        Ok(arguments)
    }

    fn having(&self, stage: Stage, having: &Expr, world: &mut World) -> Outcome<Stage> {
        let mut frame = self.frame(&stage);
        frame.names = Names::Both;
        let condition = frame.number(having, world)?;
        Ok(Stage {
            rows: Box::new(Filter {
                rows: stage.rows,
                machine: frame.machine(world),
                conditions: vec![condition],
                held: Vec::new(),
            }),
            ..stage
        })
    }

    /// The columns of SELECT, in order if there are keys.
    fn projected(
        &self,
        stage: Stage,
        keys: &[(Expr, Names, bool)],
        world: &mut World,
    ) -> Outcome<Relation> {
        let mut frame = self.frame(&stage);
        let mut programs = Vec::new();
        let mut variables = Vec::new();
        for item in &self.items {
            let program = frame.compile(&item.expr, world)?;
            variables.push(self.variable(item, &program, world)?);
            programs.push(program);
        }
        let lengths = variables.iter().map(|one| (one.kind, one.length));
        let (slots, row_bytes) = packed(lengths.collect::<Vec<_>>());
        let fields = variables
            .into_iter()
            .zip(&slots)
            .map(|(variable, slot)| Field {
                variable,
                slot: *slot,
            });
        let fields = fields.collect();
        let mut parts = Vec::new();
        for (expr, names, descending) in keys {
            frame.names = *names;
            let program = frame.compile(expr, world)?;
            parts.push(KeyPart {
                bytes: program.length() as usize,
                program,
                descending: *descending,
            });
        }
        let projection = Projection::new(frame.machine(world), programs, &slots);
        let rows: Box<dyn Rows> = if parts.is_empty() {
            Box::new(Project {
                rows: stage.rows,
                projection,
                row: vec![0; row_bytes as usize],
            })
        } else {
            Box::new(Ordered {
                rows: stage.rows,
                machine: frame.machine(world),
                key: Key::new(parts),
                projection: Some(projection),
                row_bytes: row_bytes as usize,
                memory: self.context.memory,
                most: stage.most,
                sorted: None,
            })
        };
        Ok(Relation {
            rows,
            fields,
            row_bytes,
            most: stage.most,
            guess: stage.guess,
        })
    }

    /// What a column of SELECT is like: a column of a table keeps its attributes.
    fn variable(&self, item: &Item, program: &Program, world: &World) -> Outcome<Variable> {
        let kind = program.kind();
        let mut variable = match self.column(&item.expr) {
            Some(column) => self.scope.columns[column].variable.clone(),
            None => match kind {
                Kind::Numeric => Variable::numeric(""),
                Kind::Character => Variable::character("", program.length()),
            },
        };
        if let Some(name) = &item.name {
            variable.name.clone_from(name);
        }
        if let Some(label) = &item.label {
            variable.label.clone_from(label);
        }
        if let Some(format) = &item.format {
            variable.format = checked_format(format, kind, world)?;
        }
        if let Some(informat) = &item.informat {
            variable.informat = plain_format(informat);
        }
        if let Some(length) = item.length {
            variable.length = checked_length(length, kind, &item.expr.span)?;
        }
        Ok(variable)
    }

    fn column(&self, expr: &Expr) -> Option<usize> {
        match &expr.kind {
            ExprKind::Variable(_) => {
                let text = self.scope.canonical(expr, self.context, Names::Columns);
                let number = text.strip_prefix('#')?.strip_suffix("()")?;
                number.parse().ok()
            }
            _ => None,
        }
    }
}

/// The key of GROUP BY.
fn group_key(
    frame: &mut Frame,
    groups: &[(Expr, Names)],
    world: &mut World,
) -> Outcome<Vec<KeyPart>> {
    let mut parts = Vec::new();
    for (expr, names) in groups {
        frame.names = *names;
        let program = frame.compile(expr, world)?;
        parts.push(KeyPart {
            bytes: program.length() as usize,
            program,
            descending: false,
        });
    }
    Ok(parts)
}

/// A format as written, for values of a kind.
pub(super) fn checked_format(reference: &FormatRef, kind: Kind, world: &World) -> Outcome<Format> {
    let mut format = plain_format(reference);
    let known = match kind {
        Kind::Numeric => engine::format::number_with(0.0, &format, &world.formats).is_some(),
        Kind::Character => {
            if !format.name.starts_with('$') {
                format.name.insert(0, '$');
            }
            engine::format::is_text_format(&format.name, &world.formats)
        }
    };
    if known {
        return Ok(format);
    }
    let message = format!(
        "The format {} was not found or could not be loaded, or is not implemented yet.",
        format.name
    );
    Err(Failure::at(&reference.span, message))
}

pub(super) fn plain_format(reference: &FormatRef) -> Format {
    Format {
        name: reference.name.to_ascii_uppercase(),
        width: reference.width,
        decimals: reference.decimals,
    }
}

/// A length that a variable of this kind can have.
pub(super) fn checked_length(length: u32, kind: Kind, span: &Span) -> Outcome<u32> {
    let valid = match kind {
        Kind::Numeric => (3..=8).contains(&length),
        Kind::Character => (1..=base::limits::CHARACTER_BYTES_MAX).contains(&length),
    };
    if valid {
        return Ok(length);
    }
    let message = format!("The length {length} is not valid for a column of this type.");
    Err(Failure::at(span, message))
}

/// `*` and `alias.*` taken apart.
fn expanded(items: &[SelectItem], columns: &[ScopeColumn]) -> Outcome<Vec<Item>> {
    let mut all = Vec::new();
    for item in items {
        match item {
            SelectItem::All(table, span) => {
                let before = all.len();
                for (number, column) in columns.iter().enumerate() {
                    let own = column.table.as_deref();
                    let wanted = table
                        .as_deref()
                        .is_none_or(|table| own.is_some_and(|own| own.eq_ignore_ascii_case(table)));
                    if wanted {
                        all.push(Item {
                            expr: Expr {
                                kind: ExprKind::Variable(column_name(number)),
                                span: span.clone(),
                            },
                            name: Some(column.variable.name.clone()),
                            label: None,
                            format: None,
                            informat: None,
                            length: None,
                        });
                    }
                }
                if let (true, Some(table)) = (all.len() == before, table) {
                    let message =
                        format!("Unresolved reference to table/correlation name {table}.");
                    return Err(Failure::at(span, message));
                }
            }
            SelectItem::Value(value) => all.push(Item {
                expr: value.expr.clone(),
                name: value.name.clone(),
                label: value.label.clone(),
                format: value.format.clone(),
                informat: value.informat.clone(),
                length: value.length,
            }),
        }
    }
    Ok(all)
}

/// ORDER BY over the columns of a result: by position, name or an expression of them.
fn ordered_by_columns(
    context: &Rc<Context>,
    relation: Relation,
    order: &[OrderItem],
    outer: &Rc<Outer>,
    world: &mut World,
) -> Outcome<Relation> {
    if order.is_empty() {
        return Ok(relation);
    }
    let columns = relation.fields.iter().map(|field| ScopeColumn {
        table: None,
        variable: field.variable.clone(),
    });
    let scope = Rc::new(Scope {
        columns: columns.collect(),
        named: HashMap::new(),
        outer: outer.clone(),
    });
    let slots = relation
        .fields
        .iter()
        .map(|field| Some(field.slot))
        .collect();
    let mut frame = Frame::new(context, &scope, slots, relation.row_bytes);
    let mut parts = Vec::new();
    for item in order {
        let mut expr = item.expr.clone();
        if let ExprKind::Number(number) = expr.kind {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the conversion saturates"
            )]
            let column = (number as usize).wrapping_sub(1);
            if number.fract() != 0.0 || column >= relation.fields.len() {
                let message =
                    format!("ORDER BY item number {number} is not in the range of SELECT columns.");
                return Err(Failure::at(&expr.span, message));
            }
            expr.kind = ExprKind::Variable(column_name(column));
        } else if let Some((_, Part::Column { name, .. })) = context.part(&expr) {
            expr.kind = ExprKind::Variable(name.clone());
        }
        let program = frame.compile(&expr, world)?;
        parts.push(KeyPart {
            bytes: program.length() as usize,
            program,
            descending: item.descending,
        });
    }
    Ok(Relation {
        rows: Box::new(Ordered {
            rows: relation.rows,
            machine: frame.machine(world),
            key: Key::new(parts),
            projection: None,
            row_bytes: relation.row_bytes as usize,
            memory: context.memory,
            most: relation.most,
            sorted: None,
        }),
        ..relation
    })
}
