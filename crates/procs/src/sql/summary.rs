//! Summary functions: what is kept of a group, a few numbers each, and what follows from it.

use engine::dataset::copy::{store_number, store_text};
use engine::expr::Slot;
use engine::expr::evaluate::trimmed;
use sas7bdat::{Kind, missing};

use super::key::decoded;
use super::syntax::Function;

/// A summary function over values of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Summarizer {
    pub(super) function: Function,
    /// Type of the argument; `None` for `COUNT(*)`.
    pub(super) kind: Option<Kind>,
    /// Bytes of the argument.
    pub(super) bytes: usize,
}

fn get(state: &[u8], at: usize) -> f64 {
    let mut whole = [0; 8];
    whole.copy_from_slice(&state[8 * at..8 * at + 8]);
    f64::from_le_bytes(whole)
}

fn set(state: &mut [u8], at: usize, value: f64) {
    state[8 * at..8 * at + 8].copy_from_slice(&value.to_le_bytes());
}

impl Summarizer {
    /// Bytes of what is kept of a group; all zero before its first row.
    pub(super) const fn state_bytes(&self) -> usize {
        match self.function {
            Function::Count | Function::NMiss => 8,
            Function::Min | Function::Max => 8 + self.bytes,
            Function::Sum | Function::Mean | Function::Uss => 16,
            _ => 24,
        }
    }

    /// Type and length of the result.
    pub(super) const fn result(&self) -> (Kind, usize) {
        match (self.function, self.kind) {
            (Function::Min | Function::Max, Some(Kind::Character)) => (Kind::Character, self.bytes),
            _ => (Kind::Numeric, 8),
        }
    }

    /// Adds an argument, in the form in which keys have it.
    #[inline]
    pub(super) fn add_encoded(&self, state: &mut [u8], argument: &[u8]) {
        match self.kind {
            None => set(state, 0, get(state, 0) + 1.0),
            Some(Kind::Numeric) => self.add_number(state, decoded(argument)),
            Some(Kind::Character) => self.add_text(state, argument),
        }
    }

    /// Adds a row of `COUNT(*)`.
    #[inline]
    pub(super) fn add_row(state: &mut [u8]) {
        set(state, 0, get(state, 0) + 1.0);
    }

    #[inline]
    pub(super) fn add_number(&self, state: &mut [u8], value: f64) {
        if value.is_nan() {
            if self.function == Function::NMiss {
                Self::add_row(state);
            }
            return;
        }
        let n = get(state, 0);
        match self.function {
            Function::NMiss => return,
            Function::Count => {}
            Function::Sum | Function::Mean => {
                let sum = get(state, 1) + value;
                set(state, 1, sum);
            }
            Function::Uss => {
                let sum = get(state, 1) + value * value;
                set(state, 1, sum);
            }
            Function::Min => {
                if n == 0.0 || value < get(state, 1) {
                    set(state, 1, value);
                }
            }
            Function::Max => {
                if n == 0.0 || value > get(state, 1) {
                    set(state, 1, value);
                }
            }
            Function::Range => {
                if n == 0.0 || value < get(state, 1) {
                    set(state, 1, value);
                }
                if n == 0.0 || value > get(state, 2) {
                    set(state, 2, value);
                }
            }
            Function::Var | Function::Std | Function::StdErr | Function::Css | Function::Cv => {
                // The mean so far and the squares about it: a large mean costs no digits.
                let mean = get(state, 1);
                let distance = value - mean;
                let moved = mean + distance / (n + 1.0);
                let squares = get(state, 2) + distance * (value - moved);
                set(state, 1, moved);
                set(state, 2, squares);
            }
        }
        set(state, 0, n + 1.0);
    }

    fn add_text(&self, state: &mut [u8], text: &[u8]) {
        let blank = trimmed(text).is_empty();
        if blank != (self.function == Function::NMiss) {
            return;
        }
        let n = get(state, 0);
        let held = &state[8..];
        let better = match self.function {
            Function::Min => n == 0.0 || text < held,
            Function::Max => n == 0.0 || text > held,
            _ => false,
        };
        if better {
            state[8..].copy_from_slice(text);
        }
        set(state, 0, n + 1.0);
    }

    /// Puts the result into its slot.
    pub(super) fn finish(&self, state: &[u8], slot: &Slot, row: &mut [u8]) {
        if slot.kind == Kind::Character {
            // No value at all is a blank text, not the zeros of an empty state.
            let held = if get(state, 0) == 0.0 {
                b""
            } else {
                &state[8..]
            };
            store_text(slot, row, held);
            return;
        }
        let value = self.value(state).filter(|value| value.is_finite());
        store_number(slot, row, value.unwrap_or_else(|| missing::encode(0)));
    }

    fn value(&self, state: &[u8]) -> Option<f64> {
        let n = get(state, 0);
        if matches!(self.function, Function::Count | Function::NMiss) {
            return Some(n);
        }
        if n == 0.0 {
            return None;
        }
        let variance = || (n > 1.0).then(|| get(state, 2) / (n - 1.0));
        match self.function {
            Function::Mean => Some(get(state, 1) / n),
            Function::Range => Some(get(state, 2) - get(state, 1)),
            Function::Css => Some(get(state, 2)),
            Function::Var => variance(),
            Function::Std => variance().map(f64::sqrt),
            Function::StdErr => variance().map(|variance| (variance / n).sqrt()),
            Function::Cv => variance().map(|variance| 100.0 * variance.sqrt() / get(state, 1)),
            _ => Some(get(state, 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::expr::evaluate::order_key;

    use super::*;

    fn result(function: Function, values: &[f64]) -> f64 {
        let summarizer = Summarizer {
            function,
            kind: Some(Kind::Numeric),
            bytes: 8,
        };
        let mut state = vec![0; summarizer.state_bytes()];
        for value in values {
            summarizer.add_encoded(&mut state, &order_key(*value).to_be_bytes());
        }
        let slot = Slot {
            kind: Kind::Numeric,
            offset: 0,
            length: 8,
            big_endian: false,
        };
        let mut row = [0; 8];
        summarizer.finish(&state, &slot, &mut row);
        slot.number(&row)
    }

    /// NIST's numerical accuracy data sets `NumAcc3` and `NumAcc4` in small: a large mean, a standard
    /// deviation of exactly 0.1.
    #[test]
    fn a_small_spread_about_a_large_mean_keeps_its_digits() {
        let mut values = vec![1_000_000.2];
        for _ in 0..500 {
            values.extend([1_000_000.1, 1_000_000.3]);
        }
        assert!((result(Function::Std, &values) - 0.1).abs() < 1e-10);
        assert!((result(Function::Mean, &values) - 1_000_000.2).abs() < 1e-9);
    }

    #[test]
    fn missing_values_do_not_count() {
        let values = [3.0, missing::encode(0), -1.0, missing::encode(b'A'), 4.0];
        for (function, expected) in [
            (Function::Count, 3.0),
            (Function::NMiss, 2.0),
            (Function::Sum, 6.0),
            (Function::Mean, 2.0),
            (Function::Min, -1.0),
            (Function::Max, 4.0),
            (Function::Range, 5.0),
            (Function::Var, 7.0),
            (Function::Css, 14.0),
            (Function::Uss, 26.0),
        ] {
            assert!(
                (result(function, &values) - expected).abs() < 1e-12,
                "{function:?}"
            );
        }
        assert!(result(Function::Sum, &[]).is_nan());
        assert!(result(Function::Var, &[1.0]).is_nan());
        assert_eq!(result(Function::Count, &[]).to_bits(), 0f64.to_bits());
    }
}
