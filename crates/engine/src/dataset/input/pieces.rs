//! Rows that leave an input many at a time and with their memory, for threads of their own.

use sas7bdat::TakenRows;

use super::{Input, read_failure};
use crate::failure::Outcome;

/// Bytes of rows that a condition lets through and that leave at once.
const FILTERED_BYTES: usize = 64 << 10;

impl Input {
    /// The next rows that meet the conditions, as many as lie together; they leave with their memory,
    /// and `spare` takes its place.
    pub(crate) fn next_piece(&mut self, spare: Vec<u8>) -> Outcome<Option<TakenRows>> {
        if self.is_filtered() || self.route.is_some() {
            return self.filtered_piece(spare);
        }
        let taken = self.reader.take_slab(spare);
        let taken = taken.map_err(|error| read_failure(&self.member, error))?;
        if let Some(rows) = &taken {
            self.delivered += rows.count() as u64;
            if let Some(hash) = &mut self.hash {
                for row in rows.rows(0, rows.count()).iter() {
                    hash.add(row);
                }
            }
        }
        Ok(taken)
    }

    fn filtered_piece(&mut self, mut bytes: Vec<u8>) -> Outcome<Option<TakenRows>> {
        let row_bytes = self.reader.metadata().layout.row_bytes as usize;
        bytes.clear();
        let mut count = 0;
        while count == 0 || (count + 1) * row_bytes <= FILTERED_BYTES {
            let Some(row) = self.next_filtered()? else {
                break;
            };
            bytes.extend_from_slice(row);
            count += 1;
        }
        Ok((count > 0).then(|| TakenRows::new(bytes, row_bytes)))
    }
}
