//! The likelihood of the cumulative logit model, its gradient and its expected information: one pass
//! over the rows each.

use engine::failure::Outcome;

use crate::effects::design::Design;
use crate::observations::{Observations, whole};

/// Rows are dealt to so many sums in fixed turns, whatever the number of threads, so that results do
/// not depend on it.
pub(super) const LANES: usize = 16;

/// Numbers of a row before its covariates and class levels: response, weight, frequency.
pub(super) const HEAD: usize = 3;

/// What a pass needs.
pub(super) struct Problem<'a> {
    pub(super) observations: &'a Observations,
    pub(super) design: &'a Design,
    /// Place of each response by its number.
    pub(super) places: Vec<usize>,
    pub(super) responses: usize,
    /// Number of intercepts; 0 with NOINT.
    pub(super) intercepts: usize,
    pub(super) covariates: usize,
    pub(super) width: usize,
    pub(super) threads: usize,
}

/// Sums over rows.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    pub(super) likelihood: f64,
    pub(super) gradient: Vec<f64>,
    /// Upper triangle, row by row.
    pub(super) information: Vec<f64>,
    /// Every response is more likely than not.
    pub(super) separated: bool,
    /// Frequencies by response and predicted probability, where asked for.
    pub(super) bins: Vec<f64>,
}

/// Bins of predicted probabilities (or mean scores) between two neighbouring responses.
pub(super) const BINS: usize = 500;

impl Sums {
    fn new(columns: usize, bins: usize) -> Self {
        Self {
            likelihood: 0.0,
            gradient: vec![0.0; columns],
            information: vec![0.0; columns * columns],
            separated: true,
            bins: vec![0.0; bins],
        }
    }

    fn add(&mut self, other: &Self) {
        self.likelihood += other.likelihood;
        let lists = [
            (&mut self.gradient, &other.gradient),
            (&mut self.information, &other.information),
            (&mut self.bins, &other.bins),
        ];
        for (own, other) in lists {
            own.iter_mut()
                .zip(other)
                .for_each(|(own, other)| *own += other);
        }
        self.separated &= other.separated;
    }
}

fn logistic(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

/// Does `work` for every share of the lanes, each in a thread of its own if there are several.
fn each_share(lanes: &mut [Sums], share: usize, work: impl Fn(usize, &mut [Sums]) + Sync) {
    if share >= lanes.len() {
        work(0, lanes);
        return;
    }
    let work = &work;
    std::thread::scope(|scope| {
        for (number, own) in lanes.chunks_mut(share).enumerate() {
            scope.spawn(move || work(number, own));
        }
    });
}

impl Problem<'_> {
    /// All sums at `beta`; effects that are not `active` count as not there. With `binned`, also how
    /// predicted probabilities are spread.
    pub(super) fn sums(&self, beta: &[f64], active: &[bool], binned: bool) -> Outcome<Sums> {
        let columns = self.design.columns;
        let bins = if binned {
            self.responses * self.bins()
        } else {
            0
        };
        let mut lanes: Vec<Sums> = (0..LANES).map(|_| Sums::new(columns, bins)).collect();
        let share = LANES.div_ceil(self.threads.clamp(1, LANES));
        // The lanes of one thread, over the chunk's rows that are theirs.
        let take = |number: usize, own: &mut [Sums], chunk: &[f64]| {
            let piece = (chunk.len() / self.width).div_ceil(LANES).max(1) * self.width;
            let rows = chunk.chunks(piece).skip(number * share);
            for (sums, rows) in own.iter_mut().zip(rows) {
                self.rows(sums, rows, beta, active, binned);
            }
        };
        if self.observations.chunks().is_some() {
            each_share(&mut lanes, share, |number, own| {
                for chunk in self.observations.chunks().into_iter().flatten() {
                    take(number, own, chunk);
                }
            });
        } else {
            self.observations.each(|chunk| {
                each_share(&mut lanes, share, |number, own| take(number, own, chunk));
            })?;
        }
        let mut total = Sums::new(columns, bins);
        for lane in &lanes {
            total.add(lane);
        }
        Ok(total)
    }

    pub(super) fn bins(&self) -> usize {
        BINS * (self.responses - 1) + 1
    }

    fn rows(&self, sums: &mut Sums, rows: &[f64], beta: &[f64], active: &[bool], binned: bool) {
        let mut entries = Vec::new();
        for row in rows.chunks_exact(self.width) {
            entries.clear();
            if self.responses == 2 && self.intercepts == 1 {
                entries.push((0, 1.0));
            }
            let levels = HEAD + self.covariates;
            for (effect, active) in self.design.effects.iter().zip(active) {
                if *active {
                    let code = |class: usize| whole(row[levels + class]);
                    effect.append(&code, &|covariate| row[HEAD + covariate], &mut entries);
                }
            }
            let place = self.places[whole(row[0])];
            let eta = entries
                .iter()
                .map(|(column, value)| value * beta[*column as usize])
                .sum();
            if self.responses == 2 {
                self.binary(sums, place, eta, row[1] * row[2], &entries);
                if binned {
                    let bin = whole(logistic(eta) * BINS as f64);
                    sums.bins[place * self.bins() + bin] += row[2];
                }
            } else {
                self.ordinal(sums, place, eta, row[1] * row[2], &entries, beta);
                if binned {
                    let score: f64 = (1..self.responses)
                        .map(|above| logistic(beta[above - 1] + eta))
                        .sum();
                    sums.bins[place * self.bins() + whole(score * BINS as f64)] += row[2];
                }
            }
        }
    }

    #[inline]
    fn binary(&self, sums: &mut Sums, place: usize, eta: f64, weight: f64, entries: &[(u32, f64)]) {
        let columns = self.design.columns;
        let event = place == 0;
        let signed = if event { eta } else { -eta };
        // log(1 + exp(-x)) without overflow.
        let size = (-signed.abs()).exp();
        let loss = (-signed).max(0.0) + size.ln_1p();
        let missed = if signed >= 0.0 { size } else { 1.0 } / (1.0 + size);
        sums.separated &= signed > 0.0;
        sums.likelihood -= weight * loss;
        let residual = if event { missed } else { -missed };
        let spread = weight * size / ((1.0 + size) * (1.0 + size));
        for (index, (column, value)) in entries.iter().enumerate() {
            let column = *column as usize;
            sums.gradient[column] += weight * residual * value;
            let scaled = spread * value;
            let line = &mut sums.information[column * columns..(column + 1) * columns];
            for (other, value) in &entries[index..] {
                line[*other as usize] += scaled * value;
            }
        }
    }

    fn ordinal(
        &self,
        sums: &mut Sums,
        place: usize,
        eta: f64,
        weight: f64,
        entries: &[(u32, f64)],
        beta: &[f64],
    ) {
        let (columns, cuts) = (self.design.columns, self.responses - 1);
        let below = |cut: usize| logistic(beta[cut] + eta);
        let density = |cut: usize| {
            let p = below(cut);
            p * logistic(-beta[cut] - eta)
        };
        // Probability of a response, and the densities at its two ends.
        let cell = |response: usize| {
            let upper = if response == cuts {
                (1.0, 0.0)
            } else {
                (below(response), density(response))
            };
            let lower = if response == 0 {
                (0.0, 0.0)
            } else {
                (below(response - 1), density(response - 1))
            };
            ((upper.0 - lower.0).max(1e-300), upper.1, lower.1)
        };
        let (p, above, under) = cell(place);
        sums.likelihood += weight * p.ln();
        sums.separated &= p > 0.5;
        let mut slope = 0.0;
        if place < cuts {
            sums.gradient[place] += weight * above / p;
        }
        if place > 0 {
            sums.gradient[place - 1] -= weight * under / p;
        }
        let residual = weight * (above - under) / p;
        let mut crossed = vec![0.0; cuts];
        for response in 0..=cuts {
            let (p, above, under) = cell(response);
            let both = above - under;
            slope += weight * both * both / p;
            if response < cuts {
                sums.information[response * columns + response] += weight * above * above / p;
                crossed[response] += weight * above * both / p;
            }
            if response > 0 {
                let cut = response - 1;
                sums.information[cut * columns + cut] += weight * under * under / p;
                crossed[cut] -= weight * under * both / p;
                if response < cuts {
                    sums.information[cut * columns + response] -= weight * under * above / p;
                }
            }
        }
        for (index, (column, value)) in entries.iter().enumerate() {
            let column = *column as usize;
            sums.gradient[column] += residual * value;
            for (cut, part) in crossed.iter().enumerate() {
                sums.information[cut * columns + column] += part * value;
            }
            for (other, more) in &entries[index..] {
                sums.information[column * columns + *other as usize] += slope * value * more;
            }
        }
    }

    /// Gradient and information of the model whose slopes differ from cut to cut, at equal slopes:
    /// for every cut its intercept and the active columns.
    pub(super) fn unequal(
        &self,
        beta: &[f64],
        active: &[bool],
        columns: &[usize],
    ) -> Outcome<(Vec<f64>, Vec<f64>)> {
        let cuts = self.responses - 1;
        let own = columns.len() + 1;
        let size = cuts * own;
        let (mut gradient, mut information) = (vec![0.0; size], vec![0.0; size * size]);
        let mut place_of = vec![0; self.design.columns];
        for (place, column) in columns.iter().enumerate() {
            place_of[*column] = place + 1;
        }
        let mut entries = Vec::new();
        self.observations.each(|chunk| {
            for row in chunk.chunks_exact(self.width) {
                entries.clear();
                let levels = HEAD + self.covariates;
                for (effect, active) in self.design.effects.iter().zip(active) {
                    if *active {
                        let code = |class: usize| whole(row[levels + class]);
                        effect.append(&code, &|covariate| row[HEAD + covariate], &mut entries);
                    }
                }
                let eta: f64 = entries
                    .iter()
                    .map(|(column, value)| value * beta[*column as usize])
                    .sum();
                let mut x = vec![0.0; own];
                x[0] = 1.0;
                for (column, value) in &entries {
                    x[place_of[*column as usize]] += value;
                }
                let (weight, place) = (row[1] * row[2], self.places[whole(row[0])]);
                let below: Vec<f64> = (0..cuts).map(|cut| logistic(beta[cut] + eta)).collect();
                let density: Vec<f64> = below.iter().map(|p| p * (1.0 - p)).collect();
                for response in 0..=cuts {
                    let upper = below.get(response).copied().unwrap_or(1.0);
                    let lower = if response == 0 {
                        0.0
                    } else {
                        below[response - 1]
                    };
                    let p = (upper - lower).max(1e-300);
                    let mut ends = Vec::new();
                    if response < cuts {
                        ends.push((response, density[response]));
                    }
                    if response > 0 {
                        ends.push((response - 1, -density[response - 1]));
                    }
                    for (cut, part) in &ends {
                        if response == place {
                            for (index, value) in x.iter().enumerate() {
                                gradient[cut * own + index] += weight * part / p * value;
                            }
                        }
                        for (other, more) in &ends {
                            let scale = weight * part * more / p;
                            for (index, value) in x.iter().enumerate() {
                                let line = (cut * own + index) * size + other * own;
                                for (column, second) in x.iter().enumerate() {
                                    information[line + column] += scale * value * second;
                                }
                            }
                        }
                    }
                }
            }
        })?;
        Ok((gradient, information))
    }
}
