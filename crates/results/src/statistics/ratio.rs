//! Whether two sets of repeated measurements differ: Student's t on the logarithms.

use serde::{Deserialize, Serialize};

/// A ratio of two geometric means, with its interval where there were repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Geometric mean of one over that of the other.
    pub ratio: f64,
    /// Ends of the 95 % interval; absent without repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

/// Quantiles of 97.5 % of Student's t for 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook, 1.3.6.7.2).
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// `of` over `base`, both positive; `None` if either has no figure or one that is not positive.
///
/// The spread of the logarithms is taken to be the same on both sides and pooled, so that one side may
/// have been measured once. With a single figure on each side there is no interval.
pub fn ratio(base: &[f64], of: &[f64]) -> Option<Ratio> {
    let logarithms = |values: &[f64]| -> Option<Vec<f64>> {
        let positive = !values.is_empty() && values.iter().all(|value| *value > 0.0);
        positive.then(|| values.iter().map(|value| value.ln()).collect())
    };
    if let ([base], [of]) = (base, of) {
        let positive = *base > 0.0 && *of > 0.0;
        return positive.then(|| Ratio {
            ratio: of / base,
            interval: None,
        });
    }
    let (base, of) = (logarithms(base)?, logarithms(of)?);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let squares = |values: &[f64]| {
        let mean = mean(values);
        values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
    };
    let difference = mean(&of) - mean(&base);
    let freedom = base.len() + of.len() - 2;
    let variance = (squares(&base) + squares(&of)) / freedom as f64;
    let parts = 1.0 / base.len() as f64 + 1.0 / of.len() as f64;
    let half = T[freedom.min(T.len()) - 1] * (variance * parts).sqrt();
    Some(Ratio {
        ratio: difference.exp(),
        interval: Some(((difference - half).exp(), (difference + half).exp())),
    })
}

impl Ratio {
    /// Below 1 beyond noise, above 1 beyond noise, within it, or not known.
    pub fn finding(&self) -> Finding {
        match self.interval {
            None => Finding::Unknown,
            Some((_, high)) if high < 1.0 => Finding::Less,
            Some((low, _)) if low > 1.0 => Finding::More,
            Some(_) => Finding::Noise,
        }
    }
}

/// What a ratio says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Less, beyond noise.
    Less,
    /// More, beyond noise.
    More,
    /// The interval holds 1.
    Noise,
    /// No repeats, so that noise is not known.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand: logarithms to base 2 are 0, 1, 2 and 2, 3, 4; means 1 and 3; squares 2 and 2, 4 in
    /// all over 4 degrees of freedom is a variance of 1; half width 2.776 * sqrt(2/3) = 2.26659.
    #[test]
    fn the_interval_is_that_of_the_textbook() {
        let found = ratio(&[1.0, 2.0, 4.0], &[4.0, 8.0, 16.0]).unwrap();
        assert!((found.ratio - 4.0).abs() < 1e-12);
        let (low, high) = found.interval.unwrap();
        assert!((low.log2() - (2.0 - 2.266_59)).abs() < 1e-5, "{low}");
        assert!((high.log2() - (2.0 + 2.266_59)).abs() < 1e-5, "{high}");
        assert_eq!(found.finding(), Finding::Noise);
    }

    #[test]
    fn one_figure_each_has_no_interval_and_says_nothing_of_noise() {
        let found = ratio(&[10.0], &[5.0]).unwrap();
        assert_eq!((found.ratio, found.interval), (0.5, None));
        assert_eq!(found.finding(), Finding::Unknown);
        assert_eq!(ratio(&[0.0], &[5.0]), None);
        assert_eq!(ratio(&[], &[5.0]), None);
    }

    #[test]
    fn the_same_spread_serves_a_side_measured_once() {
        let near = ratio(&[100.0, 101.0, 99.0], &[100.5]).unwrap();
        assert_eq!(near.finding(), Finding::Noise);
        let far = ratio(&[100.0, 101.0, 99.0], &[80.0]).unwrap();
        assert_eq!(far.finding(), Finding::Less);
    }
}
