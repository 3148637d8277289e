//! The columns that effects make of a row.

use std::collections::BTreeSet;

use engine::failure::Outcome;

use super::Effect;
use super::classes::{Coding, Ordered, out_of_memory};

/// The columns of one effect.
#[derive(Debug)]
pub(crate) struct EffectColumns {
    pub(crate) first: usize,
    /// The same, as entries have it.
    start: u32,
    pub(crate) count: usize,
    /// Classes with the step between their numbers in `cells`.
    strides: Vec<(usize, usize)>,
    covariates: Vec<usize>,
    /// For every combination of level numbers, its part of `entries`.
    cells: Vec<(u32, u32)>,
    /// Columns, counted from the first of the effect, that are not zero, and their values.
    entries: Vec<(u32, f64)>,
    /// For every column the places of the levels it belongs to, in the order of the classes.
    pub(crate) levels: Vec<Vec<usize>>,
}

/// The columns of all effects.
#[derive(Debug)]
pub(crate) struct Design {
    pub(crate) effects: Vec<EffectColumns>,
    /// Columns in all, with those before the first effect.
    pub(crate) columns: usize,
}

/// Combinations of level numbers that rows have, for one effect.
pub(crate) type Present = BTreeSet<Vec<u32>>;

impl Design {
    /// Columns of `effects` from column `first` on. With `present`, only combinations of levels
    /// that rows have get columns.
    pub(crate) fn new(
        effects: &[Effect],
        classes: &[Ordered],
        first: usize,
        present: Option<&[Present]>,
        limit: u64,
    ) -> Outcome<Self> {
        let mut design = Self {
            effects: Vec::new(),
            columns: first,
        };
        let mut cells = 0u64;
        for (index, effect) in effects.iter().enumerate() {
            let product = effect.classes.iter().fold(1u64, |product, class| {
                product.saturating_mul(classes[*class].labels.len() as u64)
            });
            cells = cells.saturating_add(product.saturating_mul(64));
            if cells > limit {
                let count = usize::try_from(product).unwrap_or(usize::MAX);
                return Err(out_of_memory(count, "combinations of levels", limit));
            }
            let present = present.map(|all| &all[index]);
            let columns = EffectColumns::new(effect, classes, design.columns, present);
            design.columns += columns.count;
            design.effects.push(columns);
        }
        Ok(design)
    }

    /// Appends the columns that are not zero, of rows with these level numbers and covariates.
    #[inline]
    pub(crate) fn append(
        &self,
        code: impl Fn(usize) -> usize,
        covariate: impl Fn(usize) -> f64,
        out: &mut Vec<(u32, f64)>,
    ) {
        for effect in &self.effects {
            effect.append(&code, &covariate, out);
        }
    }
}

/// Columns of a class, and those of a level that are not zero.
fn coded(class: &Ordered, place: usize, nested: bool) -> (usize, Vec<(usize, f64)>) {
    let count = class.labels.len();
    let coding = if nested { Coding::Glm } else { class.coding };
    let own = vec![(place - usize::from(place > class.reference), 1.0)];
    match coding {
        Coding::Glm => (count, vec![(place, 1.0)]),
        _ if place != class.reference => (count - 1, own),
        Coding::Reference => (count - 1, Vec::new()),
        Coding::Effect => (
            count - 1,
            (0..count - 1).map(|column| (column, -1.0)).collect(),
        ),
    }
}

impl EffectColumns {
    fn new(effect: &Effect, classes: &[Ordered], first: usize, present: Option<&Present>) -> Self {
        let of: Vec<&Ordered> = effect
            .classes
            .iter()
            .map(|class| &classes[*class])
            .collect();
        let counts: Vec<usize> = of.iter().map(|class| class.labels.len()).collect();
        let product: usize = counts.iter().product();
        let mut strides = Vec::new();
        let mut stride = product;
        for (class, count) in effect.classes.iter().zip(&counts) {
            stride /= (*count).max(1);
            strides.push((*class, stride));
        }
        let mut columns = Self {
            first,
            start: small(first),
            count: 0,
            strides,
            covariates: effect.covariates.clone(),
            cells: vec![(0, 0); product],
            entries: Vec::new(),
            levels: Vec::new(),
        };
        if let Some(present) = present {
            columns.fill_present(&of, &counts, present);
        } else {
            columns.fill(&of, &counts, effect.nested);
        }
        columns
    }

    /// A column for every combination that rows have.
    fn fill_present(&mut self, of: &[&Ordered], counts: &[usize], present: &Present) {
        for number in 0..self.cells.len() {
            let places = places(number, counts);
            let codes: Vec<u32> = places
                .iter()
                .zip(of)
                .map(|(place, class)| u32::try_from(class.codes[*place]).unwrap_or(u32::MAX))
                .collect();
            if present.contains(&codes) {
                let cell = self.cell(of, &places);
                self.cells[cell] = (small(self.entries.len()), small(self.entries.len()) + 1);
                self.entries.push((small(self.count), 1.0));
                self.count += 1;
                self.levels.push(places);
            }
        }
    }

    /// Columns by the codings of the classes.
    fn fill(&mut self, of: &[&Ordered], counts: &[usize], nested: usize) {
        let widths: Vec<usize> = of
            .iter()
            .enumerate()
            .map(|(index, class)| {
                if class.labels.is_empty() {
                    0
                } else {
                    coded(class, 0, index < nested).0
                }
            })
            .collect();
        self.count = widths.iter().product();
        for column in 0..self.count {
            let own = places(column, &widths);
            let skip = |(index, (place, class)): (usize, (&usize, &&Ordered))| {
                let dropped = index >= nested && class.coding != Coding::Glm;
                place + usize::from(dropped && *place >= class.reference)
            };
            self.levels
                .push(own.iter().zip(of).enumerate().map(skip).collect());
        }
        for number in 0..self.cells.len() {
            let places = places(number, counts);
            let mut entries = vec![(0usize, 1.0)];
            for (index, class) in of.iter().enumerate() {
                let (width, own) = coded(class, places[index], index < nested);
                entries = entries
                    .iter()
                    .flat_map(|(column, value)| {
                        let times =
                            move |(other, by): &(usize, f64)| (column * width + other, value * by);
                        own.iter().map(times).collect::<Vec<_>>()
                    })
                    .collect();
            }
            let cell = self.cell(of, &places);
            let start = small(self.entries.len());
            let entries = entries
                .into_iter()
                .map(|(column, value)| (small(column), value));
            self.entries.extend(entries);
            self.cells[cell] = (start, small(self.entries.len()));
        }
    }

    /// Where the combination of levels at these places stands in `cells`.
    fn cell(&self, of: &[&Ordered], places: &[usize]) -> usize {
        let steps = self.strides.iter().zip(of).zip(places);
        steps
            .map(|(((_, stride), class), place)| class.codes[*place] * stride)
            .sum()
    }

    /// Whether it has no classes: one column, which is the product of its covariates.
    pub(crate) fn is_continuous(&self) -> bool {
        self.strides.is_empty()
    }

    /// The covariates it multiplies with.
    pub(crate) fn covariates(&self) -> &[usize] {
        &self.covariates
    }

    /// Its classes, with what a step of their level numbers is in the number of a combination.
    pub(crate) fn strides(&self) -> &[(usize, usize)] {
        &self.strides
    }

    /// How many combinations of levels there are.
    pub(crate) fn combinations(&self) -> usize {
        self.cells.len()
    }

    /// The columns that are not zero, counted from the first of the effect, for a combination of
    /// levels; a level that no used row has lies outside.
    #[inline]
    pub(crate) fn entries(&self, combination: usize) -> &[(u32, f64)] {
        let (start, end) = self.cells.get(combination).copied().unwrap_or_default();
        &self.entries[start as usize..end as usize]
    }

    #[inline]
    pub(crate) fn append(
        &self,
        code: &impl Fn(usize) -> usize,
        covariate: &impl Fn(usize) -> f64,
        out: &mut Vec<(u32, f64)>,
    ) {
        let times: f64 = self
            .covariates
            .iter()
            .map(|index| covariate(*index))
            .product();
        let combination: usize = self
            .strides
            .iter()
            .map(|(class, stride)| code(*class) * stride)
            .sum();
        for (column, value) in self.entries(combination) {
            out.push((self.start + column, value * times));
        }
    }
}

/// The digits of `number` by bases, the last changing fastest.
fn places(mut number: usize, counts: &[usize]) -> Vec<usize> {
    let mut places = vec![0; counts.len()];
    for (place, count) in places.iter_mut().zip(counts).rev() {
        *place = number % count;
        number /= count;
    }
    places
}

/// Columns and entries are fewer than the bytes of memory that hold them.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
