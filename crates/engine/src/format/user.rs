//! Formats and informats made by PROC FORMAT.

mod informat;
mod picture;
mod ranges;

use std::collections::BTreeMap;
use std::sync::Arc;

use sas7bdat::Format;

pub use self::informat::{Reads, UserInformat};
pub use self::picture::{Datatype, Picture};
pub use self::ranges::{Ends, Overlap, Ranges, Shown};

/// What PROC FORMAT made in a session: formats and informats by upper-case name, `$` included.
#[derive(Debug, Clone, Default)]
pub struct Formats {
    formats: BTreeMap<String, Arc<UserFormat>>,
    informats: BTreeMap<String, Arc<UserInformat>>,
}

/// One format.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserFormat {
    /// Values with what is printed for them.
    pub ranges: Ranges<Label>,
    /// DEFAULT=, or the longest label.
    pub width: u16,
    /// MIN= and MAX=.
    pub limits: (u16, u16),
    /// ROUND: values of pictures are rounded to whole numbers.
    pub round: bool,
    /// Made by PICTURE.
    pub picture: bool,
}

/// What is printed for a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Label {
    /// A text.
    Text(Box<str>),
    /// What another format prints.
    Format(Box<Format>),
    /// A number in a template.
    Picture(Box<Picture>),
}

impl Label {
    /// Bytes that it takes beside its own place.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Format(_) => size_of::<Format>(),
            Self::Picture(picture) => size_of::<Picture>() + picture.template.len(),
        }
    }
}

impl UserFormat {
    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        self.ranges.bytes(Label::bytes)
    }
}

impl Formats {
    /// The format of this upper-case name.
    pub fn get(&self, name: &str) -> Option<&Arc<UserFormat>> {
        self.formats.get(name)
    }

    /// Whether there is a format of this upper-case name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.formats.contains_key(name)
    }

    /// The informat of this upper-case name.
    pub fn informat(&self, name: &str) -> Option<&Arc<UserInformat>> {
        self.informats.get(name)
    }

    /// Keeps a format; true if it takes the place of another.
    pub fn insert(&mut self, name: String, format: UserFormat) -> bool {
        self.formats.insert(name, Arc::new(format)).is_some()
    }

    /// Keeps an informat; true if it takes the place of another.
    pub fn insert_informat(&mut self, name: String, informat: UserInformat) -> bool {
        self.informats.insert(name, Arc::new(informat)).is_some()
    }

    /// All formats by name, those of texts behind those of numbers.
    pub fn formats(&self) -> impl Iterator<Item = (&str, &UserFormat)> {
        texts_last(&self.formats)
    }

    /// All informats by name, those of texts behind those of numbers.
    pub fn informats(&self) -> impl Iterator<Item = (&str, &UserInformat)> {
        texts_last(&self.informats)
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        let formats = self.formats.values().map(|one| one.bytes());
        let informats = self.informats.values().map(|one| one.bytes());
        formats.chain(informats).sum()
    }
}

fn texts_last<T>(all: &BTreeMap<String, Arc<T>>) -> impl Iterator<Item = (&str, &T)> {
    let of = |text: bool| {
        let all = all.iter();
        all.filter(move |(name, _)| name.starts_with('$') == text)
            .map(|(name, one)| (name.as_str(), one.as_ref()))
    };
    of(false).chain(of(true))
}
