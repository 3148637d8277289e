//! Distributions: cumulative probabilities, densities, and quantiles by bisection.

use std::f64::consts::PI;

use super::central::{beta, beta_density, gamma, gamma_density, normal};
use super::mixture;

/// A distribution with its parameters.
pub(super) enum Law {
    Normal(f64, f64),
    Uniform(f64, f64),
    Exponential(f64),
    /// Degrees of freedom, noncentrality.
    ChiSquare(f64, f64),
    /// Degrees of freedom, noncentrality.
    Student(f64, f64),
    /// Both degrees of freedom, noncentrality.
    Fisher(f64, f64, f64),
    Gamma(f64, f64),
    /// Both shapes, least and greatest value.
    Beta(f64, f64, f64, f64),
    Lognormal(f64, f64),
    /// Shape, scale.
    Weibull(f64, f64),
    /// Location, scale.
    Cauchy(f64, f64),
    /// Location, scale.
    Laplace(f64, f64),
    /// Location, scale.
    Logistic(f64, f64),
    Binomial(f64, f64),
    Poisson(f64),
    /// Failures before the first success.
    Geometric(f64),
}

impl Law {
    /// The share of values up to `x`.
    pub(super) fn cumulative(&self, x: f64) -> Option<f64> {
        match *self {
            Self::Normal(mean, deviation) => {
                (deviation > 0.0).then(|| normal((x - mean) / deviation))
            }
            Self::Uniform(low, high) => {
                (high > low).then(|| ((x - low) / (high - low)).clamp(0.0, 1.0))
            }
            Self::Exponential(scale) => (scale > 0.0).then(|| -(-x.max(0.0) / scale).exp_m1()),
            Self::ChiSquare(degrees, noncentrality) => {
                mixture::chi_square(x, degrees, noncentrality)
            }
            Self::Student(degrees, noncentrality) => mixture::student(x, degrees, noncentrality),
            Self::Fisher(first, second, noncentrality) => {
                mixture::fisher(x, first, second, noncentrality)
            }
            Self::Gamma(shape, scale) => gamma(x / scale, shape),
            Self::Beta(a, b, low, high) => {
                (high > low).then(|| beta((x - low) / (high - low), a, b))?
            }
            Self::Lognormal(mean, deviation) if x > 0.0 => {
                (deviation > 0.0).then(|| normal((x.ln() - mean) / deviation))
            }
            Self::Lognormal(..) => Some(0.0),
            Self::Weibull(shape, scale) => {
                (shape > 0.0 && scale > 0.0).then(|| -(-(x.max(0.0) / scale).powf(shape)).exp_m1())
            }
            Self::Cauchy(location, scale) => {
                (scale > 0.0).then(|| 0.5 + ((x - location) / scale).atan() / PI)
            }
            Self::Laplace(location, scale) => (scale > 0.0).then(|| {
                let tail = 0.5 * (-((x - location) / scale).abs()).exp();
                if x < location { tail } else { 1.0 - tail }
            }),
            Self::Logistic(location, scale) => {
                (scale > 0.0).then(|| 1.0 / (1.0 + (-(x - location) / scale).exp()))
            }
            Self::Binomial(..) | Self::Poisson(_) | Self::Geometric(_) => self.counted(x.floor()),
        }
    }

    /// The share of counts up to the whole number `x`.
    fn counted(&self, x: f64) -> Option<f64> {
        match *self {
            _ if x < 0.0 => Some(0.0),
            Self::Binomial(_, n) if x >= n => Some(1.0),
            Self::Binomial(p, n) => beta(1.0 - p, n - x, x + 1.0),
            Self::Poisson(mean) => gamma(mean, x + 1.0).map(|p| 1.0 - p),
            Self::Geometric(p) => {
                (p > 0.0 && p <= 1.0).then(|| -((x + 1.0) * (-p).ln_1p()).exp_m1())
            }
            _ => None,
        }
    }

    /// The density at `x`, or the probability of the count `x`.
    pub(super) fn density(&self, x: f64) -> Option<f64> {
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
            Self::ChiSquare(degrees, noncentrality) => {
                return mixture::chi_square_density(x, degrees, noncentrality);
            }
            Self::Gamma(shape, scale) if shape > 0.0 => gamma_density(x / scale, shape) / scale,
            Self::Beta(a, b, low, high) if a > 0.0 && b > 0.0 && high > low => {
                if (low..=high).contains(&x) {
                    beta_density((x - low) / (high - low), a, b) / (high - low)
                } else {
                    0.0
                }
            }
            Self::Student(degrees, noncentrality) => {
                return mixture::student_density(x, degrees, noncentrality);
            }
            Self::Fisher(first, second, noncentrality) => {
                return mixture::fisher_density(x, first, second, noncentrality);
            }
            Self::Lognormal(mean, deviation) if x > 0.0 => {
                Self::Normal(mean, deviation).density(x.ln())? / x
            }
            Self::Lognormal(..) => 0.0,
            Self::Weibull(shape, scale) if shape > 0.0 && scale > 0.0 => {
                if x < 0.0 {
                    return Some(0.0);
                }
                let z = x / scale;
                shape / scale * z.powf(shape - 1.0) * (-z.powf(shape)).exp()
            }
            Self::Cauchy(location, scale) if scale > 0.0 => {
                let z = (x - location) / scale;
                1.0 / (PI * scale * (1.0 + z * z))
            }
            Self::Laplace(location, scale) if scale > 0.0 => {
                (-((x - location) / scale).abs()).exp() / (2.0 * scale)
            }
            Self::Logistic(location, scale) if scale > 0.0 => {
                let tail = (-((x - location) / scale).abs()).exp();
                tail / (scale * (1.0 + tail) * (1.0 + tail))
            }
            Self::Binomial(..) | Self::Poisson(_) | Self::Geometric(_) => return self.mass(x),
            _ => return None,
        })
    }

    /// The probability of the count `x`.
    fn mass(&self, x: f64) -> Option<f64> {
        let counts = x.fract() == 0.0 && x >= 0.0;
        Some(match *self {
            Self::Geometric(p) if !(p > 0.0 && p <= 1.0) => return None,
            _ if !counts => 0.0,
            Self::Binomial(p, n) if x <= n => {
                let log = libm::lgamma(n + 1.0) - libm::lgamma(x + 1.0) - libm::lgamma(n - x + 1.0);
                log.exp() * p.powf(x) * (1.0 - p).powf(n - x)
            }
            Self::Poisson(mean) => (x * mean.ln() - mean - libm::lgamma(x + 1.0)).exp(),
            Self::Geometric(p) => p * (1.0 - p).powf(x),
            _ => 0.0,
        })
    }

    /// Where values lie: quantiles are searched there.
    const fn support(&self) -> (f64, f64) {
        match self {
            Self::Normal(..)
            | Self::Student(..)
            | Self::Cauchy(..)
            | Self::Laplace(..)
            | Self::Logistic(..) => (f64::NEG_INFINITY, f64::INFINITY),
            Self::Beta(_, _, low, high) | Self::Uniform(low, high) => (*low, *high),
            _ => (0.0, f64::INFINITY),
        }
    }

    const fn is_discrete(&self) -> bool {
        matches!(
            self,
            Self::Binomial(..) | Self::Poisson(_) | Self::Geometric(_)
        )
    }
}

/// The value below which the share `p` lies, by bisection: every step gains a bit.
pub(super) fn quantile(law: &Law, p: f64) -> Option<f64> {
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
