//! Which effects stay in the model.

use engine::failure::Outcome;

use super::Bound;
use super::fit::{Fitted, Test, score};
use super::likelihood::{Problem, Sums};
use super::statements::Method;

/// One step of a selection.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Effect by number.
    pub(super) effect: usize,
    pub(super) entered: bool,
    /// Effects in the model after it.
    pub(super) count: usize,
    pub(super) test: Test,
}

pub(super) struct Chosen {
    pub(super) active: Vec<bool>,
    pub(super) fitted: Fitted,
    pub(super) steps: Vec<Step>,
}

/// Fits the model that the statements ask for.
pub(super) fn select(
    bound: &Bound<'_>,
    problem: &Problem<'_>,
    start: Vec<f64>,
    first: &Sums,
) -> Outcome<Chosen> {
    let effects = problem.design.effects.len();
    let method = bound.statements.selection.method;
    let from_all = matches!(method, Method::None | Method::Backward);
    let mut active = vec![from_all; effects];
    let fit = |start: Vec<f64>, known: Option<Sums>, active: &[bool]| {
        problem.fit(
            (start, known),
            active,
            bound.model.maximum,
            bound.model.criterion,
        )
    };
    let mut fitted = fit(start, from_all.then(|| first.clone()), &active)?;
    let mut steps: Vec<Step> = Vec::new();
    if method == Method::None {
        return Ok(Chosen {
            active,
            fitted,
            steps,
        });
    }
    loop {
        let leaves = if method == Method::Forward {
            None
        } else {
            weakest(problem, &fitted, &active)
        };
        if let Some((effect, test)) = leaves
            && test.probability() > bound.statements.selection.stay
        {
            active[effect] = false;
            steps.push(step(effect, false, &active, test));
            fitted = fit(without(problem, &fitted, effect), None, &active)?;
            // What has just entered and leaves again would do so for ever.
            let cycled = steps.len() > 1 && {
                let before = &steps[steps.len() - 2];
                before.entered && before.effect == effect
            };
            if cycled {
                break;
            }
            continue;
        }
        if method == Method::Backward {
            break;
        }
        match strongest(problem, &fitted, &active)? {
            Some((effect, test)) if test.probability() <= bound.statements.selection.entry => {
                active[effect] = true;
                steps.push(step(effect, true, &active, test));
                fitted = fit(fitted.beta.clone(), None, &active)?;
            }
            _ => break,
        }
    }
    Ok(Chosen {
        active,
        fitted,
        steps,
    })
}

fn step(effect: usize, entered: bool, active: &[bool], test: Test) -> Step {
    Step {
        effect,
        entered,
        count: active.iter().filter(|active| **active).count(),
        test,
    }
}

fn without(problem: &Problem<'_>, fitted: &Fitted, effect: usize) -> Vec<f64> {
    let columns = &problem.design.effects[effect];
    let mut beta = fitted.beta.clone();
    beta[columns.first..columns.first + columns.count].fill(0.0);
    beta
}

/// The effect in the model with the least to say.
fn weakest(problem: &Problem<'_>, fitted: &Fitted, active: &[bool]) -> Option<(usize, Test)> {
    let of = |(effect, _): (usize, &bool)| {
        let columns = &problem.design.effects[effect];
        (
            effect,
            fitted.wald_of(columns.first..columns.first + columns.count),
        )
    };
    let inside = active.iter().enumerate().filter(|(_, active)| **active);
    inside
        .map(of)
        .max_by(|one, other| one.1.probability().total_cmp(&other.1.probability()))
}

/// The effect outside of the model that adds most to it.
fn strongest(
    problem: &Problem<'_>,
    fitted: &Fitted,
    active: &[bool],
) -> Outcome<Option<(usize, Test)>> {
    if active.iter().all(|active| *active) {
        return Ok(None);
    }
    let all = vec![true; active.len()];
    let sums = problem.sums(&fitted.beta, &all, false)?;
    let inside = problem.columns(active);
    let of = |(effect, _): (usize, &bool)| {
        let columns = &problem.design.effects[effect];
        let own: Vec<usize> = (columns.first..columns.first + columns.count).collect();
        (effect, score(&sums, problem.design.columns, &inside, &own))
    };
    let outside = active.iter().enumerate().filter(|(_, active)| !**active);
    let candidates = outside.map(of).filter(|(_, test)| test.degrees > 0.0);
    Ok(candidates.min_by(|one, other| {
        let probabilities = one.1.probability().total_cmp(&other.1.probability());
        // Where both probabilities are nothing, by what makes them so.
        probabilities.then(other.1.square.total_cmp(&one.1.square))
    }))
}
