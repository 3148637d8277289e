//! The formats by name, with their default widths.

use super::{
    best, binary, calendar, exponent, fixed, hexadecimal, money, parenthesised, percent,
    probability, quoted, zero_padded,
};
use crate::expr::evaluate::trimmed;

/// A format.
pub(super) struct Entry {
    /// Upper case, with `$`; empty for `w.d`.
    pub(super) name: &'static str,
    /// Width where none is written; 0 for texts as long as they are.
    pub(super) width: u16,
    pub(super) print: Print,
}

/// What a format does.
#[derive(Clone, Copy)]
pub(super) enum Print {
    /// A value that is there in a width with decimals.
    Number(fn(f64, usize, usize) -> String),
    /// A date, time or datetime: by name.
    Calendar,
    /// A text, not yet cut.
    Text(fn(&[u8]) -> Vec<u8>),
}

const fn number(name: &'static str, width: u16, print: fn(f64, usize, usize) -> String) -> Entry {
    let print = Print::Number(print);
    Entry { name, width, print }
}

const fn calendar(name: &'static str, width: u16) -> Entry {
    let print = Print::Calendar;
    Entry { name, width, print }
}

const fn text(name: &'static str, print: fn(&[u8]) -> Vec<u8>) -> Entry {
    Entry {
        name,
        width: 0,
        print: Print::Text(print),
    }
}

static FORMATS: &[Entry] = &[
    number("", 12, fixed),
    number("F", 12, fixed),
    number("BEST", 12, |value, width, _| best(value, width)),
    number("BESTX", 12, |value, width, _| best(value, width)),
    number("D", 12, |value, width, _| best(value, width)),
    number("COMMA", 6, |value, width, decimals| {
        money("", value, width, decimals)
    }),
    number("DOLLAR", 6, |value, width, decimals| {
        money("$", value, width, decimals)
    }),
    number("PERCENT", 6, percent),
    number("PVALUE", 6, |value, width, decimals| {
        probability(value, width, if decimals == 0 { 4 } else { decimals })
    }),
    number("NEGPAREN", 6, parenthesised),
    number("Z", 1, zero_padded),
    number("E", 12, |value, width, _| exponent(value, width)),
    number("HEX", 8, |value, width, _| hexadecimal(value, width)),
    number("BINARY", 8, |value, width, _| binary(value, width)),
    calendar("DATE", 7),
    calendar("DATETIME", 16),
    calendar("DAY", 2),
    calendar("DDMMYY", 8),
    calendar("DDMMYYB", 8),
    calendar("DDMMYYC", 8),
    calendar("DDMMYYD", 8),
    calendar("DDMMYYN", 8),
    calendar("DDMMYYP", 8),
    calendar("DDMMYYS", 8),
    calendar("DOWNAME", 9),
    calendar("DTDATE", 7),
    calendar("DTMONYY", 5),
    calendar("DTYEAR", 4),
    calendar("E8601DA", 10),
    calendar("E8601DT", 19),
    calendar("E8601TM", 8),
    calendar("HHMM", 5),
    calendar("HOUR", 2),
    calendar("JULIAN", 5),
    calendar("MMDDYY", 8),
    calendar("MMDDYYB", 8),
    calendar("MMDDYYC", 8),
    calendar("MMDDYYD", 8),
    calendar("MMDDYYN", 8),
    calendar("MMDDYYP", 8),
    calendar("MMDDYYS", 8),
    calendar("MMSS", 5),
    calendar("MMYY", 7),
    calendar("MONNAME", 9),
    calendar("MONTH", 2),
    calendar("MONYY", 5),
    calendar("QTR", 1),
    calendar("TIME", 8),
    calendar("TOD", 8),
    calendar("WEEKDATE", 29),
    calendar("WEEKDATX", 29),
    calendar("WEEKDAY", 1),
    calendar("WORDDATE", 18),
    calendar("WORDDATX", 18),
    calendar("YEAR", 4),
    calendar("YYMM", 7),
    calendar("YYMMDD", 8),
    calendar("YYMMDDB", 8),
    calendar("YYMMDDC", 8),
    calendar("YYMMDDD", 8),
    calendar("YYMMDDN", 8),
    calendar("YYMMDDP", 8),
    calendar("YYMMDDS", 8),
    calendar("YYMMN", 6),
    calendar("YYQ", 6),
    text("$", <[u8]>::to_vec),
    text("$CHAR", <[u8]>::to_vec),
    text("$F", <[u8]>::to_vec),
    text("$UPCASE", <[u8]>::to_ascii_uppercase),
    text("$LOWCASE", <[u8]>::to_ascii_lowercase),
    text("$QUOTE", quoted),
    text("$HEX", |value| {
        let pairs = value.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digits = pairs.map(|digit| b"0123456789ABCDEF"[usize::from(digit)]);
        digits.collect()
    }),
    text("$REVERS", reversed),
    text("$REVERJ", reversed),
];

fn reversed(value: &[u8]) -> Vec<u8> {
    trimmed(value).iter().rev().copied().collect()
}

impl Entry {
    /// The format of this upper-case name.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|entry| entry.name == name)
    }

    /// How it prints a number that is there; `None` if it is for texts.
    pub(super) fn number(&self, value: f64, width: usize, decimals: usize) -> Option<String> {
        match self.print {
            Print::Number(print) => Some(print(value, width, decimals)),
            Print::Calendar => Some(calendar::text(self.name, value, width, decimals)),
            Print::Text(_) => None,
        }
    }
}

/// Names of all formats, those of texts with `$`; that of `w.d` is empty.
pub fn names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|entry| entry.name)
}
