//! PROC DATASETS: what is done to the members of a library, statement by statement.

mod modify;
mod names;

use base::diag::Span;
use base::store::Channel;
use engine::dataset::files::moving;
use engine::failure::{Failure, Outcome};
use engine::index::build as index;
use engine::library::{Library, Member};
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{ProcStatement, ProcStep};
use lang::cursor::Cursor;
pub(crate) use names::Names;

use crate::target::{member_type, unknown};
use crate::{append, contents, copy};

/// PROC DATASETS.
pub(crate) struct Datasets;

/// Options of the PROC statement.
struct Options {
    library: Library,
    kill: bool,
    list: bool,
    silent: bool,
}

impl Procedure for Datasets {
    fn name(&self) -> &'static str {
        "DATASETS"
    }

    fn support(&self) -> Support {
        Support {
            yes: "LIB=, NOLIST, NOWARN, KILL; DELETE and SAVE with lists (`a1-a9`, `b:`, _ALL_), \
                  CHANGE, COPY with SELECT and EXCLUDE, APPEND, CONTENTS; MODIFY with LABEL=, RENAME, \
                  LABEL, FORMAT, INFORMAT (in place: the pages of rows are not touched), INDEX CREATE \
                  with UNIQUE, INDEX DELETE",
            no: "EXCHANGE, AGE, REBUILD, REPAIR, passwords, integrity constraints, NOMISS, formats \
                  for lists of variables in MODIFY",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let options = Options::read(step, world)?;
        let mut statements = step.statements.as_slice();
        while Action::read(&mut statements, &options.library.libref)?.is_some() {}
        Ok(())
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let options = Options::read(step, world)?;
        if step.group == 0 {
            if options.list {
                list(world, "DATASETS", &options.library)?;
            }
            if options.kill {
                for member in members(world, &options.library)? {
                    delete_named(world, &options, &member, &step.span)?;
                }
            }
        }
        let mut statements = step.statements.as_slice();
        while let Some((action, span)) = Action::read(&mut statements, &options.library.libref)? {
            action.run(&options, &span, world)?;
        }
        Ok(())
    }
}

/// A statement with those that belong to it.
enum Action {
    Append(append::Request),
    /// Old and new names.
    Change(Vec<(String, String, Span)>),
    Contents(contents::Request),
    Copy(copy::Request),
    Delete(Names),
    Modify(modify::Request),
    Save(Names),
}

impl Action {
    /// Takes the next of `statements` about data sets of `libref`; the place is that of its name.
    fn read(statements: &mut &[ProcStatement], libref: &str) -> Outcome<Option<(Self, Span)>> {
        let Some((statement, rest)) = statements.split_first() else {
            return Ok(None);
        };
        *statements = rest;
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        let span = cursor.span();
        let action = if cursor.eat_word("COPY") {
            let mut request = copy::Request::read(&mut cursor, "DATASETS", Some(libref))?;
            while let Some((choice, rest)) = statements.split_first() {
                let mut cursor = Cursor::new(&choice.tokens, &choice.span);
                if !request.eat_choice(&mut cursor)? {
                    break;
                }
                *statements = rest;
            }
            Self::Copy(request)
        } else if cursor.eat_word("MODIFY") {
            Self::Modify(modify::Request::read(libref, &mut cursor, statements)?)
        } else if cursor.eat_word("DELETE") {
            Self::Delete(Names::read(&mut cursor)?)
        } else if cursor.eat_word("SAVE") {
            Self::Save(Names::read(&mut cursor)?)
        } else if cursor.eat_word("CHANGE") {
            Self::Change(changes(&mut cursor)?)
        } else if cursor.eat_word("APPEND") {
            Self::Append(append::Request::read(
                &mut cursor,
                "DATASETS",
                Some(libref),
            )?)
        } else if cursor.eat_word("CONTENTS") {
            Self::Contents(contents::Request::read(
                &mut cursor,
                "DATASETS",
                Some(libref),
            )?)
        } else {
            return Err(unknown(&cursor, "DATASETS", "statement"));
        };
        Ok(Some((action, span)))
    }

    fn run(self, options: &Options, span: &Span, world: &mut World) -> Outcome<()> {
        let library = &options.library;
        match self {
            Self::Append(request) => request.run(world, span),
            Self::Contents(request) => request.run(world, span),
            Self::Copy(request) => request.run(world),
            Self::Modify(request) => request.run(world),
            Self::Change(names) => {
                for (old, new, span) in names {
                    rename(world, library, &old, &new, &span)?;
                }
                Ok(())
            }
            Self::Delete(names) => {
                for member in names.expand(world, library)? {
                    delete_named(world, options, &member, span)?;
                }
                Ok(())
            }
            Self::Save(names) => {
                let kept = names.expand(world, library)?;
                for member in members(world, library)? {
                    if !kept.contains(&member) {
                        delete_named(world, options, &member, span)?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// `old=new …` of CHANGE.
fn changes(cursor: &mut Cursor<'_>) -> Outcome<Vec<(String, String, Span)>> {
    let mut names = Vec::new();
    while !cursor.is_at_end() {
        let (old, span) = cursor.expect_name("a data set name")?;
        cursor.expect_symbol("=")?;
        let (new, _) = cursor.expect_name("a data set name")?;
        names.push((old, new, span));
    }
    Ok(names)
}

impl Options {
    fn read(step: &ProcStep, world: &World) -> Outcome<Self> {
        let (mut libref, mut kill, mut list, mut silent) = ("WORK".to_owned(), false, true, false);
        let mut cursor = Cursor::new(&step.options, &step.span);
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "LIB" | "LIBRARY" | "DD" => libref = cursor.setting()?.value.unwrap_or_default(),
                "MT" | "MEMTYPE" => member_type(&mut cursor)?,
                word @ ("NOLIST" | "NODETAILS" | "KILL" | "NOWARN") => {
                    list &= word != "NOLIST";
                    kill |= word == "KILL";
                    silent |= word == "NOWARN";
                    cursor.next();
                }
                _ => return Err(unknown(&cursor, "DATASETS", "option")),
            }
        }
        cursor.expect_end()?;
        let Some(library) = world.libraries.get(&libref).cloned() else {
            let message = format!("Libref {} is not assigned.", libref.to_ascii_uppercase());
            return Err(Failure::at(&step.span, message));
        };
        Ok(Self {
            library,
            kill,
            list,
            silent,
        })
    }
}

/// The directory of a library.
pub(crate) fn list(world: &mut World, procedure: &str, library: &Library) -> Outcome<()> {
    let names = members(world, library)?;
    let listing = &mut world.listing;
    listing.begin();
    listing.line(&format!("The {procedure} Procedure"));
    listing.line("");
    listing.line("Directory");
    listing.line("");
    listing.line(&format!("Libref         {}", library.libref));
    listing.line("Engine         V9");
    for directory in library.directories() {
        listing.line(&format!("Physical Name  {}", directory.display()));
    }
    listing.line("");
    listing.line("#  Name                              Member Type");
    for (number, name) in (1..).zip(names) {
        listing.line(&format!(
            "{number:<2} {:<32}  DATA",
            name.to_ascii_uppercase()
        ));
    }
    listing.end();
    Ok(())
}

/// Gives a data set another name.
fn rename(world: &mut World, library: &Library, old: &str, new: &str, span: &Span) -> Outcome<()> {
    let old = world.libraries.member(&library.libref, old, span)?;
    let old = old.located(world.store.as_ref())?;
    let mut new = world.libraries.member(&library.libref, new, span)?;
    let taken = new.clone().located(world.store.as_ref())?;
    new.library.directory.clone_from(&old.library.directory);
    let (name, target) = (old.full_name(), new.full_name());
    if old.library.read_only {
        let message =
            format!("{name} cannot be changed: the library was assigned with ACCESS=READONLY.");
        return Err(Failure::at(span, message));
    }
    let channel = library.write_channel();
    let found = |world: &World, member: &Member| {
        let stat = world.store.stat(channel, &member.path());
        stat.map(|found| found.is_some())
            .map_err(|error| failure(library, &error))
    };
    if !found(world, &old)? {
        let message = format!(
            "The file {name} (memtype=DATA) was not found, but appears on a CHANGE statement."
        );
        return Err(Failure::at(span, message));
    }
    if found(world, &taken)? {
        let message = format!("{target} exists already: {name} keeps its name");
        return Err(Failure::at(span, message));
    }
    let indexed = index::has_file(world, &old)?;
    world.note(&format!(
        "Changing the name {name} to {target} (memtype=DATA)."
    ));
    moving(world, &old, |world| {
        world.store.rename(channel, &old.path(), &new.path())
    })?;
    if indexed {
        index::rename(world, &old, &new)?;
    }
    Ok(())
}

fn failure(library: &Library, error: &base::store::StoreError) -> Failure {
    Failure::store(&format!("{}.*", library.libref), error)
}

/// Names of the data sets in a library.
pub(crate) fn members(world: &World, library: &Library) -> Outcome<Vec<String>> {
    library.members(world.store.as_ref())
}

fn delete_named(world: &mut World, options: &Options, member: &str, span: &Span) -> Outcome<()> {
    let member = world
        .libraries
        .member(&options.library.libref, member, span)?;
    if !delete(world, &member, span)? && !options.silent {
        world.note(&format!(
            "The file {} (memtype=DATA) was not found, but appears on a DELETE statement.",
            member.full_name()
        ));
    }
    Ok(())
}

/// Deletes a data set and says so; false if there is none of the name.
pub(crate) fn delete(world: &mut World, member: &Member, span: &Span) -> Outcome<bool> {
    let deleted = remove(world, member, span)?;
    if deleted {
        let name = member.full_name();
        world.note(&format!("Deleting {name} (memtype=DATA)."));
    }
    Ok(deleted)
}

/// Deletes a data set; false if there is none of the name.
pub(crate) fn remove(world: &mut World, member: &Member, span: &Span) -> Outcome<bool> {
    let member = &member.clone().located(world.store.as_ref())?;
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
    moving(world, member, |world| world.store.remove(channel, &path))?;
    index::remove(world, member)?;
    Ok(true)
}
