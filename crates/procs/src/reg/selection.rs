//! SELECTION=: which regressors stay in the model, decided on the triangle of all of them.

use crate::distribution::f_probability;
use crate::linear::{Echelon, Fit, Triangle};

/// What is left of a regressor beside others is nothing.
const DEPENDENT: f64 = 1e-14;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Forward,
    Backward,
    Stepwise,
}

/// SELECTION= with its significance levels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selection {
    pub(super) method: Method,
    pub(super) entry: f64,
    pub(super) stay: f64,
}

/// One step of a selection.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Column of the regressor.
    pub(super) column: usize,
    pub(super) entered: bool,
    /// Regressors in the model after it.
    pub(super) count: usize,
    pub(super) partial: f64,
    pub(super) r_square: f64,
    pub(super) c: f64,
    pub(super) f: f64,
    pub(super) probability: f64,
}

/// What a selection works on.
pub(super) struct Field<'a> {
    pub(super) triangle: &'a Triangle,
    pub(super) intercept: bool,
    pub(super) regressors: &'a [usize],
    pub(super) dependent: usize,
    pub(super) used: f64,
}

/// A test of one regressor.
struct Candidate {
    column: usize,
    square: f64,
    f: f64,
    probability: f64,
}

impl Field<'_> {
    fn fit(&self, inside: &[usize]) -> Fit {
        let intercept: &[usize] = if self.intercept { &[0] } else { &[] };
        Fit::new(
            self.triangle,
            &[intercept, inside, &[self.dependent]].concat(),
        )
    }

    /// Sum of squares of the dependent variable, about its mean with an intercept.
    fn total(&self) -> f64 {
        self.fit(&[]).error
    }

    /// The regressors that stay, in the order of the model, and how it came to them.
    pub(super) fn choose(&self, selection: Selection) -> (Vec<usize>, Vec<Step>) {
        let full = self.fit(self.regressors);
        let free = self.used - full.echelon.rank() as f64;
        let pure = if free > 0.0 {
            full.error / free
        } else {
            f64::NAN
        };
        let total = self.total();
        let first = usize::from(self.intercept);
        let mut inside: Vec<usize> = Vec::new();
        if selection.method == Method::Backward {
            let independent = self.regressors.iter().zip(&full.singular[first..]);
            inside.extend(
                independent
                    .filter(|(_, singular)| !**singular)
                    .map(|(column, _)| column),
            );
        }
        let mut steps: Vec<Step> = Vec::new();
        while let Some((candidate, entered)) = self.next(&inside, selection, &steps) {
            if entered {
                inside.push(candidate.column);
            } else {
                inside.retain(|column| *column != candidate.column);
            }
            let error = self.fit(&inside).error;
            let parameters = (inside.len() + first) as f64;
            steps.push(Step {
                column: candidate.column,
                entered,
                count: inside.len(),
                partial: candidate.square / total,
                r_square: 1.0 - error / total,
                c: error / pure - (self.used - 2.0 * parameters),
                f: candidate.f,
                probability: candidate.probability,
            });
        }
        let chosen = self
            .regressors
            .iter()
            .copied()
            .filter(|column| inside.contains(column));
        (chosen.collect(), steps)
    }

    /// What leaves or enters next.
    fn next(
        &self,
        inside: &[usize],
        selection: Selection,
        steps: &[Step],
    ) -> Option<(Candidate, bool)> {
        if selection.method != Method::Forward
            && let Some(weakest) = self.weakest(inside)
            && weakest.probability > selection.stay
        {
            // What enters and at once leaves again would do so for ever.
            let cycled = steps
                .last()
                .is_some_and(|last| last.entered && last.column == weakest.column);
            return (!cycled || selection.entry <= selection.stay).then_some((weakest, false));
        }
        if selection.method == Method::Backward {
            return None;
        }
        let strongest = self.strongest(inside)?;
        let removed = steps
            .last()
            .is_some_and(|last| !last.entered && last.column == strongest.column);
        (strongest.probability <= selection.entry && !removed).then_some((strongest, true))
    }

    fn weakest(&self, inside: &[usize]) -> Option<Candidate> {
        let fit = self.fit(inside);
        let first = usize::from(self.intercept);
        let free = self.used - fit.echelon.rank() as f64;
        let of = |(index, column): (usize, &usize)| {
            let (estimate, diagonal) = (
                fit.estimates[first + index],
                fit.inverse_diagonal[first + index],
            );
            let square = estimate * estimate / diagonal;
            let f = square / (fit.error / free);
            Candidate {
                column: *column,
                square,
                f,
                probability: f_probability(f, 1.0, free),
            }
        };
        let candidates = inside
            .iter()
            .enumerate()
            .map(of)
            .filter(|one| !one.f.is_nan());
        candidates.min_by(|one, other| one.f.total_cmp(&other.f))
    }

    fn strongest(&self, inside: &[usize]) -> Option<Candidate> {
        let outside: Vec<usize> = self
            .regressors
            .iter()
            .copied()
            .filter(|column| !inside.contains(column))
            .collect();
        let intercept: &[usize] = if self.intercept { &[0] } else { &[] };
        let columns = [intercept, inside, &outside, &[self.dependent]].concat();
        let echelon = Echelon::of(self.triangle, &columns, outside.len() + 1);
        let first = columns.len() - outside.len() - 1;
        let free = self.used - echelon.rank() as f64 - 1.0;
        let rest = echelon.rest(columns.len() - 1);
        let error: f64 = rest.iter().map(|cell| cell * cell).sum();
        let of = |(index, column): (usize, &usize)| {
            let own = echelon.rest(first + index);
            let size: f64 = own.iter().map(|cell| cell * cell).sum();
            let whole: f64 = self.triangle.norm_square(*column);
            if free <= 0.0 || size <= DEPENDENT * whole {
                return None;
            }
            let product: f64 = own.iter().zip(rest).map(|(left, right)| left * right).sum();
            let square = product * product / size;
            let f = square / ((error - square).max(0.0) / free);
            let probability = f_probability(f, 1.0, free);
            Some(Candidate {
                column: *column,
                square,
                f,
                probability,
            })
        };
        let candidates = outside
            .iter()
            .enumerate()
            .filter_map(of)
            .filter(|one| !one.f.is_nan());
        candidates.max_by(|one, other| one.f.total_cmp(&other.f))
    }
}
