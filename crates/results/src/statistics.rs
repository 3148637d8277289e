//! The statistics that the papers print, and those that tell differences from noise.

pub mod ratio;

/// Mean, population standard deviation and extremes of a set of figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Population standard deviation (divided by n), as the Isilon paper's tables use.
    pub deviation: f64,
    /// Smallest.
    pub min: f64,
    /// Median (mean of the two middle ones for an even count).
    pub median: f64,
    /// Largest.
    pub max: f64,
}

/// Summary of `values`; `None` if there are none.
pub fn summarize(values: &[f64]) -> Option<Summary> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let count = sorted.len();
    let mean = sorted.iter().sum::<f64>() / count as f64;
    let variance = sorted
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / count as f64;
    let median = f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]);
    Some(Summary {
        count,
        mean,
        deviation: variance.sqrt(),
        min,
        median,
        max,
    })
}

impl Summary {
    /// Sample standard deviation (divided by n - 1): how far others of the kind may differ, where the figures are a
    /// few of them. `None` of a single figure.
    pub fn sample_deviation(&self) -> Option<f64> {
        let count = self.count as f64;
        (self.count > 1).then(|| self.deviation * (count / (count - 1.0)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_is_that_of_the_population() {
        let summary = summarize(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((summary.mean - 5.0).abs() < 1e-12);
        assert!((summary.deviation - 2.0).abs() < 1e-12);
        assert!((summary.median - 4.5).abs() < 1e-12);
        assert_eq!((summary.min, summary.max, summary.count), (2.0, 9.0, 8));
        assert_eq!(summarize(&[]), None);
        // Worked by hand: 32 over 7.
        let sample = summary.sample_deviation().unwrap();
        assert!((sample - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(summarize(&[3.0]).unwrap().sample_deviation(), None);
    }
}
