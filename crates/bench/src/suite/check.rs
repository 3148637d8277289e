//! What must hold of outputs, with everything put in: from the text of a check, the keys that its kind
//! takes.

use serde::{Deserialize, Serialize};

use super::Wrong;
use super::pattern::{self, Values};
use super::text::{CheckText, KindOfCheck};
use toml::Spanned;

/// What must hold of an output. Data sets are members of the library OUT.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Check {
    /// Sorted by these variables, ascending; and the same multiset of rows as an input if one is named.
    Sorted {
        /// Output data set.
        dataset: String,
        /// Key variables.
        by: Vec<String>,
        /// The input with the same rows.
        same_rows_as: Option<String>,
    },
    /// Each has so many rows.
    Rows {
        /// Output data sets.
        datasets: Vec<String>,
        /// How many.
        expected: Expected,
    },
    /// The same multiset of rows as an input.
    SameRows {
        /// Output data set.
        dataset: String,
        /// The input.
        same_rows_as: String,
        /// Only those of its rows.
        input_where: Option<String>,
    },
    /// The values of a variable add up.
    Total {
        /// Output data set.
        dataset: String,
        /// The variable.
        variable: String,
        /// Only in these rows.
        condition: Option<String>,
        /// To what.
        expected: Expected,
    },
    /// In order and without ties, with one row for each key of an input.
    Distinct {
        /// Output data set.
        dataset: String,
        /// Key variables.
        by: Vec<String>,
        /// The input.
        of: String,
    },
    /// Each has these indexes.
    Indexed {
        /// Output data sets.
        datasets: Vec<String>,
        /// Names of indexes.
        indexes: Vec<String>,
    },
    /// None of these is there.
    Absent {
        /// Output data sets.
        datasets: Vec<String>,
    },
    /// All of these are there, and no other that begins like them.
    Members {
        /// Output data sets.
        datasets: Vec<String>,
        /// What they begin with.
        start: String,
    },
    /// A text file has so many lines.
    Lines {
        /// File in the directory of OUT.
        file: String,
        /// How many, without the next.
        expected: Expected,
        /// Lines before and after.
        more: u64,
    },
    /// The same in all launches of the entry.
    Equal {
        /// Output data set.
        dataset: String,
        /// Numbers to so many digits, otherwise exactly.
        digits: Option<u32>,
        /// Place among the checks of the entry: launches are compared by the same one.
        place: usize,
    },
}

/// A number known beforehand or counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// Of what.
    pub of: Counted,
    /// So many times as many.
    pub times: u64,
}

/// What is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Counted {
    /// Known.
    Known(u64),
    /// Rows of staged data, those that fulfil a condition.
    Input {
        /// Name of the staged data.
        name: String,
        /// Condition.
        condition: Option<String>,
    },
    /// Rows of an output.
    Output(String),
}

/// The keys of a kind: those that it needs, those that it may have.
fn keys(kind: KindOfCheck) -> (&'static [&'static str], &'static [&'static str]) {
    const EXPECTED: &[&str] = &["count", "rows_of", "input_where", "times"];
    match kind {
        KindOfCheck::Sorted => (&["dataset", "by", "same_rows_as"], &[]),
        KindOfCheck::Ordered => (&["dataset", "by"], &[]),
        KindOfCheck::Rows => (&["dataset"], EXPECTED),
        KindOfCheck::SameRows => (&["dataset", "same_rows_as"], &["input_where"]),
        KindOfCheck::Total => (
            &["dataset", "variable"],
            &["where", "count", "rows_of", "input_where", "times"],
        ),
        KindOfCheck::Distinct => (&["dataset", "by", "of"], &[]),
        KindOfCheck::Indexed => (&["dataset", "indexes"], &[]),
        KindOfCheck::Absent | KindOfCheck::Members => (&["dataset"], &[]),
        KindOfCheck::Lines => (
            &["file"],
            &[
                "count",
                "rows_of",
                "input_where",
                "times",
                "header",
                "footer",
            ],
        ),
        KindOfCheck::Equal => (&["dataset"], &["digits"]),
    }
}

/// All kinds.
#[cfg(test)]
pub const KINDS: [KindOfCheck; 11] = [
    KindOfCheck::Sorted,
    KindOfCheck::Ordered,
    KindOfCheck::Rows,
    KindOfCheck::SameRows,
    KindOfCheck::Total,
    KindOfCheck::Distinct,
    KindOfCheck::Indexed,
    KindOfCheck::Absent,
    KindOfCheck::Members,
    KindOfCheck::Lines,
    KindOfCheck::Equal,
];

/// The name of a kind in suite.toml.
pub const fn kind_name(kind: KindOfCheck) -> &'static str {
    match kind {
        KindOfCheck::Sorted => "sorted",
        KindOfCheck::Ordered => "ordered",
        KindOfCheck::Rows => "rows",
        KindOfCheck::SameRows => "same-rows",
        KindOfCheck::Total => "total",
        KindOfCheck::Distinct => "distinct",
        KindOfCheck::Indexed => "indexed",
        KindOfCheck::Absent => "absent",
        KindOfCheck::Members => "members",
        KindOfCheck::Lines => "lines",
        KindOfCheck::Equal => "equal",
    }
}

/// The check as text, which knows its place.
struct Reading<'a> {
    text: &'a CheckText,
    place: usize,
    values: &'a Values,
}

/// The check at a place of its entry with everything put in; `None` if it does not hold for these values (`when`).
pub fn read(text: &CheckText, place: usize, values: &Values) -> Result<Option<Check>, Wrong> {
    let reading = Reading {
        text,
        place,
        values,
    };
    reading.check_keys()?;
    let applies = |(name, value): (&String, &String)| values.get(name) == Some(value);
    if !text.when.iter().all(applies) {
        if let Some(name) = text.when.keys().find(|name| !values.contains_key(*name)) {
            let message = format!("`when` names {name}, which is no macro variable of the job");
            return Err(Wrong::new(text.kind.span(), message));
        }
        return Ok(None);
    }
    reading.check().map(Some)
}

impl Reading<'_> {
    /// Keys that are there, by name.
    fn given(&self) -> Vec<&'static str> {
        let text = self.text;
        [
            ("dataset", text.dataset.is_some()),
            ("file", text.file.is_some()),
            ("by", text.by.is_some()),
            ("indexes", text.indexes.is_some()),
            ("variable", text.variable.is_some()),
            ("where", text.condition.is_some()),
            ("same_rows_as", text.same_rows_as.is_some()),
            ("of", text.of.is_some()),
            ("count", text.count.is_some()),
            ("rows_of", text.rows_of.is_some()),
            ("input_where", text.input_where.is_some()),
            ("times", text.times.is_some()),
            ("header", text.header.is_some()),
            ("footer", text.footer.is_some()),
            ("digits", text.digits.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, there)| there.then_some(name))
        .collect()
    }

    fn wrong(&self, message: String) -> Wrong {
        Wrong::new(self.text.kind.span(), message)
    }

    fn check_keys(&self) -> Result<(), Wrong> {
        let kind = *self.text.kind.get_ref();
        let (needed, allowed) = keys(kind);
        let given = self.given();
        let name = kind_name(kind);
        if let Some(missing) = needed.iter().find(|key| !given.contains(key)) {
            return Err(self.wrong(format!("a check of kind {name} needs the key {missing}")));
        }
        let fits = |key: &&&str| !needed.contains(key) && !allowed.contains(key);
        if let Some(extra) = given.iter().find(fits) {
            let all = [needed, allowed].concat().join(", ");
            return Err(self.wrong(format!(
                "a check of kind {name} does not take the key {extra}; it takes {all}, when"
            )));
        }
        Ok(())
    }

    fn one(&self, text: Option<&Spanned<String>>) -> Result<String, Wrong> {
        let Some(text) = text else {
            return Ok(String::new());
        };
        pattern::substitute(text.get_ref(), self.values)
            .map_err(|message| Wrong::new(text.span(), message))
    }

    fn some(&self, text: Option<&Spanned<String>>) -> Result<Option<String>, Wrong> {
        text.map(|text| self.one(Some(text))).transpose()
    }

    fn dataset(&self) -> Result<String, Wrong> {
        self.one(self.text.dataset.as_ref())
    }

    fn datasets(&self) -> Result<Vec<String>, Wrong> {
        let Some(text) = &self.text.dataset else {
            return Ok(Vec::new());
        };
        pattern::expand(text.get_ref(), self.values)
            .map_err(|message| Wrong::new(text.span(), message))
    }

    fn start(&self) -> Result<String, Wrong> {
        let Some(text) = &self.text.dataset else {
            return Ok(String::new());
        };
        pattern::common_start(text.get_ref(), self.values)
            .map_err(|message| Wrong::new(text.span(), message))
    }

    fn expected(&self) -> Result<Expected, Wrong> {
        let condition = self.some(self.text.input_where.as_ref())?;
        let of = match (&self.text.count, &self.text.rows_of) {
            (Some(count), None) => {
                if condition.is_some() {
                    let message = "input_where goes with rows_of, not with count".to_owned();
                    return Err(self.wrong(message));
                }
                let value = self.one(Some(count))?;
                let number = value.parse().map_err(|_| {
                    let message = format!("{value:?} is not a whole number");
                    Wrong::new(count.span(), message)
                })?;
                Counted::Known(number)
            }
            (None, Some(rows_of)) => {
                let name = self.one(Some(rows_of))?;
                match (name.strip_prefix("out."), condition) {
                    (Some(_), Some(_)) => {
                        let message = "input_where is for staged data only".to_owned();
                        return Err(Wrong::new(rows_of.span(), message));
                    }
                    (Some(output), None) => Counted::Output(output.to_owned()),
                    (None, condition) => Counted::Input { name, condition },
                }
            }
            _ => {
                let message = "how many is said by count or by rows_of: one of them is needed";
                return Err(self.wrong(message.to_owned()));
            }
        };
        let times = self.text.times.unwrap_or(1);
        Ok(Expected { of, times })
    }

    fn check(&self) -> Result<Check, Wrong> {
        let text = self.text;
        let by = || text.by.clone().unwrap_or_default();
        Ok(match text.kind.get_ref() {
            KindOfCheck::Sorted | KindOfCheck::Ordered => Check::Sorted {
                dataset: self.dataset()?,
                by: by(),
                same_rows_as: self.some(text.same_rows_as.as_ref())?,
            },
            KindOfCheck::Rows => Check::Rows {
                datasets: self.datasets()?,
                expected: self.expected()?,
            },
            KindOfCheck::SameRows => Check::SameRows {
                dataset: self.dataset()?,
                same_rows_as: self.one(text.same_rows_as.as_ref())?,
                input_where: self.some(text.input_where.as_ref())?,
            },
            KindOfCheck::Total => Check::Total {
                dataset: self.dataset()?,
                variable: self.one(text.variable.as_ref())?,
                condition: self.some(text.condition.as_ref())?,
                expected: self.expected()?,
            },
            KindOfCheck::Distinct => Check::Distinct {
                dataset: self.dataset()?,
                by: by(),
                of: self.one(text.of.as_ref())?,
            },
            KindOfCheck::Indexed => Check::Indexed {
                datasets: self.datasets()?,
                indexes: text.indexes.clone().unwrap_or_default(),
            },
            KindOfCheck::Absent => Check::Absent {
                datasets: self.datasets()?,
            },
            KindOfCheck::Members => Check::Members {
                datasets: self.datasets()?,
                start: self.start()?,
            },
            KindOfCheck::Lines => Check::Lines {
                file: self.one(text.file.as_ref())?,
                expected: self.expected()?,
                more: text.header.unwrap_or(0) + text.footer.unwrap_or(0),
            },
            KindOfCheck::Equal => Check::Equal {
                dataset: self.dataset()?,
                digits: text.digits,
                place: self.place,
            },
        })
    }
}

impl Check {
    /// The staged data that it needs, by name.
    pub fn input(&self) -> Option<&str> {
        match self {
            Self::Sorted { same_rows_as, .. } => same_rows_as.as_deref(),
            Self::SameRows { same_rows_as, .. } => Some(same_rows_as),
            Self::Distinct { of, .. } => Some(of),
            Self::Rows { expected, .. }
            | Self::Total { expected, .. }
            | Self::Lines { expected, .. } => match &expected.of {
                Counted::Input { name, .. } => Some(name),
                _ => None,
            },
            _ => None,
        }
    }
}
