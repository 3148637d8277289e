//! CREATE INDEX and DROP INDEX, and the indexes of tables that are written anew.

use base::diag::Span;
use engine::dataset::input::Input;
use engine::failure::{Failure, Outcome};
use engine::index::build;
use engine::index::definition::Definition;
use engine::library::Member;
use engine::session::World;
use lang::ast::DatasetRef;
use sas7bdat::{IndexInfo, Variable};

/// The indexes and variables of a table.
fn looked(member: &Member, world: &mut World) -> Outcome<(Vec<IndexInfo>, Vec<Variable>)> {
    let input = Input::open_member(world, member.clone())?;
    let metadata = input.metadata();
    let found = (metadata.indexes.clone(), metadata.variables.clone());
    input.close(world)?;
    // The look at the data set is not a use of it.
    world.inputs.pop();
    Ok(found)
}

/// `CREATE [UNIQUE] INDEX name ON table (columns)`
pub(super) fn create(
    span: &Span,
    table: &DatasetRef,
    definition: &Definition,
    world: &mut World,
) -> Outcome<()> {
    let member = world.found(table)?;
    let name = member.full_name();
    let (mut indexes, variables) = looked(&member, world)?;
    if let ([only], false) = (
        definition.variables.as_slice(),
        definition
            .variables
            .iter()
            .any(|one| one.eq_ignore_ascii_case(&definition.name)),
    ) {
        let message = format!(
            "The index name for a single column must be the column name {only}, not {}",
            definition.name
        );
        return Err(Failure::at(span, message));
    }
    let info = definition
        .resolve(&variables, &name)
        .map_err(|message| Failure::at(span, message))?;
    let same = |known: &IndexInfo| known.name.eq_ignore_ascii_case(&info.name);
    if indexes.iter().any(same) {
        let message = format!(
            "An index named {} with the same definition already exists for file {name}",
            info.name
        );
        return Err(Failure::at(span, message));
    }
    indexes.push(info.clone());
    build::change(world, &member, &indexes)?;
    build::note(world, &[info]);
    Ok(())
}

/// `DROP INDEX names FROM table`
pub(super) fn drop_indexes(
    span: &Span,
    table: &DatasetRef,
    names: &[String],
    world: &mut World,
) -> Outcome<()> {
    let member = world.found(table)?;
    let (mut indexes, _) = looked(&member, world)?;
    for name in names {
        let same = |one: &IndexInfo| one.name.eq_ignore_ascii_case(name);
        let Some(place) = indexes.iter().position(same) else {
            let message = format!("Index {name} does not exist on file {}", member.full_name());
            return Err(Failure::at(span, message));
        };
        indexes.remove(place);
    }
    build::change(world, &member, &indexes)?;
    for name in names {
        world.note(&format!("Index {name} has been dropped."));
    }
    Ok(())
}

/// Refuses to change keys of unique indexes: a row that breaks one would have to be undone.
pub(super) fn refuse_unique(indexes: &[IndexInfo], member: &Member) -> Outcome<()> {
    match indexes.iter().find(|one| one.unique) {
        None => Ok(()),
        Some(unique) => Err(Failure::world(format!(
            "Changing rows of {}.DATA, whose index {} is unique, is not implemented yet: drop the index \
             first.",
            member.full_name(),
            unique.name
        ))),
    }
}

/// Makes the indexes of a table that was written anew.
pub(super) fn restore(indexes: &[IndexInfo], member: &Member, world: &mut World) -> Outcome<()> {
    if indexes.is_empty() {
        return Ok(());
    }
    build::rebuild(world, member, indexes)
}
