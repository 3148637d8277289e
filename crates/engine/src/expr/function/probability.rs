//! Distributions by name: cumulative probabilities, densities and quantiles.

mod central;
mod law;
mod mixture;

use self::central::{beta, gamma, normal};
use self::law::{Law, quantile};
use super::table::{Entry, Gives, general, plain};
use crate::expr::general::{Call, Result};

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    plain("PROBNORM", "n", |v| Some(normal(v[0]))),
    plain("PROBIT", "n", |v| quantile(&Law::Normal(0.0, 1.0), v[0])),
    plain("PROBCHI", "nn?n", |v| {
        Law::ChiSquare(v[1], or(v, 2, 0.0)).cumulative(v[0])
    }),
    plain("PROBT", "nn?n", |v| {
        Law::Student(v[1], or(v, 2, 0.0)).cumulative(v[0])
    }),
    plain("PROBF", "nnn?n", |v| {
        Law::Fisher(v[1], v[2], or(v, 3, 0.0)).cumulative(v[0])
    }),
    plain("PROBGAM", "nn", |v| gamma(v[0], v[1])),
    plain("PROBBETA", "nnn", |v| beta(v[0], v[1], v[2])),
    plain("CINV", "nn?n", |v| {
        quantile(&Law::ChiSquare(v[1], or(v, 2, 0.0)), v[0])
    }),
    plain("TINV", "nn?n", |v| {
        quantile(&Law::Student(v[1], or(v, 2, 0.0)), v[0])
    }),
    plain("FINV", "nnn?n", |v| {
        quantile(&Law::Fisher(v[1], v[2], or(v, 3, 0.0)), v[0])
    }),
    plain("GAMINV", "nn", |v| quantile(&Law::Gamma(v[1], 1.0), v[0])),
    plain("BETAINV", "nnn", |v| {
        quantile(&Law::Beta(v[1], v[2], 0.0, 1.0), v[0])
    }),
    plain("ERF", "n", |v| Some(libm::erf(v[0]))),
    plain("ERFC", "n", |v| Some(libm::erfc(v[0]))),
    general("CDF", "cn?nnnn", Gives::Number, |call| {
        of_law(call, "CDF", Law::cumulative)
    }),
    general("PROBABILITY", "cn?nnnn", Gives::Number, |call| {
        of_law(call, "PROBABILITY", Law::cumulative)
    }),
    general("SDF", "cn?nnnn", Gives::Number, |call| {
        of_law(call, "SDF", |law, x| match law {
            Law::Normal(mean, deviation) => Some(normal(-(x - mean) / deviation)),
            _ => law.cumulative(x).map(|p| 1.0 - p),
        })
    }),
    general("PDF", "cn?nnnn", Gives::Number, |call| {
        of_law(call, "PDF", Law::density)
    }),
    general("QUANTILE", "cn?nnnn", Gives::Number, |call| {
        of_law(call, "QUANTILE", quantile)
    }),
];

/// A distribution of CDF and its family.
struct Named {
    name: &'static str,
    /// How many parameters it takes behind the value.
    least: usize,
    most: usize,
    law: fn(&[f64]) -> Law,
}

const fn named(name: &'static str, least: usize, most: usize, law: fn(&[f64]) -> Law) -> Named {
    Named {
        name,
        least,
        most,
        law,
    }
}

/// The parameter at `index`, or what it is by default.
fn or(given: &[f64], index: usize, default: f64) -> f64 {
    given.get(index).copied().unwrap_or(default)
}

const LAWS: &[Named] = &[
    named("NORMAL", 0, 2, |p| {
        Law::Normal(or(p, 0, 0.0), or(p, 1, 1.0))
    }),
    named("GAUSSIAN", 0, 2, |p| {
        Law::Normal(or(p, 0, 0.0), or(p, 1, 1.0))
    }),
    named("UNIFORM", 0, 2, |p| {
        Law::Uniform(or(p, 0, 0.0), or(p, 1, 1.0))
    }),
    named("EXPONENTIAL", 0, 1, |p| Law::Exponential(or(p, 0, 1.0))),
    named("CHISQUARE", 1, 2, |p| Law::ChiSquare(p[0], or(p, 1, 0.0))),
    named("T", 1, 2, |p| Law::Student(p[0], or(p, 1, 0.0))),
    named("F", 2, 3, |p| Law::Fisher(p[0], p[1], or(p, 2, 0.0))),
    named("GAMMA", 1, 2, |p| Law::Gamma(p[0], or(p, 1, 1.0))),
    named("BETA", 2, 4, |p| {
        Law::Beta(p[0], p[1], or(p, 2, 0.0), or(p, 3, 1.0))
    }),
    named("LOGNORMAL", 0, 2, |p| {
        Law::Lognormal(or(p, 0, 0.0), or(p, 1, 1.0))
    }),
    named("WEIBULL", 1, 2, |p| Law::Weibull(p[0], or(p, 1, 1.0))),
    named("CAUCHY", 0, 2, |p| {
        Law::Cauchy(or(p, 0, 0.0), or(p, 1, 1.0))
    }),
    named("LAPLACE", 0, 2, |p| {
        Law::Laplace(or(p, 0, 0.0), or(p, 1, 1.0))
    }),
    named("LOGISTIC", 0, 2, |p| {
        Law::Logistic(or(p, 0, 0.0), or(p, 1, 1.0))
    }),
    named("BINOMIAL", 2, 2, |p| Law::Binomial(p[0], p[1])),
    named("POISSON", 1, 1, |p| Law::Poisson(p[0])),
    named("GEOMETRIC", 1, 1, |p| Law::Geometric(p[0])),
];

/// The distribution that takes `count` parameters, or what is wrong with it.
fn find(function: &str, name: &[u8], count: usize) -> std::result::Result<&'static Named, String> {
    let known = LAWS.iter().map(|law| law.name);
    let index = super::distribution(function, name, known)?;
    let law = &LAWS[index];
    if (law.least..=law.most).contains(&count) {
        return Ok(law);
    }
    Err(super::wrong_count(
        function,
        law.name,
        law.least..=law.most,
        count,
    ))
}

/// What is wrong with the distribution of a call of `function`, if anything is.
pub(super) fn refusal(function: &str, name: &[u8], arguments: usize) -> Option<String> {
    find(function, name, arguments.saturating_sub(2)).err()
}

fn of_law(
    call: &mut Call<'_, '_>,
    function: &str,
    run: impl Fn(&Law, f64) -> Option<f64>,
) -> Result {
    let found = find(function, &call.text(0), call.count().saturating_sub(2));
    let law = match found {
        Ok(law) => law,
        Err(message) => return Result::Number(call.refuse(message)),
    };
    let x = call.number(1);
    if x.is_nan() {
        call.events.count(call.site);
        return Result::Number(x);
    }
    let parameters: Vec<f64> = (2..call.count()).map(|index| call.number(index)).collect();
    let value = run(&(law.law)(&parameters), x).filter(|value| value.is_finite());
    Result::Number(value.unwrap_or_else(|| call.invalid()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: Option<f64>, known: f64) {
        let found = found.unwrap();
        assert!(
            (found - known).abs() < 1e-10 * known.abs().max(1.0),
            "{found} {known}"
        );
    }

    #[test]
    fn probabilities_agree_with_tables() {
        close(Some(normal(1.96)), 0.975_002_104_851_779_5);
        close(
            Law::Student(10.0, 0.0).cumulative(2.0),
            0.963_305_982_614_629_9,
        );
        let chi_square = |x, degrees| Law::ChiSquare(degrees, 0.0).cumulative(x);
        close(chi_square(3.84, 1.0), libm::erf(1.92_f64.sqrt()));
        close(chi_square(2.0, 2.0), 1.0 - (-1.0_f64).exp());
        close(Law::Fisher(2.0, 2.0, 0.0).cumulative(4.0), 0.8);
        close(
            quantile(&Law::Normal(0.0, 1.0), 0.975),
            1.959_963_984_540_054,
        );
        close(
            quantile(&Law::ChiSquare(2.0, 0.0), 0.95),
            -2.0 * 0.05_f64.ln(),
        );
        close(quantile(&Law::Uniform(2.0, 4.0), 0.25), 2.5);
        close(Law::Binomial(0.5, 3.0).cumulative(1.0), 0.5);
        close(Law::Poisson(1.0).cumulative(0.0), (-1.0_f64).exp());
        close(Law::Binomial(0.5, 3.0).density(1.0), 0.375);
        assert_eq!(quantile(&Law::Normal(0.0, 1.0), 1.0), None);
        assert_eq!(quantile(&Law::Binomial(0.5, 3.0), 0.5), Some(1.0));
    }

    /// From another implementation of these distributions.
    #[test]
    fn noncentral_probabilities_are_known() {
        let near = |found: Option<f64>, known: f64| {
            assert!((found.unwrap() - known).abs() < 5.1e-11 * known.max(1.0));
        };
        near(Law::Student(5.0, 2.0).cumulative(1.0), 0.158_135_643_6);
        near(Law::ChiSquare(2.0, 4.0).cumulative(3.0), 0.290_254_619_8);
        near(Law::Fisher(3.0, 4.0, 5.0).cumulative(2.0), 0.376_144_810_6);
        near(quantile(&Law::Student(5.0, 2.0), 0.9), 4.301_284_511_3);
        near(Law::ChiSquare(2.0, 4.0).density(3.0), 0.108_091_481_7);
        // The share below nothing is that of a normal deviate.
        near(Law::Student(7.0, 1.5).cumulative(0.0), normal(-1.5));
    }

    #[test]
    fn densities_are_the_slopes_of_probabilities() {
        for law in [
            Law::Student(4.0, 0.0),
            Law::Student(4.0, 1.5),
            Law::Student(9.0, -3.0),
            Law::ChiSquare(3.0, 2.0),
            Law::ChiSquare(3.0, 400.0),
            Law::Fisher(3.0, 7.0, 2.5),
            Law::Beta(2.0, 3.0, -1.0, 4.0),
            Law::Weibull(1.5, 2.0),
            Law::Cauchy(1.0, 2.0),
            Law::Laplace(1.0, 2.0),
            Law::Logistic(1.0, 2.0),
        ] {
            for p in [0.01, 0.3, 0.5, 0.9, 0.99] {
                let x = quantile(&law, p).unwrap();
                let step = 1e-4 * x.abs().max(0.01);
                let rise = law.cumulative(x + step).unwrap() - law.cumulative(x - step).unwrap();
                let (slope, density) = (rise / (2.0 * step), law.density(x).unwrap());
                assert!((slope / density - 1.0).abs() < 1e-4, "{slope} {density}");
            }
        }
        let (centre, beside) = (Law::Student(4.0, 1.5), 1e-7);
        let ratio = centre.density(0.0).unwrap() / centre.density(beside).unwrap();
        assert!((ratio - 1.0).abs() < 1e-6, "{ratio}");
    }

    #[test]
    fn quantiles_undo_probabilities() {
        for law in [
            Law::Normal(1.0, 2.0),
            Law::Student(3.0, 0.0),
            Law::Student(3.0, 2.0),
            Law::ChiSquare(5.0, 0.0),
            Law::Fisher(3.0, 7.0, 0.0),
            Law::Fisher(3.0, 7.0, 30.0),
            Law::Gamma(2.0, 3.0),
            Law::Beta(2.0, 3.0, 0.0, 1.0),
            Law::Exponential(2.0),
        ] {
            for p in [0.001, 0.3, 0.5, 0.9, 0.999] {
                let x = quantile(&law, p).unwrap();
                assert!((law.cumulative(x).unwrap() - p).abs() < 1e-12);
            }
        }
    }
}
