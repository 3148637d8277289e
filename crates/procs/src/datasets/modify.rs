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
use lang::ast::{DatasetOptionValue, DatasetRef, FormatRef, ProcStatement, VariableList};
use lang::cursor::Cursor;
use sas7bdat::{Format, IndexInfo, Metadata, Variable};

use crate::target::format_for;

/// MODIFY with the statements that belong to it.
pub(super) struct Request {
    dataset: DatasetRef,
    /// LABEL= of the data set.
    label: Option<String>,
    described: Vec<(Description, Span)>,
    indexes: Vec<(IndexChange, Span)>,
}

/// What changes in the description of a data set.
enum Description {
    Rename(Vec<(String, String)>),
    Label(Vec<(String, String)>),
    Format(Vec<(VariableList, Option<FormatRef>)>),
    Informat(Vec<(VariableList, Option<FormatRef>)>),
}

/// INDEX DELETE and INDEX CREATE.
enum IndexChange {
    Delete(Vec<(String, Span)>),
    Create(Vec<Definition>),
}

impl Request {
    /// From behind MODIFY; takes those of `rest` that belong to it.
    pub(super) fn read(
        libref: &str,
        cursor: &mut Cursor<'_>,
        rest: &mut &[ProcStatement],
    ) -> Outcome<Self> {
        let mut dataset = cursor.dataset_ref()?;
        cursor.expect_end()?;
        dataset.libref.get_or_insert_with(|| libref.to_owned());
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
        let mut request = Self {
            dataset,
            label,
            described: Vec::new(),
            indexes: Vec::new(),
        };
        while let Some((statement, others)) = rest.split_first() {
            let cursor = Cursor::new(&statement.tokens, &statement.span);
            if !request.take(cursor)? {
                break;
            }
            *rest = others;
        }
        Ok(request)
    }

    /// A statement that may belong to MODIFY; false if it does not.
    fn take(&mut self, mut cursor: Cursor<'_>) -> Outcome<bool> {
        let span = cursor.span();
        let description = if cursor.eat_word("RENAME") {
            Description::Rename(cursor.renames()?)
        } else if cursor.eat_word("LABEL") {
            Description::Label(cursor.labels()?)
        } else if cursor.eat_word("FORMAT") {
            Description::Format(cursor.formats()?)
        } else if cursor.eat_word("INFORMAT") {
            Description::Informat(cursor.formats()?)
        } else if cursor.eat_word("INDEX") {
            self.indexes.push((index(&mut cursor)?, span));
            return Ok(true);
        } else {
            return Ok(false);
        };
        cursor.expect_end()?;
        self.described.push((description, span));
        Ok(true)
    }

    /// Changes the data set.
    pub(super) fn run(self, world: &mut World) -> Outcome<()> {
        let member = world.found(&self.dataset)?;
        let (label, described) = (self.label, self.described);
        if label.is_some() || !described.is_empty() {
            change(world, &member, |world, metadata| {
                if let Some(label) = label {
                    metadata.label = label;
                }
                for (description, span) in described {
                    description.run(world, metadata, &member.full_name(), &span)?;
                }
                Ok(())
            })?;
        }
        let mut changes = self.indexes.into_iter().peekable();
        while let Some(first) = changes.next() {
            let mut together = vec![first];
            while let Some(next) = changes.next_if(|(next, _)| next.goes_with(&together[0].0)) {
                together.push(next);
            }
            change_indexes(world, &member, together)?;
        }
        Ok(())
    }
}

impl Description {
    fn run(
        self,
        world: &mut World,
        metadata: &mut Metadata,
        name: &str,
        span: &Span,
    ) -> Outcome<()> {
        match self {
            Self::Rename(names) => {
                for (old, new) in names {
                    rename(world, metadata, name, &old, &new, span)?;
                }
            }
            Self::Label(labels) => {
                for (variable, label) in labels {
                    find(metadata, name, &variable, span)?.label = label;
                }
            }
            Self::Format(formats) => {
                for (list, reference) in formats {
                    each(world, metadata, name, &list, reference.as_ref(), |one| {
                        &mut one.format
                    })?;
                }
            }
            Self::Informat(formats) => {
                for (list, reference) in formats {
                    each(world, metadata, name, &list, reference.as_ref(), |one| {
                        &mut one.informat
                    })?;
                }
            }
        }
        Ok(())
    }
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

/// From behind INDEX.
fn index(cursor: &mut Cursor<'_>) -> Outcome<IndexChange> {
    let span = cursor.span();
    if cursor.eat_word("DELETE") {
        let mut names = Vec::new();
        while !cursor.is_at_end() {
            names.push(cursor.expect_name("the name of an index")?);
        }
        return Ok(IndexChange::Delete(names));
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
    Ok(IndexChange::Create(definitions))
}

/// Carries out INDEX statements with one new index file. If one of them is wrong, those before it are
/// carried out.
fn change_indexes(
    world: &mut World,
    member: &Member,
    changes: Vec<(IndexChange, Span)>,
) -> Outcome<()> {
    let input = Input::open_member(world, member.clone())?;
    let metadata = input.metadata().clone();
    input.close(world)?;
    // The look at the data set is not a use of it.
    world.inputs.pop();
    let (mut indexes, mut made, mut failed) = (metadata.indexes.clone(), Vec::new(), None);
    for (change, span) in changes {
        let mut changed = indexes.clone();
        match change.apply(world, member, &metadata, &mut changed, &span) {
            Ok(new) => {
                indexes = changed;
                made.extend(new);
            }
            Err(failure) => {
                failed = Some(failure);
                break;
            }
        }
    }
    if failed.is_none() || indexes != metadata.indexes {
        build::change(world, member, &indexes)?;
        build::note(world, &made);
    }
    failed.map_or(Ok(()), Err)
}

impl IndexChange {
    /// Whether one index file serves both. A unique index may turn out to be impossible, and takes no
    /// other with it.
    fn goes_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Delete(_), Self::Delete(_)) => true,
            (Self::Create(one), Self::Create(two)) => {
                !one.iter().chain(two).any(|index| index.unique)
            }
            _ => false,
        }
    }

    /// Changes `indexes` of `member`; gives those that are new.
    fn apply(
        self,
        world: &mut World,
        member: &Member,
        metadata: &Metadata,
        indexes: &mut Vec<IndexInfo>,
        span: &Span,
    ) -> Outcome<Vec<IndexInfo>> {
        let name = member.full_name();
        let definitions = match self {
            Self::Delete(names) => {
                delete(world, &name, indexes, names)?;
                return Ok(Vec::new());
            }
            Self::Create(definitions) => definitions,
        };
        let mut made = Vec::new();
        for one in definitions {
            let info = one
                .resolve(&metadata.variables, &name)
                .map_err(|message| Failure::at(span, message))?;
            if indexes
                .iter()
                .any(|known| known.name.eq_ignore_ascii_case(&info.name))
            {
                let message = format!(
                    "An index named {} with the same definition already exists for file {name}",
                    info.name
                );
                return Err(Failure::at(span, message));
            }
            indexes.push(info.clone());
            made.push(info);
        }
        Ok(made)
    }
}

/// Takes the named ones out of `indexes`.
fn delete(
    world: &mut World,
    dataset: &str,
    indexes: &mut Vec<IndexInfo>,
    names: Vec<(String, Span)>,
) -> Outcome<()> {
    for (wanted, span) in names {
        let is_it = |one: &IndexInfo| one.name.eq_ignore_ascii_case(&wanted);
        if wanted.eq_ignore_ascii_case("_ALL_") {
            indexes.clear();
            world.note("All indexes defined on the file have been deleted.");
        } else if let Some(place) = indexes.iter().position(is_it) {
            let gone = indexes.remove(place);
            world.note(&format!("Index {} deleted.", gone.name));
        } else {
            let message = format!("Index {wanted} does not exist on file {dataset}");
            return Err(Failure::at(&span, message));
        }
    }
    Ok(())
}
