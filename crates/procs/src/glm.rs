//! PROC GLM: one pass over the input, which OUTPUT follows with a second one a BY group behind.

mod cells;
mod listing;
mod means;
mod output;
mod statements;

use std::ops::Range;

use engine::dataset::input::{Field, Input};
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{ProcStep, VariableList};
use sas7bdat::missing;

use self::cells::{Cells, Products, Taken};
use self::output::Outputs;
use self::statements::{Model, Statements, parse};
use crate::by::{ByGroups, open_by};
use crate::distribution::t_quantile;
use crate::effects::Effects;
use crate::effects::classes::{ClassData, Coding, Ordered, out_of_memory};
use crate::effects::design::Design;
use crate::effects::estimable::{self, General};
use crate::linear::{Echelon, Triangle};
use crate::target::{named_fields, numeric};

/// PROC GLM.
pub(crate) struct Glm;

impl Procedure for Glm {
    fn name(&self) -> &'static str {
        "GLM"
    }

    fn support(&self) -> Support {
        Support {
            yes: "FORMAT, LABEL; CLASS (DESCENDING, REF=, ORDER=FORMATTED or INTERNAL); MODEL of one \
                  or more dependent variables with effects `a b a*b a(b) a|b @n`, covariates and their \
                  products, NOINT, SOLUTION, CLPARM, SS1, SS2, SS3, ALPHA=; Type III by estimable \
                  functions; LSMEANS with STDERR, PDIFF, CL; OUTPUT with the statistics of REG; \
                  OUTSTAT=; BY, WEIGHT, FREQ, WHERE. The input is read once, and once more for OUTPUT; \
                  MULTIPASS and PLOTS= have no effect. Rows of equal classes are one cell: cells, \
                  levels or parameters that do not fit into memory stop the step",
            no: "MEANS, CONTRAST, ESTIMATE, RANDOM, TEST, MANOVA, REPEATED, ABSORB, SS4, E, PDIFF=, \
                  ADJUST=, AT",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        statements(step, world).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let Some(statements) = statements(step, world)? else {
            return Ok(());
        };
        let Some(model) = &statements.model else {
            return Ok(());
        };
        let mut input = open(&statements, world)?;
        let mut bound = Bound::new(&statements, model, &input, world)?;
        let mut by = match &statements.by {
            Some(list) => Some(ByGroups::new(&input, list, &statements.attributes, world)?),
            None => None,
        };
        let encoding = input.metadata().encoding;
        let mut outputs = Outputs::create(&statements, &bound, (by.as_ref(), encoding), world)?;
        if statements.printed {
            world.listing.begin();
        }
        let done = bound.pass(&mut input, by.as_mut(), &mut outputs, world);
        if statements.printed {
            world.listing.end();
        }
        if let Err(failure) = done {
            outputs.discard(world);
            return Err(failure);
        }
        input.finish(world)?;
        outputs.finish(world)
    }
}

/// The statements; `None` if QUIT alone is left of a step that has run.
fn statements(step: &ProcStep, world: &mut World) -> Outcome<Option<Statements>> {
    let statements = parse(step, world)?;
    if statements.model.is_none() {
        if step.statements.is_empty() && step.ended {
            return Ok(None);
        }
        return Err(Failure::at(&step.span, "PROC GLM needs a MODEL statement"));
    }
    Ok(Some(statements))
}

fn open(statements: &Statements, world: &mut World) -> Outcome<Input> {
    open_by(
        world,
        &statements.data,
        statements.condition.as_ref(),
        statements.by.as_ref(),
    )
}

/// The statements with their variables found.
struct Bound<'a> {
    statements: &'a Statements,
    model: &'a Model,
    effects: Effects,
    products: Products,
    classes: ClassData,
    dependents: Vec<Field>,
    weight: Option<Slot>,
    freq: Option<Slot>,
    requests: Vec<means::Request<'a>>,
    limit: u64,
}

/// Rows of a BY group, and what is made of them.
struct Group {
    cells: Vec<Cells>,
    /// Rows in the data set, and those read with FREQ.
    rows: u64,
    read: f64,
}

/// The model of one dependent variable.
struct Analysis {
    dependent: String,
    used: f64,
    echelon: Echelon,
    general: General,
    design: Design,
    /// Columns of each effect.
    ranges: Vec<Range<usize>>,
    estimates: Vec<f64>,
    inverse_diagonal: Vec<f64>,
    model_degrees: f64,
    error_degrees: f64,
    error_square: f64,
    model_square: f64,
    total_square: f64,
    mean_square: f64,
    mean: f64,
    /// Means of the products of covariates.
    covariate_means: Vec<f64>,
    /// Of the confidence limits.
    t_quantile: f64,
}

/// A row's values that the model needs.
#[derive(Default)]
struct Values {
    codes: Vec<u32>,
    covariates: Vec<f64>,
    products: Vec<f64>,
}

impl<'a> Bound<'a> {
    fn new(
        statements: &'a Statements,
        model: &'a Model,
        input: &Input,
        world: &mut World,
    ) -> Outcome<Self> {
        let limit = world.options.procedure_memory();
        let mut fields = Vec::new();
        for (list, options) in &statements.classes.items {
            let mut own = named_fields(input, std::slice::from_ref(list))?;
            statements.attributes.apply(input, &mut own, world)?;
            fields.extend(own.into_iter().map(|field| (field, options.clone())));
        }
        let classes = ClassData::new(fields, &world.formats, limit / 4);
        let effects = Effects::new(&model.effects, &classes.fields(), input)?;
        let mut dependents = numeric(input, &model.dependents)?;
        statements.attributes.apply(input, &mut dependents, world)?;
        let single = |list: &Option<VariableList>| match list {
            Some(list) => numeric(input, std::slice::from_ref(list))
                .map(|fields| fields.first().map(|field| field.slot)),
            None => Ok(None),
        };
        let requests = means::requests(statements, &classes.fields(), &effects, input)?;
        Ok(Self {
            statements,
            model,
            products: Products::new(&effects.effects),
            effects,
            classes,
            dependents,
            weight: single(&statements.weight)?,
            freq: single(&statements.freq)?,
            requests,
            limit,
        })
    }

    fn group(&self) -> Group {
        let limit = self.limit / 2 / self.dependents.len() as u64;
        let cells = || Cells::new(&self.products, self.model.intercept, limit);
        Group {
            cells: self.dependents.iter().map(|_| cells()).collect(),
            rows: 0,
            read: 0.0,
        }
    }

    fn pass(
        &mut self,
        input: &mut Input,
        mut by: Option<&mut ByGroups>,
        outputs: &mut Outputs,
        world: &mut World,
    ) -> Outcome<()> {
        let encoding = input.metadata().encoding;
        let mut group = self.group();
        let mut values = Values::default();
        while let Some(row) = input.next_row()? {
            if let Some(by) = &mut by
                && by.begins(row)?
            {
                if !by.row().is_empty() {
                    self.analyse(&mut group, Some(by), encoding, outputs, world)?;
                    self.classes.clear();
                    group = self.group();
                }
                by.enter(row);
            }
            self.take(&mut group, row, &mut values)?;
        }
        if by.as_ref().is_none_or(|by| !by.row().is_empty()) {
            self.analyse(&mut group, by.as_deref(), encoding, outputs, world)?;
        }
        Ok(())
    }

    /// Whether the row has all the model needs but for the dependent variable.
    fn values(&mut self, row: &[u8], values: &mut Values) -> Outcome<bool> {
        if !self.classes.codes(row, &mut values.codes)? {
            return Ok(false);
        }
        values.covariates.clear();
        let covariates = self
            .effects
            .covariates
            .iter()
            .map(|field| field.slot.number(row));
        values.covariates.extend(covariates);
        if values.covariates.iter().any(|value| value.is_nan()) {
            return Ok(false);
        }
        values.products.clear();
        let product = |factors: &Vec<usize>| -> f64 {
            factors.iter().map(|one| values.covariates[*one]).product()
        };
        values
            .products
            .extend(self.products.factors.iter().map(product));
        Ok(true)
    }

    fn take(&mut self, group: &mut Group, row: &[u8], values: &mut Values) -> Outcome<()> {
        group.rows += 1;
        let complete = self.values(row, values)?;
        let times = self.freq.map_or(1.0, |slot| slot.number(row).trunc());
        if times.is_nan() || times < 1.0 {
            return Ok(());
        }
        group.read += times;
        let weight = self.weight.map_or(1.0, |slot| slot.number(row));
        if !complete || weight.is_nan() || weight <= 0.0 {
            return Ok(());
        }
        for (field, cells) in self.dependents.iter().zip(&mut group.cells) {
            let dependent = field.slot.number(row);
            if !dependent.is_nan() {
                let taken = Taken {
                    codes: &values.codes,
                    products: &values.products,
                    dependent,
                    weight,
                    times,
                };
                cells.take(&self.products, &taken)?;
            }
        }
        Ok(())
    }

    fn analyse(
        &mut self,
        group: &mut Group,
        by: Option<&ByGroups>,
        encoding: sas7bdat::Encoding,
        outputs: &mut Outputs,
        world: &mut World,
    ) -> Outcome<()> {
        let levels = self
            .classes
            .ordered(Coding::Glm, encoding)
            .map_err(Failure::world)?;
        let mut analyses = Vec::new();
        for (field, cells) in self.dependents.iter().zip(&mut group.cells) {
            analyses.push(self.analysis(field, cells, &levels)?);
        }
        if self.statements.printed {
            listing::group(world, self, group, &levels, &analyses, by);
        }
        outputs.group(self, &analyses, by, group.rows)
    }

    fn analysis(&self, field: &Field, cells: &mut Cells, levels: &[Ordered]) -> Outcome<Analysis> {
        let effects = &self.effects.effects;
        let present = cells.present(effects);
        let first = usize::from(self.model.intercept);
        let design = Design::new(effects, levels, first, Some(&present), self.limit / 4)?;
        let columns = design.columns;
        // The triangle, its echelon form, and the rows of estimable functions.
        if Triangle::bytes(columns + 1) * 4 > self.limit / 2 {
            return Err(out_of_memory(columns, "parameters", self.limit));
        }
        let mut triangle = cells.triangle(&design, &self.products);
        let all: Vec<usize> = (0..=columns).collect();
        let echelon = Echelon::of(triangle.settled(), &all, 1);
        let error_square = echelon.error(columns);
        let rank = echelon.rank();
        let first_row = usize::from(self.model.intercept && rank > 0);
        let model_square: f64 = (first_row..rank)
            .map(|row| echelon.at(row, columns).powi(2))
            .sum();
        let error_degrees = cells.used - rank as f64;
        let mut estimates = echelon.estimates(columns);
        if self.model.intercept && rank > 0 {
            estimates[0] += cells.shift();
        }
        let (covariate_means, mean) = cells.overall();
        let ranges = design
            .effects
            .iter()
            .map(|one| one.first..one.first + one.count)
            .collect();
        Ok(Analysis {
            dependent: field.variable.name.clone(),
            used: cells.used,
            general: General::new(&echelon),
            inverse_diagonal: echelon.inverse_diagonal(),
            echelon,
            design,
            ranges,
            estimates,
            model_degrees: (rank - first_row) as f64,
            error_degrees,
            error_square,
            model_square,
            total_square: model_square + error_square,
            mean_square: if error_degrees > 0.0 {
                error_square / error_degrees
            } else {
                missing::missing()
            },
            mean,
            covariate_means,
            t_quantile: t_quantile(1.0 - self.model.alpha / 2.0, error_degrees),
        })
    }
}

impl Analysis {
    /// Degrees of freedom and sum of squares of each effect, of Type `kind`.
    fn squares(&self, bound: &Bound<'_>, kind: u8) -> Vec<(usize, f64)> {
        let effects = &bound.effects.effects;
        let response = self.design.columns;
        (0..effects.len())
            .map(|index| {
                let own = &self.ranges[index];
                let containing = estimable::containing(effects, &self.ranges, index);
                match kind {
                    1 => {
                        let rows = own.clone().filter_map(|column| self.echelon.row_of(column));
                        let squares: Vec<f64> = rows
                            .map(|row| self.echelon.at(row, response).powi(2))
                            .collect();
                        (squares.len(), squares.iter().sum())
                    }
                    2 => self.type_two(own, &containing),
                    _ => {
                        let hypothesis = self.general.type_three(&self.echelon, own, &containing);
                        estimable::square(&self.echelon, response, &hypothesis)
                    }
                }
            })
            .collect()
    }

    /// What the effect adds to all that do not contain it.
    fn type_two(&self, own: &Range<usize>, containing: &[Range<usize>]) -> (usize, f64) {
        let response = self.design.columns;
        let outside = |column: &usize| {
            !own.contains(column) && !containing.iter().any(|range| range.contains(column))
        };
        let others: Vec<usize> = (0..response).filter(outside).collect();
        let order: Vec<usize> = others.iter().copied().chain(own.clone()).collect();
        let height = self.echelon.rank();
        let cells = order
            .iter()
            .chain(std::iter::once(&response))
            .flat_map(|column| {
                let of = |row| self.echelon.at(row, *column);
                (0..height).map(of).collect::<Vec<f64>>()
            })
            .collect();
        let echelon = Echelon::new(cells, height, order.len());
        let added = (others.len()..order.len()).filter_map(|column| echelon.row_of(column));
        let squares: Vec<f64> = added
            .map(|row| echelon.at(row, order.len()).powi(2))
            .collect();
        (squares.len(), squares.iter().sum())
    }

    /// Variance of an estimable function without the mean square, and its estimate.
    fn function(&self, function: &[f64]) -> (f64, f64) {
        let pivots: Vec<f64> = self
            .echelon
            .pivots()
            .iter()
            .map(|pivot| function[*pivot])
            .collect();
        let rotated = self.echelon.solve_transposed(&pivots);
        let estimate = function
            .iter()
            .zip(&self.estimates)
            .map(|(one, other)| one * other)
            .sum();
        (rotated.iter().map(|one| one * one).sum(), estimate)
    }
}
