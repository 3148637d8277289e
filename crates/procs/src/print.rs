//! PROC PRINT: VAR, FORMAT, LABEL, NOOBS, N, OBS= and WHERE= through data set options.

use base::diag::Span;
use engine::dataset::input::{Field, Input};
use engine::dataset::options::{select, select_all};
use engine::failure::{Failure, Outcome};
use engine::format;
use engine::format::user::Formats;
use engine::procedure::Procedure;
use engine::session::World;
use lang::ast::{DatasetRef, Expr, ProcStep, VariableList};
use lang::cursor::Cursor;
use sas7bdat::{Encoding, Kind};

use crate::shown;
use crate::target::{Attributes, dataset_value, input_or_last, replace_where, unknown};

/// PROC PRINT.
pub(crate) struct Print;

#[derive(Default)]
struct Statements {
    data: Option<DatasetRef>,
    variables: Option<Vec<VariableList>>,
    condition: Option<Expr>,
    attributes: Attributes,
    no_obs: bool,
    labels: bool,
    count: bool,
}

/// Rows held to find column widths. SAS too fits columns to the rows of one page.
const PAGE_ROWS: usize = 500;

impl Procedure for Print {
    fn name(&self) -> &'static str {
        "PRINT"
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let statements = parse(step, world)?;
        let data = input_or_last(statements.data.clone(), world, &step.span)?;
        let mut input = Input::open(world, &data)?;
        if let Some(condition) = &statements.condition {
            input.filter(condition)?;
        }
        let mut fields = chosen(&input, statements.variables.as_deref())?;
        statements.attributes.apply(&input, &mut fields, world)?;
        note_formats(world, &fields);
        let encoding = input.metadata().encoding;
        let formats = world.formats.clone();
        world.listing.begin();
        let mut number = 0u64;
        let mut page = Vec::new();
        while let Some(row) = input.next_row()? {
            number += 1;
            let mut cells = Vec::with_capacity(fields.len() + 1);
            if !statements.no_obs {
                cells.push(number.to_string());
            }
            cells.extend(
                fields
                    .iter()
                    .map(|field| cell(field, row, encoding, &formats)),
            );
            page.push(cells);
            if page.len() == PAGE_ROWS {
                print_page(world, &fields, &statements, &page);
                page.clear();
            }
        }
        if !page.is_empty() {
            print_page(world, &fields, &statements, &page);
        }
        if statements.count {
            world.listing.line("");
            world.listing.line(&format!("N = {number}"));
        }
        world.listing.end();
        if number == 0 {
            world.note(&format!(
                "No observations in data set {}.",
                input.member().full_name()
            ));
        }
        input.finish(world)?;
        Ok(())
    }
}

fn parse(step: &ProcStep, world: &mut World) -> Outcome<Statements> {
    let mut parsed = Statements::default();
    let mut cursor = Cursor::new(&step.options, &step.span);
    while let Some(word) = cursor.peek_word() {
        match word.to_ascii_uppercase().as_str() {
            "DATA" => {
                cursor.expect_word("DATA")?;
                parsed.data = Some(dataset_value(&mut cursor)?);
                continue;
            }
            "NOOBS" => parsed.no_obs = true,
            "LABEL" => parsed.labels = true,
            "N" => parsed.count = true,
            _ => return Err(unknown(&cursor, "PRINT", "option")),
        }
        cursor.next();
    }
    cursor.expect_end()?;
    for statement in &step.statements {
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        if cursor.eat_word("VAR") {
            parsed.variables = Some(cursor.variable_list()?);
        } else if cursor.eat_word("WHERE") {
            replace_where(&mut parsed.condition, cursor.where_expression()?, world);
        } else if !parsed.attributes.eat(&mut cursor)? {
            return Err(unknown(&cursor, "PRINT", "statement"));
        }
        cursor.expect_end()?;
    }
    Ok(parsed)
}

fn chosen(input: &Input, lists: Option<&[VariableList]>) -> Outcome<Vec<Field>> {
    let fields = input.fields();
    let Some(lists) = lists else {
        return Ok(fields.to_vec());
    };
    let name = input.member().full_name();
    let absent = |variable: &str, span: &Span| {
        Failure::at(
            span,
            format!("Variable {variable} not found on file {name}."),
        )
    };
    // A variable may be printed twice if it is named twice.
    if let [only] = lists {
        return Ok(select(fields, only, absent)?
            .into_iter()
            .map(|i| fields[i].clone())
            .collect());
    }
    Ok(select_all(fields, lists, absent)?
        .into_iter()
        .map(|i| fields[i].clone())
        .collect())
}

/// Says which formats are not there; their values are printed with BEST12. or as they are.
fn note_formats(world: &mut World, fields: &[Field]) {
    for field in fields {
        let format = &field.variable.format;
        if field.variable.kind == Kind::Numeric
            && format::number_with(0.0, format, &world.formats).is_none()
        {
            world.log.warning(&format!(
                "The format {} of variable {} is not implemented yet; BEST12. is used.",
                format.name, field.variable.name
            ));
        }
    }
}

fn cell(field: &Field, row: &[u8], encoding: Encoding, formats: &Formats) -> String {
    let format = &field.variable.format;
    match field.variable.kind {
        Kind::Numeric => shown::number(field.slot.number(row), format, formats),
        Kind::Character => shown::text(field.slot.bytes(row), format, formats, encoding)
            .replace(|c: char| c.is_control(), "."),
    }
}

/// One page: columns as wide as their widest cell, side by side as far as the line goes, the rest
/// below.
fn print_page(world: &mut World, fields: &[Field], statements: &Statements, page: &[Vec<String>]) {
    let mut headings: Vec<(String, bool)> = Vec::new();
    if !statements.no_obs {
        headings.push(("Obs".to_owned(), true));
    }
    headings.extend(fields.iter().map(|field| {
        let variable = &field.variable;
        let labelled = statements.labels && !variable.label.is_empty();
        let text = if labelled {
            &variable.label
        } else {
            &variable.name
        };
        (text.clone(), variable.kind == Kind::Numeric)
    }));
    let widths: Vec<usize> = headings
        .iter()
        .enumerate()
        .map(|(column, (heading, _))| {
            let cells = page.iter().map(|cells| cells[column].chars().count());
            cells.max().unwrap_or(0).max(heading.chars().count())
        })
        .collect();
    let first = usize::from(!statements.no_obs);
    let mut start = first;
    while start < headings.len() {
        let mut used: usize = widths[..first].iter().map(|width| width + 2).sum();
        let mut end = start;
        while end < headings.len()
            && (end == start || used + widths[end] + 2 <= world.listing.line_size())
        {
            used += widths[end] + 2;
            end += 1;
        }
        let columns: Vec<usize> = (0..first).chain(start..end).collect();
        let line = |text: &dyn Fn(usize) -> String| {
            let cells = columns.iter().map(|column| {
                let (width, text) = (widths[*column], text(*column));
                if headings[*column].1 {
                    format!("{text:>width$}")
                } else {
                    format!("{text:<width$}")
                }
            });
            cells.collect::<Vec<_>>().join("  ")
        };
        world.listing.line("");
        let heading = line(&|column| headings[column].0.clone());
        world.listing.line(&heading);
        world.listing.line("");
        for cells in page {
            let text = line(&|column| cells[column].clone());
            world.listing.line(&text);
        }
        start = end;
    }
}
