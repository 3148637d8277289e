//! Arrays: names for lists of variables of one type, whose elements are found by subscripts.

use std::sync::Arc;

use base::diag::Span;
use sas7bdat::Kind;

use super::evaluate::Events;
use super::{Number, Slot};
use crate::failure::Failure;

/// What an ARRAY statement declares.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayLayout {
    /// As written.
    pub name: String,
    /// Type of all elements.
    pub kind: Kind,
    /// Bounds of each dimension.
    pub bounds: Vec<(i64, i64)>,
    /// Places of the elements, the last subscript running fastest.
    pub slots: Vec<Slot>,
    /// False for `_TEMPORARY_` arrays, whose elements have no names.
    pub named: bool,
    /// Declared without dimensions: the name alone stands for the element of number `_I_`.
    pub implicit: bool,
}

impl ArrayLayout {
    /// Length of the longest element, bytes.
    pub fn length(&self) -> u32 {
        self.slots.iter().map(|slot| slot.length).max().unwrap_or(8)
    }

    /// `a[2,1]` of the element of this number, from 0.
    pub fn element_name(&self, number: usize) -> String {
        let mut left = i64::try_from(number).unwrap_or(0);
        let mut subscripts: Vec<String> = Vec::new();
        for (low, high) in self.bounds.iter().rev() {
            let extent = high - low + 1;
            subscripts.push((low + left % extent).to_string());
            left /= extent;
        }
        subscripts.reverse();
        format!("{}[{}]", self.name, subscripts.join(","))
    }

    /// Elements of dimension `number`, from 1.
    pub fn extent(&self, number: usize) -> Option<i64> {
        let (low, high) = self.bounds.get(number.checked_sub(1)?)?;
        Some(high - low + 1)
    }
}

/// `a{i, j}`
#[derive(Debug, Clone, PartialEq)]
pub struct ElementRef {
    array: Arc<ArrayLayout>,
    subscripts: Vec<Number>,
    span: Span,
}

impl ElementRef {
    /// The element of `array`, which has as many dimensions as there are subscripts.
    pub fn new(array: Arc<ArrayLayout>, subscripts: Vec<Number>, span: Span) -> Self {
        Self {
            array,
            subscripts,
            span,
        }
    }

    /// The array.
    pub fn array(&self) -> &ArrayLayout {
        &self.array
    }

    /// Whether its subscripts are variables and constants alone.
    pub(super) fn is_plain(&self) -> bool {
        let mut subscripts = self.subscripts.iter();
        subscripts.all(|one| matches!(one, Number::Variable(_) | Number::Constant(_)))
    }

    /// The place of the element over `row`; out of range it is told to `events`, and the step stops
    /// after this statement.
    #[inline]
    pub fn slot(&self, row: &[u8], events: &mut Events) -> Option<Slot> {
        let number = self.number(row, events)?;
        self.array.slots.get(number).copied()
    }

    /// Which of the array's elements it is, from 0; as [`slot`](Self::slot) otherwise.
    #[inline]
    pub fn number(&self, row: &[u8], events: &mut Events) -> Option<usize> {
        let mut place = 0;
        for (subscript, (low, high)) in self.subscripts.iter().zip(&self.array.bounds) {
            let value = subscript.value(row, events);
            #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
            let value = if value.is_nan() {
                i64::MIN
            } else {
                value as i64
            };
            if value < *low || value > *high {
                self.out_of_range(events);
                return None;
            }
            place = place * (high - low + 1) + (value - low);
        }
        usize::try_from(place).ok()
    }

    #[cold]
    fn out_of_range(&self, events: &mut Events) {
        let Span { line, column, .. } = self.span;
        let text = format!("Array subscript out of range at line {line} column {column}.");
        events.fail(Failure::world(text));
    }
}
