//! The likelihood of the cumulative logit model, its gradient and its expected information: one pass
//! over the rows each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use engine::failure::{Failure, Outcome};

use super::binary::{Scratch, Terms};
use crate::effects::design::Design;
use crate::observations::{Chunk, ChunkMemory, Observations, whole};

/// Chunks of rows are dealt to so many sums in turn, each of which takes its chunks in order, whatever
/// the number of threads, so that results do not depend on it.
pub(super) const LANES: usize = 16;

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
    /// Columns before the covariates and class levels: the response and, if there are three, weight
    /// and frequency.
    pub(super) head: usize,
    pub(super) threads: usize,
}

/// Sums over rows.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    pub(super) likelihood: f64,
    pub(super) gradient: Vec<f64>,
    /// Upper triangle, row by row.
    pub(super) information: Vec<f64>,
    /// Sums of a binary model until [`Terms::settle`].
    pub(super) apart: Vec<f64>,
    /// Every response is more likely than not.
    pub(super) separated: bool,
    /// Frequencies by response and predicted probability, where asked for.
    pub(super) bins: Vec<f64>,
}

/// Bins of predicted probabilities (or mean scores) between two neighbouring responses.
pub(super) const BINS: usize = 500;

impl Sums {
    fn new(columns: usize, apart: usize, bins: usize) -> Self {
        // Those that are not kept apart are of the information.
        let informed = if apart > 0 { 0 } else { columns };
        Self {
            likelihood: 0.0,
            gradient: vec![0.0; columns],
            information: vec![0.0; informed * informed],
            apart: vec![0.0; apart],
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
            (&mut self.apart, &other.apart),
        ];
        for (own, other) in lists {
            own.iter_mut()
                .zip(other)
                .for_each(|(own, other)| *own += other);
        }
        self.separated &= other.separated;
    }
}

pub(super) fn logistic(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

/// One of the sums, and how many chunks it has taken.
struct Lane {
    state: Mutex<(usize, Sums)>,
    changed: Condvar,
}

impl Lane {
    /// Waits until so many chunks have been taken.
    fn turn(&self, taken: usize) -> Turn<'_> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0 < taken {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Turn { lane: self, state }
    }
}

/// A chunk is being taken; however that ends, the next one's turn comes.
struct Turn<'a> {
    lane: &'a Lane,
    state: MutexGuard<'a, (usize, Sums)>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.state.0 += 1;
        self.lane.changed.notify_all();
    }
}

/// A pass in progress.
struct Pass<'a> {
    problem: &'a Problem<'a>,
    beta: &'a [f64],
    active: &'a [bool],
    terms: Terms<'a>,
    binned: bool,
    lanes: Vec<Lane>,
    /// The chunk to be taken next.
    next: AtomicUsize,
    failure: Mutex<Option<Failure>>,
}

impl Pass<'_> {
    /// Takes chunk after chunk.
    fn work(&self) {
        let (mut memory, mut scratch) = (ChunkMemory::default(), Scratch::default());
        let count = self.problem.observations.count();
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let chunk = self.problem.observations.chunk(number, &mut memory);
            let mut turn = self.lanes[number % LANES].turn(number / LANES);
            match chunk {
                Ok(chunk) => self.take(chunk, &mut turn.state.1, &mut scratch),
                Err(failure) => {
                    let mut known = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                    known.get_or_insert(failure);
                    self.next.store(count, Ordering::Relaxed);
                }
            }
        }
    }

    fn take(&self, chunk: Chunk<'_>, sums: &mut Sums, scratch: &mut Scratch) {
        let problem = self.problem;
        if problem.responses == 2 {
            problem.binary(&self.terms, chunk, sums, scratch);
        } else {
            problem.ordinal_rows(chunk, sums, self.beta, self.active, self.binned);
        }
    }
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
        let terms = Terms::new(self, beta, active);
        let apart = if self.responses == 2 {
            terms.apart()
        } else {
            0
        };
        let lane = || Lane {
            state: Mutex::new((0, Sums::new(columns, apart, bins))),
            changed: Condvar::new(),
        };
        let chunks = self.observations.count();
        let pass = Pass {
            problem: self,
            beta,
            active,
            binned,
            lanes: (0..LANES).map(|_| lane()).collect(),
            terms,
            next: AtomicUsize::new(0),
            failure: Mutex::new(None),
        };
        thread::scope(|scope| {
            for _ in 1..self.threads.min(LANES).min(chunks) {
                scope.spawn(|| pass.work());
            }
            pass.work();
        });
        let failure = pass.failure.into_inner();
        if let Some(failure) = failure.unwrap_or_else(PoisonError::into_inner) {
            return Err(failure);
        }
        let mut total = Sums::new(columns, apart, bins);
        for lane in pass.lanes {
            let state = lane.state.into_inner();
            total.add(&state.unwrap_or_else(PoisonError::into_inner).1);
        }
        if apart > 0 {
            total.information = vec![0.0; columns * columns];
            pass.terms.settle(&mut total);
        }
        Ok(total)
    }

    pub(super) fn bins(&self) -> usize {
        BINS * (self.responses - 1) + 1
    }

    /// Weight (with frequency) and frequency of a row.
    #[inline]
    pub(super) fn weights(&self, chunk: Chunk<'_>, row: usize) -> (f64, f64) {
        if self.head == 1 {
            return (1.0, 1.0);
        }
        let times = chunk.column(2)[row];
        (chunk.column(1)[row] * times, times)
    }

    /// Appends the columns of a row that are not zero.
    fn entries(
        &self,
        chunk: Chunk<'_>,
        row: usize,
        active: &[bool],
        entries: &mut Vec<(u32, f64)>,
    ) {
        let levels = self.head + self.covariates;
        for (effect, active) in self.design.effects.iter().zip(active) {
            if *active {
                let code = |class: usize| whole(chunk.column(levels + class)[row]);
                let covariate = |covariate: usize| chunk.column(self.head + covariate)[row];
                effect.append(&code, &covariate, entries);
            }
        }
    }

    fn ordinal_rows(
        &self,
        chunk: Chunk<'_>,
        sums: &mut Sums,
        beta: &[f64],
        active: &[bool],
        binned: bool,
    ) {
        let mut entries = Vec::new();
        for row in 0..chunk.rows {
            entries.clear();
            self.entries(chunk, row, active, &mut entries);
            let place = self.places[whole(chunk.column(0)[row])];
            let eta = entries
                .iter()
                .map(|(column, value)| value * beta[*column as usize])
                .sum();
            let (weight, times) = self.weights(chunk, row);
            self.ordinal(sums, place, eta, weight, &entries, beta);
            if binned {
                let score: f64 = (1..self.responses)
                    .map(|above| logistic(beta[above - 1] + eta))
                    .sum();
                sums.bins[place * self.bins() + whole(score * BINS as f64)] += times;
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
        let (mut entries, mut memory) = (Vec::new(), ChunkMemory::default());
        for number in 0..self.observations.count() {
            let chunk = self.observations.chunk(number, &mut memory)?;
            for row in 0..chunk.rows {
                entries.clear();
                self.entries(chunk, row, active, &mut entries);
                let eta: f64 = entries
                    .iter()
                    .map(|(column, value)| value * beta[*column as usize])
                    .sum();
                let mut x = vec![0.0; own];
                x[0] = 1.0;
                for (column, value) in &entries {
                    x[place_of[*column as usize]] += value;
                }
                let (weight, _) = self.weights(chunk, row);
                let place = self.places[whole(chunk.column(0)[row])];
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
        }
        Ok((gradient, information))
    }
}
