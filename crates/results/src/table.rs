//! A table as data: typed cells, units, notes. Whoever prints it decides how cells look.

use serde::{Serialize, Serializer};

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Table {
    /// Stable name, also that of its CSV file: `job-runtimes`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The published table whose form it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Columns, the first of which names the rows.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
    /// What must be known to read it, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Heading.
    pub title: String,
    /// What its cells are.
    pub unit: Unit,
}

/// What the cells of a column are. Cells hold the unit itself: seconds, bytes, MB/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A text.
    Text,
    /// A whole number.
    Count,
    /// Seconds, printed as h:mm:ss.
    HoursMinutesSeconds,
    /// Seconds, printed as m:ss.
    MinutesSeconds,
    /// Seconds, printed as h:mm.
    HoursMinutes,
    /// Seconds, printed as minutes with two decimals.
    Minutes,
    /// Seconds with two decimals.
    Seconds,
    /// Seconds, printed as logs of SAS have them: 41.73, 1:41.08, 2:27:44.66.
    Stimer,
    /// Bytes, printed in the decimal unit that fits.
    Bytes,
    /// Bytes, printed in the binary unit that fits, as `du -h` does.
    BinaryBytes,
    /// Bytes, printed as GB (10^9) with two decimals.
    Gigabytes,
    /// MB/s (10^6 bytes).
    MegabytesPerSecond,
    /// A ratio with three decimals.
    Ratio,
    /// Per cent with one decimal.
    Percent,
    /// A number per second.
    PerSecond,
    /// A number per hour.
    PerHour,
    /// Microseconds.
    Microseconds,
    /// A number whose unit stands in another column.
    Plain,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// A sum, mean or difference of the rows above.
    #[serde(skip_serializing_if = "is_false")]
    pub summary: bool,
    /// A cell for each column.
    pub cells: Vec<Cell>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the shape that serde wants"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// A cell. In JSON it is a plain value: a text, a number, a list, or null if nothing was measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A text.
    Text(String),
    /// A number in the column's unit.
    Number(f64),
    /// A difference in the column's unit, printed with its sign.
    Difference(f64),
    /// From, to, in the column's unit.
    Range(f64, f64),
    /// Several, in the column's unit.
    List(Vec<f64>),
    /// Not measured.
    Absent,
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A whole number.
    pub fn count(number: u64) -> Self {
        Self::Number(number as f64)
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(value) | Self::Difference(value) => Some(*value),
            _ => None,
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            // An empty sum is -0.
            Self::Number(value) | Self::Difference(value) => serializer.serialize_f64(*value + 0.0),
            Self::Range(from, to) => [from, to].serialize(serializer),
            Self::List(values) => values.serialize(serializer),
            Self::Absent => serializer.serialize_none(),
        }
    }
}

impl From<Option<f64>> for Cell {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Absent, Self::Number)
    }
}

impl From<Option<u64>> for Cell {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::Absent, Self::count)
    }
}

impl From<Option<(f64, f64)>> for Cell {
    fn from(value: Option<(f64, f64)>) -> Self {
        value.map_or(Self::Absent, |(from, to)| Self::Range(from, to))
    }
}

impl Table {
    /// An empty table.
    pub fn new(id: &str, title: impl Into<String>, columns: &[(&str, Unit)]) -> Self {
        Self {
            id: id.to_owned(),
            title: title.into(),
            columns: columns
                .iter()
                .map(|(title, unit)| Column::new(*title, *unit))
                .collect(),
            ..Self::default()
        }
    }

    /// The same, in the form of a published table.
    #[must_use]
    pub fn in_form(self, form: &str) -> Self {
        Self {
            form: Some(form.to_owned()),
            ..self
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.add(cells, false);
    }

    /// Adds a sum, mean or difference.
    pub fn summary(&mut self, cells: Vec<Cell>) {
        self.add(cells, true);
    }

    fn add(&mut self, cells: Vec<Cell>, summary: bool) {
        assert_eq!(
            cells.len(),
            self.columns.len(),
            "a cell for each column of {}",
            self.id
        );
        self.rows.push(Row { summary, cells });
    }

    /// Adds a note, once.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

impl Column {
    /// A column.
    pub fn new(title: impl Into<String>, unit: Unit) -> Self {
        Self {
            title: title.into(),
            unit,
        }
    }
}
