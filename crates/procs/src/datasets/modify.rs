//! MODIFY of PROC DATASETS, and the statements that belong to it: RENAME, LABEL, FORMAT, INFORMAT,
//! INDEX CREATE and INDEX DELETE.

use base::diag::Span;
use engine::dataset::change::change;
use engine::dataset::input::Input;
use engine::failure::{Failure, Outcome};
use engine::index::build;
use engine::index::definition::Definition;
use engine::library::Member;
use engine::session::World;
use lang::ast::{DatasetOptionValue, FormatRef, ProcStatement, VariableList};
use lang::cursor::Cursor;
use sas7bdat::{Format, IndexInfo, Metadata, Variable};

use crate::target::{format_for, unknown};

/// Words with which the statements under MODIFY begin.
const UNDER: [&str; 7] = [
    "RENAME", "LABEL", "FORMAT", "INFORMAT", "INDEX", "ATTRIB", "IC",
];

/// Carries MODIFY out with those of `rest` that belong to it; gives back the others.
pub(super) fn modify<'s>(
    world: &mut World,
    libref: &str,
    cursor: &mut Cursor<'_>,
    rest: &'s [ProcStatement],
) -> Outcome<&'s [ProcStatement]> {
    let mut dataset = cursor.dataset_ref()?;
    cursor.expect_end()?;
    dataset.libref.get_or_insert_with(|| libref.to_owned());
    let member = world.found(&dataset)?;
    let under = rest.iter().take_while(|statement| {
        let cursor = Cursor::new(&statement.tokens, &statement.span);
        UNDER.iter().any(|word| cursor.at_word(word))
    });
    let (under, rest) = rest.split_at(under.count());
    let mut label = None;
    for option in &dataset.options {
        match (&option.value, option.name.to_ascii_uppercase().as_str()) {
            (DatasetOptionValue::Text(text), "LABEL") => label = Some(text.clone()),
            (_, name) => {
                let message = format!("The option {name}= of MODIFY is not implemented yet");
                return Err(Failure::at(&option.span, message));
            }
        }
    }
    let described = under.iter().filter(|statement| !is_index(statement));
    let described: Vec<&ProcStatement> = described.collect();
    if label.is_some() || !described.is_empty() {
        change(world, &member, |world, metadata| {
            if let Some(label) = label {
                metadata.label = label;
            }
            for statement in described {
                let mut cursor = Cursor::new(&statement.tokens, &statement.span);
                describe(world, metadata, &member, &mut cursor)?;
            }
            Ok(())
        })?;
    }
    for statement in under.iter().filter(|statement| is_index(statement)) {
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        index(world, &member, &mut cursor)?;
    }
    Ok(rest)
}

fn is_index(statement: &ProcStatement) -> bool {
    Cursor::new(&statement.tokens, &statement.span).at_word("INDEX")
}

/// RENAME, LABEL, FORMAT or INFORMAT.
fn describe(
    world: &mut World,
    metadata: &mut Metadata,
    member: &Member,
    cursor: &mut Cursor<'_>,
) -> Outcome<()> {
    let (name, span) = (member.full_name(), cursor.span());
    if cursor.eat_word("RENAME") {
        for (old, new) in cursor.renames()? {
            rename(world, metadata, &name, &old, &new, &span)?;
        }
    } else if cursor.eat_word("LABEL") {
        for (variable, label) in cursor.labels()? {
            find(metadata, &name, &variable, &span)?.label = label;
        }
    } else if cursor.eat_word("FORMAT") {
        for (list, reference) in cursor.formats()? {
            each(world, metadata, &name, &list, reference.as_ref(), |one| {
                &mut one.format
            })?;
        }
    } else if cursor.eat_word("INFORMAT") {
        for (list, reference) in cursor.formats()? {
            each(world, metadata, &name, &list, reference.as_ref(), |one| {
                &mut one.informat
            })?;
        }
    } else {
        return Err(unknown(cursor, "DATASETS", "statement"));
    }
    Ok(cursor.expect_end()?)
}

fn rename(
    world: &mut World,
    metadata: &mut Metadata,
    dataset: &str,
    old: &str,
    new: &str,
    span: &Span,
) -> Outcome<()> {
    if metadata
        .column(new)
        .is_some_and(|_| !new.eq_ignore_ascii_case(old))
    {
        let message = format!("Variable {new} already exists on file {dataset}");
        return Err(Failure::at(span, message));
    }
    let variable = find(metadata, dataset, old, span)?;
    let before = std::mem::replace(&mut variable.name, new.to_owned());
    for index in &mut metadata.indexes {
        if index.columns.len() == 1 && index.name == before {
            new.clone_into(&mut index.name);
        }
    }
    world.note(&format!("Renaming variable {old} to {new}."));
    Ok(())
}

fn find<'m>(
    metadata: &'m mut Metadata,
    dataset: &str,
    name: &str,
    span: &Span,
) -> Outcome<&'m mut Variable> {
    match metadata.column(name) {
        Some(column) => Ok(&mut metadata.variables[column]),
        None => Err(Failure::at(
            span,
            format!("Variable {name} not found on file {dataset}"),
        )),
    }
}

/// Gives a format or informat to the variables of a list.
fn each(
    world: &World,
    metadata: &mut Metadata,
    dataset: &str,
    list: &VariableList,
    reference: Option<&FormatRef>,
    target: impl Fn(&mut Variable) -> &mut Format,
) -> Outcome<()> {
    let VariableList::Name(name, span) = list else {
        return Err(Failure::world(format!(
            "FORMAT of MODIFY for {dataset} takes variables one by one; lists are not implemented yet."
        )));
    };
    let variable = find(metadata, dataset, name, span)?;
    let format = match reference {
        Some(reference) => format_for(variable, reference, world)?,
        None => Format::default(),
    };
    *target(variable) = format;
    Ok(())
}

/// INDEX CREATE or INDEX DELETE.
fn index(world: &mut World, member: &Member, cursor: &mut Cursor<'_>) -> Outcome<()> {
    cursor.expect_word("INDEX")?;
    let span = cursor.span();
    let input = Input::open_member(world, member.clone())?;
    let (mut indexes, variables) = (
        input.metadata().indexes.clone(),
        input.metadata().variables.clone(),
    );
    input.close(world)?;
    // The look at the data set is not a use of it.
    world.inputs.pop();
    let name = member.full_name();
    if cursor.eat_word("DELETE") {
        while !cursor.is_at_end() {
            let (wanted, span) = cursor.expect_name("the name of an index")?;
            let is_it = |one: &IndexInfo| one.name.eq_ignore_ascii_case(&wanted);
            if wanted.eq_ignore_ascii_case("_ALL_") {
                indexes.clear();
                world.note("All indexes defined on the file have been deleted.");
            } else if let Some(place) = indexes.iter().position(is_it) {
                let gone = indexes.remove(place);
                world.note(&format!("Index {} deleted.", gone.name));
            } else {
                let message = format!("Index {wanted} does not exist on file {name}");
                return Err(Failure::at(&span, message));
            }
        }
        return build::rebuild(world, member, &indexes);
    }
    cursor.expect_word("CREATE")?;
    let text = cursor.rest_text();
    let mut definitions =
        Definition::parse_all(&text).map_err(|message| Failure::at(&span, message))?;
    // Options stand behind all indexes of the statement.
    let unique = definitions.last().is_some_and(|last| last.unique);
    for one in &mut definitions {
        one.unique = unique;
    }
    let mut made = Vec::new();
    for one in definitions {
        let info = one
            .resolve(&variables, &name)
            .map_err(|message| Failure::at(&span, message))?;
        if indexes
            .iter()
            .any(|known| known.name.eq_ignore_ascii_case(&info.name))
        {
            let message = format!(
                "An index named {} with the same definition already exists for file {name}",
                info.name
            );
            return Err(Failure::at(&span, message));
        }
        indexes.push(info.clone());
        made.push(info);
    }
    build::rebuild(world, member, &indexes)?;
    build::note(world, &made);
    Ok(())
}
