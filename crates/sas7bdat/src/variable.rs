//! Variables and where they sit in a row.

/// What a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An IEEE number of 3 to 8 bytes.
    Numeric,
    /// Text of a fixed number of bytes, padded with blanks.
    Character,
}

/// A format or informat, such as `DATE9.` or `$CHAR20.` or `8.2`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Format {
    /// Name without width and point; empty for none and for the plain `w.d`.
    pub name: String,
    /// Width, 0 if not given.
    pub width: u16,
    /// Digits behind the point, 0 if not given.
    pub decimals: u16,
}

/// A column of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Variable {
    /// Name in the case it was created with.
    pub name: String,
    /// Number or text.
    pub kind: Kind,
    /// Bytes in a row: 3 to 8 for numbers, 1 to 32767 for text.
    pub length: u32,
    /// Label, empty for none.
    pub label: String,
    /// How values are printed.
    pub format: Format,
    /// How values are read.
    pub informat: Format,
}

impl Variable {
    /// A number of 8 bytes.
    pub fn numeric(name: impl Into<String>) -> Self {
        Self::new(name.into(), Kind::Numeric, 8)
    }

    /// A text of `length` bytes.
    pub fn character(name: impl Into<String>, length: u32) -> Self {
        Self::new(name.into(), Kind::Character, length)
    }

    fn new(name: String, kind: Kind, length: u32) -> Self {
        let none = Format::default();
        Self {
            name,
            kind,
            length,
            label: String::new(),
            format: none.clone(),
            informat: none,
        }
    }
}

/// How rows are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Compression {
    /// Rows lie side by side.
    #[default]
    None,
    /// Run-length encoding, `COMPRESS=CHAR` (also `YES`), `SASYZCRL`.
    Char,
    /// Ross data compression, `COMPRESS=BINARY`, `SASYZCR2`.
    Binary,
}

/// Rows up to this length are not compressed: the pointer of a compressed row takes as much.
const POINTER_BYTES: u64 = 24;

impl Compression {
    /// What becomes of compression for rows of these variables: SAS disables it, with a note, where
    /// its overhead would be larger than a row.
    #[must_use]
    pub fn effective(self, variables: &[Variable]) -> Self {
        let bytes: u64 = variables
            .iter()
            .map(|variable| u64::from(variable.length))
            .sum();
        if bytes <= POINTER_BYTES {
            Self::None
        } else {
            self
        }
    }
}

/// Where each variable sits in a row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Offset of each variable, in variable order.
    pub offsets: Vec<u32>,
    /// Bytes of a row, padding included.
    pub row_bytes: u32,
}

impl Layout {
    /// The layout that SAS 9.4 gives to these variables.
    ///
    /// Numbers of 8 bytes come first, then those of 4, then the other numbers, then text; within each
    /// group in variable order and without gaps. Uncompressed rows with a number in them are padded
    /// to a multiple of 8. Compression is what [becomes of it](Compression::effective).
    pub fn new(variables: &[Variable], compression: Compression) -> Self {
        let mut offsets = vec![0; variables.len()];
        let mut end = 0u32;
        for group in 0..4 {
            for (variable, offset) in variables.iter().zip(&mut offsets) {
                if Self::group(variable) == group {
                    *offset = end;
                    end = end.saturating_add(variable.length);
                }
            }
        }
        let padded = compression.effective(variables) == Compression::None
            && variables
                .iter()
                .any(|variable| variable.kind == Kind::Numeric);
        let row_bytes = if padded {
            end.checked_next_multiple_of(8).unwrap_or(end)
        } else {
            end
        };
        Self { offsets, row_bytes }
    }

    fn group(variable: &Variable) -> u8 {
        match (variable.kind, variable.length) {
            (Kind::Numeric, 8) => 0,
            (Kind::Numeric, 4) => 1,
            (Kind::Numeric, _) => 2,
            (Kind::Character, _) => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_eight_then_four_then_odd_lengths_then_text() {
        let number = |length| Variable {
            length,
            ..Variable::numeric("n")
        };
        let variables = [
            Variable::character("c", 5),
            number(3),
            number(8),
            number(4),
            number(7),
            number(8),
        ];
        let layout = Layout::new(&variables, Compression::None);
        assert_eq!(
            layout,
            Layout {
                offsets: vec![30, 20, 0, 16, 23, 8],
                row_bytes: 40
            }
        );
        assert_eq!(Layout::new(&variables, Compression::Char).row_bytes, 35);
        assert_eq!(Layout::new(&variables[..1], Compression::None).row_bytes, 5);
    }
}
