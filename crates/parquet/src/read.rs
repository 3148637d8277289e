//! Parquet to SAS7BDAT: one pass for the lengths of texts, one for the rows.

use std::fs::File;

use base::limits::CHARACTER_BYTES_MAX;
use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use sas7bdat::{Layout, Variable, missing};

use crate::error::Error;
use crate::kind::{Meaning, decimal, format_of, of_column};

/// Rows that are turned from columns into rows at once.
const BATCH_ROWS: usize = 4096;

/// A Parquet file as a table that SAS can hold.
pub struct Table {
    reader: SerializedFileReader<File>,
    columns: Vec<Field>,
    /// Numbers that lost digits, so far.
    rounded: u64,
    /// Infinite numbers so far.
    infinite: u64,
}

#[derive(Debug)]
struct Field {
    name: String,
    text: bool,
    meaning: Meaning,
}

impl Table {
    /// Opens a file and checks that every column fits into a variable.
    pub fn open(file: File) -> Result<Self, Error> {
        let reader = SerializedFileReader::new(file)?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let columns = schema.columns().iter().map(|column| field(column));
        let columns = columns.collect::<Result<_, _>>()?;
        Ok(Self {
            reader,
            columns,
            rounded: 0,
            infinite: 0,
        })
    }

    /// Rows in the file.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.reader.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Whole and decimal numbers with more digits than a double holds that were read so far.
    pub fn rounded(&self) -> u64 {
        self.rounded
    }

    /// Infinite numbers that were read so far and became missing: SAS has none.
    pub fn infinite(&self) -> u64 {
        self.infinite
    }

    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The variables that hold the columns, called `names`; reads all texts to know their lengths.
    pub fn variables(&mut self, names: Vec<String>) -> Result<Vec<Variable>, Error> {
        assert_eq!(names.len(), self.columns.len());
        let mut longest = vec![0usize; self.columns.len()];
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group)?;
            for (column, longest) in longest.iter_mut().enumerate() {
                if self.columns[column].text {
                    let mut chunk = Chunk::open(group.as_ref(), column)?;
                    while let Some(values) = chunk.next(BATCH_ROWS, Meaning::Number)? {
                        *longest = (*longest).max(values.longest());
                    }
                }
            }
        }
        let columns = self.columns.iter().zip(names).zip(longest);
        columns
            .map(|((column, name), longest)| variable(column, name, longest))
            .collect()
    }

    /// Calls `each` with rows in `layout`, back to back.
    pub fn read<E: From<Error>>(
        &mut self,
        variables: &[Variable],
        layout: &Layout,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let row_bytes = layout.row_bytes as usize;
        let mut slab = Vec::new();
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(Error::from)?;
            let columns = 0..self.columns.len();
            let chunks = columns.map(|column| Chunk::open(group.as_ref(), column));
            let mut chunks = chunks.collect::<Result<Vec<_>, Error>>()?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            for first in (0..rows).step_by(BATCH_ROWS) {
                let count = BATCH_ROWS.min(rows - first);
                slab.clear();
                slab.resize(count * row_bytes, 0);
                for (column, chunk) in chunks.iter_mut().enumerate() {
                    let field = &self.columns[column];
                    let values = chunk.next(count, field.meaning)?;
                    let values = values.filter(|values| values.count() == count);
                    let values = values.ok_or_else(|| {
                        Error::column(&field.name, "it has fewer values than the file has rows")
                    })?;
                    self.rounded += chunk.rounded;
                    self.infinite += chunk.infinite;
                    let place = layout.offsets[column] as usize;
                    let length = variables[column].length as usize;
                    values.place(&mut slab, row_bytes, place, length);
                }
                each(&slab)?;
            }
        }
        Ok(())
    }
}

fn field(column: &ColumnDescriptor) -> Result<Field, Error> {
    let name = column.path().string();
    if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
        let detail = "it is nested, and a SAS variable holds one number or one text; \
                      flatten it before converting";
        return Err(Error::column(&name, detail));
    }
    let meaning = of_column(column);
    let decimal = matches!(meaning, Meaning::Decimal(_));
    let text = column.physical_type() == Physical::BYTE_ARRAY;
    let bytes = column.physical_type() == Physical::FIXED_LEN_BYTE_ARRAY;
    let narrow = (1..=16).contains(&column.type_length());
    if (text && decimal) || (bytes && !(decimal && narrow)) {
        let detail = "it holds bytes that are neither text nor a decimal of up to 38 digits; \
                      make it a double or a string before converting";
        return Err(Error::column(&name, detail));
    }
    let meaning = match column.physical_type() {
        Physical::INT96 => Meaning::SasMoment,
        _ => meaning,
    };
    Ok(Field {
        name,
        text,
        meaning,
    })
}

fn variable(column: &Field, name: String, longest: usize) -> Result<Variable, Error> {
    if column.text {
        let length = u32::try_from(longest.max(1)).unwrap_or(u32::MAX);
        if length > CHARACTER_BYTES_MAX {
            let detail = format!(
                "its longest value has {longest} bytes; a SAS variable holds {CHARACTER_BYTES_MAX}"
            );
            return Err(Error::column(&column.name, detail));
        }
        return Ok(Variable::character(name, length));
    }
    Ok(Variable {
        format: format_of(column.meaning),
        ..Variable::numeric(name)
    })
}

/// A column of a row group, being read.
struct Chunk {
    reader: ColumnReader,
    optional: bool,
    /// Numbers that lost digits among the values read last.
    rounded: u64,
    /// Infinite ones among them.
    infinite: u64,
}

/// Values of some rows.
enum Values {
    Numbers(Vec<f64>),
    /// `None` is null, which becomes blank.
    Texts(Vec<Option<ByteArray>>),
}

impl Chunk {
    fn open(group: &dyn RowGroupReader, column: usize) -> Result<Self, Error> {
        let descriptor = group.metadata().column(column).column_descr();
        Ok(Self {
            reader: group.get_column_reader(column)?,
            optional: descriptor.max_def_level() > 0,
            rounded: 0,
            infinite: 0,
        })
    }

    /// The next `count` values, fewer at the end, `None` behind it.
    fn next(&mut self, count: usize, meaning: Meaning) -> Result<Option<Values>, Error> {
        let optional = self.optional;
        let (mut rounded, mut infinite) = (0, 0);
        let mut exact = |digits: i128| rounded += u64::from(!is_exact(digits));
        let mut numbers = |values: Vec<Option<f64>>| {
            let number = |value: Option<f64>| {
                infinite += u64::from(value.is_some_and(f64::is_infinite));
                let finite = value.filter(|value| value.is_finite());
                finite.unwrap_or_else(missing::missing)
            };
            Values::Numbers(values.into_iter().map(number).collect())
        };
        let values = match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => {
                numbers(take(reader, count, optional, |v| f64::from(u8::from(*v)))?)
            }
            ColumnReader::Int32ColumnReader(reader) => {
                numbers(take(reader, count, optional, |v| match meaning {
                    Meaning::Unsigned => f64::from(v.cast_unsigned()),
                    _ => meaning.sas_number((*v).into()),
                })?)
            }
            ColumnReader::Int64ColumnReader(reader) => {
                numbers(take(reader, count, optional, |v| {
                    match meaning {
                        Meaning::Unsigned => exact(v.cast_unsigned().into()),
                        Meaning::Number | Meaning::Decimal(_) => exact((*v).into()),
                        _ => {}
                    }
                    meaning.sas_number(*v)
                })?)
            }
            ColumnReader::Int96ColumnReader(reader) => {
                numbers(take(reader, count, optional, sas_moment)?)
            }
            ColumnReader::FloatColumnReader(reader) => {
                numbers(take(reader, count, optional, |v| f64::from(*v))?)
            }
            ColumnReader::DoubleColumnReader(reader) => {
                numbers(take(reader, count, optional, |v| *v)?)
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                Values::Texts(take(reader, count, optional, ByteArray::clone)?)
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                let scale = match meaning {
                    Meaning::Decimal(scale) => scale,
                    _ => 0,
                };
                numbers(take(reader, count, optional, |v: &FixedLenByteArray| {
                    let digits = big_endian(v.data());
                    exact(digits);
                    decimal(digits, scale)
                })?)
            }
        };
        (self.rounded, self.infinite) = (rounded, infinite);
        Ok(Some(values).filter(|values| values.count() > 0))
    }
}

/// Seconds since 1960 of a Julian day and the nanoseconds since it began. In nanoseconds alone, 64 bits would hold no
/// year before 1677 or after 2262.
fn sas_moment(moment: &Int96) -> f64 {
    /// The Julian day of 1 January 1960.
    const EPOCH: i64 = 2_436_935;
    let [low, high, day] = moment.data() else {
        unreachable!("96 bits are three words")
    };
    let nanoseconds = u64::from(*high) << 32 | u64::from(*low);
    let days = i64::from(day.cast_signed()) - EPOCH;
    (days * 86_400) as f64 + nanoseconds as f64 / 1e9
}

/// Whether a double holds a whole number with all its digits.
fn is_exact(number: i128) -> bool {
    let digits = number.unsigned_abs();
    digits.checked_shr(digits.trailing_zeros()).unwrap_or(0) < 1 << 53
}

/// A whole number of up to 16 bytes, two's complement, the most significant byte first.
fn big_endian(bytes: &[u8]) -> i128 {
    let negative = bytes.first().is_some_and(|first| first.leading_ones() > 0);
    let start = if negative { -1i128 } else { 0 };
    bytes
        .iter()
        .fold(start, |number, byte| number << 8 | i128::from(*byte))
}

/// The next `count` values, `None` for null.
fn take<T: DataType, V>(
    reader: &mut ColumnReaderImpl<T>,
    count: usize,
    optional: bool,
    mut convert: impl FnMut(&T::T) -> V,
) -> Result<Vec<Option<V>>, Error> {
    let mut all = Vec::with_capacity(count);
    // A call may end early, where a page ends.
    while all.len() < count {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let wanted = count - all.len();
        let definitions = optional.then_some(&mut levels);
        let (rows, _, _) = reader.read_records(wanted, definitions, None, &mut values)?;
        if rows == 0 {
            break;
        }
        if !optional {
            all.extend(values.iter().map(|value| Some(convert(value))));
            continue;
        }
        let mut present = values.iter();
        for level in levels {
            let value = if level > 0 { present.next() } else { None };
            all.push(value.map(&mut convert));
        }
    }
    Ok(all)
}

impl Values {
    fn count(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    fn longest(&self) -> usize {
        match self {
            Self::Numbers(_) => 0,
            Self::Texts(values) => {
                let lengths = values.iter().flatten().map(ByteArray::len);
                lengths.max().unwrap_or(0)
            }
        }
    }

    /// Puts the values into the rows of `slab`.
    fn place(&self, slab: &mut [u8], row_bytes: usize, place: usize, length: usize) {
        let rows = slab.chunks_exact_mut(row_bytes);
        let places = rows.map(|row| &mut row[place..place + length]);
        match self {
            Self::Numbers(values) => {
                for (place, value) in places.zip(values) {
                    place.copy_from_slice(&value.to_le_bytes());
                }
            }
            Self::Texts(values) => {
                for (place, value) in places.zip(values) {
                    let value = value.as_ref().map_or(&[][..], ByteArray::data);
                    let (text, blanks) = place.split_at_mut(value.len());
                    text.copy_from_slice(value);
                    blanks.fill(b' ');
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_are_told_from_rounded_ones() {
        for number in [0, 1, -1, 1 << 53, -(1 << 60), i128::MIN, (1 << 53) - 1] {
            assert!(is_exact(number), "{number}");
        }
        for number in [(1 << 53) + 1, i128::MAX, -(1 << 54) - 1] {
            assert!(!is_exact(number), "{number}");
        }
    }

    #[test]
    fn decimals_are_signed() {
        for (bytes, number) in [
            (&[0x00, 0x7D][..], 125),
            (&[0xFF], -1),
            (&[0xFF, 0x83], -125),
            (&[0x80; 16], i128::from_be_bytes([0x80; 16])),
        ] {
            assert_eq!(big_endian(bytes), number);
        }
    }
}
