//! Arithmetic, rounding, logarithms, trigonometry.

use super::table::{Entry, plain};
use std::f64::consts::PI;

/// How far from a whole number a value still counts as one.
const FUZZ: f64 = 1e-12;

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    plain("SQRT", "n", |v| {
        Some(v[0]).filter(|x| *x >= 0.0).map(f64::sqrt)
    }),
    plain("LOG", "n", |v| positive(v[0]).map(f64::ln)),
    plain("LOG2", "n", |v| positive(v[0]).map(f64::log2)),
    plain("LOG10", "n", |v| positive(v[0]).map(f64::log10)),
    plain("LOG1PX", "n", |v| {
        Some(v[0]).filter(|x| *x > -1.0).map(f64::ln_1p)
    }),
    plain("SIN", "n", |v| Some(v[0].sin())),
    plain("COS", "n", |v| Some(v[0].cos())),
    plain("TAN", "n", |v| Some(v[0].tan())),
    plain("ARSIN", "n", |v| Some(v[0].asin())),
    plain("ARCOS", "n", |v| Some(v[0].acos())),
    plain("ATAN", "n", |v| Some(v[0].atan())),
    plain("ATAN2", "nn", |v| Some(v[0].atan2(v[1]))),
    plain("SINH", "n", |v| Some(v[0].sinh())),
    plain("COSH", "n", |v| Some(v[0].cosh())),
    plain("TANH", "n", |v| Some(v[0].tanh())),
    plain("SIGN", "n", |v| {
        Some(if v[0] == 0.0 { 0.0 } else { v[0].signum() })
    }),
    plain("INT", "n", |v| {
        Some(whole(v[0]).unwrap_or_else(|| v[0].trunc()))
    }),
    plain("INTZ", "n", |v| Some(v[0].trunc())),
    plain("CEIL", "n", |v| {
        Some(whole(v[0]).unwrap_or_else(|| v[0].ceil()))
    }),
    plain("CEILZ", "n", |v| Some(v[0].ceil())),
    plain("FLOOR", "n", |v| {
        Some(whole(v[0]).unwrap_or_else(|| v[0].floor()))
    }),
    plain("FLOORZ", "n", |v| Some(v[0].floor())),
    plain("ROUND", "n?n", |v| {
        round(v[0], v.get(1).copied().unwrap_or(1.0))
    }),
    plain("ROUNDZ", "n?n", |v| {
        roundz(v[0], v.get(1).copied().unwrap_or(1.0))
    }),
    plain("ROUNDE", "n?n", |v| {
        rounde(v[0], v.get(1).copied().unwrap_or(1.0))
    }),
    plain("BAND", "nn", |v| Some(f64::from(bits(v[0])? & bits(v[1])?))),
    plain("BOR", "nn", |v| Some(f64::from(bits(v[0])? | bits(v[1])?))),
    plain("BXOR", "nn", |v| Some(f64::from(bits(v[0])? ^ bits(v[1])?))),
    plain("BNOT", "n", |v| Some(f64::from(!bits(v[0])?))),
    plain("MOD", "nn", |v| modulo(v[0], v[1])),
    plain("MODZ", "nn", |v| Some(v[0] % v[1]).filter(|_| v[1] != 0.0)),
    plain("FACT", "n", |v| {
        count(v[0]).map(|n| (1..=n).map(f64::from).product())
    }),
    plain("COMB", "nn", |v| combinations(v[0], v[1])),
    plain("PERM", "n?n", |v| {
        permutations(v[0], v.get(1).copied().unwrap_or(v[0]))
    }),
    plain("GAMMA", "n", |v| Some(libm::tgamma(v[0]))),
    plain("LGAMMA", "n", |v| positive(v[0]).map(libm::lgamma)),
    plain("DIGAMMA", "n", |v| positive(v[0]).map(digamma)),
    plain("BETA", "nn", |v| beta(v[0], v[1])),
    plain("LOGISTIC", "n", |v| Some(1.0 / (1.0 + (-v[0]).exp()))),
];

/// A whole number of 32 bits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked in the same line"
)]
fn bits(value: f64) -> Option<u32> {
    let fits = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
    fits.then_some(value as u32)
}

fn positive(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

/// The whole number that `value` is but for a rounding error.
fn whole(value: f64) -> Option<f64> {
    let near = value.round();
    ((value - near).abs() < FUZZ * near.abs().max(1.0)).then_some(near)
}

/// Rounds to a multiple of `unit`, ties away from zero, also those that are ties but for a rounding
/// error.
fn round(value: f64, unit: f64) -> Option<f64> {
    multiple(value, unit, |quotient| {
        let magnitude = quotient.abs();
        let slack = 1e-14 * magnitude.max(1.0) * 4.0;
        (magnitude + 0.5 + slack).floor().copysign(quotient)
    })
}

fn roundz(value: f64, unit: f64) -> Option<f64> {
    multiple(value, unit, f64::round)
}

fn rounde(value: f64, unit: f64) -> Option<f64> {
    multiple(value, unit, |quotient| {
        let half = quotient.floor() + 0.5;
        let slack = 1e-14 * quotient.abs().max(1.0) * 4.0;
        if (quotient - half).abs() <= slack {
            half.round_ties_even()
        } else {
            quotient.round()
        }
    })
}

fn multiple(value: f64, unit: f64, nearest: impl Fn(f64) -> f64) -> Option<f64> {
    if unit <= 0.0 {
        return (unit == 0.0).then_some(value);
    }
    // A unit such as 0.01 is the inverse of a whole number: multiplying by that number is exact
    // where dividing is not.
    let inverse = (1.0 / unit).round();
    let rounded = if unit < 1.0 && ((1.0 / unit) - inverse).abs() < 1e-9 * inverse {
        nearest(value * inverse) / inverse
    } else {
        nearest(value / unit) * unit
    };
    Some(if rounded.is_finite() { rounded } else { value })
}

/// The remainder with the sign of `value`, zero where it is that but for a rounding error.
fn modulo(value: f64, divisor: f64) -> Option<f64> {
    if divisor == 0.0 {
        return None;
    }
    let remainder = value % divisor;
    if value.fract() == 0.0 && divisor.fract() == 0.0 {
        return Some(remainder);
    }
    let slack = FUZZ * value.abs().max(divisor.abs());
    let near_zero = remainder.abs() <= slack;
    let near_divisor = (remainder.abs() - divisor.abs()).abs() <= slack;
    Some(if near_zero || near_divisor {
        0.0
    } else {
        remainder
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a whole number from 0 to 1000"
)]
fn count(value: f64) -> Option<u32> {
    (value.fract() == 0.0 && (0.0..=1000.0).contains(&value)).then_some(value as u32)
}

fn combinations(n: f64, r: f64) -> Option<f64> {
    if r > n || r < 0.0 || n.fract() != 0.0 {
        return None;
    }
    let r = count(r.min(n - r))?;
    Some(
        (1..=r)
            .fold(1.0, |all, i| {
                all * (n - f64::from(r) + f64::from(i)) / f64::from(i)
            })
            .round(),
    )
}

fn permutations(n: f64, r: f64) -> Option<f64> {
    if r > n || n.fract() != 0.0 {
        return None;
    }
    Some((0..count(r)?).fold(1.0, |all, i| all * (n - f64::from(i))))
}

fn digamma(value: f64) -> f64 {
    let (mut x, mut sum) = (value, 0.0);
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 12.0
            - square
                * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0))));
    sum + x.ln() - 0.5 / x - series
}

fn beta(a: f64, b: f64) -> Option<f64> {
    let (a, b) = (positive(a)?, positive(b)?);
    Some((libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)).exp())
}

/// CONSTANT by name.
pub(super) fn constant(name: &str) -> Option<f64> {
    Some(match name {
        "PI" => PI,
        "E" => std::f64::consts::E,
        "EULER" => 0.577_215_664_901_532_9,
        "BIG" => f64::MAX,
        "LOGBIG" => f64::MAX.ln(),
        "SQRTBIG" => f64::MAX.sqrt(),
        "SMALL" => f64::MIN_POSITIVE,
        "LOGSMALL" => f64::MIN_POSITIVE.ln(),
        "SQRTSMALL" => f64::MIN_POSITIVE.sqrt(),
        "MACEPS" => f64::EPSILON,
        "LOGMACEPS" => f64::EPSILON.ln(),
        "SQRTMACEPS" => f64::EPSILON.sqrt(),
        "EXACTINT" => 9_007_199_254_740_992.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, values: &[f64]) -> Option<f64> {
        let entry = Entry::find(name).unwrap();
        let super::super::table::Run::Numbers(run) = entry.run else {
            panic!("{name}")
        };
        run(values)
    }

    #[test]
    fn rounding_forgives_rounding_errors() {
        for (name, values, result) in [
            ("ROUND", &[1.005, 0.01][..], 1.01),
            ("ROUND", &[2.5], 3.0),
            ("ROUND", &[-2.5], -3.0),
            ("ROUND", &[0.1 + 0.2, 0.1], 0.3),
            ("ROUND", &[1234.0, 100.0], 1200.0),
            ("ROUND", &[33.5, 5.0], 35.0),
            ("ROUNDE", &[2.5], 2.0),
            ("ROUNDE", &[3.5], 4.0),
            ("INT", &[2.999_999_999_999_999_6], 3.0),
            ("INTZ", &[2.999_999_999_999_999_6], 2.0),
            ("INT", &[-2.5], -2.0),
            ("CEIL", &[2.000_000_000_000_000_4], 2.0),
            ("FLOOR", &[-2.5], -3.0),
            ("MOD", &[10.0, 3.0], 1.0),
            ("MOD", &[0.3, -0.1], 0.0),
            ("MOD", &[1.7, 0.1], 0.0),
            ("MOD", &[0.9, 0.3], 0.0),
            ("MOD", &[-7.0, 3.0], -1.0),
            ("FACT", &[5.0], 120.0),
            ("COMB", &[5.0, 2.0], 10.0),
            ("PERM", &[5.0, 2.0], 20.0),
        ] {
            assert_eq!(call(name, values), Some(result), "{name}{values:?}");
        }
        assert!((call("MODZ", &[0.3, -0.1]).unwrap() - 0.1).abs() < 1e-12);
        assert!((call("MODZ", &[0.9, 0.3]).unwrap() - 5.551e-17).abs() < 1e-19);
        assert!((call("DIGAMMA", &[1.0]).unwrap() + 0.577_215_664_901_533).abs() < 1e-12);
        assert_eq!(call("MOD", &[1.0, 0.0]), None);
    }
}
