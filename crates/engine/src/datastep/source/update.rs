//! UPDATE: a master data set changed by transactions with the same BY values.

use base::diag::Span;
use sas7bdat::{Kind, missing};

use super::{Order, Source, by};
use crate::dataset::copy::{RowCopy, store_number, store_text};
use crate::expr::Slot;
use crate::failure::{Failure, Outcome};
use crate::session::World;

/// What UPDATE does beside reading two data sets in the order of their BY values.
pub(super) struct Update {
    /// Where the statement stands.
    span: Span,
    /// UPDATEMODE=MISSINGCHECK: missing values of transactions change nothing.
    pub(super) missing_check: bool,
    /// More transactions for the present row of the master follow.
    pending: bool,
    /// BY groups of the master had several rows.
    repeats: bool,
}

impl Update {
    pub(super) fn new(span: &Span) -> Self {
        Self {
            span: span.clone(),
            missing_check: true,
            pending: false,
            repeats: false,
        }
    }

    /// At the end of the step.
    pub(super) fn tell(&self, world: &mut World) {
        if self.repeats {
            world
                .log
                .warning("The MASTER data set contains more than one observation for a BY group.");
        }
    }
}

impl Source {
    /// Whether the row in the PDV is not complete yet: the implicit output waits.
    pub(in crate::datastep) const fn is_pending(&self) -> bool {
        matches!(&self.order, Order::Update(update) if update.pending)
    }

    /// UPDATE goes by BY values.
    pub(in crate::datastep) fn check_update(&self) -> Outcome<()> {
        match &self.order {
            Order::Update(update) if self.by.is_none() => {
                let message = "The UPDATE statement needs a BY statement behind it.";
                Err(Failure::at(&update.span, message))
            }
            _ => Ok(()),
        }
    }

    /// Once the BY variables are known: the others of the transactions are looked at one by one.
    pub(super) fn check_missing(&mut self, keys: &[Slot]) {
        let Order::Update(Update {
            missing_check: true,
            ..
        }) = self.order
        else {
            return;
        };
        let Some(feed) = self.feeds.get_mut(1) else {
            return;
        };
        let from = feed.input.fields().iter().map(|field| field.slot);
        let pairs = from.zip(feed.slots.iter().copied());
        let (by, others): (Vec<_>, Vec<_>) = pairs.partition(|(from, _)| keys.contains(from));
        feed.copy = RowCopy::new(&by);
        feed.checked = others;
    }

    /// A row of the master with its first transaction, or the next transaction for it; or one of
    /// the two where the other has none.
    pub(super) fn update(&mut self, row: &mut [u8]) -> Outcome<bool> {
        let (Some(by), Order::Update(update)) = (&mut self.by, &mut self.order) else {
            return Ok(false);
        };
        by.prime(&mut self.feeds)?;
        let Some(chosen) = by::smallest(&self.feeds) else {
            return Ok(false);
        };
        let first = by.begin(&self.feeds[chosen].key);
        let [master, transactions] = self.feeds.as_mut_slice() else {
            return Ok(false);
        };
        if !update.pending {
            self.blank.apply(row);
            master.in_group = master.held && master.key == by.key();
            transactions.in_group = false;
            if master.in_group {
                update.repeats |= first == by.parts();
                master.load(row);
                by.advance(master)?;
            }
        }
        if transactions.held && transactions.key == by.key() {
            transactions.load(row);
            by.advance(transactions)?;
            transactions.in_group = true;
        }
        update.pending = transactions.held && transactions.key == by.key();
        by.show(
            first,
            by::smallest(&self.feeds).map(|next| &self.feeds[next].key),
            row,
        );
        self.show_contributors(row);
        Ok(true)
    }
}

/// Copies the values that are not missing. Special missing values count as values; `._`, and a text
/// of a single underscore, stand for a missing value.
pub(super) fn apply_present(pairs: &[(Slot, Slot)], from: &[u8], row: &mut [u8]) {
    for (source, target) in pairs {
        match source.kind {
            Kind::Numeric => {
                let value = source.number(from);
                match missing::code(value) {
                    Some(0) => {}
                    Some(b'_') => store_number(target, row, missing::encode(0)),
                    _ => store_number(target, row, value),
                }
            }
            Kind::Character => match source.bytes(from).trim_ascii_end() {
                b"" => {}
                b"_" => store_text(target, row, b""),
                text => store_text(target, row, text),
            },
        }
    }
}
