//! Probabilities that procedures print; whatever the arguments, a missing value where there is none.

use sas7bdat::missing;
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, Normal, StudentsT};

/// Degrees of freedom are counts of rows or parameters; with more than this many nothing changes in
/// the digits that a double has.
const DEGREES_MAX: f64 = 1e6;

/// Degrees of freedom that a distribution can have.
fn counted(degrees: f64) -> Option<f64> {
    (degrees >= 1.0).then(|| degrees.min(DEGREES_MAX))
}

fn student(degrees: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, counted(degrees)?).ok()
}

/// Two-sided probability of Student's t.
pub(crate) fn t_probability(t: f64, degrees: f64) -> f64 {
    match student(degrees) {
        Some(_) if t.is_infinite() => 0.0,
        Some(student) if !t.is_nan() => 2.0 * student.cdf(-t.abs()),
        _ => missing::missing(),
    }
}

/// The value that Student's t stays below with `probability`.
pub(crate) fn t_quantile(probability: f64, degrees: f64) -> f64 {
    let student = student(degrees).filter(|_| probability > 0.0 && probability < 1.0);
    student.map_or_else(missing::missing, |student| student.inverse_cdf(probability))
}

/// The value that a standard normal variable stays below with `probability`.
pub(crate) fn normal_quantile(probability: f64) -> f64 {
    let known = probability > 0.0 && probability < 1.0;
    let normal = Normal::new(0.0, 1.0).ok().filter(|_| known);
    normal.map_or_else(missing::missing, |normal| normal.inverse_cdf(probability))
}

/// Probability of an F value at least as large.
pub(crate) fn f_probability(f: f64, above: f64, below: f64) -> f64 {
    let fisher = counted(above)
        .zip(counted(below))
        .and_then(|(above, below)| FisherSnedecor::new(above, below).ok());
    match fisher {
        Some(_) if f.is_infinite() && f > 0.0 => 0.0,
        Some(fisher) if f >= 0.0 => fisher.sf(f),
        _ => missing::missing(),
    }
}

/// Probability of a chi-square value at least as large.
pub(crate) fn chi_square_probability(value: f64, degrees: f64) -> f64 {
    match counted(degrees).and_then(|degrees| ChiSquared::new(degrees).ok()) {
        Some(_) if value.is_infinite() && value > 0.0 => 0.0,
        Some(chi_square) if value >= 0.0 => chi_square.sf(value),
        _ => missing::missing(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from tables of the distributions.
    #[test]
    fn known_values() {
        assert!((t_probability(2.364_624_251_592_784, 7.0) - 0.05).abs() < 1e-10);
        assert!((t_quantile(0.975, 7.0) - 2.364_624_251_592_784).abs() < 1e-8);
        assert!((chi_square_probability(5.991_464_547_107_979, 2.0) - 0.05).abs() < 1e-12);
        assert!((f_probability(4.256_494_729_093_75, 2.0, 9.0) - 0.05).abs() < 1e-10);
    }

    #[test]
    fn nothing_panics() {
        let values = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -1.0,
            0.0,
            1e-300,
            1e300,
        ];
        for first in values {
            for second in values {
                t_probability(first, second);
                t_quantile(0.975, second);
                chi_square_probability(first, second);
                for third in values {
                    f_probability(first, second, third);
                }
            }
        }
        assert!(t_probability(f64::INFINITY, 3.0) < 1e-300);
        assert!(f_probability(f64::NAN, 1.0, 2.0).is_nan());
    }
}
