//! PROC DATASETS: DELETE of members of a library, and KILL of all of them.

use base::diag::Span;
use base::store::Channel;
use engine::failure::{Failure, Outcome};
use engine::library::{Library, Member};
use engine::procedure::Procedure;
use engine::session::World;
use lang::ast::ProcStep;
use lang::cursor::Cursor;

use crate::target::unknown;

/// PROC DATASETS.
pub(crate) struct Datasets;

impl Procedure for Datasets {
    fn name(&self) -> &'static str {
        "DATASETS"
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let (mut libref, mut kill, mut silent) = ("WORK".to_owned(), false, false);
        let mut cursor = Cursor::new(&step.options, &step.span);
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "LIB" | "LIBRARY" | "DD" => libref = cursor.setting()?.value.unwrap_or_default(),
                "NOLIST" | "NODETAILS" => {
                    cursor.next();
                }
                "KILL" => {
                    kill = true;
                    cursor.next();
                }
                "NOWARN" => {
                    silent = true;
                    cursor.next();
                }
                "MT" | "MEMTYPE" => {
                    let kind = cursor.setting()?.value.unwrap_or_default();
                    if !["DATA", "ALL"]
                        .iter()
                        .any(|known| known.eq_ignore_ascii_case(&kind))
                    {
                        let message = format!("MEMTYPE={kind}: only DATA is implemented.");
                        return Err(cursor.fail(message).into());
                    }
                }
                _ => return Err(unknown(&cursor, "DATASETS", "option")),
            }
        }
        cursor.expect_end()?;
        let Some(library) = world.libraries.get(&libref).cloned() else {
            let message = format!("Libref {} is not assigned.", libref.to_ascii_uppercase());
            return Err(Failure::at(&step.span, message));
        };
        if kill && step.group == 0 {
            for member in members(world, &library)? {
                delete_named(world, &library, &member, &step.span, silent)?;
            }
        }
        for statement in &step.statements {
            let mut cursor = Cursor::new(&statement.tokens, &statement.span);
            if !cursor.eat_word("DELETE") {
                return Err(unknown(&cursor, "DATASETS", "statement"));
            }
            while !cursor.is_at_end() {
                let (member, span) = cursor.expect_name("a data set name")?;
                delete_named(world, &library, &member, &span, silent)?;
            }
        }
        Ok(())
    }
}

fn failure(library: &Library, error: &base::store::StoreError) -> Failure {
    Failure::store(&format!("{}.*", library.libref), error)
}

/// Names of the data sets in a library.
fn members(world: &World, library: &Library) -> Outcome<Vec<String>> {
    let names = world
        .store
        .list(library.write_channel(), &library.directory)
        .map_err(|error| failure(library, &error))?;
    Ok(names
        .iter()
        .filter_map(|name| name.strip_suffix(".sas7bdat"))
        .map(str::to_owned)
        .collect())
}

fn delete_named(
    world: &mut World,
    library: &Library,
    member: &str,
    span: &Span,
    silent: bool,
) -> Outcome<()> {
    let member = world.libraries.member(&library.libref, member, span)?;
    if !delete(world, &member, span)? && !silent {
        world.note(&format!(
            "The file {} (memtype=DATA) was not found, but appears on a DELETE statement.",
            member.full_name()
        ));
    }
    Ok(())
}

/// Deletes a data set; false if there is none of the name.
pub(crate) fn delete(world: &mut World, member: &Member, span: &Span) -> Outcome<bool> {
    let (name, library) = (member.full_name(), &member.library);
    if library.read_only {
        return Err(Failure::at(
            span,
            format!("{name} cannot be deleted: the library was assigned with ACCESS=READONLY."),
        ));
    }
    let channel: Channel = library.write_channel();
    let path = member.path();
    let there = world
        .store
        .stat(channel, &path)
        .map_err(|error| failure(library, &error))?;
    if there.is_none() {
        return Ok(false);
    }
    if !library.work {
        member.refuse_indexes(world.store.as_ref())?;
    }
    world.note(&format!("Deleting {name} (memtype=DATA)."));
    world
        .store
        .remove(channel, &path)
        .map_err(|error| Failure::store(&name, &error))?;
    Ok(true)
}
