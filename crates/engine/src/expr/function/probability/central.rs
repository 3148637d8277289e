//! Distributions without noncentrality: probabilities by series and continued fractions, densities.

use std::f64::consts::SQRT_2;

pub(super) fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

pub(super) fn student(t: f64, degrees: f64) -> Option<f64> {
    let tail = 0.5 * beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)?;
    Some(if t > 0.0 { 1.0 - tail } else { tail })
}

/// The regularised lower incomplete gamma function.
pub(super) fn gamma(x: f64, shape: f64) -> Option<f64> {
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
pub(super) fn beta(x: f64, a: f64, b: f64) -> Option<f64> {
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

/// The density of a gamma variable of scale 1.
pub(super) fn gamma_density(x: f64, shape: f64) -> f64 {
    if x < 0.0 {
        0.0
    } else {
        ((shape - 1.0) * x.ln() - x - libm::lgamma(shape)).exp()
    }
}

/// The density of a beta variable at `x` between 0 and 1.
pub(super) fn beta_density(x: f64, a: f64, b: f64) -> f64 {
    let log = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    (log + (a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p()).exp()
}
