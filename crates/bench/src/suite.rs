//! A suite as data: a folder with suite.toml, programs and, if it needs more than the built-in ones,
//! recipes. The published suites are part of the binary.
//!
//! [`text`] is the file as written, [`expand`] turns it into data sets and jobs for a scale, and finds
//! on the way what is wrong with it.

mod builtin;
pub mod check;
pub mod expand;
pub mod mix;
pub mod pattern;
pub mod programs;
pub mod sizes;
pub mod text;
pub mod validate;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::suite::builtin::BUILTIN;
use crate::suite::text::SuiteText;

/// A suite that was read and found to be without mistakes.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// What suite.toml says.
    pub text: SuiteText,
    /// Where it was read, for messages.
    pub file: String,
    /// The file itself, for lines and columns.
    source: String,
    /// Programs by file name.
    pub programs: BTreeMap<String, String>,
    /// Recipes by name: those that its data sets use.
    pub recipes: BTreeMap<String, String>,
}

/// Something wrong at a place of suite.toml.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Bytes of the file.
    pub span: Range<usize>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Wrong {
    /// Something wrong there.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
        }
    }
}

/// Something wrong at a line and column of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            message,
        } = self;
        write!(f, "{file}:{line}:{column}: {message}")
    }
}

/// Why a suite cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no suite of that name.
    #[error(
        "there is no suite {name}; there are: {known}; a folder is given by its path, such as ./{name}"
    )]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The folder cannot be read.
    #[error("failed to read {}", path.display())]
    Io {
        /// What was read.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The suite has mistakes.
    #[error("{}", lines(.0))]
    Mistakes(Vec<Mistake>),
}

fn lines(mistakes: &[Mistake]) -> String {
    let lines: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
    lines.join("\n")
}

/// Names of the built-in suites.
pub fn names() -> Vec<&'static str> {
    BUILTIN.iter().map(|suite| suite.name).collect()
}

/// The suite of a name, or of a folder, which is given by a path with a slash.
pub fn find(argument: &str) -> Result<Suite, Error> {
    if argument.contains('/') || argument == "." || argument == ".." {
        return folder(Path::new(argument));
    }
    builtin(argument)
}

/// A built-in suite.
pub fn builtin(name: &str) -> Result<Suite, Error> {
    let found = BUILTIN
        .iter()
        .find(|suite| suite.name == name)
        .ok_or_else(|| Error::Unknown {
            name: name.to_owned(),
            known: names().join(", "),
        })?;
    let programs = found.programs.iter();
    let programs = programs
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    let file = format!("suites/{name}/suite.toml");
    read(file, found.text.to_owned(), name, programs, BTreeMap::new())
}

/// A suite of a site: a folder with `suite.toml`, `programs/*.sas` and perhaps `recipes/*.toml`.
pub fn folder(path: &Path) -> Result<Suite, Error> {
    let file = path.join("suite.toml");
    let source = read_text(&file)?;
    let programs = texts(&path.join("programs"), "sas", true)?;
    let recipes = texts(&path.join("recipes"), "toml", false)?;
    let absolute = std::path::absolute(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    let name = absolute.file_name().unwrap_or_default().to_string_lossy();
    read(file.display().to_string(), source, &name, programs, recipes)
}

fn read_text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })
}

/// Files of a folder: programs by file name, recipes by name.
fn texts(
    folder: &Path,
    extension: &str,
    whole_names: bool,
) -> Result<BTreeMap<String, String>, Error> {
    let explain = |source| Error::Io {
        path: folder.to_owned(),
        source,
    };
    let mut found = BTreeMap::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(folder).map_err(explain)? {
        let path = entry.map_err(explain)?.path();
        if path.extension().is_none_or(|there| there != extension) {
            continue;
        }
        let name = if whole_names {
            path.file_name()
        } else {
            path.file_stem()
        };
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        found.insert(name, read_text(&path)?);
    }
    Ok(found)
}

fn read(
    file: String,
    source: String,
    name: &str,
    programs: BTreeMap<String, String>,
    mut recipes: BTreeMap<String, String>,
) -> Result<Suite, Error> {
    let text: SuiteText = toml::from_str(&source).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let message = error.message().trim_end().to_owned();
        Error::Mistakes(vec![mistake(&file, &source, &Wrong::new(span, message))])
    })?;
    for dataset in &text.datasets {
        let name = dataset.recipe.get_ref();
        if let (None, Some(text)) = (recipes.get(name), recipe::text(name)) {
            recipes.insert(name.clone(), text.to_owned());
        }
    }
    let suite = Suite {
        text,
        file,
        source,
        programs,
        recipes,
    };
    let wrong = validate::validate(&suite, name);
    if wrong.is_empty() {
        return Ok(suite);
    }
    Err(Error::Mistakes(suite.mistakes(&wrong)))
}

pub(crate) fn mistake(file: &str, source: &str, wrong: &Wrong) -> Mistake {
    let before = source.get(..wrong.span.start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Mistake {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: wrong.message.clone(),
    }
}

impl Suite {
    /// Places as lines and columns, in the order of the file.
    pub fn mistakes(&self, wrong: &[Wrong]) -> Vec<Mistake> {
        let mut sorted: Vec<&Wrong> = wrong.iter().collect();
        sorted.sort_by_key(|wrong| (wrong.span.start, &wrong.message));
        sorted.dedup();
        sorted
            .into_iter()
            .map(|wrong| mistake(&self.file, &self.source, wrong))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A suite of one job that has nothing wrong.
    const SMALL: &str = r#"name = "own"
title = "A suite of our own"

[options]
MEMSIZE = "1G"

[parameters.jobs]
value = 2

[launch]
rule = "together"
spread_s = 0.0

[demonstration]
scale = 1.0

[classes]
io = "reading and writing"

[[datasets]]
names = ["a{1..jobs}"]
recipe = "glminput"
rows = 100

[[jobs]]
numbers = "1..jobs"
name = "copy_{number}"
program = "copy.sas"
class = "io"
symbols = { in = "a{number}", out = "b{number}" }

[[jobs.checks]]
kind = "rows"
dataset = "b{number}"
rows_of = "a{number}"

[[jobs.checks]]
kind = "absent"
dataset = "c"
"#;

    fn small(change: (&str, &str)) -> Result<Suite, Error> {
        let programs = [(
            "copy.sas".to_owned(),
            "data out.&out; set in.&in; run;".to_owned(),
        )];
        let text = SMALL.replace(change.0, change.1);
        assert!(
            change.0 == change.1 || text != SMALL,
            "{} is not there",
            change.0
        );
        read(
            "own/suite.toml".into(),
            text,
            "own",
            programs.into(),
            BTreeMap::new(),
        )
    }

    #[test]
    fn every_builtin_suite_is_whole() {
        let known = [
            "demand-calibration",
            "large-sorts",
            "mixed-8core",
            "mixed-analytics",
            "multiuser",
        ];
        assert_eq!(names(), known);
        for name in names() {
            if let Err(error) = builtin(name) {
                panic!("{error}");
            }
        }
    }

    #[test]
    fn an_unknown_suite_is_named_with_those_there_are() {
        let message = builtin("nosuch").unwrap_err().to_string();
        assert!(
            message.contains("nosuch") && message.contains("large-sorts"),
            "{message}"
        );
    }

    #[test]
    fn the_suite_of_the_guide_is_one() {
        let guide = include_str!("../../../docs/guide/suites.md");
        let block = |language: &str| {
            let (_, rest) = guide.split_once(&format!("```{language}\n")).unwrap();
            rest.split_once("```").unwrap().0.to_owned()
        };
        let programs = [("sort.sas".to_owned(), block("sas"))];
        let toml = block("toml");
        let read = |text: String| {
            let programs = programs.clone().into();
            read(
                "nightly/suite.toml".into(),
                text,
                "nightly",
                programs,
                BTreeMap::new(),
            )
        };
        read(toml.clone()).unwrap();
        let wrong = read(toml.replace("in = \"trades_2\"", "in = \"trades_3\"")).unwrap_err();
        let shown = guide
            .lines()
            .find(|line| line.contains("trades_3 is not"))
            .unwrap();
        let wrong = wrong.to_string();
        assert!(wrong.lines().any(|line| line == shown.trim()), "{wrong}");
    }

    #[test]
    fn the_reference_has_every_key_and_kind() {
        let reference = include_str!("../../../docs/reference/suites.md");
        let text = include_str!("suite/text.rs");
        let fields = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("pub "));
        let fields = fields.filter_map(|field| field.split_once(": "));
        for (field, _) in fields.filter(|(field, _)| *field != "condition") {
            let written = [
                format!("`{field}`"),
                format!("[{field}"),
                format!("{field} ="),
                format!("[[{field}"),
            ];
            assert!(
                written.iter().any(|one| reference.contains(one)),
                "{field} is not described"
            );
        }
        for kind in check::KINDS {
            let kind = format!("`\"{}\"`", check::kind_name(kind));
            assert!(reference.contains(&kind), "{kind} is not described");
        }
    }

    #[test]
    fn a_suite_of_a_site_is_a_folder() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("own");
        fs::create_dir_all(own.join("programs")).unwrap();
        fs::create_dir_all(own.join("recipes")).unwrap();
        fs::write(own.join("suite.toml"), SMALL.replace("glminput", "ours")).unwrap();
        fs::write(own.join("programs/copy.sas"), "run;").unwrap();
        let recipe = "columns = [{ name = \"x\", kind = \"random\" }]";
        fs::write(own.join("recipes/ours.toml"), recipe).unwrap();
        let suite = find(own.to_str().unwrap()).unwrap();
        assert_eq!(suite.programs["copy.sas"], "run;");
        assert_eq!(suite.recipes["ours"], recipe);
        let missing = folder(root.path()).unwrap_err().to_string();
        assert!(missing.contains("failed to read"), "{missing}");
    }

    /// What is changed, where the mistake is, a part of what is said.
    const MISTAKES: [((&str, &str), &str, &str); 22] = [
        (
            ("title =", "titel ="),
            "2:1",
            "unknown field `titel`, expected one of",
        ),
        (
            ("value = 2", "value = \"2\""),
            "8:9",
            "invalid type: string",
        ),
        (
            ("name = \"own\"", "name = \"other\""),
            "1:8",
            "they are the same word",
        ),
        (("MEMSIZE", "MEMSISE"), "5:1", "MEMSISE"),
        (("MEMSIZE = \"1G\"", "MEMSIZE = \"much\""), "5:1", "MEMSIZE"),
        (
            ("\"together\"", "\"sometimes\""),
            "11:8",
            "unknown variant `sometimes`",
        ),
        (("spread_s = 0.0", ""), "11:8", "needs spread_s"),
        (
            ("\"together\"", "\"pool\""),
            "11:8",
            "needs the parameter concurrency",
        ),
        (
            ("\"together\"", "\"offsets\""),
            "28:11",
            "each launch needs at_s",
        ),
        (
            ("a{1..jobs}", "a{1..job}"),
            "21:10",
            "{job} stands for nothing here; there are {jobs}",
        ),
        (("a{1..jobs}", "1a"), "21:10", "is not a name of a data set"),
        (
            ("\"glminput\"", "\"glm\""),
            "22:10",
            "there is no recipe glm",
        ),
        (
            ("rows = 100", ""),
            "22:10",
            "needs one of rows and memory_multiple",
        ),
        (("copy_{number}", "copy"), "27:8", "there are two jobs copy"),
        (
            ("copy.sas", "cpy.sas"),
            "28:11",
            "there is no program cpy.sas in the folder programs; there are: copy.sas",
        ),
        (
            ("class = \"io\"", "class = \"oi\""),
            "29:9",
            "oi is not in [classes]",
        ),
        (("\"rows\"", "\"lines\""), "33:8", "needs the key file"),
        (
            ("rows_of", "by = [\"x\"]\nrows_of"),
            "33:8",
            "does not take the key by; it takes dataset, count",
        ),
        (
            ("rows_of = \"a{number}\"", "rows_of = \"c{number}\""),
            "33:8",
            "c1 is not among the staged data",
        ),
        (
            (
                "names = [\"a{1..jobs}\"]",
                "names = [\"a{1..jobs}\", \"z\"]",
            ),
            "22:10",
            "no job reads z: add it to `inputs`",
        ),
        (
            ("in = \"a{number}\"", "in = \"c{number}\""),
            "30:18",
            "c1 is not among the staged data",
        ),
        (
            ("rows_of = \"a{number}\"", "count = \"many\""),
            "35:9",
            "\"many\" is not a whole number",
        ),
    ];

    #[test]
    fn mistakes_are_shown_where_they_are() {
        assert!(small(("", "")).is_ok(), "{}", small(("", "")).unwrap_err());
        for (change, place, part) in MISTAKES {
            let message = small(change).unwrap_err().to_string();
            let expected = format!("own/suite.toml:{place}: ");
            assert!(
                message
                    .lines()
                    .any(|line| line.starts_with(&expected) && line.contains(part)),
                "{change:?} at {place}: {message}"
            );
        }
    }
}
