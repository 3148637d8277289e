//! SET with KEY=: rows by the values that the key variables of an index have in the program data
//! vector.

use base::diag::Span;
use sas7bdat::btree::{KeyPart, Span as KeySpan, encode_number, encode_text};

use super::{Feed, Read};
use crate::dataset::copy::store_number;
use crate::expr::Slot;
use crate::failure::{Failure, Outcome};

/// `_IORC_` where there is no such row: the mnemonic `_DSENOM` of SAS.
const NO_MATCH: f64 = 1_230_015.0;

/// The index that KEY= names, and the values looked up last.
pub(super) struct Keyed {
    /// The key variables in the PDV.
    slots: Vec<(KeyPart, Slot)>,
    /// `/ UNIQUE`: every search begins with the first row.
    pub(super) unique: bool,
    /// `_IORC_`.
    answer: Slot,
    key: Vec<u8>,
    spare: Vec<u8>,
    searched: bool,
}

impl Keyed {
    /// The index `name` of the data set of `feed`, whose variables `find` finds in the PDV.
    pub(super) fn new(
        feed: &mut Feed,
        name: &str,
        unique: bool,
        answer: Slot,
        span: &Span,
        find: impl Fn(&str) -> Option<Slot>,
    ) -> Outcome<Self> {
        let dataset = feed.input.member().full_name();
        let Some(parts) = feed.input.open_key(name)? else {
            let message = format!("There is no index {name} on data set {dataset}");
            return Err(Failure::at(span, message));
        };
        let slots: Option<Vec<(KeyPart, Slot)>> = parts
            .into_iter()
            .map(|(part, variable)| Some((part, find(&variable)?)))
            .collect();
        let Some(slots) = slots else {
            let message = format!("A variable of index {name} is dropped from data set {dataset}");
            return Err(Failure::at(span, message));
        };
        Ok(Self {
            slots,
            unique,
            answer,
            key: Vec::new(),
            spare: Vec::new(),
            searched: false,
        })
    }

    /// Loads the next row with the present values of the key variables.
    pub(super) fn read(&mut self, feed: &mut Feed, row: &mut [u8]) -> Outcome<Read> {
        self.spare.clear();
        for (part, slot) in &self.slots {
            let length = usize::from(part.length);
            if part.numeric {
                encode_number(slot.number(row), length, &mut self.spare);
            } else {
                encode_text(slot.bytes(row), length, &mut self.spare);
            }
        }
        if self.unique || !self.searched || self.spare != self.key {
            std::mem::swap(&mut self.key, &mut self.spare);
            self.searched = true;
            feed.input.search(KeySpan::of(self.key.clone()));
        }
        let found = match feed.input.next_row()? {
            Some(read) => {
                feed.copy.apply(read, row);
                true
            }
            None => false,
        };
        store_number(&self.answer, row, if found { 0.0 } else { NO_MATCH });
        Ok(if found { Read::Row } else { Read::NoSuchRow })
    }
}
