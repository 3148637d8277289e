//! What procedures share when they read their statements: DATA= and its default.

use base::diag::Span;
use engine::dataset::input::{Field, Input};
use engine::dataset::options::{select, select_all};
use engine::failure::{Failure, Outcome};
use engine::format;
use engine::library::Library;
use engine::session::World;
use lang::ast::{DatasetRef, Expr, FormatRef, ProcStep, Restriction, VariableList};
use lang::cursor::Cursor;
use sas7bdat::{Format, Kind, Variable};

/// The data set of DATA=, or the one made last.
pub(crate) fn input_or_last(
    data: Option<DatasetRef>,
    world: &World,
    span: &Span,
) -> Outcome<DatasetRef> {
    if let Some(data) = data {
        return Ok(data);
    }
    let Some((libref, member)) = &world.last_dataset else {
        let message = "There is no default input data set: name one with DATA=.";
        return Err(Failure::at(span, message));
    };
    Ok(DatasetRef {
        span: span.clone(),
        libref: Some(libref.clone()),
        member: member.clone(),
        options: Vec::new(),
    })
}

/// `= dataset` after an option's name.
pub(crate) fn dataset_value(cursor: &mut Cursor<'_>) -> Outcome<DatasetRef> {
    cursor.expect_symbol("=")?;
    Ok(cursor.dataset_ref()?)
}

/// `= dataset` after an option's name; without a libref it is one of `library`.
pub(crate) fn dataset_in(cursor: &mut Cursor<'_>, library: Option<&str>) -> Outcome<DatasetRef> {
    let mut dataset = dataset_value(cursor)?;
    if dataset.libref.is_none() {
        dataset.libref = library.map(str::to_owned);
    }
    Ok(dataset)
}

/// The library of a libref at a place in the program.
pub(crate) fn library(world: &World, libref: &str, span: &Span) -> Outcome<Library> {
    world.libraries.get(libref).cloned().ok_or_else(|| {
        let message = format!("Libref {} is not assigned.", libref.to_ascii_uppercase());
        Failure::at(span, message)
    })
}

/// The variables of `input` that `lists` name, each once.
pub(crate) fn named_fields(input: &Input, lists: &[VariableList]) -> Outcome<Vec<Field>> {
    let file = input.member().full_name();
    let found = select_all(input.fields(), lists, |name, span| {
        Failure::at(span, format!("Variable {name} not found on file {file}."))
    })?;
    Ok(found
        .into_iter()
        .map(|index| input.fields()[index].clone())
        .collect())
}

/// The variables that `lists` name, which must be numbers.
pub(crate) fn numeric(input: &Input, lists: &[VariableList]) -> Outcome<Vec<Field>> {
    let fields = named_fields(input, lists)?;
    match fields
        .iter()
        .find(|field| field.variable.kind == Kind::Character)
    {
        Some(text) => Err(Failure::world(format!(
            "Variable {} in list does not match type prescribed for this list.",
            text.variable.name
        ))),
        None => Ok(fields),
    }
}

/// A WHERE statement replaces an earlier one, or adds to it.
pub(crate) fn restrict(
    known: &mut Option<Expr>,
    restriction: Restriction,
    world: &mut World,
) -> Outcome<()> {
    if let Some(note) = restriction.join(known)? {
        world.note(note);
    }
    Ok(())
}

/// What FORMAT and LABEL statements of a procedure give to variables while it runs.
#[derive(Default)]
pub(crate) struct Attributes {
    formats: Vec<(VariableList, Option<FormatRef>)>,
    labels: Vec<(String, String)>,
}

impl Attributes {
    /// Reads a FORMAT or LABEL statement; false if it is another one.
    pub(crate) fn eat(&mut self, cursor: &mut Cursor<'_>) -> Outcome<bool> {
        if cursor.eat_word("FORMAT") {
            self.formats.extend(cursor.formats()?);
        } else if cursor.eat_word("LABEL") {
            self.labels.extend(cursor.labels()?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Gives them to `fields`, which come from `input`.
    pub(crate) fn apply(&self, input: &Input, fields: &mut [Field], world: &World) -> Outcome<()> {
        let dataset = input.member().full_name();
        for (list, reference) in &self.formats {
            let found = select(input.fields(), list, |name, span: &Span| {
                let message = format!("Variable {name} not found on file {dataset}.");
                Failure::at(span, message)
            })?;
            for index in found {
                let variable = &input.fields()[index].variable;
                let format = match reference {
                    Some(reference) => format_for(variable, reference, world)?,
                    None => Format::default(),
                };
                for field in fields.iter_mut() {
                    if field.variable.name == variable.name {
                        field.variable.format = format.clone();
                    }
                }
            }
        }
        for (name, label) in &self.labels {
            for field in fields.iter_mut() {
                if field.variable.name.eq_ignore_ascii_case(name) {
                    field.variable.label.clone_from(label);
                }
            }
        }
        Ok(())
    }
}

/// A format as written, for `variable`; one for numbers and one for texts may share a name.
pub(crate) fn format_for(
    variable: &Variable,
    reference: &FormatRef,
    world: &World,
) -> Outcome<Format> {
    let mut format = Format {
        name: reference.name.to_ascii_uppercase(),
        width: reference.width,
        decimals: reference.decimals,
    };
    let known = match variable.kind {
        Kind::Numeric => format::number_with(0.0, &format, &world.formats).is_some(),
        Kind::Character => {
            if !format.name.starts_with('$') {
                format.name.insert(0, '$');
            }
            format::is_text_format(&format.name, &world.formats)
        }
    };
    if known {
        return Ok(format);
    }
    let message = format!(
        "The format {} of variable {} was not found or could not be loaded, or is not implemented \
         yet.",
        format.name, variable.name
    );
    Err(Failure::at(&reference.span, message))
}

/// `MEMTYPE=`: data sets are the only members there are.
pub(crate) fn member_type(cursor: &mut Cursor<'_>) -> Outcome<()> {
    let kind = cursor.setting()?.value.unwrap_or_default();
    if ["DATA", "ALL"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(&kind))
    {
        return Ok(());
    }
    let message = format!("MEMTYPE={kind}: only DATA is implemented.");
    Err(cursor.fail(message).into())
}

/// Refuses the first statement of a procedure that has none.
pub(crate) fn no_statements(step: &ProcStep, procedure: &str) -> Outcome<()> {
    match step.statements.first() {
        Some(statement) => {
            let cursor = Cursor::new(&statement.tokens, &statement.span);
            Err(unknown(&cursor, procedure, "statement"))
        }
        None => Ok(()),
    }
}

/// The error for an option or statement that a procedure does not have (yet).
pub(crate) fn unknown(cursor: &Cursor<'_>, procedure: &str, what: &str) -> Failure {
    let word = cursor.peek_word().unwrap_or("this").to_ascii_uppercase();
    cursor
        .fail(format!(
            "PROC {procedure}: the {what} {word} is not valid or not implemented yet."
        ))
        .into()
}
