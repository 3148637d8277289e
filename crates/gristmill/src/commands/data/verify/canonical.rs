//! Rows in one form, whatever the file's layout, compression and byte order.

use sas7bdat::{Compression, Endian, Kind, Layout, Metadata, Rows, missing};

/// Brings rows into the layout of an uncompressed SAS 9.4 data set on Linux, with zeros for padding, so
/// that a data set's hash does not change when it is compressed or comes from another machine.
pub struct Canonical {
    how: How,
    stored_bytes: usize,
    row_bytes: usize,
    /// Where numbers lie, and their bytes.
    numbers: Vec<(usize, usize)>,
    windows: bool,
    slab: Vec<u8>,
}

enum How {
    /// So many bytes are in their places; the padding may be anything, or not there.
    Padded(usize),
    /// Column by column: from, to, bytes, reversed.
    Moved(Vec<(usize, usize, usize, bool)>),
}

impl Canonical {
    /// For rows of this data set.
    pub fn new(metadata: &Metadata) -> Self {
        let wanted = Layout::new(&metadata.variables, Compression::None);
        let stored = &metadata.layout;
        let same_places = metadata.endian == Endian::Little
            && stored.offsets == wanted.offsets
            && stored.row_bytes <= wanted.row_bytes;
        let numbers = metadata.variables.iter().zip(&wanted.offsets);
        let numbers =
            numbers.filter(|(variable, _)| variable.kind == Kind::Numeric && variable.length >= 3);
        let numbers = numbers.map(|(variable, place)| (*place as usize, variable.length as usize));
        let values: u32 = metadata
            .variables
            .iter()
            .map(|variable| variable.length)
            .sum();
        let how = if same_places {
            How::Padded(values as usize)
        } else {
            let places = stored.offsets.iter().zip(&wanted.offsets);
            let moves = places
                .zip(&metadata.variables)
                .map(|((from, to), variable)| {
                    let reversed = metadata.endian == Endian::Big && variable.kind == Kind::Numeric;
                    let bytes = variable.length as usize;
                    (*from as usize, *to as usize, bytes, reversed)
                });
            How::Moved(moves.collect())
        };
        Self {
            how,
            stored_bytes: stored.row_bytes as usize,
            // A row of no bytes has no values and one byte here, so that rows can be counted.
            row_bytes: (wanted.row_bytes as usize).max(1),
            numbers: numbers.collect(),
            windows: metadata.windows,
            slab: Vec::new(),
        }
    }

    /// Bytes of a row in [`Self::slab`].
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// The rows in the one form, back to back.
    pub fn slab<'s>(&'s mut self, rows: Rows<'s>) -> &'s [u8] {
        self.slab.clear();
        self.slab.resize(rows.count * self.row_bytes, 0);
        let stored = rows.bytes.chunks_exact(self.stored_bytes.max(1));
        for (to, from) in self.slab.chunks_exact_mut(self.row_bytes).zip(stored) {
            match &self.how {
                How::Padded(values) => to[..*values].copy_from_slice(&from[..*values]),
                How::Moved(moves) => {
                    for (start, place, bytes, reversed) in moves {
                        let place = &mut to[*place..place + bytes];
                        place.copy_from_slice(&from[*start..start + bytes]);
                        if *reversed {
                            place.reverse();
                        }
                    }
                }
            }
            for (place, bytes) in &self.numbers {
                let end = place + bytes;
                if to[end - 2..end] == [0xFF; 2] {
                    normalize(&mut to[*place..end], self.windows);
                }
            }
        }
        &self.slab
    }
}

/// Gives a missing value the code of Unix. The bytes are the most significant ones of a number. Codes of Windows
/// may also be in a file of Unix to which rows were copied; there, other bits that no missing value has are damage
/// and stay as they are.
fn normalize(stored: &mut [u8], windows: bool) {
    let code = stored.len() - 3;
    if !windows && stored[..code].iter().any(|byte| *byte != 0) {
        return;
    }
    let mut number = [0; 8];
    let place = number.len() - stored.len();
    number[place..].copy_from_slice(stored);
    let number = missing::normalize(f64::from_le_bytes(number)).to_le_bytes();
    stored.copy_from_slice(&number[place..]);
}

#[cfg(test)]
mod tests {
    use sas7bdat::{Reader, Variable, WriteOptions, Writer};

    use super::*;

    fn metadata(compression: Compression) -> Metadata {
        let short = Variable {
            length: 3,
            ..Variable::numeric("short")
        };
        let variables = [Variable::character("c", 50), short, Variable::numeric("x")];
        let options = WriteOptions {
            compression,
            ..WriteOptions::default()
        };
        let writer = Writer::create(Vec::new(), &variables, options).unwrap();
        let (bytes, _) = writer.finish().unwrap();
        Reader::open(bytes.as_slice()).unwrap().metadata().clone()
    }

    fn slab(metadata: &Metadata, row: &[u8]) -> Vec<u8> {
        let rows = Rows {
            bytes: row,
            row_bytes: row.len(),
            count: 1,
        };
        Canonical::new(metadata).slab(rows).to_vec()
    }

    #[test]
    fn layout_compression_and_byte_order_do_not_matter() {
        let text = [b'a'; 50];
        let short = [11, 12, 13];
        let plain = [&[1, 2, 3, 4, 5, 6, 7, 8], &short[..], &text, &[0; 3]].concat();
        assert_eq!(slab(&metadata(Compression::None), &plain), plain);
        assert_eq!(slab(&metadata(Compression::Char), &plain[..61]), plain);
        let mut other = metadata(Compression::None);
        other.endian = Endian::Big;
        other.layout = Layout {
            offsets: vec![8, 58, 0],
            row_bytes: 64,
        };
        let foreign = [&[8, 7, 6, 5, 4, 3, 2, 1], &text[..], &[13, 12, 11], &[9; 3]].concat();
        assert_eq!(slab(&other, &foreign), plain);
    }

    #[test]
    fn what_pads_a_row_does_not_count() {
        let values = [1; 61];
        let plain = [&values[..], &[0; 3]].concat();
        let remnants = [&values[..], &[9; 3]].concat();
        assert_eq!(slab(&metadata(Compression::None), &remnants), plain);
    }

    #[test]
    fn missing_values_of_windows_are_those_of_unix() {
        let text = [b'a'; 50];
        // `.A` and `.`: the code is the third byte from the sign.
        let of_windows = [0, 0, 0, 0, 0, 0xBE, 0xFF, 0xFF, 0xD1, 0xFF, 0xFF];
        let of_unix = [0, 0, 0, 0, 0, 0xFD, 0xFF, 0xFF, 0xFE, 0xFF, 0xFF];
        let expected = [&of_unix[..], &text, &[0; 3]].concat();
        let compressions = [Compression::None, Compression::Char];
        let cases =
            compressions.map(|compression| [true, false].map(|windows| (compression, windows)));
        for (compression, windows) in cases.into_iter().flatten() {
            let mut metadata = metadata(compression);
            metadata.windows = windows;
            let row = [&of_windows[..], &text, &[0; 3]].concat();
            let row = &row[..metadata.layout.row_bytes as usize];
            assert_eq!(slab(&metadata, row), expected);
            let numbers = [&[1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13], &text[..], &[0; 3]].concat();
            let row = &numbers[..metadata.layout.row_bytes as usize];
            assert_eq!(slab(&metadata, row), numbers);
            let odd = [
                &[1, 0, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFE, 0xFF, 0xFF],
                &text[..],
                &[0; 3],
            ]
            .concat();
            let row = &odd[..metadata.layout.row_bytes as usize];
            assert_eq!(slab(&metadata, row) == odd, !windows);
        }
    }
}
