//! Formats made by PROC FORMAT: values and ranges with labels.

use std::collections::BTreeMap;

use crate::expr::evaluate::{compare_padded, order_key, trimmed};

/// The formats of a session by upper-case name, `$` included.
pub type Formats = BTreeMap<String, UserFormat>;

/// One format.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserFormat {
    /// Numeric ranges, in ascending order.
    pub numbers: Vec<Range<f64>>,
    /// Character ranges, in ascending order.
    pub texts: Vec<Range<Vec<u8>>>,
    /// OTHER.
    pub other: Option<String>,
    /// DEFAULT=, or the longest label.
    pub width: u16,
    /// How far beyond a range a number still belongs to it.
    pub fuzz: f64,
}

/// `low - high = 'label'`
#[derive(Debug, Clone, PartialEq)]
pub struct Range<T> {
    /// Least value; `None` is LOW.
    pub low: Option<T>,
    /// `low <- …`: the least value itself is not part of it.
    pub above: bool,
    /// Greatest value; `None` is HIGH.
    pub high: Option<T>,
    /// `… -< high`
    pub below: bool,
    /// What is printed.
    pub label: String,
}

impl UserFormat {
    /// The label of a number, if it has one.
    pub fn number(&self, value: f64) -> Option<&str> {
        let holds = |range: &&Range<f64>| {
            let near = |bound: f64| (value - bound).abs() <= self.fuzz;
            let above = match range.low {
                // LOW does not reach missing values.
                None => !value.is_nan(),
                Some(low) if low.is_nan() || value.is_nan() => order_key(value) >= order_key(low),
                Some(low) if range.above => value > low && !near(low),
                Some(low) => value >= low || near(low),
            };
            let below = match range.high {
                None => true,
                Some(high) if high.is_nan() || value.is_nan() => {
                    order_key(value) <= order_key(high)
                }
                Some(high) if range.below => value < high && !near(high),
                Some(high) => value <= high || near(high),
            };
            above && below
        };
        let found = self
            .numbers
            .iter()
            .find(holds)
            .map(|range| range.label.as_str());
        found.or(self.other.as_deref())
    }

    /// The label of a text, if it has one.
    pub fn text(&self, value: &[u8]) -> Option<&str> {
        let value = trimmed(value);
        let holds = |range: &&Range<Vec<u8>>| {
            let above = range.low.as_ref().is_none_or(|low| {
                let order = compare_padded(value, low);
                if range.above {
                    order.is_gt()
                } else {
                    order.is_ge()
                }
            });
            let below = range.high.as_ref().is_none_or(|high| {
                let order = compare_padded(value, high);
                if range.below {
                    order.is_lt()
                } else {
                    order.is_le()
                }
            });
            above && below
        };
        let found = self
            .texts
            .iter()
            .find(holds)
            .map(|range| range.label.as_str());
        found.or(self.other.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sas7bdat::missing;

    fn range(low: Option<f64>, high: Option<f64>, below: bool, label: &str) -> Range<f64> {
        Range {
            low,
            above: false,
            high,
            below,
            label: label.to_owned(),
        }
    }

    #[test]
    fn numbers_find_their_range() {
        let format = UserFormat {
            numbers: vec![
                range(
                    Some(missing::encode(0)),
                    Some(missing::encode(0)),
                    false,
                    "none",
                ),
                range(None, Some(10.0), true, "low"),
                range(Some(10.0), Some(20.0), false, "mid"),
                range(Some(30.0), None, false, "high"),
            ],
            fuzz: 1e-12,
            ..UserFormat::default()
        };
        for (value, label) in [
            (-5.0, Some("low")),
            (9.5, Some("low")),
            (10.0, Some("mid")),
            (20.0 + 1e-13, Some("mid")),
            (25.0, None),
            (1e300, Some("high")),
            (missing::encode(0), Some("none")),
            (missing::encode(b'A'), None),
        ] {
            assert_eq!(format.number(value), label, "{value}");
        }
    }

    #[test]
    fn texts_find_their_range_and_other() {
        let format = UserFormat {
            texts: vec![Range {
                low: Some(b"A".to_vec()),
                above: false,
                high: Some(b"C".to_vec()),
                below: true,
                label: "first".to_owned(),
            }],
            other: Some("rest".to_owned()),
            ..UserFormat::default()
        };
        assert_eq!(format.text(b"B  "), Some("first"));
        assert_eq!(format.text(b"C"), Some("rest"));
    }
}
