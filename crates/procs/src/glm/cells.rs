//! Rows of equal classes as one: what rows of a cell (a combination of levels) have in common goes
//! into one row of the model, what they differ in into triangles. Both are rotations of the rows, so
//! that no digits are lost.

use engine::failure::Outcome;

use crate::effects::Effect;
use crate::effects::classes::out_of_memory;
use crate::effects::design::{Design, Present};
use crate::levels::Levels;
use crate::linear::{Sparse, Triangle};

/// Columns from which on cross products are worth trying.
const MANY: usize = 64;

/// Weights of cells are close to each other if none is so many times another.
const UNEQUAL: f64 = 1e4;

/// What effects multiply: every product of covariates once.
pub(super) struct Products {
    /// Covariates of each product.
    pub(super) factors: Vec<Vec<usize>>,
    /// The product of each effect, if it has one.
    of_effects: Vec<Option<usize>>,
    /// Some product is crossed with classes, so that cells need triangles of their own.
    crossed: bool,
}

impl Products {
    pub(super) fn new(effects: &[Effect]) -> Self {
        let mut products = Self {
            factors: Vec::new(),
            of_effects: Vec::new(),
            crossed: false,
        };
        for effect in effects {
            if effect.covariates.is_empty() {
                products.of_effects.push(None);
                continue;
            }
            let known = products
                .factors
                .iter()
                .position(|one| *one == effect.covariates);
            products
                .of_effects
                .push(Some(known.unwrap_or(products.factors.len())));
            if known.is_none() {
                products.factors.push(effect.covariates.clone());
            }
            products.crossed |= !effect.classes.is_empty();
        }
        products
    }
}

/// All cells of one dependent variable in one BY group.
pub(super) struct Cells {
    /// Values of a row: the products and the dependent variable.
    width: usize,
    levels: Levels,
    /// Level numbers of each cell.
    codes: Vec<Vec<u32>>,
    /// Weight of each cell, and the means of its values less `shift`.
    weights: Vec<f64>,
    means: Vec<f64>,
    /// Triangles of the differences from the means: of each cell, where cells need their own.
    within: Vec<Triangular>,
    /// Of all cells.
    shared: Triangle,
    /// The dependent variable's first value: close values differ from it without loss.
    shift: f64,
    shifted: bool,
    /// Rows with FREQ.
    pub(super) used: f64,
    memory: u64,
    limit: u64,
    key: Vec<u8>,
    row: Vec<f64>,
}

/// A triangle into which rows are rotated one by one.
struct Triangular {
    cells: Vec<f64>,
}

impl Triangular {
    fn new(width: usize) -> Self {
        Self {
            cells: vec![0.0; width * width],
        }
    }

    /// Rotates `row` into the triangle, which uses it up.
    fn add(&mut self, row: &mut [f64]) {
        let width = row.len();
        for at in 0..width {
            let value = row[at];
            if value == 0.0 {
                continue;
            }
            let top = &mut self.cells[at * width..(at + 1) * width];
            let norm = top[at].hypot(value);
            let (cosine, sine) = (top[at] / norm, value / norm);
            for column in at..width {
                let (above, below) = (top[column], row[column]);
                top[column] = cosine * above + sine * below;
                row[column] = cosine * below - sine * above;
            }
        }
    }
}

/// Whether a column is left for an intercept.
fn has_intercept(design: &Design) -> bool {
    let first = design.effects.first();
    first.map_or(design.columns, |effect| effect.first) > 0
}

/// One row that cells take in.
pub(super) struct Taken<'a> {
    pub(super) codes: &'a [u32],
    /// Products of covariates.
    pub(super) products: &'a [f64],
    pub(super) dependent: f64,
    pub(super) weight: f64,
    pub(super) times: f64,
}

impl Cells {
    /// With an intercept the dependent variable may be taken less a constant.
    pub(super) fn new(products: &Products, intercept: bool, limit: u64) -> Self {
        let width = products.factors.len() + 1;
        Self {
            width,
            levels: Levels::new(),
            codes: Vec::new(),
            weights: Vec::new(),
            means: Vec::new(),
            within: Vec::new(),
            shared: Triangle::new(width),
            shift: 0.0,
            shifted: intercept,
            used: 0.0,
            memory: 0,
            limit,
            key: Vec::new(),
            row: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, products: &Products, taken: &Taken<'_>) -> Outcome<()> {
        if self.used == 0.0 && self.shifted {
            self.shift = taken.dependent;
        }
        self.used += taken.times;
        self.key.clear();
        for code in taken.codes {
            self.key.extend_from_slice(&code.to_le_bytes());
        }
        let cell = if self.key.is_empty() {
            0
        } else {
            self.levels.number(&self.key)
        };
        if cell == self.weights.len() {
            self.add_cell(products, taken.codes)?;
        }
        let weight = taken.times * taken.weight;
        let before = self.weights[cell];
        self.weights[cell] += weight;
        let share = weight / self.weights[cell];
        // What is left of the row once its part along the cell's mean is taken.
        let root = (before * share).sqrt();
        let means = &mut self.means[cell * self.width..(cell + 1) * self.width];
        let values = taken.products.iter().copied();
        self.row.clear();
        for (mean, value) in means
            .iter_mut()
            .zip(values.chain([taken.dependent - self.shift]))
        {
            let difference = value - *mean;
            *mean += share * difference;
            self.row.push(root * difference);
        }
        if before > 0.0 {
            if products.crossed {
                self.within[cell].add(&mut self.row);
            } else {
                self.shared.add(|column| self.row[column]);
            }
        }
        Ok(())
    }

    fn add_cell(&mut self, products: &Products, codes: &[u32]) -> Outcome<()> {
        let triangle = if products.crossed {
            self.width * self.width
        } else {
            0
        };
        let bytes = (self.width + 1 + triangle) * size_of::<f64>() + codes.len() * 4 + 24;
        self.memory += 2 * (bytes + Levels::bytes_each(self.key.len())) as u64;
        if self.memory > self.limit {
            return Err(out_of_memory(
                self.weights.len(),
                "combinations of class levels",
                self.limit,
            ));
        }
        self.codes.push(codes.to_vec());
        self.weights.push(0.0);
        self.means.resize(self.means.len() + self.width, 0.0);
        if products.crossed {
            self.within.push(Triangular::new(self.width));
        }
        Ok(())
    }

    /// The combinations of levels that rows have, for each effect.
    pub(super) fn present(&self, effects: &[Effect]) -> Vec<Present> {
        let of = |effect: &Effect| {
            let own = |codes: &Vec<u32>| effect.classes.iter().map(|class| codes[*class]).collect();
            self.codes.iter().map(own).collect()
        };
        effects.iter().map(of).collect()
    }

    /// The triangle of the model: an intercept if `design` leaves a column for it, its columns, and
    /// the dependent variable less [`Self::shift`].
    pub(super) fn triangle(&mut self, design: &Design, products: &Products) -> Triangle {
        if !products.crossed {
            let shared = self.shared.settled();
            let mut within = Triangular::new(self.width);
            for row in 0..self.width {
                for column in row..self.width {
                    within.cells[row * self.width + column] = shared.at(row, column);
                }
            }
            self.within = vec![within];
        }
        self.by_products(design, products)
            .unwrap_or_else(|| self.by_rotations(design, products))
    }

    /// Row by row, which loses no digits and fills every row up.
    fn by_rotations(&self, design: &Design, products: &Products) -> Triangle {
        let mut triangle = Triangle::new(design.columns + 1);
        let mut row = vec![0.0; design.columns + 1];
        self.rows(design, products, |weight, entries| {
            let root = weight.sqrt();
            row.fill(0.0);
            for (column, value) in entries {
                row[*column] = root * value;
            }
            triangle.add(|column| row[column]);
        });
        triangle
    }

    /// By cross products, if there are many columns and hardly a digit is lost. Weights that are close to each
    /// other leave no doubt which columns of classes depend on others.
    fn by_products(&self, design: &Design, products: &Products) -> Option<Triangle> {
        let close = |most: &f64| self.weights.iter().all(|weight| weight * UNEQUAL > *most);
        let most = self.weights.iter().copied().max_by(f64::total_cmp)?;
        if design.columns < MANY || !close(&most) {
            return None;
        }
        let shifts = self.shifts(design, products);
        let mut sparse = Sparse::new(design.columns + 1);
        let mut shifted = Vec::new();
        self.rows(design, products, |weight, entries| {
            shifted.clear();
            shifted.extend_from_slice(entries);
            // Rows of what cells differ in have no intercept, and nothing is shifted in them.
            if entries.first().is_some_and(|(column, _)| *column == 0) {
                for (column, value) in &mut shifted {
                    *value -= shifts[*column];
                }
            }
            sparse.add(weight, &shifted);
        });
        let mut structural = vec![false; design.columns + 1];
        for (columns, product) in design.effects.iter().zip(&products.of_effects) {
            structural[columns.first..columns.first + columns.count].fill(product.is_none());
        }
        let mut triangle = sparse.triangle(|column| structural[column])?;
        triangle.add_first(&shifts);
        Some(triangle)
    }

    /// What covariates and the dependent variable are taken less, so that about their spread is left: their means,
    /// where there is an intercept, which covariates crossed with classes do not have in all rows.
    fn shifts(&self, design: &Design, products: &Products) -> Vec<f64> {
        let mut shifts = vec![0.0; design.columns + 1];
        if !has_intercept(design) {
            return shifts;
        }
        let (means, dependent) = self.overall();
        shifts[design.columns] = dependent - self.shift;
        for (columns, product) in design.effects.iter().zip(&products.of_effects) {
            if let (1, Some(product)) = (columns.count, product) {
                shifts[columns.first] = means[*product];
            }
        }
        shifts
    }

    /// The rows of the model, those of cells and those of what their rows differ in: weight, and the columns that
    /// are not zero in ascending order.
    fn rows(
        &self,
        design: &Design,
        products: &Products,
        mut take: impl FnMut(f64, &[(usize, f64)]),
    ) {
        let intercept = has_intercept(design);
        let mut entries = Vec::new();
        for (cell, weight) in self.weights.iter().enumerate() {
            let means = &self.means[cell * self.width..(cell + 1) * self.width];
            entries.clear();
            entries.extend(intercept.then_some((0, 1.0)));
            self.fill(design, products, cell, &mut entries, |product| {
                product.map_or(1.0, |product| means[product])
            });
            entries.push((design.columns, means[self.width - 1]));
            take(*weight, &entries);
        }
        for (place, within) in self.within.iter().enumerate() {
            for line in within.cells.chunks_exact(self.width) {
                entries.clear();
                self.fill(design, products, place, &mut entries, |product| {
                    product.map_or(0.0, |product| line[product])
                });
                entries.push((design.columns, line[self.width - 1]));
                take(1.0, &entries);
            }
        }
    }

    fn fill(
        &self,
        design: &Design,
        products: &Products,
        cell: usize,
        row: &mut Vec<(usize, f64)>,
        value: impl Fn(Option<usize>) -> f64,
    ) {
        let Some(codes) = self.codes.get(cell) else {
            return;
        };
        let mut entries = Vec::new();
        for (columns, product) in design.effects.iter().zip(&products.of_effects) {
            let value = value(*product);
            entries.clear();
            // The products stand for the covariates.
            columns.append(&|class| codes[class] as usize, &|_| 1.0, &mut entries);
            let own = entries.iter();
            row.extend(own.map(|(column, entry)| (*column as usize, entry * value)));
        }
    }

    /// Sum of weights.
    pub(super) fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Means of the products over all rows, and that of the dependent variable.
    pub(super) fn overall(&self) -> (Vec<f64>, f64) {
        let total = self.weight();
        let mean = |value: usize| {
            let cells = self.weights.iter().zip(self.means.chunks_exact(self.width));
            cells
                .map(|(weight, means)| weight * means[value])
                .sum::<f64>()
                / total
        };
        let products = (0..self.width - 1).map(mean).collect();
        (products, self.shift + mean(self.width - 1))
    }

    pub(super) fn shift(&self) -> f64 {
        self.shift
    }
}
