//! PROC REG: one pass over the input for all models of a run group, a second one for OUTPUT.

mod group;
mod listing;
mod output;
mod selection;
mod statements;

use engine::dataset::input::{Field, Input};
use engine::dataset::runs::{self, Work};
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{ProcStep, VariableList};
use sas7bdat::{Rows, Variable, missing};

use self::group::Group;
use self::output::Outputs;
use self::selection::Step;
use self::statements::{Model, Statements, parse};
use crate::by::{ByGroups, of_group_only, open_by};
use crate::distribution::{f_probability, t_probability, t_quantile};
use crate::effects::classes::out_of_memory;
use crate::linear::{Fit, Triangle};
use crate::table::Table;
use crate::target::{Attributes, numeric};

/// PROC REG.
pub(crate) struct Reg;

impl Procedure for Reg {
    fn name(&self) -> &'static str {
        "REG"
    }

    fn support(&self) -> Support {
        Support {
            yes: "MODEL (several, labels) with NOINT, VIF, SS1, CLB, NOPRINT, SELECTION=FORWARD, \
                  BACKWARD or STEPWISE with SLENTRY= and SLSTAY= (the listing has the steps, their \
                  summary and the last model); BY, WEIGHT, FREQ, WHERE; OUTEST=; OUTPUT with P R STDP \
                  STDR STDI L95 U95 L95M U95M STUDENT RSTUDENT COOKD H PRESS DFFITS; PLOTS= (of no \
                  effect); CPUCOUNT threads, on which results do not depend",
            no: "SELECTION=RSQUARE, ADJRSQ, CP, MAXR, MINR, INCLUDE=, TEST, RESTRICT, PLOT",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        statements(step, world).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        match statements(step, world)? {
            Some(statements) => regress(&statements, world),
            None => Ok(()),
        }
    }
}

/// The statements; `None` if QUIT alone is left of a step that has run.
fn statements(step: &ProcStep, world: &mut World) -> Outcome<Option<Statements>> {
    let statements = parse(step, world)?;
    if statements.models.is_empty() {
        if step.statements.is_empty() && step.ended {
            return Ok(None);
        }
        return Err(Failure::at(&step.span, "PROC REG needs a MODEL statement"));
    }
    Ok(Some(statements))
}

/// A model with its variables found: columns of the triangle.
struct Bound<'a> {
    model: &'a Model,
    dependents: Vec<usize>,
    regressors: Vec<usize>,
}

/// What a pass over the data needs.
struct Design<'a> {
    /// All variables of all models, each once; column 0 of the triangle is the intercept.
    fields: Vec<Field>,
    models: Vec<Bound<'a>>,
    weight: Option<Slot>,
    freq: Option<Slot>,
    /// There may be many small groups.
    grouped: bool,
    /// The fields in the order of OUTEST=.
    shown: Vec<usize>,
}

/// The results of one dependent variable.
struct Result<'a> {
    model: &'a Model,
    dependent: String,
    dependent_column: usize,
    /// Columns of the parameters, and their names.
    columns: Vec<usize>,
    names: Vec<String>,
    fit: Fit,
    /// How SELECTION= came to the regressors, with their names.
    steps: Vec<(Step, String)>,
    read: f64,
    used: f64,
    model_degrees: f64,
    error_degrees: f64,
    model_square: f64,
    total_square: f64,
    mean_square: f64,
    f: f64,
    f_probability: f64,
    root_mse: f64,
    r_square: f64,
    adjusted_r_square: f64,
    dependent_mean: f64,
    coefficient_of_variation: f64,
    errors: Vec<f64>,
    probabilities: Vec<f64>,
    t_quantile: f64,
    /// Corrected sums of squares of the regressors.
    spreads: Vec<f64>,
}

fn regress(statements: &Statements, world: &mut World) -> Outcome<()> {
    let mut input = open(statements, world)?;
    let design = Design::new(statements, &input)?;
    let limit = world.options.procedure_memory();
    // The triangle, its echelon form, and what comes of it.
    if Triangle::bytes(design.fields.len() + 1) * 4 > limit {
        return Err(out_of_memory(design.fields.len(), "variables", limit));
    }
    let mut by = match &statements.by {
        Some(list) => Some(ByGroups::new(&input, list, &Attributes::default(), world)?),
        None => None,
    };
    let mut estimates = match &statements.outest {
        Some(_) => Some(Estimates::create(
            statements,
            &design,
            by.as_ref(),
            &input,
            world,
        )?),
        None => None,
    };
    let mut outputs = Outputs::create(statements, &design, world)?;
    if statements.printed {
        world.listing.begin();
    }
    let part = 2 * Triangle::tall_bytes(design.fields.len() + 1);
    let limit = world.options.procedure_memory();
    if part > limit {
        return Err(out_of_memory(design.fields.len(), "variables", limit));
    }
    let threads = runs::threads(&input, world.threads(), part, limit - part);
    let done = design.pass(&mut input, by.as_mut(), threads, |by, group| {
        let results = design.results(group);
        if results.is_empty() {
            // No row has all values: with BY the next group may have some.
            let failure = Failure::world("No valid observations are found.");
            of_group_only(failure, by, world)?;
        }
        if statements.printed {
            if let Some(by) = by {
                world
                    .listing
                    .centered_line(&format!("---------- {} ----------", by.heading()));
                world.listing.line("");
            }
            for result in results.iter().filter(|result| result.model.printed) {
                listing::print(world, result);
            }
        }
        if let Some(estimates) = &mut estimates {
            estimates.write(by, &design, &results)?;
        }
        outputs.group(&design, &results, group.rows)
    });
    if statements.printed {
        world.listing.end();
    }
    if let Err(failure) = done {
        if let Some(estimates) = estimates {
            estimates.table.discard(world);
        }
        outputs.discard(world);
        return Err(failure);
    }
    input.finish(world)?;
    if let Some(estimates) = estimates {
        estimates.table.finish(world)?;
    }
    outputs.finish(world)
}

fn open(statements: &Statements, world: &mut World) -> Outcome<Input> {
    open_by(
        world,
        &statements.data,
        statements.condition.as_ref(),
        statements.by.as_ref(),
    )
}

impl<'a> Design<'a> {
    fn new(statements: &'a Statements, input: &Input) -> Outcome<Self> {
        let mut fields: Vec<Field> = Vec::new();
        let mut columns = |lists: &[VariableList]| -> Outcome<Vec<usize>> {
            let mut columns = Vec::new();
            for field in numeric(input, lists)? {
                let known = fields.iter().position(|one| one.slot == field.slot);
                columns.push(1 + known.unwrap_or(fields.len()));
                if known.is_none() {
                    fields.push(field);
                }
            }
            Ok(columns)
        };
        // Regressors first: the triangle is then as good as that of each model.
        let mut regressors = Vec::new();
        for model in &statements.models {
            regressors.push(columns(&model.regressors)?);
        }
        let (mut models, mut shown) = (Vec::new(), Vec::new());
        for (model, regressors) in statements.models.iter().zip(regressors) {
            let dependents = columns(&model.dependents)?;
            for column in dependents.iter().chain(&regressors) {
                if !shown.contains(&(column - 1)) {
                    shown.push(column - 1);
                }
            }
            models.push(Bound {
                model,
                dependents,
                regressors,
            });
        }
        let single = |list: &Option<VariableList>| match list {
            Some(list) => numeric(input, std::slice::from_ref(list))
                .map(|fields| fields.first().map(|field| field.slot)),
            None => Ok(None),
        };
        Ok(Self {
            weight: single(&statements.weight)?,
            freq: single(&statements.freq)?,
            grouped: statements.by.is_some(),
            shown,
            fields,
            models,
        })
    }

    /// Reads all rows; every BY group is handed to `done`.
    fn pass(
        &self,
        input: &mut Input,
        by: Option<&mut ByGroups>,
        threads: usize,
        mut done: impl FnMut(Option<&ByGroups>, &mut Group) -> Outcome<()>,
    ) -> Outcome<()> {
        let mut group = self.group();
        let Some(by) = by else {
            let work = Work {
                begin: || self.group(),
                take: |group: &mut Group, rows: Rows<'_>| {
                    self.take(group, rows);
                    Ok(())
                },
            };
            runs::each_run(input, threads, &work, |part| {
                group.join(part);
                Ok(())
            })?;
            return done(None, &mut group);
        };
        while let Some(row) = input.next_row()? {
            if by.begins(row)? {
                if !by.row().is_empty() {
                    done(Some(by), &mut std::mem::replace(&mut group, self.group()))?;
                }
                by.enter(row);
            }
            let row = Rows {
                bytes: row,
                row_bytes: row.len(),
                count: 1,
            };
            self.take(&mut group, row);
        }
        if by.row().is_empty() {
            return Ok(());
        }
        done(Some(by), &mut group)
    }

    /// Every model and dependent variable, in order.
    fn results(&self, group: &mut Group) -> Vec<Result<'a>> {
        let mut results = Vec::new();
        if group.used == 0.0 {
            return results;
        }
        for bound in &self.models {
            for dependent in &bound.dependents {
                results.push(self.result(bound, *dependent, group));
            }
        }
        results
    }

    fn result(&self, bound: &Bound<'a>, dependent: usize, group: &mut Group) -> Result<'a> {
        let model = bound.model;
        let intercept: &[usize] = if model.intercept { &[0] } else { &[] };
        let (regressors, steps) = choose(bound, dependent, group);
        let columns = [intercept, &regressors, &[dependent]].concat();
        let fit = Fit::new(group.triangle.settled(), &columns);
        let moments = group.triangle.of_columns(&[0, dependent]);
        let dependent_mean = moments.at(0, 1) / moments.at(0, 0);
        let first = usize::from(model.intercept);
        let fit = if model.intercept {
            settled(fit, dependent_mean)
        } else {
            fit
        };
        let model_square: f64 = fit.sequential[first..].iter().sum();
        let rank = fit.singular.iter().filter(|singular| !**singular).count();
        let (model_degrees, error_degrees) = ((rank - first) as f64, group.used - rank as f64);
        let total_square = model_square + fit.error;
        let mean_square = if error_degrees > 0.0 {
            fit.error / error_degrees
        } else {
            missing::missing()
        };
        let f = if model_degrees > 0.0 {
            model_square / model_degrees / mean_square
        } else {
            missing::missing()
        };
        let errors = standard_errors(&fit, mean_square);
        let probability =
            |(estimate, error): (&f64, &f64)| t_probability(estimate / error, error_degrees);
        let r_square = model_square / total_square;
        let total_degrees = model_degrees + error_degrees;
        let root_mse = mean_square.sqrt();
        let name = |column: &usize| match column {
            0 => "Intercept".to_owned(),
            _ => self.fields[column - 1].variable.name.clone(),
        };
        Result {
            model,
            dependent: name(&dependent),
            dependent_column: dependent,
            columns: columns[..columns.len() - 1].to_vec(),
            steps: steps
                .into_iter()
                .map(|step| (step.clone(), name(&step.column)))
                .collect(),
            names: columns[..columns.len() - 1].iter().map(name).collect(),
            read: group.read,
            used: group.used,
            model_degrees,
            error_degrees,
            model_square,
            total_square,
            mean_square,
            f,
            f_probability: f_probability(f, model_degrees, error_degrees),
            root_mse,
            r_square,
            adjusted_r_square: 1.0 - (1.0 - r_square) * total_degrees / error_degrees,
            dependent_mean,
            coefficient_of_variation: 100.0 * root_mse / dependent_mean,
            probabilities: fit.estimates.iter().zip(&errors).map(probability).collect(),
            errors,
            t_quantile: t_quantile(0.975, error_degrees),
            spreads: columns[..columns.len() - 1]
                .iter()
                .map(|column| group.triangle.of_columns(&[0, *column]).at(1, 1).powi(2))
                .collect(),
            fit,
        }
    }
}

/// Standard errors of the estimates; missing of columns that depend on others.
fn standard_errors(fit: &Fit, mean_square: f64) -> Vec<f64> {
    let diagonal = fit.inverse_diagonal.iter().zip(&fit.singular);
    let error = |(diagonal, singular): (&f64, &bool)| {
        if *singular {
            missing::missing()
        } else {
            (mean_square * diagonal).sqrt()
        }
    };
    diagonal.map(error).collect()
}

/// The fit, of zeros where the dependent variable does not vary: what is left about its mean is less than the least
/// difference that two numbers of that size can have.
fn settled(mut fit: Fit, mean: f64) -> Fit {
    let total = fit.sequential[1..].iter().sum::<f64>() + fit.error;
    if total < (mean * f64::EPSILON / 4.0).powi(2) {
        fit.error = 0.0;
        fit.sequential[1..].fill(0.0);
        fit.estimates[1..].fill(0.0);
    }
    fit
}

/// The regressors of a model, and how SELECTION= came to them.
fn choose(bound: &Bound<'_>, dependent: usize, group: &mut Group) -> (Vec<usize>, Vec<Step>) {
    let Some(selection) = bound.model.selection else {
        return (bound.regressors.clone(), Vec::new());
    };
    let field = selection::Field {
        triangle: group.triangle.settled(),
        intercept: bound.model.intercept,
        regressors: &bound.regressors,
        dependent,
        used: group.used,
    };
    field.choose(selection)
}

impl Result<'_> {
    /// Variance inflation factor of a regressor.
    fn inflation(&self, index: usize) -> f64 {
        if self.model.intercept && index == 0 {
            0.0
        } else {
            self.fit.inverse_diagonal[index] * self.spreads[index]
        }
    }
}

/// The data set of OUTEST=.
struct Estimates {
    table: Table,
    first: usize,
}

impl Estimates {
    fn create(
        statements: &Statements,
        design: &Design<'_>,
        by: Option<&ByGroups>,
        input: &Input,
        world: &mut World,
    ) -> Outcome<Self> {
        let out = statements.outest.as_ref().expect("it is asked for");
        let by_fields = by.map_or(&[][..], ByGroups::fields);
        let mut variables: Vec<Variable> = by_fields
            .iter()
            .map(|field| field.variable.clone())
            .collect();
        let first = variables.len();
        for (name, length) in [("_MODEL_", 32), ("_TYPE_", 8), ("_DEPVAR_", 32)] {
            variables.push(Variable::character(name, length));
        }
        variables.push(Variable::numeric("_RMSE_"));
        variables.push(Variable::numeric("Intercept"));
        for field in design.shown.iter().map(|index| &design.fields[*index]) {
            let mut variable = Variable::numeric(field.variable.name.clone());
            variable.label.clone_from(&field.variable.label);
            variables.push(variable);
        }
        let encoding = input.metadata().encoding;
        Ok(Self {
            table: Table::create(world, out, variables, "REG", encoding)?,
            first,
        })
    }

    fn write(
        &mut self,
        by: Option<&ByGroups>,
        design: &Design<'_>,
        results: &[Result<'_>],
    ) -> Outcome<()> {
        if let Some(by) = by {
            by.copy(&mut self.table);
        }
        for result in results {
            self.table.text(self.first, result.model.name.as_bytes());
            self.table.text(self.first + 1, b"PARMS");
            self.table.text(self.first + 2, result.dependent.as_bytes());
            self.table.number(self.first + 3, result.root_mse);
            let estimate = |name: &str| {
                let index = result.names.iter().position(|one| one == name)?;
                Some(result.fit.estimates[index])
            };
            let value = |name: &str| {
                let own = (name == result.dependent).then_some(-1.0);
                own.or_else(|| estimate(name))
                    .unwrap_or_else(missing::missing)
            };
            self.table.number(self.first + 4, value("Intercept"));
            for (place, index) in design.shown.iter().enumerate() {
                let name = &design.fields[*index].variable.name;
                self.table.number(self.first + 5 + place, value(name));
            }
            self.table.write()?;
        }
        Ok(())
    }
}
