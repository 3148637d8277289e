//! From a generator into a data set.

use base::rowhash::RowHash;
use sas7bdat::{Error, Sink, Writer};

use crate::generate::Generator;

/// Rows are made this many bytes at a time: what stays in a core's own cache.
const SLAB_BYTES: usize = 128 * 1024;

/// Writes rows `0..rows` to `writer`, which must have the generator's variables. Rows are hashed as an
/// uncompressed data set holds them. `progress` is told the bytes of rows made; returning false ends
/// it early. Returns whether all rows were written.
pub fn write_rows<K: Sink>(
    generator: &Generator,
    rows: u64,
    writer: &mut Writer<K>,
    mut hash: Option<&mut RowHash>,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<bool, Error> {
    let row_bytes = generator.layout().row_bytes as usize;
    // Compressed rows have no padding at their end.
    let stored_bytes = writer.layout().row_bytes as usize;
    let slab_rows = (SLAB_BYTES / row_bytes).max(1);
    let mut slab = vec![0; slab_rows * row_bytes];
    let mut row = 0;
    while row < rows {
        let count = usize::try_from(rows - row)
            .unwrap_or(usize::MAX)
            .min(slab_rows);
        let slab = &mut slab[..count * row_bytes];
        generator.fill(row, slab);
        if let Some(hash) = &mut hash {
            slab.chunks_exact(row_bytes).for_each(|row| hash.add(row));
        }
        if stored_bytes == row_bytes {
            writer.write_slab(slab)?;
        } else {
            for row in slab.chunks_exact(row_bytes) {
                writer.write_row(&row[..stored_bytes])?;
            }
        }
        row += count as u64;
        if !progress(slab.len() as u64) {
            return Ok(row == rows);
        }
    }
    Ok(true)
}
