//! SET, MERGE and UPDATE: data sets read one after the other, interleaved, merged, by row number, or
//! changed by another.

mod by;
mod compile;
mod keyed;
mod update;

use lang::ast::Expr;
use sas7bdat::Rows;

use self::by::By;
use self::keyed::Keyed;
use self::update::Update;
use super::blank::Blank;
use crate::dataset::copy::{RowCopy, store_number, store_text};
use crate::dataset::input::Input;
use crate::expr::Slot;
use crate::expr::block::Active;
use crate::failure::{Failure, Outcome};
use crate::session::World;

/// The statements that read data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Set,
    Merge,
    Update,
}

/// A SET, MERGE or UPDATE statement.
pub(super) struct Source {
    feeds: Vec<Feed>,
    order: Order,
    /// Variables of all data sets.
    slots: Vec<Slot>,
    blank: Blank,
    /// The feed that gave the last row.
    current: usize,
    end: Option<Slot>,
    nobs: Option<(Slot, u64)>,
    /// INDSNAME=.
    named: Option<Slot>,
    by: Option<By>,
    /// A BY group had several rows in more than one data set.
    repeats: bool,
}

/// How the data sets are read.
enum Order {
    /// One after the other, or interleaved if there is a BY statement.
    Sequence,
    /// MERGE.
    Merge,
    /// UPDATE.
    Update(Update),
    /// POINT=.
    Point(Slot),
    /// KEY=.
    Key(Keyed),
}

/// A data set and the way of its rows into the PDV.
struct Feed {
    /// Its place among the data sets.
    number: usize,
    input: Input,
    copy: RowCopy,
    slots: Vec<Slot>,
    blank: Blank,
    /// IN=.
    contributes: Option<Slot>,
    /// `LIB.MEMBER`
    name: String,
    /// The input's last row was read ahead.
    held: bool,
    /// Its BY values.
    key: Vec<u8>,
    spare: Vec<u8>,
    /// MERGE: it has given a row to the present BY group.
    in_group: bool,
    /// Variables of which it gives only what is not missing; the others are in `copy`.
    checked: Vec<(Slot, Slot)>,
}

/// What reading gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    Row,
    End,
    /// POINT= names no row: `_ERROR_` becomes 1.
    NoSuchRow,
}

impl Source {
    /// Applies a WHERE statement.
    pub(super) fn filter(&mut self, condition: &Expr) -> Outcome<()> {
        if matches!(self.order, Order::Point(_) | Order::Key(_)) {
            let message = "WHERE cannot be used with POINT= and KEY=.";
            return Err(Failure::at(&condition.span, message));
        }
        for feed in &mut self.feeds {
            feed.input.filter(condition)?;
        }
        Ok(())
    }

    /// Before the first iteration: NOBS= has its value, and it is known which bytes are missing
    /// values.
    pub(super) fn start(&mut self, row: &mut [u8], missing: &[u8]) {
        if let Some((slot, rows)) = &self.nobs {
            store_number(slot, row, *rows as f64);
        }
        self.blank = Blank::new(&self.slots, missing);
        for feed in &mut self.feeds {
            feed.blank = Blank::new(&feed.slots, missing);
        }
    }

    /// Whether reading goes on by itself to an end.
    pub(super) const fn ends(&self) -> bool {
        !matches!(self.order, Order::Point(_) | Order::Key(_))
    }

    /// Loads the next row, or what belongs together, into the PDV.
    pub(super) fn read(&mut self, row: &mut [u8]) -> Outcome<Read> {
        let read = match &mut self.order {
            Order::Point(slot) => {
                let slot = *slot;
                return self.read_at(slot, row);
            }
            Order::Key(keyed) => {
                let read = keyed.read(&mut self.feeds[0], row)?;
                self.show_name(0, row);
                return Ok(read);
            }
            Order::Sequence if self.by.is_some() => self.interleave(row)?,
            Order::Sequence => self.next_in_turn(row)?,
            Order::Merge if self.by.is_some() => self.merge_group(row)?,
            Order::Merge => self.merge_rows(row)?,
            Order::Update(_) => self.update(row)?,
        };
        if !read {
            return Ok(Read::End);
        }
        self.show_name(self.current, row);
        if let Some(end) = self.end {
            let last = !self.has_more()?;
            store_number(&end, row, truth(last));
        }
        Ok(Read::Row)
    }

    /// Where the variables of a row lie in it and in the PDV, if rows are read one after the other
    /// from one data set.
    pub(super) fn places(&self) -> Option<impl Iterator<Item = (Slot, Slot)>> {
        let [feed] = self.feeds.as_slice() else {
            return None;
        };
        let plain =
            matches!(self.order, Order::Sequence) && self.by.is_none() && self.named.is_none();
        let places = feed.input.fields().iter().map(|field| field.slot);
        plain.then(|| places.zip(feed.slots.iter().copied()))
    }

    /// The rows that come next, if there are several that can be taken at once; see
    /// [`Input::ready`]. END= stays false for all of them.
    pub(super) fn ready(&mut self) -> Outcome<Option<(Rows<'_>, Active)>> {
        let Some(feed) = self.feeds.first_mut().filter(|feed| !feed.held) else {
            return Ok(None);
        };
        let mut ready = feed.input.ready()?;
        if let (Some((_, active)), true) = (&mut ready, self.end.is_some()) {
            active.truncate(active.rows().len().saturating_sub(1));
        }
        Ok(ready)
    }

    /// Goes past the next `count` rows and loads the last of them into the PDV.
    pub(super) fn take(&mut self, count: usize, row: &mut [u8]) -> Outcome<()> {
        let feed = &mut self.feeds[0];
        feed.input.take(count)?;
        feed.copy.apply(feed.input.last_row(), row);
        Ok(())
    }

    fn read_at(&mut self, slot: Slot, row: &mut [u8]) -> Outcome<Read> {
        let wanted = slot.number(row);
        if wanted.is_nan() || wanted < 1.0 {
            return Ok(Read::NoSuchRow);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the conversion saturates"
        )]
        let mut number = wanted as u64;
        for (index, feed) in self.feeds.iter_mut().enumerate() {
            let rows = feed.input.metadata().rows;
            if number > rows {
                number -= rows;
                continue;
            }
            if let Some(found) = feed.input.row_at(number)? {
                feed.copy.apply(found, row);
                self.show_name(index, row);
                return Ok(Read::Row);
            }
        }
        Ok(Read::NoSuchRow)
    }

    /// INDSNAME= names the data set that gave the row.
    fn show_name(&self, feed: usize, row: &mut [u8]) {
        if let (Some(slot), Some(feed)) = (&self.named, self.feeds.get(feed)) {
            store_text(slot, row, feed.name.as_bytes());
        }
    }

    fn next_in_turn(&mut self, row: &mut [u8]) -> Outcome<bool> {
        while let Some(feed) = self.feeds.get_mut(self.current) {
            if feed.next(row)? {
                return Ok(true);
            }
            self.current += 1;
            // Moving on to another data set makes the variables of the one before missing.
            if self.current < self.feeds.len() {
                self.blank.apply(row);
                self.show_contributor(row);
            }
        }
        Ok(false)
    }

    /// IN= of the data set that gives rows is 1, all others 0.
    fn show_contributor(&mut self, row: &mut [u8]) {
        for feed in &mut self.feeds {
            feed.in_group = false;
        }
        if let Some(feed) = self.feeds.get_mut(self.current) {
            feed.in_group = true;
        }
        self.show_contributors(row);
    }

    /// IN= of the data sets in the group is 1, all others 0. Those of a list share a variable.
    fn show_contributors(&self, row: &mut [u8]) {
        for present in [false, true] {
            for feed in self.feeds.iter().filter(|feed| feed.in_group == present) {
                if let Some(slot) = feed.contributes {
                    store_number(&slot, row, truth(present));
                }
            }
        }
    }

    /// MERGE without BY: row by row, until all data sets are exhausted.
    fn merge_rows(&mut self, row: &mut [u8]) -> Outcome<bool> {
        let mut any = false;
        for feed in &mut self.feeds {
            let more = feed.has_more()?;
            any |= more;
            feed.in_group = more;
        }
        if !any {
            return Ok(false);
        }
        for feed in self.feeds.iter().filter(|feed| !feed.in_group) {
            feed.blank.apply(row);
        }
        self.show_contributors(row);
        for feed in &mut self.feeds {
            if feed.in_group {
                feed.next(row)?;
            }
        }
        Ok(true)
    }

    fn interleave(&mut self, row: &mut [u8]) -> Outcome<bool> {
        let by = self.by.as_mut().expect("the caller looked");
        by.prime(&mut self.feeds)?;
        let Some(chosen) = by::smallest(&self.feeds) else {
            return Ok(false);
        };
        let first = by.begin(&self.feeds[chosen].key);
        if self.feeds.len() > 1 && (chosen != self.current || first < by.parts()) {
            self.blank.apply(row);
        }
        self.current = chosen;
        self.feeds[chosen].load(row);
        by.advance(&mut self.feeds[chosen])?;
        by.show(
            first,
            by::smallest(&self.feeds).map(|next| &self.feeds[next].key),
            row,
        );
        self.show_contributor(row);
        Ok(true)
    }

    /// MERGE with BY: each data set that has another row of the group gives it; the others keep
    /// their values.
    fn merge_group(&mut self, row: &mut [u8]) -> Outcome<bool> {
        let by = self.by.as_mut().expect("the caller looked");
        by.prime(&mut self.feeds)?;
        let Some(chosen) = by::smallest(&self.feeds) else {
            return Ok(false);
        };
        let first = by.begin(&self.feeds[chosen].key);
        let new_group = first < by.parts();
        if new_group {
            self.blank.apply(row);
            for feed in &mut self.feeds {
                feed.in_group = false;
            }
        }
        let mut gave = 0;
        for feed in &mut self.feeds {
            if feed.held && feed.key == by.key() {
                feed.load(row);
                by.advance(feed)?;
                feed.in_group = true;
                gave += 1;
            }
        }
        self.repeats |= !new_group && gave > 1;
        by.show(
            first,
            by::smallest(&self.feeds).map(|next| &self.feeds[next].key),
            row,
        );
        self.show_contributors(row);
        Ok(true)
    }

    fn has_more(&mut self) -> Outcome<bool> {
        match self.order {
            Order::Sequence if self.by.is_none() => {
                for feed in self.feeds.iter_mut().skip(self.current) {
                    if feed.has_more()? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => {
                let by = self.by.is_some();
                for feed in &mut self.feeds {
                    if feed.held || (!by && feed.has_more()?) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Notes what was read and closes the files.
    pub(super) fn finish(self, world: &mut World) -> Outcome<()> {
        if let Order::Update(update) = &self.order {
            update.tell(world);
        }
        if self.repeats {
            world.note("MERGE statement has more than one data set with repeats of BY values.");
        }
        for mut feed in self.feeds {
            if feed.held {
                feed.input.unread();
            }
            feed.input.finish(world)?;
        }
        Ok(())
    }
}

impl Feed {
    fn new(input: Input, pairs: &[(Slot, Slot)], contributes: Option<Slot>) -> Self {
        Self {
            number: 0,
            name: input.member().full_name(),
            input,
            copy: RowCopy::new(pairs),
            slots: pairs.iter().map(|(_, to)| *to).collect(),
            blank: Blank::default(),
            contributes,
            held: false,
            key: Vec::new(),
            spare: Vec::new(),
            in_group: false,
            checked: Vec::new(),
        }
    }

    /// Loads the next row; false at the end.
    #[inline]
    fn next(&mut self, row: &mut [u8]) -> Outcome<bool> {
        if std::mem::take(&mut self.held) {
            self.copy.apply(self.input.last_row(), row);
            return Ok(true);
        }
        match self.input.next_row()? {
            Some(read) => {
                self.copy.apply(read, row);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Loads the row that was read ahead.
    fn load(&mut self, row: &mut [u8]) {
        self.copy.apply(self.input.last_row(), row);
        update::apply_present(&self.checked, self.input.last_row(), row);
    }

    /// Reads a row ahead; false at the end.
    fn look_ahead(&mut self) -> Outcome<bool> {
        self.held = self.input.next_row()?.is_some();
        Ok(self.held)
    }

    fn has_more(&mut self) -> Outcome<bool> {
        if self.held {
            return Ok(true);
        }
        match self.input.has_more()? {
            Some(more) => Ok(more),
            None => self.look_ahead(),
        }
    }
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}
