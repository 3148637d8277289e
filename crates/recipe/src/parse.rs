//! The recipe as text (TOML) and as checked values.

use base::limits;
use serde::Deserialize;

/// Most variables of a data set.
const COLUMNS_MAX: usize = 32_767;

/// A data set to be generated.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// What it is for, a sentence.
    pub title: String,
    /// Rows at scale 1, if the recipe says.
    pub rows: Option<u64>,
    /// This many rows in a row are the same (1 = none).
    pub repeat: u64,
    /// Rows come again after this many (0 = never): whole blocks become duplicates.
    pub period: u64,
    /// Columns in data set order.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Variable name.
    pub name: String,
    /// Label, may be empty.
    pub label: String,
    /// How values are drawn.
    pub kind: Kind,
}

/// How a column's values are drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Doubles in [0, 1) with 53 random bits.
    Random,
    /// Integers in `from..=to`.
    Integer {
        /// Least.
        from: i64,
        /// Most.
        to: i64,
    },
    /// One of this many values, which are random doubles themselves.
    Level {
        /// How many.
        levels: u64,
    },
    /// The same number in every row.
    Constant {
        /// The number.
        value: f64,
    },
    /// `.` in every row.
    Missing,
    /// `start + row * step`; rows count from 0.
    Sequence {
        /// Value of the first row.
        start: i64,
        /// Added per row.
        step: i64,
    },
    /// Text of random characters, blank padded.
    Character {
        /// Length of the variable, bytes.
        length: u32,
        /// Characters used; the rest is blank.
        used: u32,
        /// The characters drawn from, 1 to 64 of them.
        alphabet: Vec<u8>,
    },
}

/// What is wrong with a recipe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a recipe; the message of the parser has line and column.
    #[error("{name}: {source}")]
    Toml {
        /// Name of the file.
        name: String,
        /// Line, column and cause.
        source: toml::de::Error,
    },
    /// A column cannot be made.
    #[error("{name}: column {column}: {detail}")]
    Column {
        /// Name of the file.
        name: String,
        /// Which column.
        column: String,
        /// What is wrong and what is allowed.
        detail: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default)]
    title: String,
    rows: Option<u64>,
    #[serde(default = "one")]
    repeat: u64,
    #[serde(default)]
    period: u64,
    columns: Vec<TextColumn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextColumn {
    /// With `count`, numbers from 1 are appended.
    name: String,
    #[serde(default)]
    label: String,
    count: Option<u32>,
    #[serde(flatten)]
    kind: TextKind,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum TextKind {
    Random,
    Integer {
        from: i64,
        to: i64,
    },
    Level {
        levels: u64,
    },
    Constant {
        value: f64,
    },
    Missing,
    Sequence {
        #[serde(default)]
        start: i64,
        #[serde(default = "one_signed")]
        step: i64,
    },
    Character {
        length: u32,
        used: Option<u32>,
        #[serde(default = "letters_and_digits")]
        alphabet: String,
    },
}

const fn one() -> u64 {
    1
}

const fn one_signed() -> i64 {
    1
}

fn letters_and_digits() -> String {
    "A-Za-z0-9".to_owned()
}

impl Recipe {
    /// Reads a recipe; `name` is the file's, for messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let text: Text = toml::from_str(text).map_err(|source| Error::Toml {
            name: name.to_owned(),
            source,
        })?;
        let mut columns = Vec::new();
        for column in &text.columns {
            expand(column, &mut columns).map_err(|detail| Error::Column {
                name: name.to_owned(),
                column: column.name.clone(),
                detail,
            })?;
        }
        if columns.is_empty() || columns.len() > COLUMNS_MAX {
            return Err(Error::Column {
                name: name.to_owned(),
                column: "(all)".to_owned(),
                detail: format!(
                    "there are {}; 1 to {COLUMNS_MAX} are allowed",
                    columns.len()
                ),
            });
        }
        Ok(Self {
            title: text.title,
            rows: text.rows,
            repeat: text.repeat.max(1),
            period: text.period,
            columns,
        })
    }
}

fn expand(column: &TextColumn, into: &mut Vec<Column>) -> Result<(), String> {
    let kind = checked(&column.kind)?;
    let names: Vec<String> = match column.count {
        None => vec![column.name.clone()],
        Some(count) => (1..=count)
            .map(|number| format!("{}{number}", column.name))
            .collect(),
    };
    for name in names {
        let mut bytes = name.bytes();
        let starts = bytes
            .next()
            .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        if !starts || name.len() > 32 || !bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(format!("{name} is not a SAS name of 1 to 32 characters"));
        }
        if into
            .iter()
            .any(|there| there.name.eq_ignore_ascii_case(&name))
        {
            return Err(format!("the name {name} is used twice"));
        }
        into.push(Column {
            name,
            label: column.label.clone(),
            kind: kind.clone(),
        });
    }
    Ok(())
}

fn checked(kind: &TextKind) -> Result<Kind, String> {
    Ok(match kind {
        TextKind::Random => Kind::Random,
        TextKind::Integer { from, to } if from <= to => Kind::Integer {
            from: *from,
            to: *to,
        },
        TextKind::Integer { from, to } => return Err(format!("from = {from} is above to = {to}")),
        TextKind::Level { levels: 0 } => return Err("levels must be at least 1".to_owned()),
        TextKind::Level { levels } => Kind::Level { levels: *levels },
        TextKind::Constant { value } => Kind::Constant { value: *value },
        TextKind::Missing => Kind::Missing,
        TextKind::Sequence { start, step } => Kind::Sequence {
            start: *start,
            step: *step,
        },
        TextKind::Character {
            length,
            used,
            alphabet,
        } => {
            let most = limits::CHARACTER_BYTES_MAX;
            if !(1..=most).contains(length) {
                return Err(format!("length = {length}; 1 to {most} bytes are allowed"));
            }
            let used = used.unwrap_or(*length);
            if used > *length {
                return Err(format!("used = {used} is more than length = {length}"));
            }
            Kind::Character {
                length: *length,
                used,
                alphabet: characters(alphabet)?,
            }
        }
    })
}

/// `A-Za-z0-9` to its characters: ASCII, ranges allowed.
fn characters(alphabet: &str) -> Result<Vec<u8>, String> {
    let bytes = alphabet.as_bytes();
    let mut characters = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at..] {
            [low, b'-', high, ..] if low <= high => {
                characters.extend(low..=high);
                at += 3;
            }
            [one, ..] => {
                characters.push(one);
                at += 1;
            }
            [] => break,
        }
    }
    if !(1..=64).contains(&characters.len()) || !characters.iter().all(|b| (32..127).contains(b)) {
        return Err(format!(
            "alphabet = {alphabet:?} must name 1 to 64 printable ASCII characters"
        ));
    }
    Ok(characters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(text: &str) -> Result<Vec<Column>, String> {
        let text = format!("columns = [{text}]");
        Recipe::parse("r.toml", &text)
            .map(|recipe| recipe.columns)
            .map_err(|e| e.to_string())
    }

    #[test]
    fn counts_expand_to_numbered_names() {
        let columns = columns(r#"{name="x", count=3, kind="random"}"#).unwrap();
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["x1", "x2", "x3"]);
    }

    #[test]
    fn mistakes_are_named_with_what_is_allowed() {
        for (text, part) in [
            (
                r#"{name="x", kind="integer", from=2, to=1}"#,
                "from = 2 is above to = 1",
            ),
            (r#"{name="x", kind="character", length=0}"#, "1 to 32767"),
            (
                r#"{name="x", kind="character", length=4, used=5}"#,
                "more than length",
            ),
            (r#"{name="1x", kind="random"}"#, "not a SAS name"),
            (
                r#"{name="x", kind="random"}, {name="X", kind="random"}"#,
                "used twice",
            ),
            (r#"{name="x", kind="nosuch"}"#, "nosuch"),
            (r#"{name="x", kind="random", colour="red"}"#, "colour"),
        ] {
            let message = columns(text).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn alphabets_take_ranges() {
        assert_eq!(characters("a-c-").unwrap(), b"abc-");
        assert!(characters("").is_err());
    }
}
