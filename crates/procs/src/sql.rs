//! PROC SQL: statements are parsed and run one at a time. Queries are trees of sources of rows that are
//! pulled; what must hold rows (joins, groups, orders) has a share of the memory and goes on in utility
//! files when it is used up.

mod canonical;
mod change;
mod create;
mod expression;
mod frame;
mod group;
mod index;
mod into;
mod join;
mod join_plan;
mod key;
mod listing;
mod machine;
mod order;
mod parse;
mod plan;
mod rows;
mod scope;
mod set;
mod statement;
mod subquery;
mod summary;
mod syntax;
mod uses;

use std::rc::Rc;

use engine::failure::Outcome;
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{ProcStatement, ProcStep};
use lang::cursor::Cursor;

use self::expression::Parser;
use self::rows::Relation;
use self::scope::{Context, Outer};
use self::syntax::{Body, From, Part, Query, Statement};
use crate::target::unknown;

/// PROC SQL.
pub(crate) struct Sql;

/// What the PROC SQL statement says.
#[derive(Debug, Clone, Copy, Default)]
struct Options {
    no_print: bool,
    number: bool,
    rows_in: Option<u64>,
    rows_out: Option<u64>,
}

impl Procedure for Sql {
    fn name(&self) -> &'static str {
        "SQL"
    }

    fn support(&self) -> Support {
        Support {
            yes: "CREATE TABLE AS, LIKE, with column definitions; SELECT [DISTINCT] with `*`, `a.*`, \
                  AS, LABEL= FORMAT= INFORMAT= LENGTH=, CALCULATED; INTO :a, :a1-:a9, SEPARATED BY, \
                  TRIMMED, NOTRIM; FROM with data set options, aliases, in-line views; commas, INNER, \
                  LEFT, RIGHT, FULL and CROSS JOIN; WHERE, GROUP BY (names, positions, expressions), \
                  HAVING, remerging, ORDER BY; UNION, EXCEPT, INTERSECT, OUTER UNION with ALL and \
                  CORR; subqueries (values, IN, EXISTS, correlated); CASE in both forms, BETWEEN, \
                  LIKE, CONTAINS, IS NULL, IN; COUNT FREQ N NMISS SUM MEAN AVG MIN MAX RANGE STD \
                  STDERR VAR USS CSS CV, with DISTINCT; EQT NET GTT GET LTT LET; all \
                  functions of the DATA step, UPPER, LOWER; INSERT \
                  (VALUES, SET, SELECT), UPDATE, DELETE, DROP TABLE; CREATE [UNIQUE] INDEX, DROP \
                  INDEX; NOPRINT, NUMBER, INOBS=, OUTOBS=, THREADS, FEEDBACK and ERRORSTOP (of no \
                  effect); SQLOBS, SQLRC",
            no: "INSERT and UPDATE of tables with a unique index, views, ALTER, DESCRIBE, VALIDATE, \
                  RESET, pass-through, DICTIONARY tables, constraints, NATURAL JOIN, ANY and ALL \
                  before subqueries, MEDIAN and other summary functions, LIKE with ESCAPE or an \
                  expression, `=*`, _METHOD, data set options of tables that are changed",
        }
    }

    fn stopped_note(&self) -> &'static str {
        "PROC SQL set option NOEXEC and will continue to check the syntax of statements."
    }

    fn check(&self, step: &ProcStep, _: &mut World) -> Outcome<()> {
        options(step)?;
        for statement in &step.statements {
            Parser::new(&statement.tokens, &statement.span).statement()?;
        }
        Ok(())
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let options = options(step)?;
        for statement in &step.statements {
            let done = run(statement, options, world);
            let code = if done.is_ok() { "0" } else { "8" };
            world.macros.set_automatic("SQLRC", code, false);
            done?;
        }
        Ok(())
    }
}

fn options(step: &ProcStep) -> Outcome<Options> {
    let mut options = Options::default();
    let mut cursor = Cursor::new(&step.options, &step.span);
    while let Some(word) = cursor.peek_word() {
        match word.to_ascii_uppercase().as_str() {
            "NOPRINT" => options.no_print = true,
            "PRINT" => options.no_print = false,
            "NUMBER" => options.number = true,
            "NONUMBER" => options.number = false,
            // How often statements are timed and how plans are told changes no result.
            "STIMER" | "NOSTIMER" | "THREADS" | "NOTHREADS" | "ERRORSTOP" | "NOERRORSTOP"
            | "FEEDBACK" | "NOFEEDBACK" | "WARNRECURS" | "NOWARNRECURS" => {}
            "INOBS" | "OUTOBS" => {
                let is_in = word.eq_ignore_ascii_case("INOBS");
                cursor.next();
                cursor.expect_symbol("=")?;
                let count = if cursor.eat_word("MAX") {
                    None
                } else {
                    Some(cursor.expect_count()?)
                };
                if is_in {
                    options.rows_in = count;
                } else {
                    options.rows_out = count;
                }
                continue;
            }
            _ => return Err(unknown(&cursor, "SQL", "option")),
        }
        cursor.next();
    }
    cursor.expect_end()?;
    Ok(options)
}

/// What a statement runs with.
struct Run {
    context: Rc<Context>,
    outer: Rc<Outer>,
    options: Options,
}

fn run(statement: &ProcStatement, options: Options, world: &mut World) -> Outcome<()> {
    let mut parser = Parser::new(&statement.tokens, &statement.span);
    let parsed = parser.statement()?;
    let parts = parser.parts;
    let memory = memory(&parsed, &parts, world);
    let run = Run {
        context: Rc::new(Context::new(parts, memory, options.rows_in)),
        outer: Rc::new(Outer::None),
        options,
    };
    let done = run.statement(&parsed, world);
    for function in std::mem::take(&mut *run.context.invalid.borrow_mut()) {
        world.note(&format!(
            "Invalid argument to function {function}. Missing values may be generated."
        ));
    }
    done
}

impl Run {
    fn statement(&self, statement: &Statement, world: &mut World) -> Outcome<()> {
        match statement {
            Statement::Select(query) => self.select(query, world),
            Statement::CreateAs(table, query) => self.create_as(table, query, world),
            Statement::CreateLike(table, like) => Self::create_like(table, like, world),
            Statement::CreateWith(table, columns) => Self::create_with(table, columns, world),
            Statement::CreateIndex {
                span,
                table,
                definition,
            } => index::create(span, table, definition, world),
            Statement::DropIndex { span, table, names } => {
                index::drop_indexes(span, table, names, world)
            }
            Statement::InsertValues {
                into,
                columns,
                rows,
            } => self.insert_values(into, columns, rows, world),
            Statement::InsertQuery {
                into,
                columns,
                query,
            } => self.insert_query(into, columns, query, world),
            Statement::Update {
                table,
                alias,
                sets,
                condition,
            } => {
                let change = change::Change {
                    table,
                    alias: alias.as_deref(),
                    condition: condition.as_ref(),
                    sets: Some(sets),
                };
                self.change(&change, world)
            }
            Statement::Delete {
                from,
                alias,
                condition,
            } => {
                let change = change::Change {
                    table: from,
                    alias: alias.as_deref(),
                    condition: condition.as_ref(),
                    sets: None,
                };
                self.change(&change, world)
            }
            Statement::Drop(tables) => create::drop_tables(tables, world),
        }
    }

    fn relation(&self, query: &Query, world: &mut World) -> Outcome<Relation> {
        plan::query(&self.context, query, &self.outer, world)
    }

    /// A SELECT statement: into macro variables, or onto paper.
    fn select(&self, query: &Query, world: &mut World) -> Outcome<()> {
        let relation = self.relation(query, world)?;
        let rows = self.list(relation, &query.into, world)?;
        if rows == 0 {
            world.note("No rows were selected.");
        }
        set_rows(world, rows);
        Ok(())
    }

    /// True if OUTOBS= allows no further row.
    fn is_enough(&self, rows: u64, world: &mut World) -> bool {
        match self.options.rows_out {
            Some(limit) if rows >= limit => {
                world.log.warning(&format!(
                    "Statement terminated early due to OUTOBS={limit} option."
                ));
                true
            }
            _ => false,
        }
    }
}

/// SQLOBS.
fn set_rows(world: &mut World, rows: u64) {
    world
        .macros
        .set_automatic("SQLOBS", &rows.to_string(), false);
}

/// Memory of one join, sort or grouping: an equal share for each that the statement has.
fn memory(statement: &Statement, parts: &[Part], world: &World) -> u64 {
    let summarizes = parts.iter().any(|part| matches!(part, Part::Summary(_)));
    // A grouped query has its groups and, if they are merged back, its rows.
    let each = if summarizes { 2 } else { 0 };
    let mut shares = 0;
    for part in parts {
        shares += match part {
            Part::Scalar(query) | Part::Exists(query) => shares_of_query(query, each),
            Part::Among(query) => 1 + shares_of_query(query, each),
            Part::Summary(summary) => u64::from(summary.distinct),
            Part::Column { .. } | Part::Calculated(_) | Part::Case(_) => 0,
        };
    }
    shares += match statement {
        Statement::Select(query)
        | Statement::CreateAs(_, query)
        | Statement::InsertQuery { query, .. } => shares_of_query(query, each),
        _ => 0,
    };
    // What sorts may take at most is what MEMSIZE leaves beside the program and its buffers.
    let beside = 64 << 20;
    let available = world.options.memsize.saturating_sub(beside).max(1 << 20);
    available / shares.max(1)
}

fn shares_of_query(query: &Query, each: u64) -> u64 {
    u64::from(!query.order.is_empty()) + shares_of_body(&query.body, each)
}

fn shares_of_body(body: &Body, each: u64) -> u64 {
    match body {
        Body::Set { left, right, .. } => {
            1 + shares_of_body(left, each) + shares_of_body(right, each)
        }
        Body::Select(select) => {
            let from = select
                .from
                .as_ref()
                .map_or(0, |from| shares_of_from(from, each));
            // GROUP BY without a summary function is an order.
            let groups = u64::from(!select.groups.is_empty()).max(each);
            groups + u64::from(select.distinct) + from
        }
    }
}

fn shares_of_from(from: &From, each: u64) -> u64 {
    match from {
        From::Table { .. } => 0,
        From::View { query, .. } => shares_of_query(query, each),
        From::Join { left, right, .. } => {
            1 + shares_of_from(left, each) + shares_of_from(right, each)
        }
    }
}
