//! OUTPUT: the input is read once more, a BY group behind the analysis.

use engine::dataset::copy::RowCopy;
use engine::dataset::input::{Field, Input};
use engine::failure::Outcome;
use engine::session::World;
use sas7bdat::{Kind, Variable, missing};

use super::fit::times;
use super::statements::Statistic;
use super::{Analysis, Bound, Values, open};
use crate::distribution::normal_quantile;
use crate::linear::dot;
use crate::table::Table;
use crate::target::named_fields;

/// The data sets of all OUTPUT statements.
#[derive(Default)]
pub(super) struct Outputs {
    input: Option<Input>,
    tables: Vec<Making>,
}

struct Making {
    table: Table,
    copy: RowCopy,
    /// `_LEVEL_`, which HPLOGISTIC does not make.
    level: Option<(usize, Kind)>,
    /// First of the statistics, and what they are.
    first: usize,
    statistics: Vec<Statistic>,
    quantile: f64,
}

impl Outputs {
    pub(super) fn create(bound: &Bound<'_>, input: &Input, world: &mut World) -> Outcome<Self> {
        let mut outputs = Self::default();
        for number in 0..bound.statements.outputs.len() {
            match Making::create(number, bound, input, world) {
                Ok(making) => outputs.tables.push(making),
                Err(failure) => {
                    outputs.discard(world);
                    return Err(failure);
                }
            }
        }
        if !outputs.tables.is_empty() {
            outputs.input = Some(open(bound.statements, world)?);
        }
        Ok(outputs)
    }

    /// Writes the rows of the group by its model.
    pub(super) fn group(&mut self, bound: &mut Bound<'_>, analysis: &Analysis) -> Outcome<()> {
        let Some(input) = &mut self.input else {
            return Ok(());
        };
        let (mut values, mut entries) = (Values::default(), Vec::new());
        let mut classes = bound.classes.emptied();
        std::mem::swap(&mut classes, &mut bound.classes);
        for _ in 0..analysis.rows {
            let Some(row) = input.next_row()? else { break };
            let complete = bound.values(row, &mut classes, &mut values)?;
            entries.clear();
            if complete {
                for (index, effect) in analysis.design.effects.iter().enumerate() {
                    if analysis.active[index] {
                        let code = |class: usize| values.codes[class] as usize;
                        let covariate = |covariate: usize| values.covariates[covariate];
                        effect.append(&code, &covariate, &mut entries);
                    }
                }
            }
            for making in &mut self.tables {
                making.write(row, bound, analysis, complete.then_some(&entries))?;
            }
        }
        Ok(())
    }

    /// Writes the next `rows` rows, for which there is no model.
    pub(super) fn unfitted(&mut self, rows: u64) -> Outcome<()> {
        let Some(input) = &mut self.input else {
            return Ok(());
        };
        for _ in 0..rows {
            let Some(row) = input.next_row()? else { break };
            for making in &mut self.tables {
                making.write_unfitted(row)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self, world: &mut World) -> Outcome<()> {
        if let Some(input) = self.input {
            input.close_again()?;
        }
        for making in self.tables {
            making.table.finish(world)?;
        }
        Ok(())
    }

    pub(super) fn discard(self, world: &mut World) {
        for making in self.tables {
            making.table.discard(world);
        }
    }
}

impl Making {
    fn create(number: usize, bound: &Bound<'_>, input: &Input, world: &mut World) -> Outcome<Self> {
        let statement = &bound.statements.outputs[number];
        let high = bound.name == "HPLOGISTIC";
        let fields: Vec<Field> = if high {
            named_fields(input, &bound.statements.id)?
        } else {
            input.fields().to_vec()
        };
        let mut variables: Vec<Variable> =
            fields.iter().map(|field| field.variable.clone()).collect();
        let kind = bound.response_field.variable.kind;
        let level = (!high).then_some((variables.len(), kind));
        if !high {
            let mut variable = bound.response_field.variable.clone();
            "_LEVEL_".clone_into(&mut variable.name);
            "Response Value".clone_into(&mut variable.label);
            variables.push(variable);
        }
        let first = variables.len();
        for (statistic, name) in &statement.requests {
            let mut variable = Variable::numeric(name.clone());
            let label = match statistic {
                Statistic::Probability => "Estimated Probability",
                Statistic::Predictor => "Linear Predictor",
                Statistic::PredictorError => "Std. Error of Linear Predictor",
                Statistic::Lower => "Lower 95% Confidence Limit",
                Statistic::Upper => "Upper 95% Confidence Limit",
            };
            label.clone_into(&mut variable.label);
            variables.push(variable);
        }
        // A creator has eight characters.
        let creator = if high { "HPLOGIST" } else { "LOGISTIC" };
        let table = Table::create(world, &statement.out, variables, creator, bound.encoding)?;
        Ok(Self {
            copy: table.copier(&fields),
            table,
            level,
            first,
            statistics: statement
                .requests
                .iter()
                .map(|(statistic, _)| *statistic)
                .collect(),
            quantile: normal_quantile(1.0 - statement.alpha / 2.0),
        })
    }

    fn write_unfitted(&mut self, row: &[u8]) -> Outcome<()> {
        self.table.copy(&self.copy, row);
        for place in 0..self.statistics.len() {
            self.table.number(self.first + place, missing::missing());
        }
        if let Some((level, kind)) = self.level {
            match kind {
                Kind::Numeric => self.table.number(level, missing::missing()),
                Kind::Character => self.table.text(level, b""),
            }
        }
        self.table.write()
    }

    /// One row for a binary response, otherwise one for every response but the last.
    fn write(
        &mut self,
        row: &[u8],
        bound: &Bound<'_>,
        analysis: &Analysis,
        entries: Option<&Vec<(u32, f64)>>,
    ) -> Outcome<()> {
        self.table.copy(&self.copy, row);
        let fitted = &analysis.fitted;
        for cut in 0..analysis.responses.labels.len() - 1 {
            let mut x = vec![0.0; analysis.design.columns];
            if analysis.intercepts > 0 {
                x[cut] = 1.0;
            }
            for (column, value) in entries.into_iter().flatten() {
                x[*column as usize] = *value;
            }
            let eta = if entries.is_some() {
                dot(&x, &fitted.beta)
            } else {
                f64::NAN
            };
            let simple = [Statistic::Probability, Statistic::Predictor];
            let error = if self.statistics.iter().all(|one| simple.contains(one)) {
                f64::NAN
            } else {
                dot(&times(&fitted.covariance, &x), &x).sqrt()
            };
            let probability = |eta: f64| 1.0 / (1.0 + (-eta).exp());
            for (place, statistic) in self.statistics.iter().enumerate() {
                let value = match statistic {
                    Statistic::Probability => probability(eta),
                    Statistic::Predictor => eta,
                    Statistic::PredictorError => error + eta * 0.0,
                    Statistic::Lower => probability(eta - self.quantile * error),
                    Statistic::Upper => probability(eta + self.quantile * error),
                };
                self.table
                    .number(self.first + place, missing::normalize(value));
            }
            if let Some((level, kind)) = self.level {
                let variable = bound.response.variable(0);
                let key = &analysis.responses.keys[cut];
                match kind {
                    Kind::Numeric => self.table.number(level, variable.number(key)),
                    Kind::Character => self.table.text(level, &variable.text(key)),
                }
            }
            self.table.write()?;
        }
        Ok(())
    }
}
