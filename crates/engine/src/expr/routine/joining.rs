//! CALL CATS, CATT and CATX: items put behind what a variable holds.

use sas7bdat::Kind;

use super::{Does, Routine};
use crate::dataset::copy::store_text;
use crate::expr::Value;
use crate::expr::evaluate::{Detail, Events, trimmed};
use crate::format;

impl Routine {
    /// Joins the items. What the variable has no room for is cut off and told.
    pub(super) fn join(&self, row: &mut [u8], events: &mut Events) {
        let place = usize::from(self.does == Does::Catx);
        let separator = match place {
            0 => Vec::new(),
            _ => self.item(0, row, events),
        };
        let Some(slot) = self
            .slot(place, row, events)
            .filter(|slot| slot.kind == Kind::Character)
        else {
            return;
        };
        let bare = |value: &[u8]| -> Vec<u8> {
            let kept = trimmed(value);
            let blanks = kept.iter().take_while(|byte| **byte == b' ').count();
            match self.does {
                Does::Catt => kept.to_vec(),
                _ => kept[blanks..].to_vec(),
            }
        };
        let mut joined = bare(slot.bytes(row));
        for index in place + 1..self.arguments.len() {
            let item = bare(&self.item(index, row, events));
            if !item.is_empty() && !joined.is_empty() {
                joined.extend_from_slice(&separator);
            }
            joined.extend_from_slice(&item);
        }
        let most = slot.length as usize;
        if joined.len() > most {
            events.raise_with(self.site, || Detail::TooLong(joined.len(), most));
        }
        joined.truncate(most);
        store_text(&slot, row, &joined);
    }

    /// An argument as bytes; numbers without blanks.
    fn item(&self, index: usize, row: &[u8], events: &mut Events) -> Vec<u8> {
        match self.arguments.get(index) {
            Some(Value::Text(text)) => text.value(row, events).into_owned(),
            Some(Value::Number(number)) => {
                let value = number.value(row, events);
                format::best(value, 12).trim().as_bytes().to_vec()
            }
            None => Vec::new(),
        }
    }
}
