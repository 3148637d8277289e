//! Statistics of lists of numbers, missing ones left out.

use super::table::{Entry, Gives, Run, general, statistic};
use crate::expr::evaluate::order_key;
use crate::expr::general::{Given, Result};

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    statistic("STD", |v| variance(v).map(f64::sqrt)),
    statistic("STDERR", |v| {
        let values = present(v);
        variance(v).map(|variance| (variance / values.len() as f64).sqrt())
    }),
    statistic("VAR", variance),
    statistic("CV", |v| {
        let average = mean(&present(v))?;
        (average != 0.0).then_some(())?;
        Some(100.0 * variance(v)?.sqrt() / average)
    }),
    statistic("RANGE", |v| {
        let values = sorted(v);
        Some(values.last()? - values.first()?)
    }),
    statistic("USS", |v| {
        let values = present(v);
        (!values.is_empty()).then(|| values.iter().map(|x| x * x).sum())
    }),
    statistic("CSS", |v| {
        let values = present(v);
        let average = mean(&values)?;
        Some(values.iter().map(|x| (x - average).powi(2)).sum())
    }),
    statistic("MEDIAN", |v| percentile(50.0, v)),
    statistic("GEOMEAN", |v| {
        let values = present(v);
        let logs: Vec<f64> = values.iter().map(|x| x.ln()).collect();
        if values.contains(&0.0) {
            Some(0.0)
        } else {
            mean(&logs).map(f64::exp)
        }
    }),
    statistic("HARMEAN", |v| {
        let inverses: Vec<f64> = present(v).iter().map(|x| 1.0 / x).collect();
        mean(&inverses).map(|average| 1.0 / average)
    }),
    statistic("SKEWNESS", |v| {
        let (n, deviations) = standardised(v)?;
        (n > 2.0).then(|| {
            n / ((n - 1.0) * (n - 2.0)) * deviations.iter().map(|z| z.powi(3)).sum::<f64>()
        })
    }),
    statistic("KURTOSIS", |v| {
        let (n, deviations) = standardised(v)?;
        (n > 3.0).then(|| {
            let fourth = deviations.iter().map(|z| z.powi(4)).sum::<f64>();
            n * (n + 1.0) / ((n - 1.0) * (n - 2.0) * (n - 3.0)) * fourth
                - 3.0 * (n - 1.0).powi(2) / ((n - 2.0) * (n - 3.0))
        })
    }),
    list("PCTL", |v| percentile(v[0], &v[1..])),
    list("LARGEST", |v| {
        let values = sorted(&v[1..]);
        rank(v[0], values.len()).map(|place| values[values.len() - place])
    }),
    list("SMALLEST", |v| {
        let values = sorted(&v[1..]);
        rank(v[0], values.len()).map(|place| values[place - 1])
    }),
    list("ORDINAL", |v| {
        let mut values = v[1..].to_vec();
        values.sort_by_key(|x| order_key(*x));
        rank(v[0], values.len()).map(|place| values[place - 1])
    }),
    list("COALESCE", |v| v.iter().copied().find(|x| !x.is_nan())),
    general("CMISS", "a*", Gives::Number, |call| {
        let is_missing = |given: &&Given<'_>| match given {
            Given::Number(value) => value.is_nan(),
            Given::Text(text) => text.iter().all(|byte| *byte == b' '),
        };
        Result::Number(call.given.iter().filter(is_missing).count() as f64)
    }),
];

/// A function of a first number and a list.
const fn list(name: &'static str, run: fn(&[f64]) -> Option<f64>) -> Entry {
    Entry {
        name,
        takes: "n*",
        gives: Gives::Number,
        skips_missing: true,
        run: Run::Numbers(run),
    }
}

fn present(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .copied()
        .filter(|value| !value.is_nan())
        .collect()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = present(values);
    values.sort_by(f64::total_cmp);
    values
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn variance(values: &[f64]) -> Option<f64> {
    let values = present(values);
    let average = mean(&values)?;
    let squares: f64 = values.iter().map(|x| (x - average).powi(2)).sum();
    (values.len() > 1).then(|| squares / (values.len() - 1) as f64)
}

fn standardised(values: &[f64]) -> Option<(f64, Vec<f64>)> {
    let deviation = variance(values)?.sqrt();
    let values = present(values);
    let average = mean(&values)?;
    (deviation > 0.0).then(|| {
        let all = values.iter().map(|x| (x - average) / deviation);
        (values.len() as f64, all.collect())
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to lie between 1 and the length"
)]
fn rank(place: f64, length: usize) -> Option<usize> {
    let place = place.floor();
    (place >= 1.0 && place <= length as f64).then_some(place as usize)
}

/// Definition 5 of SAS: the empirical distribution function with averaging.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the percentage lies between 0 and 100"
)]
fn percentile(percentage: f64, values: &[f64]) -> Option<f64> {
    let values = sorted(values);
    if values.is_empty() || !(0.0..=100.0).contains(&percentage) {
        return None;
    }
    let position = values.len() as f64 * percentage / 100.0;
    let below = position.floor() as usize;
    let last = values.len() - 1;
    if (position - position.floor()).abs() < 1e-12 {
        Some(f64::midpoint(
            values[below.saturating_sub(1).min(last)],
            values[below.min(last)],
        ))
    } else {
        Some(values[below.min(last)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, values: &[f64]) -> Option<f64> {
        let Run::Numbers(run) = Entry::find(name).unwrap().run else {
            panic!("{name}")
        };
        run(values)
    }

    #[test]
    fn statistics_leave_missing_values_out() {
        let values = [4.0, f64::NAN, 2.0, 9.0, 1.0];
        for (name, result) in [
            ("MEDIAN", 3.0),
            ("RANGE", 8.0),
            ("USS", 102.0),
            ("CSS", 38.0),
        ] {
            assert_eq!(call(name, &values), Some(result), "{name}");
        }
        assert!((call("STD", &values).unwrap() - (38.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(call("STD", &[1.0]), None);
        assert_eq!(call("PCTL", &[25.0, 1.0, 2.0, 3.0, 4.0]), Some(1.5));
        assert_eq!(call("PCTL", &[100.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(call("LARGEST", &[2.0, 5.0, 7.0, 6.0]), Some(6.0));
        assert_eq!(call("SMALLEST", &[2.0, 5.0, f64::NAN, 6.0]), Some(6.0));
        assert_eq!(call("SMALLEST", &[3.0, 5.0, f64::NAN, 6.0]), None);
        assert_eq!(call("COALESCE", &[f64::NAN, 3.0]), Some(3.0));
    }
}
