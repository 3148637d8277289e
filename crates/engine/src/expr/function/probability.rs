//! Distributions: cumulative probabilities, densities and quantiles.

use super::table::{Entry, Gives, general, plain};
use crate::expr::general::{Call, Result};
use std::f64::consts::{PI, SQRT_2};

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    plain("PROBNORM", "n", |v| Some(normal(v[0]))),
    plain("PROBIT", "n", |v| quantile(&Law::Normal(0.0, 1.0), v[0])),
    plain("PROBCHI", "nn", |v| chi_square(v[0], v[1])),
    plain("PROBT", "nn", |v| student(v[0], v[1])),
    plain("PROBF", "nnn", |v| fisher(v[0], v[1], v[2])),
    plain("PROBGAM", "nn", |v| gamma(v[0], v[1])),
    plain("PROBBETA", "nnn", |v| beta(v[0], v[1], v[2])),
    plain("CINV", "nn", |v| quantile(&Law::ChiSquare(v[1]), v[0])),
    plain("TINV", "nn", |v| quantile(&Law::Student(v[1]), v[0])),
    plain("FINV", "nnn", |v| quantile(&Law::Fisher(v[1], v[2]), v[0])),
    plain("GAMINV", "nn", |v| quantile(&Law::Gamma(v[1], 1.0), v[0])),
    plain("BETAINV", "nnn", |v| quantile(&Law::Beta(v[1], v[2]), v[0])),
    plain("ERF", "n", |v| Some(libm::erf(v[0]))),
    plain("ERFC", "n", |v| Some(libm::erfc(v[0]))),
    general("CDF", "cn?nnn", Gives::Number, |call| {
        of_law(call, Law::cumulative)
    }),
    general("PROBABILITY", "cn?nnn", Gives::Number, |call| {
        of_law(call, Law::cumulative)
    }),
    general("SDF", "cn?nnn", Gives::Number, |call| {
        of_law(call, |law, x| match law {
            Law::Normal(mean, deviation) => Some(normal(-(x - mean) / deviation)),
            _ => law.cumulative(x).map(|p| 1.0 - p),
        })
    }),
    general("PDF", "cn?nnn", Gives::Number, |call| {
        of_law(call, Law::density)
    }),
    general("QUANTILE", "cn?nnn", Gives::Number, |call| {
        of_law(call, quantile)
    }),
];

/// A distribution with its parameters.
enum Law {
    Normal(f64, f64),
    Uniform(f64, f64),
    Exponential(f64),
    ChiSquare(f64),
    Student(f64),
    Fisher(f64, f64),
    Gamma(f64, f64),
    Beta(f64, f64),
    Lognormal(f64, f64),
    Binomial(f64, f64),
    Poisson(f64),
}

fn of_law(call: &mut Call<'_, '_>, run: impl Fn(&Law, f64) -> Option<f64>) -> Result {
    let name = String::from_utf8_lossy(&call.text(0))
        .trim()
        .to_ascii_uppercase();
    let or = |index: usize, default: f64| {
        if call.count() > index {
            call.number(index)
        } else {
            default
        }
    };
    let (a, b) = (call.number(2), call.number(3));
    let law = match name.get(..name.len().min(4)).unwrap_or("") {
        "NORM" | "GAUS" => Some(Law::Normal(or(2, 0.0), or(3, 1.0))),
        "UNIF" => Some(Law::Uniform(or(2, 0.0), or(3, 1.0))),
        "EXPO" => Some(Law::Exponential(or(2, 1.0))),
        "CHIS" => Some(Law::ChiSquare(a)),
        "T" => Some(Law::Student(a)),
        "F" => Some(Law::Fisher(a, b)),
        "GAMM" => Some(Law::Gamma(a, or(3, 1.0))),
        "BETA" => Some(Law::Beta(a, b)),
        "LOGN" => Some(Law::Lognormal(or(2, 0.0), or(3, 1.0))),
        "BINO" => Some(Law::Binomial(a, b)),
        "POIS" => Some(Law::Poisson(a)),
        _ => None,
    };
    let x = call.number(1);
    if x.is_nan() {
        call.events.count(call.site);
        return Result::Number(x);
    }
    let value = law
        .and_then(|law| run(&law, x))
        .filter(|value| value.is_finite());
    Result::Number(value.unwrap_or_else(|| call.invalid()))
}

impl Law {
    fn cumulative(&self, x: f64) -> Option<f64> {
        match *self {
            Self::Normal(mean, deviation) => {
                (deviation > 0.0).then(|| normal((x - mean) / deviation))
            }
            Self::Uniform(low, high) => {
                (high > low).then(|| ((x - low) / (high - low)).clamp(0.0, 1.0))
            }
            Self::Exponential(scale) => (scale > 0.0).then(|| -(-x.max(0.0) / scale).exp_m1()),
            Self::ChiSquare(degrees) => chi_square(x, degrees),
            Self::Student(degrees) => student(x, degrees),
            Self::Fisher(first, second) => fisher(x, first, second),
            Self::Gamma(shape, scale) => gamma(x / scale, shape),
            Self::Beta(a, b) => beta(x, a, b),
            Self::Lognormal(mean, deviation) if x > 0.0 => {
                (deviation > 0.0).then(|| normal((x.ln() - mean) / deviation))
            }
            Self::Lognormal(..) => Some(0.0),
            Self::Binomial(p, n) => {
                let x = x.floor();
                if x < 0.0 {
                    Some(0.0)
                } else if x >= n {
                    Some(1.0)
                } else {
                    beta(1.0 - p, n - x, x + 1.0)
                }
            }
            Self::Poisson(mean) => {
                if x < 0.0 {
                    Some(0.0)
                } else {
                    gamma(mean, x.floor() + 1.0).map(|p| 1.0 - p)
                }
            }
        }
    }

    fn density(&self, x: f64) -> Option<f64> {
        let gamma_density = |x: f64, shape: f64| {
            if x < 0.0 {
                0.0
            } else {
                ((shape - 1.0) * x.ln() - x - libm::lgamma(shape)).exp()
            }
        };
        let beta_density = |x: f64, a: f64, b: f64| {
            let log = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
            (log + (a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p()).exp()
        };
        Some(match *self {
            Self::Normal(mean, deviation) if deviation > 0.0 => {
                let z = (x - mean) / deviation;
                (-z * z / 2.0).exp() / (deviation * (2.0 * PI).sqrt())
            }
            Self::Uniform(low, high) if high > low => {
                if (low..=high).contains(&x) {
                    1.0 / (high - low)
                } else {
                    0.0
                }
            }
            Self::Exponential(scale) if scale > 0.0 => {
                if x < 0.0 {
                    0.0
                } else {
                    (-x / scale).exp() / scale
                }
            }
            Self::ChiSquare(degrees) if degrees > 0.0 => {
                gamma_density(x / 2.0, degrees / 2.0) / 2.0
            }
            Self::Gamma(shape, scale) if shape > 0.0 => gamma_density(x / scale, shape) / scale,
            Self::Beta(a, b) if a > 0.0 && b > 0.0 => {
                if (0.0..=1.0).contains(&x) {
                    beta_density(x, a, b)
                } else {
                    0.0
                }
            }
            Self::Student(degrees) if degrees > 0.0 => {
                let log = libm::lgamma(f64::midpoint(degrees, 1.0)) - libm::lgamma(degrees / 2.0);
                log.exp() / (degrees * PI).sqrt()
                    * (1.0 + x * x / degrees).powf(-f64::midpoint(degrees, 1.0))
            }
            Self::Fisher(first, second) if x > 0.0 => {
                let share = first * x / (first * x + second);
                beta_density(share, first / 2.0, second / 2.0) * share * (1.0 - share) / x
            }
            Self::Lognormal(mean, deviation) if x > 0.0 => {
                Self::Normal(mean, deviation).density(x.ln())? / x
            }
            Self::Binomial(p, n) if x.fract() == 0.0 && (0.0..=n).contains(&x) => {
                let log = libm::lgamma(n + 1.0) - libm::lgamma(x + 1.0) - libm::lgamma(n - x + 1.0);
                log.exp() * p.powf(x) * (1.0 - p).powf(n - x)
            }
            Self::Poisson(mean) if x.fract() == 0.0 && x >= 0.0 => {
                (x * mean.ln() - mean - libm::lgamma(x + 1.0)).exp()
            }
            Self::Fisher(..) | Self::Lognormal(..) | Self::Binomial(..) | Self::Poisson(_) => 0.0,
            _ => return None,
        })
    }

    /// Where values lie: quantiles are searched there.
    const fn support(&self) -> (f64, f64) {
        match self {
            Self::Normal(..) | Self::Student(_) => (f64::NEG_INFINITY, f64::INFINITY),
            Self::Beta(..) => (0.0, 1.0),
            Self::Uniform(low, high) => (*low, *high),
            _ => (0.0, f64::INFINITY),
        }
    }

    const fn is_discrete(&self) -> bool {
        matches!(self, Self::Binomial(..) | Self::Poisson(_))
    }
}

/// The value below which the share `p` lies, by bisection: every step gains a bit.
fn quantile(law: &Law, p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let (mut low, mut high) = law.support();
    if high.is_infinite() {
        high = 1.0;
        while law.cumulative(high)? < p && high < 1e300 {
            high *= 2.0;
        }
    }
    if low.is_infinite() {
        low = -1.0;
        while law.cumulative(low)? > p && low > -1e300 {
            low *= 2.0;
        }
    }
    for _ in 0..2_000 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if law.cumulative(middle)? < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(if law.is_discrete() {
        high.floor()
    } else {
        f64::midpoint(low, high)
    })
}

fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

fn chi_square(x: f64, degrees: f64) -> Option<f64> {
    gamma(x / 2.0, degrees / 2.0)
}

fn student(t: f64, degrees: f64) -> Option<f64> {
    let tail = 0.5 * beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)?;
    Some(if t > 0.0 { 1.0 - tail } else { tail })
}

fn fisher(f: f64, first: f64, second: f64) -> Option<f64> {
    if f <= 0.0 {
        return (first > 0.0 && second > 0.0).then_some(0.0);
    }
    beta(first * f / (first * f + second), first / 2.0, second / 2.0)
}

/// The regularised lower incomplete gamma function.
fn gamma(x: f64, shape: f64) -> Option<f64> {
    if shape <= 0.0 {
        return None;
    }
    if x <= 0.0 {
        return Some(0.0);
    }
    let front = (shape * x.ln() - x - libm::lgamma(shape)).exp();
    if x < shape + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / shape, 1.0 / shape, shape);
        for _ in 0..10_000 {
            n += 1.0;
            term *= x / n;
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        return Some((front * sum).min(1.0));
    }
    // Lentz's method for the continued fraction of the upper function.
    let mut middle = x + 1.0 - shape;
    let (mut upper, mut lower) = (1e300, 1.0 / middle);
    let mut product = lower;
    for index in 1..10_000 {
        let n = f64::from(index);
        let factor = -n * (n - shape);
        middle += 2.0;
        lower = 1.0 / nonzero(factor * lower + middle);
        upper = nonzero(middle + factor / upper);
        product *= upper * lower;
        if (upper * lower - 1.0).abs() < 1e-16 {
            break;
        }
    }
    Some((1.0 - front * product).clamp(0.0, 1.0))
}

fn nonzero(value: f64) -> f64 {
    if value.abs() < 1e-300 { 1e-300 } else { value }
}

/// The regularised incomplete beta function.
fn beta(x: f64, a: f64, b: f64) -> Option<f64> {
    if a <= 0.0 || b <= 0.0 || x.is_nan() || a.is_nan() || b.is_nan() {
        return None;
    }
    if x <= 0.0 || x >= 1.0 {
        return Some(if x <= 0.0 { 0.0 } else { 1.0 });
    }
    let log = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    let front = (log + a * x.ln() + b * (-x).ln_1p()).exp();
    Some(if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    })
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let (mut upper, mut lower) = (1.0, 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)));
    let mut product = lower;
    for index in 1..10_000 {
        let m = f64::from(index);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            lower = 1.0 / nonzero(1.0 + term * lower);
            upper = nonzero(1.0 + term / upper);
            product *= upper * lower;
        }
        if (upper * lower - 1.0).abs() < 1e-16 {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_agree_with_tables() {
        let close = |found: Option<f64>, known: f64| {
            let found = found.unwrap();
            assert!(
                (found - known).abs() < 1e-10 * known.abs().max(1.0),
                "{found} {known}"
            );
        };
        close(Some(normal(1.96)), 0.975_002_104_851_779_5);
        close(student(2.0, 10.0), 0.963_305_982_614_629_9);
        close(chi_square(3.84, 1.0), libm::erf(1.92_f64.sqrt()));
        close(chi_square(2.0, 2.0), 1.0 - (-1.0_f64).exp());
        close(fisher(4.0, 2.0, 2.0), 0.8);
        close(
            quantile(&Law::Normal(0.0, 1.0), 0.975),
            1.959_963_984_540_054,
        );
        close(quantile(&Law::ChiSquare(2.0), 0.95), -2.0 * 0.05_f64.ln());
        close(quantile(&Law::Uniform(2.0, 4.0), 0.25), 2.5);
        close(Law::Binomial(0.5, 3.0).cumulative(1.0), 0.5);
        close(Law::Poisson(1.0).cumulative(0.0), (-1.0_f64).exp());
        close(Law::Binomial(0.5, 3.0).density(1.0), 0.375);
        assert_eq!(quantile(&Law::Normal(0.0, 1.0), 1.0), None);
        assert_eq!(quantile(&Law::Binomial(0.5, 3.0), 0.5), Some(1.0));
    }

    #[test]
    fn quantiles_undo_probabilities() {
        for law in [
            Law::Normal(1.0, 2.0),
            Law::Student(3.0),
            Law::ChiSquare(5.0),
            Law::Fisher(3.0, 7.0),
            Law::Gamma(2.0, 3.0),
            Law::Beta(2.0, 3.0),
            Law::Exponential(2.0),
        ] {
            for p in [0.001, 0.3, 0.5, 0.9, 0.999] {
                let x = quantile(&law, p).unwrap();
                assert!((law.cumulative(x).unwrap() - p).abs() < 1e-12);
            }
        }
    }
}
