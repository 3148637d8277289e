//! Rows in one form, whatever the file's layout, compression and byte order.

use sas7bdat::{Compression, Endian, Kind, Layout, Metadata, Rows};

/// Brings rows into the layout of an uncompressed SAS 9.4 data set on Linux, so that a data set's
/// hash does not change when it is compressed or comes from a machine of the other byte order.
pub struct Canonical {
    how: How,
    stored_bytes: usize,
    row_bytes: usize,
    slab: Vec<u8>,
}

enum How {
    /// The file's layout is the wanted one.
    Same,
    /// It only lacks the padding.
    Padded,
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
        let how = if same_places && stored.row_bytes == wanted.row_bytes {
            How::Same
        } else if same_places {
            How::Padded
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
            slab: Vec::new(),
        }
    }

    /// Bytes of a row in [`Self::slab`].
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// The rows in the one form, back to back.
    pub fn slab<'s>(&'s mut self, rows: Rows<'s>) -> &'s [u8] {
        if matches!(self.how, How::Same) {
            return rows.bytes;
        }
        self.slab.clear();
        self.slab.resize(rows.count * self.row_bytes, 0);
        let stored = rows.bytes.chunks_exact(self.stored_bytes.max(1));
        for (to, from) in self.slab.chunks_exact_mut(self.row_bytes).zip(stored) {
            match &self.how {
                How::Same | How::Padded => to[..from.len()].copy_from_slice(from),
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
        }
        &self.slab
    }
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
}
