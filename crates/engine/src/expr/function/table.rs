//! All functions but the few of `super`, by name.

use super::{
    character, conversion, date, numeric, pattern, probability, random, search, special,
    statistics, words,
};
use crate::expr::general::{Call, Result};

/// A function of the language.
pub struct Entry {
    /// Upper case.
    pub name: &'static str,
    /// Types of its arguments: `n` number, `c` text, `a` either; `?` before the first one that may
    /// be left out; `*` at the end if the last one may be repeated.
    pub takes: &'static str,
    /// What it gives.
    pub gives: Gives,
    /// Missing arguments are left out rather than making the result missing.
    pub skips_missing: bool,
    /// Its meaning.
    pub run: Run,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Type and length of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// A number.
    Number,
    /// Text as long as the first argument that is text.
    SameLength,
    /// Text as long as the argument at this index.
    LengthOf(usize),
    /// Text as long as the longest argument.
    Longest,
    /// Text of up to so many bytes.
    Length(u32),
    /// Text as wide as the format.
    Format,
    /// Text as wide as the informat, or as long as the argument.
    Informat,
}

/// What computes a result.
pub enum Run {
    /// Of numbers alone; `None` if they are not valid.
    Numbers(fn(&[f64]) -> Option<f64>),
    /// Of anything.
    General(fn(&mut Call<'_, '_>) -> Result),
}

impl Entry {
    /// The function called `name`, any case.
    pub fn find(name: &str) -> Option<&'static Self> {
        let upper = name.to_ascii_uppercase();
        Self::all().find(|entry| entry.name == upper)
    }

    /// Every function of the tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        let tables = [
            numeric::TABLE,
            pattern::TABLE,
            statistics::TABLE,
            character::TABLE,
            conversion::TABLE,
            date::TABLE,
            probability::TABLE,
            random::TABLE,
            search::TABLE,
            special::TABLE,
            words::TABLE,
        ];
        tables.into_iter().flatten()
    }

    /// Least and most arguments.
    pub fn arity(&self) -> (usize, usize) {
        let letters = self.takes.bytes().filter(u8::is_ascii_lowercase).count();
        let least = self
            .takes
            .split('?')
            .next()
            .map_or(0, str::len)
            .min(letters);
        let most = if self.takes.ends_with('*') {
            usize::MAX
        } else {
            letters
        };
        (least, most)
    }

    /// `n`, `c` or `a` of the argument at `index`.
    pub fn kind(&self, index: usize) -> u8 {
        let letters = || self.takes.bytes().filter(u8::is_ascii_lowercase);
        letters()
            .nth(index)
            .or_else(|| letters().next_back())
            .unwrap_or(b'n')
    }
}

/// A function of numbers that is missing if one of them is.
pub(super) const fn plain(
    name: &'static str,
    takes: &'static str,
    run: fn(&[f64]) -> Option<f64>,
) -> Entry {
    Entry {
        name,
        takes,
        gives: Gives::Number,
        skips_missing: false,
        run: Run::Numbers(run),
    }
}

/// A statistic of the numbers that are there.
pub(super) const fn statistic(name: &'static str, run: fn(&[f64]) -> Option<f64>) -> Entry {
    Entry {
        name,
        takes: "n*",
        gives: Gives::Number,
        skips_missing: true,
        run: Run::Numbers(run),
    }
}

/// Any other function.
pub(in crate::expr) const fn general(
    name: &'static str,
    takes: &'static str,
    gives: Gives,
    run: fn(&mut Call<'_, '_>) -> Result,
) -> Entry {
    Entry {
        name,
        takes,
        gives,
        skips_missing: true,
        run: Run::General(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arities_follow_from_the_signatures() {
        let arity = |name: &str| Entry::find(name).unwrap().arity();
        assert_eq!(arity("mod"), (2, 2));
        assert_eq!(arity("Substr"), (2, 3));
        assert_eq!(arity("std"), (1, usize::MAX));
        assert_eq!(arity("today"), (0, 0));
        assert_eq!(Entry::find("catx").unwrap().kind(5), b'a');
        assert!(Entry::find("nosuch").is_none());
    }
}
