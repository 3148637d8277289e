//! CALL PRXSUBSTR and its kind: where a regular expression matches, and what it changes.

use std::sync::Arc;

use super::Routine;
use crate::dataset::copy::{store_number, store_text};
use crate::expr::Value;
use crate::expr::evaluate::Events;
use crate::expr::function::pattern::{id_of, is_endless, times_of};
use crate::expr::pattern::Pattern;
use sas7bdat::missing;

impl Routine {
    /// The expression that the first argument identifies.
    fn pattern(&self, row: &[u8], events: &mut Events) -> Option<(usize, Arc<Pattern>)> {
        let id = id_of(self.number(0, row, events));
        let found = events.surroundings.patterns.get(id);
        if found.is_none() {
            events.raise(self.site);
        }
        Some((id, found?))
    }

    /// A text with its blanks.
    fn whole(&self, index: usize, row: &[u8], events: &mut Events) -> Vec<u8> {
        match self.arguments.get(index) {
            Some(Value::Text(text)) => text.value(row, events).into_owned(),
            _ => Vec::new(),
        }
    }

    /// Sets a numeric argument, if it is there.
    fn set(&self, index: usize, value: f64, row: &mut [u8], events: &mut Events) {
        match self.slot(index, row, events) {
            Some(slot) if slot.kind == sas7bdat::Kind::Numeric => store_number(&slot, row, value),
            Some(_) => events.raise(self.site),
            None => {}
        }
    }

    /// Position and length of a match, both 0 without one.
    fn place(
        &self,
        index: usize,
        found: Option<(usize, usize)>,
        row: &mut [u8],
        events: &mut Events,
    ) {
        let (position, length) = found.map_or((0.0, 0.0), |(start, end)| {
            ((start + 1) as f64, (end - start) as f64)
        });
        self.set(index, position, row, events);
        self.set(index + 1, length, row, events);
    }

    /// `CALL PRXSUBSTR(id, source, position, length)`
    pub(super) fn prxsubstr(&self, row: &mut [u8], events: &mut Events) {
        let Some((id, pattern)) = self.pattern(row, events) else {
            return;
        };
        let text = self.whole(1, row, events);
        let groups = pattern.find(&text, 0).unwrap_or_default();
        let found = groups.first().copied().flatten();
        events.surroundings.patterns.keep(id, groups);
        self.place(2, found, row, events);
    }

    /// `CALL PRXPOSN(id, group, position, length)`
    pub(super) fn prxposn(&self, row: &mut [u8], events: &mut Events) {
        let Some((id, pattern)) = self.pattern(row, events) else {
            return;
        };
        let number = self.number(1, row, events);
        if !(number >= 0.0 && number <= pattern.groups() as f64) {
            events.raise(self.site);
            return;
        }
        let last = events.surroundings.patterns.last(id);
        let found = last.get(id_of(number)).copied().flatten();
        self.place(2, found, row, events);
    }

    /// `CALL PRXNEXT(id, start, stop, source, position, length)`
    pub(super) fn prxnext(&self, row: &mut [u8], events: &mut Events) {
        let Some((id, pattern)) = self.pattern(row, events) else {
            return;
        };
        let (start, stop) = (self.number(1, row, events), self.number(2, row, events));
        let text = self.whole(3, row, events);
        let end = if is_endless(stop) {
            text.len()
        } else {
            id_of(stop).min(text.len())
        };
        if start.is_nan() || start < 1.0 || stop.is_nan() {
            events.raise(self.site);
            return;
        }
        let from = id_of(start) - 1;
        let found = (from <= end).then(|| pattern.find(&text[..end], from));
        let groups = found.flatten().unwrap_or_default();
        let found = groups.first().copied().flatten();
        events.surroundings.patterns.keep(id, groups);
        self.place(4, found, row, events);
        if let Some((start, end)) = found {
            // A match of nothing moves on, too.
            self.set(1, (end.max(start + 1) + 1) as f64, row, events);
        }
    }

    /// `CALL PRXCHANGE(id, times, old, new, length, truncated, changes)`
    pub(super) fn prxchange(&self, row: &mut [u8], events: &mut Events) {
        let Some((id, pattern)) = self.pattern(row, events) else {
            return;
        };
        let times = self.number(1, row, events);
        let text = self.whole(2, row, events);
        let replaced = times_of(times).and_then(|times| pattern.replaced(&text, times));
        let Some((changed, groups, count)) = replaced else {
            events.raise(self.site);
            return;
        };
        events.surroundings.patterns.keep(id, groups);
        let index = if self.arguments.len() > 3 { 3 } else { 2 };
        let Some(slot) = self.slot(index, row, events) else {
            return;
        };
        if slot.kind != sas7bdat::Kind::Character {
            events.raise(self.site);
            return;
        }
        store_text(&slot, row, &changed);
        // Blanks at the end do not count.
        let length = crate::expr::evaluate::trimmed(&changed).len();
        let room = slot.length as usize;
        self.set(4, length.min(room) as f64, row, events);
        self.set(5, f64::from(u8::from(length > room)), row, events);
        self.set(6, count as f64, row, events);
    }

    /// `CALL PRXFREE(id)`
    pub(super) fn prxfree(&self, row: &mut [u8], events: &mut Events) {
        let id = id_of(self.number(0, row, events));
        if events.surroundings.patterns.free(id) {
            self.set(0, missing::encode(0), row, events);
        } else {
            events.raise(self.site);
        }
    }
}
