//! Names of data sets in a statement: `a`, `b1-b9`, `c:`, `_all_`.

use std::collections::BTreeSet;

use engine::failure::{Failure, Outcome};
use engine::library::Library;
use engine::session::World;
use lang::cursor::Cursor;

use super::members;

/// A list as written.
pub(crate) struct Names(Vec<Name>);

enum Name {
    One(String),
    /// Those that begin so.
    Prefix(String),
    All,
}

impl Names {
    /// Reads names up to the end of the statement.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Outcome<Self> {
        let mut names = Vec::new();
        while !cursor.is_at_end() {
            if cursor.eat_word("_ALL_") {
                names.push(Name::All);
                continue;
            }
            let (name, span) = cursor.expect_name("a data set name")?;
            if cursor.eat_symbol(":") {
                names.push(Name::Prefix(name.to_ascii_lowercase()));
            } else if cursor.eat_symbol("-") {
                let (last, _) = cursor.expect_name("the last name of a numbered list")?;
                let Some((stem, first, last)) = numbered(&name, &last) else {
                    let message = format!("{name}-{last} is not a numbered list of data sets");
                    return Err(Failure::at(&span, message));
                };
                let numbers = engine::dataset::options::numbers(first, last, &span)?;
                names.extend(numbers.map(|number| Name::One(format!("{stem}{number}"))));
            } else {
                names.push(Name::One(name.to_ascii_lowercase()));
            }
        }
        if names.is_empty() {
            return Err(cursor.expected("a data set name").into());
        }
        Ok(Self(names))
    }

    /// The names that are meant, in lower case and each once: those of a prefix are the ones there.
    pub(crate) fn expand(&self, world: &World, library: &Library) -> Outcome<Vec<String>> {
        let listed = self.0.iter().any(|name| !matches!(name, Name::One(_)));
        let there = if listed {
            members(world, library)?
        } else {
            Vec::new()
        };
        let mut seen = BTreeSet::new();
        let mut expanded = Vec::new();
        for name in &self.0 {
            let found: Vec<String> = match name {
                Name::One(name) => vec![name.clone()],
                Name::Prefix(start) => {
                    let begins = |name: &&String| name.starts_with(start);
                    there.iter().filter(begins).cloned().collect()
                }
                Name::All => there.clone(),
            };
            expanded.extend(found.into_iter().filter(|name| seen.insert(name.clone())));
        }
        Ok(expanded)
    }
}

/// Stem and numbers of `d1-d9`, in lower case.
fn numbered(first: &str, last: &str) -> Option<(String, u32, u32)> {
    let split = |name: &str| {
        let stem = name.trim_end_matches(|one: char| one.is_ascii_digit());
        let number = name[stem.len()..].parse().ok()?;
        Some((stem.to_ascii_lowercase(), number))
    };
    let ((stem, from), (other, to)): ((String, u32), (String, u32)) = (split(first)?, split(last)?);
    (stem == other && from <= to).then_some((stem, from, to))
}
