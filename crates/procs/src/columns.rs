//! Numbers of many rows, a column at a time.

use engine::expr::Slot;
use sas7bdat::Rows;

/// Puts the numbers that `slot` has in `rows` into `column`, which is as long.
pub(crate) fn numbers(slot: &Slot, rows: Rows<'_>, column: &mut [f64]) {
    let all = rows.bytes.chunks_exact(rows.row_bytes);
    let first = slot.offset as usize;
    if slot.length == 8 && !slot.big_endian {
        // Full length is nearly every number there is.
        for (cell, row) in column.iter_mut().zip(all) {
            let stored = row.get(first..).and_then(<[u8]>::first_chunk::<8>);
            *cell = f64::from_le_bytes(stored.copied().unwrap_or_default());
        }
        return;
    }
    for (cell, row) in column.iter_mut().zip(all) {
        *cell = slot.number(row);
    }
}

/// Some of the rows.
pub(crate) fn part(rows: Rows<'_>, first: usize, count: usize) -> Rows<'_> {
    Rows {
        bytes: &rows.bytes[first * rows.row_bytes..(first + count) * rows.row_bytes],
        row_bytes: rows.row_bytes,
        count,
    }
}
