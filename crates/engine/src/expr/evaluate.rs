//! Values of compiled expressions.

use std::borrow::Cow;
use std::cmp::Ordering;

use sas7bdat::missing;

use super::surroundings::Surroundings;
use super::{Arithmetic, Number, Relation, Slot, Text};
use crate::failure::Failure;
use crate::format;

/// What evaluation counts for the notes after a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    /// Per site: times arithmetic met a missing value, a division by zero or a failed conversion.
    pub counts: Vec<u64>,
    /// Something below needs attention after this statement.
    pub alarm: bool,
    /// Why the step cannot go on after this statement.
    pub failure: Option<Failure>,
    /// Sites that met an error since the last look: `_ERROR_` becomes 1.
    pub raised: Vec<(usize, Detail)>,
    /// What functions know and remember.
    pub surroundings: Surroundings,
}

/// What is told about an error beside its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    None,
    /// The arguments of the function, in parentheses.
    Arguments(String),
    /// Which argument of the function it is about: `second`.
    Argument(&'static str),
    /// So many bytes where there is room for so many.
    TooLong(usize, usize),
    /// The text that is no number, and where it stood if that was in a variable.
    Text(Option<Slot>, String),
}

/// Errors between two looks that are kept: one statement rarely has more, and their number is what
/// counts.
const RAISED_MAX: usize = 64;

impl Events {
    /// Counts that something happened at a site.
    pub fn count(&mut self, site: usize) {
        if let Some(count) = self.counts.get_mut(site) {
            *count += 1;
        }
    }

    /// The step cannot go on.
    #[cold]
    pub fn fail(&mut self, failure: Failure) {
        self.alarm = true;
        self.failure.get_or_insert(failure);
    }

    /// An error at this site.
    #[cold]
    pub fn raise(&mut self, site: usize) {
        self.raise_with(site, || Detail::None);
    }

    /// An error of a function of `arguments` at this site.
    #[cold]
    pub fn raise_for(&mut self, site: usize, arguments: &[f64]) {
        self.raise_with(site, || {
            let shown = arguments
                .iter()
                .map(|value| format::best(*value, 12).trim().to_owned());
            Detail::Arguments(format!("({})", shown.collect::<Vec<_>>().join(",")))
        });
    }

    /// An error at this site, and what there is to tell about it.
    #[cold]
    pub fn raise_with(&mut self, site: usize, detail: impl FnOnce() -> Detail) {
        self.count(site);
        self.alarm = true;
        if self.raised.len() < RAISED_MAX {
            self.raised.push((site, detail()));
        }
    }
}

/// The bytes of a double such that unsigned order is SAS's order: `._ < . < .A … .Z < -1 < 0 < 1`,
/// with -0 equal to 0.
#[inline]
pub fn order_key(value: f64) -> u64 {
    // Adding 0.0 turns -0 into 0 and leaves every other number, missing values included, alone.
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// True as SAS sees it: neither missing nor zero.
#[inline]
pub fn is_true(value: f64) -> bool {
    !value.is_nan() && value != 0.0
}

pub(super) fn holds(relation: Relation, order: Ordering) -> bool {
    match relation {
        Relation::Equal => order.is_eq(),
        Relation::NotEqual => order.is_ne(),
        Relation::Less => order.is_lt(),
        Relation::LessOrEqual => order.is_le(),
        Relation::Greater => order.is_gt(),
        Relation::GreaterOrEqual => order.is_ge(),
    }
}

/// Compares as if the shorter were padded with blanks.
pub fn compare_padded(left: &[u8], right: &[u8]) -> Ordering {
    let shared = left.len().min(right.len());
    let rest_against_blanks = |rest: &[u8]| {
        rest.iter()
            .find(|byte| **byte != b' ')
            .map_or(Ordering::Equal, |byte| byte.cmp(&b' '))
    };
    left[..shared].cmp(&right[..shared]).then_with(|| {
        rest_against_blanks(&left[shared..])
            .then_with(|| rest_against_blanks(&right[shared..]).reverse())
    })
}

/// Compares over the shorter length as declared; an empty text is one blank.
pub fn compare_prefix(left: &[u8], right: &[u8]) -> Ordering {
    let shared = left.len().min(right.len()).max(1);
    let head = |text: &[u8]| text.len().min(shared);
    compare_padded(&left[..head(left)], &right[..head(right)])
}

/// Without trailing blanks.
pub fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .iter()
        .rposition(|byte| *byte != b' ')
        .map_or(0, |last| last + 1);
    &bytes[..end]
}

impl Number {
    /// The value over `row`.
    pub fn value(&self, row: &[u8], events: &mut Events) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Variable(slot) => slot.number(row),
            Self::Negate(operand) => {
                let value = operand.value(row, events);
                if value.is_nan() {
                    missing::encode(0)
                } else {
                    -value
                }
            }
            Self::Arithmetic(operator, left, right, site) => {
                let (left, right) = (left.value(row, events), right.value(row, events));
                arithmetic(*operator, left, right, *site, events)
            }
            Self::Extreme {
                larger,
                left,
                right,
            } => {
                let (left, right) = (left.value(row, events), right.value(row, events));
                let left_is_larger = order_key(left) > order_key(right);
                if left_is_larger == *larger {
                    left
                } else {
                    right
                }
            }
            Self::Compare(relation, left, right) => {
                let left = order_key(left.value(row, events));
                let right = order_key(right.value(row, events));
                truth(holds(*relation, left.cmp(&right)))
            }
            Self::And(left, right) => {
                truth(is_true(left.value(row, events)) && is_true(right.value(row, events)))
            }
            Self::Or(left, right) => {
                truth(is_true(left.value(row, events)) || is_true(right.value(row, events)))
            }
            Self::Not(operand) => truth(!is_true(operand.value(row, events))),
            Self::In(operand, ranges) => {
                let key = order_key(operand.value(row, events));
                truth(
                    ranges
                        .iter()
                        .any(|(low, high)| (order_key(*low)..=order_key(*high)).contains(&key)),
                )
            }
            Self::Call(function, arguments) => function.value(arguments, row, events),
            Self::Code(code) => code.value(row, events),
            Self::Element(element) => match element.slot(row, events) {
                Some(slot) => slot.number(row),
                None => missing::encode(0),
            },
            Self::General(call) => call.number(row, events),
            Self::CompareText { .. }
            | Self::InText(..)
            | Self::Like { .. }
            | Self::Blank(_)
            | Self::FromText(..) => self.value_of_text(row, events),
        }
    }

    fn value_of_text(&self, row: &[u8], events: &mut Events) -> f64 {
        match self {
            Self::CompareText {
                relation,
                left,
                right,
                prefix,
            } => {
                let (left, right) = (left.value(row, events), right.value(row, events));
                let order = if *prefix {
                    compare_prefix(&left, &right)
                } else {
                    compare_padded(&left, &right)
                };
                truth(holds(*relation, order))
            }
            Self::InText(value, items) => {
                let value = value.value(row, events);
                truth(
                    items
                        .iter()
                        .any(|item| compare_padded(&value, item).is_eq()),
                )
            }
            Self::Like {
                value,
                pattern,
                contains,
            } => {
                let value = value.value(row, events);
                truth(super::like::matches(trimmed(&value), pattern, *contains))
            }
            Self::Blank(value) => truth(trimmed(&value.value(row, events)).is_empty()),
            Self::FromText(text, site) => {
                let value = text.value(row, events);
                format::read_number(&value).unwrap_or_else(|| {
                    let slot = text.place(row, events);
                    events.raise_with(*site, || {
                        Detail::Text(slot, String::from_utf8_lossy(trimmed(&value)).into_owned())
                    });
                    missing::encode(0)
                })
            }
            _ => unreachable!("numeric nodes are evaluated by `value`"),
        }
    }
}

impl Arithmetic {
    /// The result as the machine gives it: not finite where an operand is missing.
    #[inline]
    pub fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            // Squares are what powers mostly are.
            Self::Power if right.to_bits() == 2f64.to_bits() => left * left,
            Self::Power => left.powf(right),
        }
    }
}

fn arithmetic(
    operator: Arithmetic,
    left: f64,
    right: f64,
    site: usize,
    events: &mut Events,
) -> f64 {
    let result = operator.of(left, right);
    if result.is_finite() {
        return result;
    }
    unusual(operator, left, right, site, events)
}

/// Missing operands, division by zero and overflow all give `.`.
#[cold]
pub(super) fn unusual(
    operator: Arithmetic,
    left: f64,
    right: f64,
    site: usize,
    events: &mut Events,
) -> f64 {
    if left.is_nan() || right.is_nan() {
        events.count(site);
    } else if operator == Arithmetic::Divide && right == 0.0 {
        events.raise(site + 1);
    } else {
        events.count(site);
    }
    missing::encode(0)
}

impl Text {
    /// Where the value stands, if that can be said without evaluating it again.
    fn place(&self, row: &[u8], events: &mut Events) -> Option<Slot> {
        match self {
            Self::Variable(slot) => Some(*slot),
            Self::Element(element) if element.is_plain() => element.slot(row, events),
            _ => None,
        }
    }

    /// The value over `row`; trailing blanks are kept as they stand.
    pub fn value<'a>(&'a self, row: &'a [u8], events: &mut Events) -> Cow<'a, [u8]> {
        match self {
            Self::Constant(bytes) => Cow::Borrowed(bytes),
            Self::Variable(slot) => Cow::Borrowed(slot.bytes(row)),
            Self::Concatenate(left, right) => {
                let mut joined = left.value(row, events).into_owned();
                joined.extend_from_slice(&right.value(row, events));
                Cow::Owned(joined)
            }
            Self::Call(function, argument) => function.value(argument.value(row, events)),
            Self::Element(element) => match element.slot(row, events) {
                Some(slot) => Cow::Borrowed(slot.bytes(row)),
                None => Cow::Borrowed(b" "),
            },
            Self::General(call) => Cow::Owned(call.text(row, events)),
            Self::FromNumber(number, width) => {
                let value = number.value(row, events);
                Cow::Owned(format::best(value, *width as usize).into_bytes())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_order_as_sas_orders_them() {
        let ordered = [
            missing::encode(b'_'),
            missing::encode(0),
            missing::encode(b'A'),
            missing::encode(b'Z'),
            f64::MIN,
            -1.0,
            -f64::MIN_POSITIVE,
            0.0,
            f64::MIN_POSITIVE,
            1.0,
            f64::MAX,
        ];
        for pair in ordered.windows(2) {
            assert!(order_key(pair[0]) < order_key(pair[1]), "{pair:?}");
        }
        assert_eq!(order_key(-0.0), order_key(0.0));
    }

    #[test]
    fn texts_compare_as_if_blank_padded() {
        for (left, right, order) in [
            ("a", "a  ", Ordering::Equal),
            ("", "   ", Ordering::Equal),
            ("a", "b", Ordering::Less),
            ("a\t", "a", Ordering::Less),
            ("ab", "a", Ordering::Greater),
            ("a", "ab", Ordering::Less),
        ] {
            assert_eq!(
                compare_padded(left.as_bytes(), right.as_bytes()),
                order,
                "{left}|{right}"
            );
        }
    }
}
