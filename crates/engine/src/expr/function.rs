//! Functions of the language. The few that every program uses are variants here with their meaning
//! beside them, all others are in the tables of `table`; a name that is in neither is refused when
//! the step is compiled.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use sas7bdat::missing;

pub(crate) mod character;
pub(crate) mod conversion;
mod date;
mod md5;
mod numeric;
pub(super) mod pattern;
mod probability;
pub mod random;
mod search;
pub mod special;
mod statistics;
pub mod table;
mod words;

use super::Number;
use super::evaluate::{Events, order_key, trimmed};

/// Functions of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfNumbers {
    /// `abs(x)`
    Abs,
    /// `exp(x)`
    Exp,
    /// `sum(x, …)` of what is not missing; missing if nothing is.
    Sum,
    /// `mean(x, …)` of what is not missing.
    Mean,
    /// `min(x, …)` of what is not missing.
    Min,
    /// `max(x, …)` of what is not missing.
    Max,
    /// `n(x, …)`: how many are not missing.
    N,
    /// `nmiss(x, …)`: how many are missing.
    NMiss,
    /// `missing(x)`: 1 or 0.
    Missing,
}

/// Functions of one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfText {
    /// `upcase(c)`
    Upcase,
    /// `lowcase(c)`
    Lowcase,
    /// `trim(c)`: without trailing blanks, but at least one blank.
    Trim,
    /// `strip(c)`: without leading and trailing blanks.
    Strip,
}

pub(super) use character::whole;

/// The functions that are compiled without the tables: those above, and LAG and DIF, which keep values.
const WITHOUT_TABLE: [&str; 17] = [
    "ABS", "EXP", "SUM", "MEAN", "MIN", "MAX", "N", "NMISS", "MISSING", "UPCASE", "LOWCASE",
    "TRIM", "STRIP", "LAG", "DIF", "VNAME", "VTYPE",
];

/// Names of all functions, in order.
pub fn names() -> Vec<&'static str> {
    // What has a blank in its name cannot be called by a program.
    let called = |name: &&str| !name.contains(' ');
    let all = table::Entry::all().map(|entry| entry.name);
    let mut names: Vec<&str> = all.filter(called).collect();
    names.extend(WITHOUT_TABLE);
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether the argument at `index` may be left out between commas: it is a text of no length then.
pub(super) fn may_omit(name: &str, index: usize) -> bool {
    match name.to_ascii_uppercase().as_str() {
        "COMPRESS" | "COUNTW" => index == 1,
        "SCAN" => index == 2,
        _ => false,
    }
}

/// What is wrong with the distribution or interval that the first of `arguments` arguments of `function` names,
/// if anything is.
pub(super) fn refusal(function: &str, name: &[u8], arguments: usize) -> Option<String> {
    match function {
        "CDF" | "PROBABILITY" | "SDF" | "PDF" | "QUANTILE" => {
            probability::refusal(function, name, arguments)
        }
        "RAND" => random::refusal(name, arguments),
        "INTNX" | "INTCK" => date::refusal(function, name),
        _ => None,
    }
}

/// Which of the `known` distributions `name` means: as in SAS the first four letters will do.
fn distribution(
    function: &str,
    name: &[u8],
    known: impl Iterator<Item = &'static str> + Clone,
) -> Result<usize, String> {
    let name = name.trim_ascii();
    // A mixture of normal distributions is none of those that there are.
    let is_mixture = || name.len() > 6 && name[..7].eq_ignore_ascii_case(b"NORMALM");
    let means = |one: &str| match (one.as_bytes().get(..4), name.get(..4)) {
        (Some(one), Some(four)) => one.eq_ignore_ascii_case(four) && !is_mixture(),
        _ => one.as_bytes().eq_ignore_ascii_case(name),
    };
    known.clone().position(means).ok_or_else(|| {
        let known: Vec<&str> = known.collect();
        let name = String::from_utf8_lossy(name).to_ascii_uppercase();
        format!(
            "The distribution '{name}' of {function} is unknown or not implemented yet. There are {}.",
            known.join(" ")
        )
    })
}

/// The message on a distribution with too many or too few parameters.
fn wrong_count(function: &str, name: &str, takes: RangeInclusive<usize>, count: usize) -> String {
    let (least, most) = takes.into_inner();
    let takes = match (least, most) {
        (_, usize::MAX) => format!("{least} or more"),
        _ if least == most => least.to_string(),
        _ => format!("{least} to {most}"),
    };
    format!("The distribution {name} of {function} takes {takes} parameters, not {count}.")
}

impl OfNumbers {
    /// The function called `name` (any case) with its least and most number of arguments.
    pub fn find(name: &str) -> Option<(Self, usize, usize)> {
        Some(match name.to_ascii_uppercase().as_str() {
            "ABS" => (Self::Abs, 1, 1),
            "EXP" => (Self::Exp, 1, 1),
            "SUM" => (Self::Sum, 1, usize::MAX),
            "MEAN" => (Self::Mean, 1, usize::MAX),
            "MIN" => (Self::Min, 1, usize::MAX),
            "MAX" => (Self::Max, 1, usize::MAX),
            "N" => (Self::N, 1, usize::MAX),
            "NMISS" => (Self::NMiss, 1, usize::MAX),
            "MISSING" => (Self::Missing, 1, 1),
            _ => return None,
        })
    }

    /// The value over `row`.
    pub fn value(self, arguments: &[Number], row: &[u8], events: &mut Events) -> f64 {
        self.of(arguments.iter().map(|argument| argument.value(row, events)))
    }

    /// The value of these arguments.
    #[inline]
    pub fn of(self, mut values: impl Iterator<Item = f64>) -> f64 {
        let result = match self {
            Self::Abs => values.next().map(f64::abs),
            Self::Exp => values.next().map(f64::exp),
            Self::Missing => values.next().map(|x| f64::from(u8::from(x.is_nan()))),
            Self::N => Some(values.filter(|x| !x.is_nan()).count() as f64),
            Self::NMiss => Some(values.filter(|x| x.is_nan()).count() as f64),
            Self::Sum => values.filter(|x| !x.is_nan()).reduce(|a, b| a + b),
            Self::Mean => mean(values.filter(|x| !x.is_nan())),
            Self::Min => values.filter(|x| !x.is_nan()).min_by_key(|x| order_key(*x)),
            Self::Max => values.filter(|x| !x.is_nan()).max_by_key(|x| order_key(*x)),
        };
        result
            .filter(|x| x.is_finite())
            .unwrap_or_else(|| missing::encode(0))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

impl OfText {
    /// The function called `name`, any case.
    pub fn find(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "UPCASE" => Self::Upcase,
            "LOWCASE" => Self::Lowcase,
            "TRIM" => Self::Trim,
            "STRIP" => Self::Strip,
            _ => return None,
        })
    }

    /// The function of `text`.
    pub fn value(self, text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        match self {
            Self::Upcase => Cow::Owned(text.to_ascii_uppercase()),
            Self::Lowcase => Cow::Owned(text.to_ascii_lowercase()),
            Self::Trim => {
                let end = trimmed(&text).len().max(1).min(text.len());
                slice(text, 0, end)
            }
            Self::Strip => {
                let end = trimmed(&text).len();
                let start = text
                    .iter()
                    .position(|byte| *byte != b' ')
                    .unwrap_or(end)
                    .min(end);
                slice(text, start, end)
            }
        }
    }
}

fn slice(text: Cow<'_, [u8]>, start: usize, end: usize) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[start..end]),
        Cow::Owned(bytes) => Cow::Owned(bytes[start..end].to_vec()),
    }
}
