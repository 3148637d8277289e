//! Distributions with a noncentrality parameter, as mixtures of central ones whose weights are those of a Poisson
//! variable (Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 2, chapters 29 to 31).

use std::f64::consts::PI;

use super::central::{self, beta, beta_density, gamma, gamma_density, normal};

/// The greatest noncentrality: the number of terms grows with its square root.
const MOST: f64 = 1e5;

/// Weights below this share of the greatest one are left out.
const NEGLIGIBLE: f64 = 1e-30;

/// The sum over j of `term(j)` with weights in proportion to `mean^j / gamma(j + 1 + offset)`, which together are 1.
/// It begins at the greatest weight and goes up and down from there, so that no weight is too small for a double.
fn mixture(mean: f64, offset: f64, term: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let mode = (mean - offset).max(0.0).floor();
    let (mut sum, mut weights) = (term(mode)?, 1.0);
    let (mut weight, mut at) = (1.0, mode);
    loop {
        at += 1.0;
        weight *= mean / (at + offset);
        if weight < NEGLIGIBLE {
            break;
        }
        sum += weight * term(at)?;
        weights += weight;
    }
    (weight, at) = (1.0, mode);
    while at > 0.0 {
        weight *= (at + offset) / mean;
        at -= 1.0;
        if weight < NEGLIGIBLE {
            break;
        }
        sum += weight * term(at)?;
        weights += weight;
    }
    Some(sum / weights)
}

/// Of a noncentrality that can be, half: the mean of the weights.
fn half(noncentrality: f64) -> Option<f64> {
    (0.0..=MOST)
        .contains(&noncentrality)
        .then_some(noncentrality / 2.0)
}

pub(super) fn chi_square(x: f64, degrees: f64, noncentrality: f64) -> Option<f64> {
    let mean = half(noncentrality)?;
    mixture(mean, 0.0, |j| gamma(x / 2.0, degrees / 2.0 + j))
}

pub(super) fn chi_square_density(x: f64, degrees: f64, noncentrality: f64) -> Option<f64> {
    let mean = half(noncentrality).filter(|_| degrees > 0.0)?;
    let half = mixture(mean, 0.0, |j| {
        Some(gamma_density(x / 2.0, degrees / 2.0 + j))
    });
    half.map(|density| density / 2.0)
}

pub(super) fn fisher(f: f64, first: f64, second: f64, noncentrality: f64) -> Option<f64> {
    let mean = half(noncentrality)?;
    let f = f.max(0.0);
    let share = first * f / (first * f + second);
    mixture(mean, 0.0, |j| beta(share, first / 2.0 + j, second / 2.0))
}

pub(super) fn fisher_density(f: f64, first: f64, second: f64, noncentrality: f64) -> Option<f64> {
    let mean = half(noncentrality).filter(|_| first > 0.0 && second > 0.0)?;
    if f <= 0.0 {
        return Some(0.0);
    }
    let share = first * f / (first * f + second);
    let density = mixture(mean, 0.0, |j| {
        Some(beta_density(share, first / 2.0 + j, second / 2.0))
    });
    density.map(|density| density * share * (1.0 - share) / f)
}

/// Sums over the two kinds of terms of Student's t at `t` above 0: those of the even powers of the
/// noncentrality, and those of the odd ones, which have its sign.
fn both(
    share: f64,
    degrees: f64,
    noncentrality: f64,
    term: fn(f64, f64, f64) -> Option<f64>,
) -> Option<f64> {
    let mean = half(noncentrality * noncentrality)?;
    let below = degrees / 2.0;
    let even = mixture(mean, 0.0, |j| term(share, j + 0.5, below))?;
    let odd = mixture(mean, 0.5, |j| term(share, j + 1.0, below))?;
    Some(0.5 * (even + libm::erf(noncentrality / 2.0_f64.sqrt()) * odd))
}

pub(super) fn student(t: f64, degrees: f64, noncentrality: f64) -> Option<f64> {
    if noncentrality == 0.0 {
        return central::student(t, degrees);
    }
    if t < 0.0 {
        return student(-t, degrees, -noncentrality).map(|above| 1.0 - above);
    }
    let share = t * t / (degrees + t * t);
    let sum = both(share, degrees, noncentrality, beta)?;
    Some((normal(-noncentrality) + sum).clamp(0.0, 1.0))
}

pub(super) fn student_density(t: f64, degrees: f64, noncentrality: f64) -> Option<f64> {
    if degrees.is_nan() || degrees <= 0.0 {
        return None;
    }
    let magnitude = t.abs();
    if magnitude < 1e-100 {
        let log = libm::lgamma(f64::midpoint(degrees, 1.0)) - libm::lgamma(degrees / 2.0);
        let exponent = log - noncentrality * noncentrality / 2.0;
        return Some(exponent.exp() / (degrees * PI).sqrt());
    }
    let square = degrees + magnitude * magnitude;
    let density = |share, a, b| Some(beta_density(share, a, b));
    let sum = both(
        magnitude * magnitude / square,
        degrees,
        noncentrality * t.signum(),
        density,
    )?;
    Some((sum * 2.0 * degrees * magnitude / (square * square)).max(0.0))
}
