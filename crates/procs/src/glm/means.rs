//! LSMEANS: what the model says of the levels of an effect, other effects being balanced.

use engine::dataset::input::{Field, Input};
use engine::failure::{Failure, Outcome};

use super::statements::{LeastSquaresMeans, Statements};
use super::{Analysis, Bound};
use crate::effects::classes::Ordered;
use crate::effects::{Effect, Effects};

/// One effect of an LSMEANS statement.
pub(super) struct Request<'a> {
    pub(super) effect: Effect,
    pub(super) options: &'a LeastSquaresMeans,
}

/// The mean of one combination of levels.
pub(super) struct Mean {
    /// Places of the levels, in the order of the effect's classes.
    pub(super) places: Vec<usize>,
    /// Coefficients of the parameters; `None` if it is not estimable.
    pub(super) function: Option<Vec<f64>>,
}

pub(super) fn requests<'a>(
    statements: &'a Statements,
    classes: &[Field],
    effects: &Effects,
    input: &Input,
) -> Outcome<Vec<Request<'a>>> {
    let mut requests = Vec::new();
    for options in &statements.means {
        for written in &options.effects {
            for term in written.terms(input)? {
                let effect = Effects::of_classes(&term, classes, input)
                    .map_err(|message| Failure::at(written.span(), message))?;
                if !effects.effects.contains(&effect) {
                    let message = format!("Effect {} is not in the model", effect.name);
                    return Err(Failure::at(written.span(), message));
                }
                requests.push(Request { effect, options });
            }
        }
    }
    Ok(requests)
}

/// The means of an effect, for each combination of levels that rows have.
pub(super) fn means(
    request: &Request<'_>,
    bound: &Bound<'_>,
    levels: &[Ordered],
    analysis: &Analysis,
) -> Vec<Mean> {
    let effects = &bound.effects.effects;
    let Some(index) = effects.iter().position(|effect| *effect == request.effect) else {
        return Vec::new();
    };
    let of = |places: &Vec<usize>| {
        let function = function(&request.effect, places, bound, levels, analysis);
        let estimable = analysis.general.is_estimable(&function, &analysis.echelon);
        Mean {
            places: places.clone(),
            function: estimable.then_some(function),
        }
    };
    analysis.design.effects[index]
        .levels
        .iter()
        .map(of)
        .collect()
}

fn function(
    own: &Effect,
    places: &[usize],
    bound: &Bound<'_>,
    levels: &[Ordered],
    analysis: &Analysis,
) -> Vec<f64> {
    let mut function = vec![0.0; analysis.design.columns];
    if bound.model.intercept {
        function[0] = 1.0;
    }
    for (effect, columns) in bound.effects.effects.iter().zip(&analysis.design.effects) {
        let product = bound
            .products
            .factors
            .iter()
            .position(|factors| *factors == effect.covariates);
        let times = product.map_or(1.0, |product| analysis.covariate_means[product]);
        let matches = |other: &Vec<usize>| {
            effect.classes.iter().zip(other).all(|(class, place)| {
                let known = own.classes.iter().position(|one| one == class);
                known.is_none_or(|known| places[known] == *place)
            })
        };
        let matching: Vec<usize> = (0..columns.count)
            .filter(|column| matches(&columns.levels[*column]))
            .collect();
        let others = effect
            .classes
            .iter()
            .filter(|class| !own.classes.contains(class));
        let balanced: usize = others.map(|class| levels[*class].labels.len()).product();
        // What is nested has other levels in every level: those that are there count alike.
        let count = if effect.nested > 0 {
            matching.len()
        } else {
            balanced
        };
        for column in matching {
            function[columns.first + column] = times / count as f64;
        }
    }
    function
}
