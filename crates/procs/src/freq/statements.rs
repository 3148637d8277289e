//! The statements of PROC FREQ.

use base::diag::Span;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{ByList, DatasetRef, Expr, ProcStep, VariableList};
use lang::cursor::Cursor;

use super::output::Output;
use crate::target::{Attributes, dataset_value, input_or_last, restrict, unknown};

/// A step as it was written.
pub(super) struct Statements {
    pub(super) data: DatasetRef,
    pub(super) printed: bool,
    pub(super) by: Option<ByList>,
    pub(super) weight: Option<(String, Span)>,
    pub(super) condition: Option<Expr>,
    pub(super) tables: Vec<Tables>,
    pub(super) output: Option<(Output, Span)>,
    pub(super) attributes: Attributes,
}

/// A TABLES statement.
pub(super) struct Tables {
    /// Each a product of lists: `a*(b c)`.
    pub(super) requests: Vec<Vec<Vec<VariableList>>>,
    pub(super) options: Options,
}

/// What stands behind the `/` of TABLES.
#[derive(Default, Clone)]
pub(super) struct Options {
    pub(super) out: Option<DatasetRef>,
    pub(super) no_print: bool,
    pub(super) missing: bool,
    pub(super) list: bool,
    pub(super) no_row: bool,
    pub(super) no_col: bool,
    pub(super) no_percent: bool,
    pub(super) no_cum: bool,
    pub(super) out_percents: bool,
    pub(super) chi_square: bool,
}

impl Options {
    /// Without percentages and statistics.
    pub(super) fn counts_only(&self) -> Self {
        Self {
            no_row: true,
            no_col: true,
            no_percent: true,
            chi_square: false,
            ..self.clone()
        }
    }
}

/// Reads the step.
pub(super) fn parse(step: &ProcStep, world: &mut World) -> Outcome<Statements> {
    let (mut data, mut printed) = (None, true);
    let mut cursor = Cursor::new(&step.options, &step.span);
    while let Some(word) = cursor.peek_word() {
        match word.to_ascii_uppercase().as_str() {
            "DATA" => {
                cursor.next();
                data = Some(dataset_value(&mut cursor)?);
            }
            "NOPRINT" => {
                cursor.next();
                printed = false;
            }
            "ORDER" if cursor.is_symbol_at(1, "=") && cursor.is_word_at(2, "INTERNAL") => {
                cursor.setting()?;
            }
            _ => return Err(unknown(&cursor, "FREQ", "option")),
        }
    }
    cursor.expect_end()?;
    let mut parsed = Statements {
        data: input_or_last(data, world, &step.span)?,
        printed,
        by: None,
        weight: None,
        condition: None,
        tables: Vec::new(),
        output: None,
        attributes: Attributes::default(),
    };
    for statement in &step.statements {
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        if cursor.eat_word("TABLES") || cursor.eat_word("TABLE") {
            parsed.tables.push(tables(&mut cursor)?);
        } else if cursor.eat_word("OUTPUT") {
            parsed.output = Some((Output::read(&mut cursor)?, statement.span.clone()));
        } else if cursor.eat_word("BY") {
            parsed.by = Some(cursor.by_list()?);
        } else if cursor.eat_word("WEIGHT") {
            parsed.weight = Some(cursor.expect_name("a variable")?);
        } else if cursor.eat_word("WHERE") {
            restrict(&mut parsed.condition, cursor.restriction()?, world)?;
        } else if !parsed.attributes.eat(&mut cursor)? {
            return Err(unknown(&cursor, "FREQ", "statement"));
        }
        cursor.expect_end()?;
    }
    if parsed.tables.is_empty() {
        // Without TABLES every variable has a table of its own.
        let all = vec![vec![VariableList::All(None, step.span.clone())]];
        parsed.tables.push(Tables {
            requests: vec![all],
            options: Options::default(),
        });
    }
    Ok(parsed)
}

fn tables(cursor: &mut Cursor<'_>) -> Outcome<Tables> {
    let mut requests = Vec::new();
    while !cursor.is_at_end() && !cursor.at_symbol("/") {
        let mut product = vec![factor(cursor)?];
        while cursor.eat_symbol("*") {
            product.push(factor(cursor)?);
        }
        requests.push(product);
    }
    let mut options = Options::default();
    let start = cursor.span();
    if cursor.eat_symbol("/") {
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "OUT" => {
                    cursor.next();
                    options.out = Some(dataset_value(cursor)?);
                    continue;
                }
                "NOPRINT" => options.no_print = true,
                "MISSING" => options.missing = true,
                "LIST" => options.list = true,
                "NOROW" => options.no_row = true,
                "NOCOL" => options.no_col = true,
                "NOPERCENT" => options.no_percent = true,
                "NOCUM" => options.no_cum = true,
                "OUTPCT" => options.out_percents = true,
                "CHISQ" => options.chi_square = true,
                _ => return Err(unknown(cursor, "FREQ", "option of TABLES")),
            }
            cursor.next();
        }
    }
    if options.list && options.chi_square {
        let message = "Lists show no statistics: leave out LIST or CHISQ";
        return Err(Failure::at(&start, message));
    }
    Ok(Tables { requests, options })
}

/// One variable (or list of them), or several in parentheses.
fn factor(cursor: &mut Cursor<'_>) -> Outcome<Vec<VariableList>> {
    if cursor.eat_symbol("(") {
        let lists = cursor.variable_list()?;
        cursor.expect_symbol(")")?;
        return Ok(lists);
    }
    let (name, span) = cursor.expect_name("a variable")?;
    if cursor.at_symbol("-") || cursor.at_symbol(":") {
        let message = "Put a list of variables into parentheses, as in (x1-x3)";
        return Err(Failure::at(&span, message));
    }
    Ok(vec![match name.to_ascii_uppercase().as_str() {
        "_ALL_" => VariableList::All(None, span),
        "_NUMERIC_" => VariableList::All(Some(lang::ast::VariableKind::Numeric), span),
        "_CHARACTER_" => VariableList::All(Some(lang::ast::VariableKind::Character), span),
        _ => VariableList::Name(name, span),
    }])
}
