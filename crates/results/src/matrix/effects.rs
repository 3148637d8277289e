//! Effects as contrasts of cells: levels held against each other where nothing else differs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Factor;
use super::model::Fit;
use super::read::Observation;
use crate::statistics::ratio::Ratio;

/// A level against another of the same factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// Factor.
    pub factor: String,
    /// The level above the line.
    pub level: String,
    /// The level below it.
    pub against: String,
    /// Pairs of cells that differ in nothing else.
    pub pairs: usize,
    /// Mean of their ratios; absent if there is no pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
}

/// How much the effect of one factor depends on another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interaction {
    /// A factor with two of its levels: the one above the line, the one below.
    pub one: (String, String, String),
    /// Another.
    pub other: (String, String, String),
    /// Squares of four cells that differ in nothing else.
    pub squares: usize,
    /// The effect of `one` at the upper level of `other`.
    pub at_level: Ratio,
    /// The effect of `one` at the lower level of `other`.
    pub at_first: Ratio,
    /// The former over the latter.
    pub ratio: Ratio,
}

/// A block over the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockEffect {
    /// The block.
    pub block: String,
    /// Its runs over those of the first.
    pub ratio: Ratio,
}

/// The cells of a series: a number for each combination of levels that was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells {
    factors: Vec<Factor>,
    /// By levels, in the order of the factors.
    numbers: BTreeMap<Vec<usize>, usize>,
}

impl Cells {
    /// The cells of the runs.
    pub fn of(factors: &[Factor], runs: &[Observation]) -> Self {
        let mut all = Self {
            factors: factors.to_vec(),
            numbers: BTreeMap::new(),
        };
        for run in runs {
            if let Some(levels) = all.levels(run) {
                let next = all.numbers.len();
                all.numbers.entry(levels).or_insert(next);
            }
        }
        all
    }

    /// The cell of a run; `None` if it lacks a level of a factor.
    pub fn of_run(&self, run: &Observation) -> Option<usize> {
        self.numbers.get(&self.levels(run)?).copied()
    }

    /// The level of a factor (by place) that others are held against: the first that has a pair with another one in the
    /// fit. Runs of the first as it was planned may all be lost. Without any pair the first that was planned.
    pub(super) fn base(&self, fit: &Fit, factor: usize) -> usize {
        let levels = 0..self.factors[factor].levels.len();
        let has_pair = |level: &usize| {
            let mut others = levels.clone().filter(|other| other != level);
            others.any(|other| against(fit, self, factor, *level, other).0 > 0)
        };
        levels.clone().find(has_pair).unwrap_or(0)
    }

    fn levels(&self, run: &Observation) -> Option<Vec<usize>> {
        let level = |factor: &Factor| {
            let name = run.levels.get(&factor.name)?;
            factor.levels.iter().position(|level| level == name)
        };
        self.factors.iter().map(level).collect()
    }

    /// Cells that the fit has in which some factors have these levels and the others are as they are: for each
    /// way in which the others are, one cell for each of the `wanted`, if all of them are there.
    fn matched(&self, fit: &Fit, places: &[usize], wanted: &[&[usize]]) -> Vec<Vec<usize>> {
        let mut others: BTreeMap<Vec<usize>, Vec<Option<usize>>> = BTreeMap::new();
        for (levels, cell) in &self.numbers {
            let own: Vec<usize> = places.iter().map(|place| levels[*place]).collect();
            let Some(at) = wanted.iter().position(|one| **one == own) else {
                continue;
            };
            let mut rest = levels.clone();
            for place in places {
                rest[*place] = 0;
            }
            let cells = others
                .entry(rest)
                .or_insert_with(|| vec![None; wanted.len()]);
            cells[at] = Some(*cell).filter(|cell| fit.has(*cell));
        }
        others
            .into_values()
            .filter_map(|cells| cells.into_iter().collect())
            .collect()
    }
}

/// A level of a factor (by place) against another, over all pairs of cells that differ in nothing else.
pub fn against(
    fit: &Fit,
    cells: &Cells,
    factor: usize,
    level: usize,
    other: usize,
) -> (usize, Option<Ratio>) {
    let pairs = cells.matched(fit, &[factor], &[&[level], &[other]]);
    (pairs.len(), mean(fit, &pairs, &[1.0, -1.0]))
}

/// The mean over groups of cells of a weighted sum within each.
fn mean(fit: &Fit, groups: &[Vec<usize>], weights: &[f64]) -> Option<Ratio> {
    if groups.is_empty() {
        return None;
    }
    let mut all: BTreeMap<usize, f64> = BTreeMap::new();
    for group in groups {
        for (cell, weight) in group.iter().zip(weights) {
            *all.entry(*cell).or_default() += weight / groups.len() as f64;
        }
    }
    fit.contrast(&all)
}

/// Each level against the first of its factor that was measured.
pub fn main(fit: &Fit, factors: &[Factor], cells: &Cells) -> Vec<Effect> {
    let mut found = Vec::new();
    for (place, factor) in factors.iter().enumerate() {
        let base = cells.base(fit, place);
        let others = factor.levels.iter().enumerate();
        for (at, level) in others.filter(|(at, _)| *at != base) {
            let (pairs, ratio) = against(fit, cells, place, at, base);
            found.push(Effect {
                factor: factor.name.clone(),
                level: level.clone(),
                against: factor.levels[base].clone(),
                pairs,
                ratio,
            });
        }
    }
    found
}

/// Each level and its factor's first against each level of another factor and its first, where all four were
/// measured. First are those that others are held against.
pub fn interactions(fit: &Fit, factors: &[Factor], cells: &Cells) -> Vec<Interaction> {
    let bases: Vec<usize> = (0..factors.len())
        .map(|place| cells.base(fit, place))
        .collect();
    let others = |place: usize| {
        let levels = 0..factors[place].levels.len();
        let base = bases[place];
        levels.filter(move |level| *level != base)
    };
    let mut found = Vec::new();
    for one in 0..factors.len() {
        for other in one + 1..factors.len() {
            for level in others(one) {
                for beside in others(other) {
                    let of_one = (one, level, bases[one]);
                    let of_other = (other, beside, bases[other]);
                    found.extend(interaction(fit, factors, cells, [of_one, of_other]));
                }
            }
        }
    }
    found
}

/// Of two factors, each with a level and the one that it is held against; `None` without four such cells.
fn interaction(
    fit: &Fit,
    factors: &[Factor],
    cells: &Cells,
    [(one, level, first), (other, beside, without)]: [(usize, usize, usize); 2],
) -> Option<Interaction> {
    let wanted: [&[usize]; 4] = [
        &[level, beside],
        &[first, beside],
        &[level, without],
        &[first, without],
    ];
    let squares = cells.matched(fit, &[one, other], &wanted);
    let of = |weights: [f64; 4]| mean(fit, &squares, &weights);
    let named = |place: usize, level: usize, base: usize| {
        let Factor { name, levels } = &factors[place];
        (name.clone(), levels[level].clone(), levels[base].clone())
    };
    Some(Interaction {
        one: named(one, level, first),
        other: named(other, beside, without),
        squares: squares.len(),
        at_level: of([1.0, -1.0, 0.0, 0.0])?,
        at_first: of([0.0, 0.0, 1.0, -1.0])?,
        ratio: of([1.0, -1.0, -1.0, 1.0])?,
    })
}

/// Each block but the first over the first; none without block effects.
pub fn blocks(fit: &Fit) -> Vec<BlockEffect> {
    let blocks = fit.blocks.iter().enumerate().skip(1);
    blocks
        .map(|(at, block)| BlockEffect {
            block: block.clone(),
            ratio: fit.block(at),
        })
        .collect()
}
