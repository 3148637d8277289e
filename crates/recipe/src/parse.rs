//! The recipe as text (TOML) and as checked values.

use std::collections::HashSet;

use base::limits;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Most variables of a data set.
const COLUMNS_MAX: usize = 32_767;
/// Longest label of a variable in SAS. Every column of a count has its own copy.
const LABEL_BYTES_MAX: usize = 256;
/// Integers up to here are exact in a double.
const EXACT_MAX: i64 = 1 << 53;
const LETTERS_AND_DIGITS: &str = "A-Za-z0-9";

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
        /// The characters drawn from, 1 to 256; one that is there twice comes twice as often.
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
    /// The data set as a whole cannot be made.
    #[error("{name}: {detail}")]
    Recipe {
        /// Name of the file.
        name: String,
        /// What is wrong and what is allowed.
        detail: String,
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
    kind: Word,
    from: Option<i64>,
    to: Option<i64>,
    levels: Option<u64>,
    #[serde(default, deserialize_with = "finite")]
    value: Option<f64>,
    start: Option<i64>,
    step: Option<i64>,
    length: Option<u32>,
    used: Option<u32>,
    alphabet: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Random,
    Integer,
    Level,
    Constant,
    Missing,
    Sequence,
    Character,
}

impl Word {
    /// The keys that a column of this kind may have.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Random | Self::Missing => &[],
            Self::Integer => &["from", "to"],
            Self::Level => &["levels"],
            Self::Constant => &["value"],
            Self::Sequence => &["start", "step"],
            Self::Character => &["length", "used", "alphabet"],
        }
    }
}

const fn one() -> u64 {
    1
}

impl Recipe {
    /// Reads a recipe; `name` is the file's, for messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let text: Text = toml::from_str(text).map_err(|source| Error::Toml {
            name: name.to_owned(),
            source,
        })?;
        let wrong = |detail: String| Error::Recipe {
            name: name.to_owned(),
            detail,
        };
        if text.repeat == 0 {
            return Err(wrong("repeat = 0; it must be at least 1".to_owned()));
        }
        let mut columns = Columns::default();
        for column in &text.columns {
            columns.add(column).map_err(|detail| Error::Column {
                name: name.to_owned(),
                column: column.name.clone(),
                detail,
            })?;
        }
        if columns.list.is_empty() {
            return Err(wrong("it has no columns; give at least one".to_owned()));
        }
        let (bytes, most) = (columns.row_bytes, limits::PAGE_BYTES_MAX);
        if bytes > most {
            let detail = format!("a row has {bytes} bytes; {most} are allowed");
            return Err(wrong(detail));
        }
        Ok(Self {
            title: text.title,
            rows: text.rows,
            repeat: text.repeat,
            period: text.period,
            columns: columns.list,
        })
    }
}

/// Columns so far.
#[derive(Default)]
struct Columns {
    list: Vec<Column>,
    /// Names in capitals.
    names: HashSet<String>,
    row_bytes: u64,
}

impl Columns {
    /// Adds a column, or as many as its count says.
    fn add(&mut self, column: &TextColumn) -> Result<(), String> {
        let kind = checked(column)?;
        let label_bytes = column.label.len();
        if label_bytes > LABEL_BYTES_MAX {
            return Err(format!(
                "label has {label_bytes} bytes; {LABEL_BYTES_MAX} are allowed"
            ));
        }
        let count = column.count.map_or(1, |count| count as usize);
        if count == 0 {
            return Err("count = 0; it must be at least 1".to_owned());
        }
        if count > COLUMNS_MAX - self.list.len() {
            let total = self.list.len() + count;
            return Err(format!(
                "makes {total} columns; {COLUMNS_MAX} are allowed in all"
            ));
        }
        self.row_bytes += count as u64 * u64::from(kind.bytes());
        for number in 1..=count {
            let name = match column.count {
                None => column.name.clone(),
                Some(_) => format!("{}{number}", column.name),
            };
            self.check_name(&name)?;
            self.list.push(Column {
                name,
                label: column.label.clone(),
                kind: kind.clone(),
            });
        }
        Ok(())
    }

    fn check_name(&mut self, name: &str) -> Result<(), String> {
        let mut bytes = name.bytes();
        let starts = bytes
            .next()
            .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        if !starts || name.len() > 32 || !bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(format!("{name} is not a SAS name of 1 to 32 characters"));
        }
        if !self.names.insert(name.to_ascii_uppercase()) {
            return Err(format!("the name {name} is used twice"));
        }
        Ok(())
    }
}

impl Kind {
    /// Bytes in a row.
    const fn bytes(&self) -> u32 {
        match self {
            Self::Character { length, .. } => *length,
            _ => 8,
        }
    }
}

/// A number that SAS has; the parser adds line and column to the message.
fn finite<'de, D: Deserializer<'de>>(value: D) -> Result<Option<f64>, D::Error> {
    let value = f64::deserialize(value)?;
    if value.is_finite() {
        return Ok(Some(value));
    }
    let detail = "SAS has no such number; `kind = \"missing\"` gives missing values";
    Err(D::Error::custom(format!("value = {value}; {detail}")))
}

fn exact(what: &str, value: i64) -> Result<i64, String> {
    if (-EXACT_MAX..=EXACT_MAX).contains(&value) {
        Ok(value)
    } else {
        Err(format!(
            "{what} = {value}; a number holds integers up to 2^53 exactly"
        ))
    }
}

fn checked(column: &TextColumn) -> Result<Kind, String> {
    check_keys(column)?;
    Ok(match column.kind {
        Word::Random => Kind::Random,
        Word::Missing => Kind::Missing,
        Word::Integer => {
            let from = exact("from", needed("from", column.from)?)?;
            let to = exact("to", needed("to", column.to)?)?;
            if from > to {
                return Err(format!("from = {from} is above to = {to}"));
            }
            Kind::Integer { from, to }
        }
        Word::Level => match needed("levels", column.levels)? {
            0 => return Err("levels = 0; it must be at least 1".to_owned()),
            levels => Kind::Level { levels },
        },
        Word::Constant => Kind::Constant {
            value: needed("value", column.value)?,
        },
        Word::Sequence => Kind::Sequence {
            start: exact("start", column.start.unwrap_or(0))?,
            step: exact("step", column.step.unwrap_or(1))?,
        },
        Word::Character => {
            let (length, most) = (
                needed("length", column.length)?,
                limits::CHARACTER_BYTES_MAX,
            );
            if !(1..=most).contains(&length) {
                return Err(format!("length = {length}; 1 to {most} bytes are allowed"));
            }
            let used = column.used.unwrap_or(length);
            if used > length {
                return Err(format!("used = {used} is more than length = {length}"));
            }
            let alphabet = column.alphabet.as_deref().unwrap_or(LETTERS_AND_DIGITS);
            Kind::Character {
                length,
                used,
                alphabet: characters(alphabet)?,
            }
        }
    })
}

fn needed<T>(key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("{key} is missing"))
}

/// Refuses keys of other kinds.
fn check_keys(column: &TextColumn) -> Result<(), String> {
    let given = [
        ("from", column.from.is_some()),
        ("to", column.to.is_some()),
        ("levels", column.levels.is_some()),
        ("value", column.value.is_some()),
        ("start", column.start.is_some()),
        ("step", column.step.is_some()),
        ("length", column.length.is_some()),
        ("used", column.used.is_some()),
        ("alphabet", column.alphabet.is_some()),
    ];
    let allowed = column.kind.keys();
    for (key, there) in given {
        if there && !allowed.contains(&key) {
            let kind = format!("{:?}", column.kind).to_lowercase();
            return Err(match allowed {
                [] => format!("{key} means nothing to kind = \"{kind}\", which takes no keys"),
                _ => format!(
                    "{key} means nothing to kind = \"{kind}\", which takes {}",
                    allowed.join(", ")
                ),
            });
        }
    }
    Ok(())
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
    if !(1..=256).contains(&characters.len()) || !characters.iter().all(|b| (32..127).contains(b)) {
        return Err(format!(
            "alphabet = {alphabet:?} must name 1 to 256 printable ASCII characters"
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
            (
                r#"{name="x", kind="sequence", step=9007199254740993}"#,
                "2^53",
            ),
            (r#"{name="x", kind="random", count=0}"#, "count = 0"),
            (r#"{name="x", kind="random", count=40000}"#, "32767"),
            (
                r#"{name="x", kind="character", length=32767, count=600}"#,
                "16777216 are allowed",
            ),
            ("", "no columns"),
            (r#"{name="x", kind="random", colour="red"}"#, "colour"),
            (r#"{name="x", kind="random", levels=3}"#, "takes no keys"),
            (
                r#"{name="x", kind="integer", levels=3, from=1, to=2}"#,
                "which takes from, to",
            ),
            (r#"{name="x", kind="level"}"#, "levels is missing"),
            (
                &format!(
                    r#"{{name="x", kind="random", label="{}"}}"#,
                    "é".repeat(129)
                ),
                "column x: label has 258 bytes; 256 are allowed",
            ),
        ] {
            let message = columns(text).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_refused_where_they_stand() {
        for value in ["inf", "-inf", "nan", "1e400"] {
            let text = format!("\n{{name=\"x\", kind=\"constant\", value={value}}}");
            let message = columns(&text).unwrap_err();
            assert!(message.contains("line 2, column 35"), "{message}");
        }
        let message = columns(r#"{name="x", kind="constant", value=nan}"#).unwrap_err();
        assert!(message.contains("kind = \"missing\""), "{message}");
        assert!(columns(r#"{name="x", kind="constant", value=3}"#).is_ok());
    }

    #[test]
    fn alphabets_take_ranges() {
        assert_eq!(characters("a-c-").unwrap(), b"abc-");
        assert!(characters("").is_err());
    }
}
