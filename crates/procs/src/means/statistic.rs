//! The statistics that MEANS and SUMMARY know, and how each follows from what was accumulated.

use sas7bdat::missing;

use super::cell::{Cell, Depth};
use crate::distribution::{t_probability, t_quantile};

/// A statistic keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statistic {
    N,
    NMiss,
    Mean,
    Std,
    StdErr,
    Var,
    Min,
    Max,
    Range,
    Sum,
    SumWgt,
    Uss,
    Css,
    Cv,
    Skewness,
    Kurtosis,
    T,
    ProbT,
    Lclm,
    Uclm,
    Mode,
    /// A quantile, in percent.
    Quantile(u8),
    /// Q3 - Q1.
    Qrange,
}

/// What variances are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Vardef {
    /// n - 1
    #[default]
    Df,
    /// n
    N,
    /// sum of weights
    Weight,
    /// sum of weights - 1
    Wdf,
}

/// Keywords, headings of the listing.
const KEYWORDS: [(&str, Statistic, &str); 38] = [
    ("N", Statistic::N, "N"),
    ("NMISS", Statistic::NMiss, "N Miss"),
    ("MEAN", Statistic::Mean, "Mean"),
    ("STD", Statistic::Std, "Std Dev"),
    ("STDDEV", Statistic::Std, "Std Dev"),
    ("STDERR", Statistic::StdErr, "Std Error"),
    ("STDMEAN", Statistic::StdErr, "Std Error"),
    ("VAR", Statistic::Var, "Variance"),
    ("MIN", Statistic::Min, "Minimum"),
    ("MAX", Statistic::Max, "Maximum"),
    ("RANGE", Statistic::Range, "Range"),
    ("SUM", Statistic::Sum, "Sum"),
    ("SUMWGT", Statistic::SumWgt, "Sum Wgts"),
    ("USS", Statistic::Uss, "USS"),
    ("CSS", Statistic::Css, "Corrected SS"),
    ("CV", Statistic::Cv, "Coeff of Variation"),
    ("SKEWNESS", Statistic::Skewness, "Skewness"),
    ("SKEW", Statistic::Skewness, "Skewness"),
    ("KURTOSIS", Statistic::Kurtosis, "Kurtosis"),
    ("KURT", Statistic::Kurtosis, "Kurtosis"),
    ("T", Statistic::T, "t Value"),
    ("PROBT", Statistic::ProbT, "Pr > |t|"),
    ("PRT", Statistic::ProbT, "Pr > |t|"),
    ("LCLM", Statistic::Lclm, "Lower CL for Mean"),
    ("UCLM", Statistic::Uclm, "Upper CL for Mean"),
    ("MODE", Statistic::Mode, "Mode"),
    ("MEDIAN", Statistic::Quantile(50), "Median"),
    ("P50", Statistic::Quantile(50), "50th Pctl"),
    ("Q1", Statistic::Quantile(25), "Lower Quartile"),
    ("P25", Statistic::Quantile(25), "25th Pctl"),
    ("Q3", Statistic::Quantile(75), "Upper Quartile"),
    ("P75", Statistic::Quantile(75), "75th Pctl"),
    ("P1", Statistic::Quantile(1), "1st Pctl"),
    ("P5", Statistic::Quantile(5), "5th Pctl"),
    ("P10", Statistic::Quantile(10), "10th Pctl"),
    ("P90", Statistic::Quantile(90), "90th Pctl"),
    ("P95", Statistic::Quantile(95), "95th Pctl"),
    ("P99", Statistic::Quantile(99), "99th Pctl"),
];

/// A statistic as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) statistic: Statistic,
    /// The keyword in upper case, for names made from it.
    pub(super) keyword: &'static str,
    /// The heading in the listing.
    pub(super) heading: &'static str,
}

impl Wanted {
    /// The statistic of a keyword.
    pub(super) fn find(word: &str) -> Option<Self> {
        if word.eq_ignore_ascii_case("QRANGE") {
            return Some(Self {
                statistic: Statistic::Qrange,
                keyword: "QRANGE",
                heading: "Quartile Range",
            });
        }
        KEYWORDS
            .iter()
            .find(|(keyword, ..)| word.eq_ignore_ascii_case(keyword))
            .map(|(keyword, statistic, heading)| Self {
                statistic: *statistic,
                keyword,
                heading,
            })
    }

    /// What is printed if nothing is asked for.
    pub(super) fn usual() -> Vec<Self> {
        ["N", "MEAN", "STD", "MIN", "MAX"]
            .iter()
            .filter_map(|word| Self::find(word))
            .collect()
    }
}

/// How statistics are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rules {
    pub(super) depth: Depth,
    pub(super) vardef: Vardef,
    pub(super) alpha: f64,
    /// There is a WEIGHT variable.
    pub(super) weighted: bool,
}

impl Statistic {
    /// What must be accumulated for it.
    pub(super) const fn depth(self) -> Depth {
        match self {
            Self::Std
            | Self::StdErr
            | Self::Var
            | Self::Uss
            | Self::Css
            | Self::Cv
            | Self::T
            | Self::ProbT
            | Self::Lclm
            | Self::Uclm => Depth::Squares,
            Self::Skewness | Self::Kurtosis => Depth::Powers,
            _ => Depth::Sums,
        }
    }

    /// True if it needs the least or the greatest value.
    pub(super) const fn needs_extremes(self) -> bool {
        matches!(self, Self::Min | Self::Max | Self::Range)
    }

    /// True if it needs all values.
    pub(super) const fn needs_values(self) -> bool {
        matches!(self, Self::Mode | Self::Quantile(_) | Self::Qrange)
    }

    /// True if the values are of the variable's own kind, so that its format fits them.
    pub(super) const fn keeps_format(self) -> bool {
        matches!(
            self,
            Self::Mean
                | Self::Std
                | Self::StdErr
                | Self::Min
                | Self::Max
                | Self::Range
                | Self::Sum
                | Self::Lclm
                | Self::Uclm
                | Self::Mode
                | Self::Quantile(_)
                | Self::Qrange
        )
    }

    /// The value, a missing value if it is not defined; `sorted` has all values in order where it
    /// [needs](Self::needs_values) them, each with its weight behind it if there are weights.
    pub(super) fn value(self, cell: &Cell, sorted: &[f64], rules: Rules) -> f64 {
        self.defined(cell, sorted, rules)
            .unwrap_or_else(missing::missing)
    }

    fn defined(self, cell: &Cell, sorted: &[f64], rules: Rules) -> Option<f64> {
        let any = cell.n > 0.0;
        let of = |percent| {
            if rules.weighted {
                weighted_quantile(sorted, percent)
            } else {
                quantile(sorted, percent)
            }
        };
        match self {
            Self::N => Some(cell.n),
            Self::NMiss => Some(cell.missing),
            Self::SumWgt => Some(cell.weights),
            Self::Mean => cell.mean(rules.depth),
            Self::Sum => any.then_some(cell.sum),
            Self::Min => any.then_some(cell.min),
            Self::Max => any.then_some(cell.max),
            Self::Range => any.then_some(cell.max - cell.min),
            Self::Uss => cell.uss(),
            Self::Css => cell.css(),
            Self::Var => variance(cell, rules.vardef),
            Self::Std => variance(cell, rules.vardef).map(f64::sqrt),
            Self::StdErr => standard_error(cell, rules.vardef),
            Self::Cv => {
                let mean = cell.mean(rules.depth).filter(|mean| *mean != 0.0)?;
                Some(100.0 * variance(cell, rules.vardef)?.sqrt() / mean)
            }
            Self::T => t(cell, rules),
            Self::ProbT => Some(t_probability(t(cell, rules)?, cell.n - 1.0)),
            Self::Lclm => Some(cell.mean(rules.depth)? - half_width(cell, rules)?),
            Self::Uclm => Some(cell.mean(rules.depth)? + half_width(cell, rules)?),
            // As in SAS these are not defined with weights.
            Self::Skewness | Self::Kurtosis | Self::Mode if rules.weighted => None,
            Self::Skewness => skewness(cell, rules.vardef),
            Self::Kurtosis => kurtosis(cell, rules.vardef),
            Self::Quantile(percent) => of(percent),
            Self::Qrange => Some(of(75)? - of(25)?),
            Self::Mode => mode(sorted),
        }
    }
}

fn variance(cell: &Cell, vardef: Vardef) -> Option<f64> {
    let divisor = match vardef {
        Vardef::Df => cell.n - 1.0,
        Vardef::N => cell.n,
        Vardef::Weight => cell.weights,
        Vardef::Wdf => cell.weights - 1.0,
    };
    (divisor > 0.0).then_some(cell.css()? / divisor)
}

/// Of the mean; only with the usual divisor, as SAS.
fn standard_error(cell: &Cell, vardef: Vardef) -> Option<f64> {
    let variance = (vardef == Vardef::Df).then(|| variance(cell, vardef))??;
    Some((variance / cell.weights).sqrt())
}

fn t(cell: &Cell, rules: Rules) -> Option<f64> {
    let error = standard_error(cell, rules.vardef).filter(|error| *error > 0.0)?;
    Some(cell.mean(rules.depth)? / error)
}

fn half_width(cell: &Cell, rules: Rules) -> Option<f64> {
    let error = standard_error(cell, rules.vardef)?;
    Some(t_quantile(1.0 - rules.alpha / 2.0, cell.n - 1.0) * error)
}

fn skewness(cell: &Cell, vardef: Vardef) -> Option<f64> {
    let (n, deviation) = (cell.n, variance(cell, vardef)?.sqrt());
    let cubes = cell.powers()?.0 / deviation.powi(3);
    match vardef {
        _ if deviation == 0.0 => None,
        Vardef::Df => (n > 2.0).then(|| cubes * n / ((n - 1.0) * (n - 2.0))),
        Vardef::N => Some(cubes / n),
        _ => None,
    }
}

fn kurtosis(cell: &Cell, vardef: Vardef) -> Option<f64> {
    let (n, variance) = (cell.n, variance(cell, vardef)?);
    let fourths = cell.powers()?.1 / (variance * variance);
    match vardef {
        _ if variance == 0.0 => None,
        Vardef::Df => (n > 3.0).then(|| {
            let below = (n - 1.0) * (n - 2.0) * (n - 3.0);
            fourths * n * (n + 1.0) / below - 3.0 * (n - 1.0) * (n - 1.0) / ((n - 2.0) * (n - 3.0))
        }),
        Vardef::N => Some(fourths / n - 3.0),
        _ => None,
    }
}

/// QNTLDEF=5: the empirical distribution function with averaging.
fn quantile(sorted: &[f64], percent: u8) -> Option<f64> {
    let scaled = sorted.len() * usize::from(percent);
    let (whole, rest) = (scaled / 100, scaled % 100);
    let at = |index: usize| {
        sorted
            .get(index.min(sorted.len().saturating_sub(1)))
            .copied()
    };
    if rest == 0 && whole > 0 {
        Some(f64::midpoint(at(whole - 1)?, at(whole)?))
    } else {
        at(whole)
    }
}

/// The value at which the weights up to it pass the share of all weights; the mean of it and the next one if they
/// reach it exactly. With equal weights that is QNTLDEF=5. Values without weight do not count.
fn weighted_quantile(sorted: &[f64], percent: u8) -> Option<f64> {
    // What sums of weights such as 0.1 differ by from what they mean.
    const ROUNDING: f64 = 1e-12;
    let (pairs, _) = sorted.as_chunks::<2>();
    let all: f64 = pairs.iter().map(|[_, weight]| weight).sum();
    let (share, rounding) = (all * f64::from(percent) / 100.0, all * ROUNDING);
    let (mut so_far, mut exactly) = (0.0, None);
    for [value, weight] in pairs.iter().filter(|[_, weight]| *weight > 0.0) {
        if let Some(before) = exactly {
            return Some(f64::midpoint(before, *value));
        }
        so_far += weight;
        if (so_far - share).abs() <= rounding {
            exactly = Some(*value);
        } else if so_far > share {
            return Some(*value);
        }
    }
    exactly
}

/// The most frequent value, the smallest of several; none if no value comes twice.
fn mode(sorted: &[f64]) -> Option<f64> {
    let mut best: Option<(usize, f64)> = None;
    for run in sorted.chunk_by(|left, right| left.total_cmp(right).is_eq()) {
        if run.len() > best.map_or(1, |(count, _)| count) {
            best = Some((run.len(), run[0]));
        }
    }
    best.map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::means::cells::Cells;

    #[test]
    fn quantiles_of_equal_weights_are_those_without() {
        let values = [1.0, 2.0, 2.5, 4.0, 7.0, 8.0, 9.0, 11.0, 12.0, 20.0];
        for count in 1..=values.len() {
            let pairs: Vec<f64> = values[..count]
                .iter()
                .flat_map(|value| [*value, 0.1])
                .collect();
            for percent in [1, 5, 10, 25, 50, 75, 90, 95, 99] {
                let plain = quantile(&values[..count], percent);
                assert_eq!(
                    weighted_quantile(&pairs, percent),
                    plain,
                    "{count} {percent}"
                );
            }
        }
        assert_eq!(
            weighted_quantile(&[1.0, 0.0, 3.0, 2.0, 9.0, 0.0], 50),
            Some(3.0)
        );
        assert_eq!(weighted_quantile(&[1.0, 0.0], 50), None);
    }

    /// Every expected value is worked out by hand or with exact fractions.
    #[test]
    fn statistics_of_a_few_values() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        let cell = Cells::of(&values).cell(0, 0);
        let rules = Rules {
            depth: Depth::Powers,
            vardef: Vardef::Df,
            alpha: 0.05,
            weighted: false,
        };
        let value = |word: &str| {
            let wanted = Wanted::find(word).unwrap();
            wanted.statistic.value(&cell, &values, rules)
        };
        for (word, expected) in [
            ("n", 8.0),
            ("mean", 5.0),
            ("css", 32.0),
            ("uss", 232.0),
            ("var", 32.0 / 7.0),
            ("std", (32.0f64 / 7.0).sqrt()),
            ("stderr", (4.0f64 / 7.0).sqrt()),
            ("range", 7.0),
            ("sum", 40.0),
            ("cv", 20.0 * (32.0f64 / 7.0).sqrt()),
            ("t", 5.0 / (4.0f64 / 7.0).sqrt()),
            ("median", 4.5),
            ("q1", 4.0),
            ("q3", 6.0),
            ("qrange", 2.0),
            ("p1", 2.0),
            ("p99", 9.0),
            ("mode", 4.0),
            // Sum of cubes 42, of fourth powers 356.
            ("skewness", 42.0 * 8.0 / 42.0 / (32.0f64 / 7.0).powf(1.5)),
            (
                "kurtosis",
                356.0 * 72.0 / 210.0 / (32.0f64 / 7.0).powi(2) - 147.0 / 30.0,
            ),
        ] {
            let found = value(word);
            assert!(
                (found - expected).abs() < 1e-12 * expected.abs(),
                "{word}: {found} {expected}"
            );
        }
        // Student's t with 7 degrees of freedom: 2.364624251592784 at 0.975.
        let width = 2.364_624_251_592_784 * (4.0f64 / 7.0).sqrt();
        assert!((value("lclm") - (5.0 - width)).abs() < 1e-9);
        assert!((value("uclm") - (5.0 + width)).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_defined_is_missing() {
        let rules = Rules {
            depth: Depth::Powers,
            vardef: Vardef::Df,
            alpha: 0.05,
            weighted: false,
        };
        let one = Cells::of(&[3.0]).cell(0, 0);
        for word in ["std", "t", "skew", "kurt", "lclm", "mode"] {
            let statistic = Wanted::find(word).unwrap().statistic;
            assert!(statistic.value(&one, &[3.0], rules).is_nan(), "{word}");
        }
        let none = Cell::default();
        assert!(Statistic::Sum.value(&none, &[], rules).is_nan());
        assert!(Statistic::Quantile(50).value(&none, &[], rules).is_nan());
        assert!(Statistic::N.value(&none, &[], rules) == 0.0);
    }
}
