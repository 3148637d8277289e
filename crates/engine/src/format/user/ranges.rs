//! Values and ranges with what belongs to them, in ascending order.

use std::cmp::Ordering;

use crate::expr::evaluate::{compare_padded, order_key, trimmed};

/// What an allocation costs beside its bytes, about.
const ALLOCATION: usize = 16;

/// Values and ranges of one format or informat.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges<L> {
    numbers: Vec<Range<f64, L>>,
    texts: Vec<Range<Box<[u8]>, L>>,
    /// OTHER.
    pub other: Option<L>,
    /// How far beyond a range a number still belongs to it.
    pub fuzz: f64,
}

impl<L> Default for Ranges<L> {
    fn default() -> Self {
        Self {
            numbers: Vec::new(),
            texts: Vec::new(),
            other: None,
            fuzz: 0.0,
        }
    }
}

/// The ends of a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Ends<T> {
    /// Least value; `None` is LOW.
    pub low: Option<T>,
    /// `low <- …`: the least value itself is not part of it.
    pub above: bool,
    /// Greatest value; `None` is HIGH.
    pub high: Option<T>,
    /// `… -< high`
    pub below: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Range<T, L> {
    ends: Ends<T>,
    label: L,
}

/// Two ranges that meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlap {
    /// They share values.
    Shared(String, String),
    /// They are the same.
    Repeated(String),
}

/// The ends of a range of numbers or texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shown<'a> {
    /// Of numbers.
    Numbers(&'a Ends<f64>),
    /// Of texts.
    Texts(&'a Ends<Box<[u8]>>),
}

/// LOW lies above all missing values.
fn start(range: &Ends<f64>) -> u64 {
    order_key(range.low.unwrap_or(f64::NEG_INFINITY))
}

fn end(range: &Ends<f64>) -> u64 {
    order_key(range.high.unwrap_or(f64::INFINITY))
}

impl Ends<f64> {
    fn holds(&self, value: f64) -> bool {
        let key = order_key(value);
        let from = match key.cmp(&start(self)) {
            Ordering::Less => false,
            Ordering::Equal => !self.above,
            Ordering::Greater => true,
        };
        let to = match key.cmp(&end(self)) {
            Ordering::Less => true,
            Ordering::Equal => !self.below,
            Ordering::Greater => false,
        };
        from && to
    }

    /// Whether a number lies next to an end that belongs to the range.
    fn nearly(&self, value: f64, fuzz: f64) -> bool {
        let near = |bound: Option<f64>| bound.is_some_and(|bound| (value - bound).abs() <= fuzz);
        (!self.above && near(self.low)) || (!self.below && near(self.high))
    }

    fn text(&self) -> String {
        let shown = |value: Option<f64>, none: &str| {
            value.map_or_else(
                || none.to_owned(),
                |value| crate::format::best(value, 12).trim().to_owned(),
            )
        };
        format!("{}-{}", shown(self.low, "LOW"), shown(self.high, "HIGH"))
    }
}

impl Ends<Box<[u8]>> {
    fn holds(&self, value: &[u8]) -> bool {
        let from = self
            .low
            .as_ref()
            .is_none_or(|low| match compare_padded(value, low) {
                Ordering::Less => false,
                Ordering::Equal => !self.above,
                Ordering::Greater => true,
            });
        from && self
            .high
            .as_ref()
            .is_none_or(|high| match compare_padded(value, high) {
                Ordering::Less => true,
                Ordering::Equal => !self.below,
                Ordering::Greater => false,
            })
    }

    fn text(&self) -> String {
        let shown = |value: &Option<Box<[u8]>>, none: &str| match value {
            Some(value) => String::from_utf8_lossy(value).into_owned(),
            None => none.to_owned(),
        };
        format!("{}-{}", shown(&self.low, "LOW"), shown(&self.high, "HIGH"))
    }

    fn bytes(&self) -> usize {
        let one = |value: &Option<Box<[u8]>>| value.as_ref().map_or(0, |v| v.len() + ALLOCATION);
        one(&self.low) + one(&self.high)
    }
}

impl<L> Ranges<L> {
    /// No ranges yet; numbers may lie so far beside their ends.
    pub fn with_fuzz(fuzz: f64) -> Self {
        Self {
            fuzz,
            ..Self::default()
        }
    }

    /// Adds a range of numbers; [`Self::sort`] comes after the last one.
    pub fn add_numbers(&mut self, ends: Ends<f64>, label: L) {
        self.numbers.push(Range { ends, label });
    }

    /// Adds a range of texts.
    pub fn add_texts(&mut self, ends: Ends<Box<[u8]>>, label: L) {
        self.texts.push(Range { ends, label });
    }

    /// Puts the ranges in order. They must not share values; where two meet, the lower one has the
    /// value.
    pub fn sort(&mut self) -> Result<(), Overlap> {
        self.numbers
            .sort_by_key(|range| (start(&range.ends), end(&range.ends)));
        for pair in self.numbers.windows(2) {
            let [first, second] = pair else { continue };
            let (first, second) = (&first.ends, &second.ends);
            if start(first) == start(second) && end(first) == end(second) {
                return Err(Overlap::Repeated(first.text()));
            }
            if start(second) < end(first) {
                return Err(Overlap::Shared(first.text(), second.text()));
            }
        }
        let low = |range: &Range<Box<[u8]>, L>| range.ends.low.clone().unwrap_or_default();
        self.texts
            .sort_by(|a, b| compare_padded(&low(a), &low(b)).then_with(|| high_order(a, b)));
        for pair in self.texts.windows(2) {
            let [first, second] = pair else { continue };
            let same = compare_padded(&low(first), &low(second)).is_eq();
            if same && high_order(first, second).is_eq() {
                return Err(Overlap::Repeated(first.ends.text()));
            }
            let apart = first
                .ends
                .high
                .as_ref()
                .is_some_and(|high| compare_padded(high, &low(second)).is_le());
            if !apart {
                return Err(Overlap::Shared(first.ends.text(), second.ends.text()));
            }
        }
        Ok(())
    }

    /// What belongs to a number: first of all the range that has it, then one that nearly does.
    pub fn number(&self, value: f64) -> Option<&L> {
        // 3 - 2.8 is a little more than 0.2 in doubles.
        let fuzz = self.fuzz * (1.0 + 1e-12);
        let reach = |add: f64| {
            if value.is_nan() {
                order_key(value)
            } else {
                order_key(value + add)
            }
        };
        let (least, most) = (reach(-fuzz), reach(fuzz));
        let behind = self
            .numbers
            .partition_point(|range| start(&range.ends) <= most);
        let candidates = self.numbers[..behind].iter().rev();
        let mut candidates = candidates.take_while(|range| end(&range.ends) >= least);
        let (mut exact, mut near) = (None, None);
        for range in candidates.by_ref() {
            if range.ends.holds(value) {
                exact = Some(range);
            } else if range.ends.nearly(value, fuzz) {
                near = Some(range);
            }
        }
        let found = exact.or(near).map(|range| &range.label);
        found.or(self.other.as_ref())
    }

    /// What belongs to a number that a range has.
    pub fn listed_number(&self, value: f64) -> Option<&L> {
        let found = self.number(value);
        let other = self.other.as_ref();
        found.filter(|found| !other.is_some_and(|other| std::ptr::eq(other, *found)))
    }

    /// What belongs to a text that a range has.
    pub fn listed_text(&self, value: &[u8]) -> Option<&L> {
        let value = trimmed(value);
        let behind = self.texts.partition_point(|range| {
            let low = range.ends.low.as_ref();
            low.is_none_or(|low| compare_padded(low, value).is_le())
        });
        let candidates = self.texts[..behind].iter().rev();
        let found = candidates
            .take_while(|range| {
                let high = range.ends.high.as_ref();
                high.is_none_or(|high| compare_padded(high, value).is_ge())
            })
            .filter(|range| range.ends.holds(value))
            .last();
        found.map(|range| &range.label)
    }

    /// What belongs to a text, OTHER if it is in no range.
    pub fn text(&self, value: &[u8]) -> Option<&L> {
        self.listed_text(value).or(self.other.as_ref())
    }

    /// Whether there are ranges of texts.
    pub fn has_texts(&self) -> bool {
        !self.texts.is_empty()
    }

    /// All labels.
    pub fn labels(&self) -> impl Iterator<Item = &L> {
        let numbers = self.numbers.iter().map(|range| &range.label);
        let texts = self.texts.iter().map(|range| &range.label);
        numbers.chain(texts).chain(self.other.as_ref())
    }

    /// All ranges in order, without OTHER.
    pub fn all(&self) -> impl Iterator<Item = (Shown<'_>, &L)> {
        let numbers = self.numbers.iter();
        let numbers = numbers.map(|range| (Shown::Numbers(&range.ends), &range.label));
        let texts = self.texts.iter();
        let texts = texts.map(|range| (Shown::Texts(&range.ends), &range.label));
        numbers.chain(texts)
    }

    /// Bytes of memory; `of` gives those of a label.
    pub fn bytes(&self, of: impl Fn(&L) -> usize) -> u64 {
        let places = self.numbers.capacity() * size_of::<Range<f64, L>>()
            + self.texts.capacity() * size_of::<Range<Box<[u8]>, L>>();
        let texts: usize = self.texts.iter().map(|range| range.ends.bytes()).sum();
        let labels: usize = self.labels().map(|label| of(label) + ALLOCATION).sum();
        (places + texts + labels) as u64
    }

    /// Bytes that the last range added takes, its place included, about.
    pub fn last_bytes(&self, of: impl Fn(&L) -> usize) -> u64 {
        let numbers = self.numbers.last().map(|range| of(&range.label));
        let texts = self.texts.last();
        let texts = texts.map(|range| of(&range.label) + range.ends.bytes());
        let place = size_of::<Range<Box<[u8]>, L>>() + ALLOCATION;
        (place + numbers.max(texts).unwrap_or(0)) as u64
    }
}

fn high_order<L>(a: &Range<Box<[u8]>, L>, b: &Range<Box<[u8]>, L>) -> Ordering {
    match (&a.ends.high, &b.ends.high) {
        (Some(a), Some(b)) => compare_padded(a, b),
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Greater,
        (_, None) => Ordering::Less,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sas7bdat::missing;

    type Given = (Option<f64>, bool, Option<f64>, bool, &'static str);

    fn numbers(ranges: &[Given]) -> Ranges<String> {
        let mut all = Ranges {
            fuzz: 1e-12,
            ..Ranges::default()
        };
        for (low, above, high, below, label) in ranges {
            let ends = Ends {
                low: *low,
                above: *above,
                high: *high,
                below: *below,
            };
            all.add_numbers(ends, (*label).to_owned());
        }
        all
    }

    #[test]
    fn numbers_find_their_range() {
        let none = Some(missing::encode(0));
        let mut ranges = numbers(&[
            (Some(30.0), false, None, false, "high"),
            (none, false, none, false, "none"),
            (None, false, Some(10.0), true, "low"),
            (Some(10.0), false, Some(20.0), false, "mid"),
            (Some(20.0), false, Some(25.0), false, "upper"),
            (Some(25.0), true, Some(26.0), true, "open"),
        ]);
        ranges.sort().unwrap();
        for (value, label) in [
            (-5.0, Some("low")),
            (9.5, Some("low")),
            (10.0, Some("mid")),
            (20.0, Some("mid")),
            (20.0 + 1e-13, Some("upper")),
            (10.0 - 1e-13, Some("low")),
            (25.0 + 1e-13, Some("open")),
            (25.5, Some("open")),
            (26.0, None),
            (28.0, None),
            (30.0 - 1e-13, Some("high")),
            (1e300, Some("high")),
            (missing::encode(0), Some("none")),
            (missing::encode(b'A'), None),
        ] {
            let found = ranges.number(value).map(String::as_str);
            assert_eq!(found, label, "{value}");
        }
    }

    #[test]
    fn a_fuzz_factor_reaches_over_the_ends() {
        // The example of the documentation of FUZZ=: .2 around 1, 2 and 3.
        let mut ranges = numbers(&[
            (Some(1.0), false, Some(1.0), false, "A"),
            (Some(2.0), false, Some(2.0), false, "B"),
            (Some(3.0), false, Some(3.0), false, "C"),
        ]);
        ranges.fuzz = 0.2;
        ranges.sort().unwrap();
        for (value, label) in [
            (1.2, Some("A")),
            (1.7, None),
            (2.0, Some("B")),
            (2.8, Some("C")),
        ] {
            let found = ranges.number(value).map(String::as_str);
            assert_eq!(found, label, "{value}");
        }
    }

    /// What a search finds is what looking at every range finds.
    #[test]
    fn searching_finds_what_looking_at_all_finds() {
        let mut state = 7_u64;
        let mut draw = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..300 {
            let (mut ends, mut at) = (Vec::new(), 0);
            while at < 60 {
                let low = at + draw(4);
                let high = low + draw(5);
                let single = low == high;
                ends.push(Ends {
                    low: (!ends.is_empty()).then_some(low as f64),
                    above: !single && draw(2) == 0,
                    high: Some(high as f64),
                    below: !single && draw(2) == 0,
                });
                at = high + u64::from(single);
            }
            let mut ranges = Ranges::with_fuzz([0.0, 0.3][usize::from(draw(2) == 0)]);
            for index in (0..ends.len()).rev() {
                ranges.add_numbers(ends[index].clone(), index);
            }
            ranges.sort().unwrap();
            for tenth in -20..700 {
                let value = f64::from(tenth) / 10.0;
                let exact = ends.iter().position(|one| one.holds(value));
                let fuzz = ranges.fuzz * (1.0 + 1e-12);
                let near = || ends.iter().position(|one| one.nearly(value, fuzz));
                let found = ranges.number(value).copied();
                assert_eq!(found, exact.or_else(near), "{value} {ends:?}");
            }
        }
    }

    #[test]
    fn shared_and_repeated_values_are_found() {
        let mut shared = numbers(&[
            (Some(3.0), false, Some(9.0), false, "b"),
            (Some(1.0), false, Some(5.0), false, "a"),
        ]);
        let overlap = Overlap::Shared("1-5".to_owned(), "3-9".to_owned());
        assert_eq!(shared.sort(), Err(overlap));
        let mut twice = numbers(&[
            (Some(3.0), false, Some(3.0), false, "b"),
            (Some(3.0), false, Some(3.0), false, "a"),
        ]);
        assert_eq!(twice.sort(), Err(Overlap::Repeated("3-3".to_owned())));
    }

    #[test]
    fn texts_find_their_range_and_other() {
        let mut ranges = Ranges {
            other: Some("rest"),
            ..Ranges::default()
        };
        let ends = |low: &[u8], high: &[u8], below| Ends {
            low: Some(low.into()),
            above: false,
            high: Some(high.into()),
            below,
        };
        ranges.add_texts(ends(b"D", b"D", false), "one");
        ranges.add_texts(ends(b"A", b"C", true), "first");
        ranges.sort().unwrap();
        assert_eq!(ranges.text(b"B  "), Some(&"first"));
        assert_eq!(ranges.text(b"C"), Some(&"rest"));
        assert_eq!(ranges.text(b"D "), Some(&"one"));
        assert_eq!(ranges.listed_text(b"C"), None);
    }
}
