//! Functions about the session, which %SYSFUNC calls: what data sets, files and options there are.

use std::path::{Path, PathBuf};

use base::diag::Span;
use base::store::Channel;

use super::sentence;
use crate::session::World;

type Answer = Result<String, String>;

/// The functions by their upper-case names, with least and most arguments.
type Entry = (&'static str, usize, usize, fn(&World, &[String]) -> Answer);

static FUNCTIONS: &[Entry] = &[
    ("EXIST", 1, 2, exist),
    ("FEXIST", 1, 1, fexist),
    ("FILEEXIST", 1, 1, |world, given| {
        there(world, &PathBuf::from(given[0].trim())).map(truth)
    }),
    ("GETOPTION", 1, 2, getoption),
    ("PATHNAME", 1, 1, |world, given| {
        Ok(pathname(world, &given[0]))
    }),
];

/// Names of the functions that only %SYSFUNC calls, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, ..)| *name)
}

/// Calls one of them; `None` if there is none of this name.
pub(super) fn call(world: &World, name: &str, arguments: &[String]) -> Option<Answer> {
    let upper = name.to_ascii_uppercase();
    let (_, least, most, run) = FUNCTIONS.iter().find(|(known, ..)| *known == upper)?;
    if !(*least..=*most).contains(&arguments.len()) {
        let count = arguments.len();
        return Some(Err(format!(
            "The function {upper} does not take {count} arguments"
        )));
    }
    Some(run(world, arguments))
}

fn truth(there: bool) -> String {
    u8::from(there).to_string()
}

fn there(world: &World, path: &Path) -> Result<bool, String> {
    let found = world.store.stat(Channel::Input, path);
    found
        .map(|found| found.is_some())
        .map_err(|error| error.to_string())
}

/// `exist(lib.member, type)`: views and catalogs are never there.
fn exist(world: &World, given: &[String]) -> Answer {
    let kind = given.get(1).map_or("DATA", |kind| kind.trim());
    let data = ["DATA", "VIEW", "ALL", ""];
    let Some(kind) = data.iter().find(|one| kind.eq_ignore_ascii_case(one)) else {
        return Err(format!("The member type {kind} is not implemented yet"));
    };
    let name = given[0].trim();
    let (libref, member) = name.split_once('.').unwrap_or(("WORK", name));
    if *kind == "VIEW" || world.libraries.get(libref).is_none() {
        return Ok(truth(false));
    }
    let span = Span {
        source: "%SYSFUNC".into(),
        line: 1,
        column: 1,
        length: 1,
    };
    let failed = |failure| sentence(&failure, "EXIST");
    let Ok(member) = world.libraries.member(libref, member, &span) else {
        // What is no name is the name of nothing.
        return Ok(truth(false));
    };
    let member = member.located(world.store.as_ref()).map_err(failed)?;
    let channel = member.library.read_channel();
    let found = world.store.stat(channel, &member.path());
    found
        .map(|found| truth(found.is_some()))
        .map_err(|error| error.to_string())
}

/// `fexist(fileref)`
fn fexist(world: &World, given: &[String]) -> Answer {
    match world.filerefs.get(&given[0].trim().to_ascii_uppercase()) {
        Some((path, _)) => there(world, path).map(truth),
        None => Ok(truth(false)),
    }
}

/// `pathname(libref or fileref)`: filerefs come first; nothing if there is neither.
fn pathname(world: &World, name: &str) -> String {
    let name = name.trim().to_ascii_uppercase();
    if let Some((path, _)) = world.filerefs.get(&name) {
        return path.display().to_string();
    }
    let Some(library) = world.libraries.get(&name) else {
        return String::new();
    };
    let paths: Vec<String> = library
        .directories()
        .map(|path| path.display().to_string())
        .collect();
    match paths.as_slice() {
        [one] => one.clone(),
        several => {
            let quoted: Vec<String> = several.iter().map(|path| format!("'{path}'")).collect();
            format!("({})", quoted.join(" "))
        }
    }
}

/// `getoption(name, keyword)`
fn getoption(world: &World, given: &[String]) -> Answer {
    let name = given[0].trim().to_ascii_uppercase();
    let shown = world.options.shown();
    let Some(option) = shown.iter().find(|one| one.name == name) else {
        return Err(format!(
            "The option {name} is unknown or not implemented yet (function GETOPTION)"
        ));
    };
    match given.get(1).map(|one| one.trim().to_ascii_uppercase()) {
        None => Ok(option.value()),
        Some(how) if how == "KEYWORD" => Ok(option.setting()),
        Some(how) => Err(format!(
            "The argument {how} of the function GETOPTION is not implemented yet"
        )),
    }
}
