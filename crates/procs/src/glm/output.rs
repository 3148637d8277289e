//! OUTPUT: the input is read once more, a BY group behind the analysis.

use engine::dataset::copy::RowCopy;
use engine::dataset::input::Input;
use engine::failure::Outcome;
use engine::session::World;
use sas7bdat::{Encoding, Variable, missing};

use super::statements::Statements;
use super::{Analysis, Bound, Values, open};
use crate::by::ByGroups;
use crate::diagnostics::{Observation, OutputStatement, Statistic};
use crate::distribution::f_probability;
use crate::table::Table;

/// The data sets of all OUTPUT statements.
pub(super) struct Outputs {
    input: Option<Input>,
    tables: Vec<Making>,
    /// OUTSTAT=, and its first variable behind those of BY.
    statistics: Option<(Table, usize)>,
}

struct Making {
    table: Table,
    copy: RowCopy,
    /// First of the new variables, and what they are.
    first: usize,
    columns: Vec<(Statistic, usize)>,
    leverage: bool,
}

impl Outputs {
    pub(super) fn create(
        statements: &Statements,
        bound: &Bound<'_>,
        (by, encoding): (Option<&ByGroups>, Encoding),
        world: &mut World,
    ) -> Outcome<Self> {
        let mut outputs = Self {
            input: None,
            tables: Vec::new(),
            statistics: None,
        };
        if let Some(out) = &statements.outstat {
            let by_fields = by.map_or(&[][..], ByGroups::fields);
            let mut variables: Vec<Variable> = by_fields
                .iter()
                .map(|field| field.variable.clone())
                .collect();
            let first = variables.len();
            for (name, length) in [("_NAME_", 32), ("_SOURCE_", 64), ("_TYPE_", 8)] {
                variables.push(Variable::character(name, length));
            }
            variables.extend(["DF", "SS", "F", "PROB"].map(Variable::numeric));
            outputs.statistics = Some((
                Table::create(world, out, variables, "GLM", encoding)?,
                first,
            ));
        }
        if statements.outputs.is_empty() {
            return Ok(outputs);
        }
        let input = open(statements, world)?;
        for statement in &statements.outputs {
            match Making::create(statement, bound, &input, world) {
                Ok(making) => outputs.tables.push(making),
                Err(failure) => {
                    outputs.discard(world);
                    return Err(failure);
                }
            }
        }
        outputs.input = Some(input);
        Ok(outputs)
    }

    /// Writes the next `rows` rows by the models of their group.
    pub(super) fn group(
        &mut self,
        bound: &mut Bound<'_>,
        analyses: &[Analysis],
        by: Option<&ByGroups>,
        rows: u64,
    ) -> Outcome<()> {
        self.statistics(bound, analyses, by)?;
        let Some(input) = &mut self.input else {
            return Ok(());
        };
        let mut values = Values::default();
        let mut entries = Vec::new();
        let leverage = self.tables.iter().any(|making| making.leverage);
        for _ in 0..rows {
            let Some(row) = input.next_row()? else { break };
            let complete = bound.values(row, &mut values)?;
            let weight = bound.weight.map_or(1.0, |slot| slot.number(row));
            let mut observations = Vec::with_capacity(analyses.len());
            for (analysis, field) in analyses.iter().zip(&bound.dependents) {
                let mut observation = Observation {
                    value: field.slot.number(row),
                    predicted: f64::NAN,
                    weight,
                    leverage: f64::NAN,
                    mean_square: analysis.mean_square,
                    error_degrees: analysis.error_degrees,
                    rank: analysis.echelon.rank() as f64,
                    t_quantile: f64::NAN,
                };
                if complete && analysis.used > 0.0 {
                    predict(
                        bound,
                        analysis,
                        &values,
                        leverage,
                        &mut entries,
                        &mut observation,
                    );
                }
                observations.push(observation);
            }
            for making in &mut self.tables {
                making.write(row, &observations)?;
            }
        }
        Ok(())
    }

    fn statistics(
        &mut self,
        bound: &Bound<'_>,
        analyses: &[Analysis],
        by: Option<&ByGroups>,
    ) -> Outcome<()> {
        let Some((table, first)) = &mut self.statistics else {
            return Ok(());
        };
        if let Some(by) = by {
            by.copy(table);
        }
        let effects = &bound.effects.effects;
        for analysis in analyses {
            let mut lines = vec![(
                "ERROR",
                "ERROR".to_owned(),
                analysis.error_degrees,
                analysis.error_square,
            )];
            for kind in &bound.model.types {
                let squares = analysis.squares(bound, *kind);
                for (effect, (degrees, square)) in effects.iter().zip(squares) {
                    lines.push((
                        effect.name.as_str(),
                        format!("SS{kind}"),
                        degrees as f64,
                        square,
                    ));
                }
            }
            for (source, kind, degrees, square) in lines {
                table.text(*first, analysis.dependent.as_bytes());
                table.text(*first + 1, source.as_bytes());
                table.text(*first + 2, kind.as_bytes());
                let f = if source == kind {
                    f64::NAN
                } else {
                    square / degrees / analysis.mean_square
                };
                let p = f_probability(f, degrees, analysis.error_degrees);
                for (place, value) in [degrees, square, f, p].into_iter().enumerate() {
                    table.number(*first + 3 + place, missing::normalize(value));
                }
                table.write()?;
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
        if let Some((table, _)) = self.statistics {
            table.finish(world)?;
        }
        Ok(())
    }

    pub(super) fn discard(self, world: &mut World) {
        for making in self.tables {
            making.table.discard(world);
        }
        if let Some((table, _)) = self.statistics {
            table.discard(world);
        }
    }
}

fn predict(
    bound: &Bound<'_>,
    analysis: &Analysis,
    values: &Values,
    leverage: bool,
    entries: &mut Vec<(u32, f64)>,
    observation: &mut Observation,
) {
    entries.clear();
    if bound.model.intercept {
        entries.push((0, 1.0));
    }
    analysis.design.append(
        |class| values.codes[class] as usize,
        |covariate| values.covariates[covariate],
        entries,
    );
    let part = |(column, value): &(u32, f64)| value * analysis.estimates[*column as usize];
    let predicted = entries.iter().map(part).sum();
    // What the model was made from is estimable.
    if !leverage && !observation.value.is_nan() && observation.weight > 0.0 {
        observation.predicted = predicted;
        return;
    }
    let mut function = vec![0.0; analysis.design.columns];
    for (column, value) in entries.iter() {
        function[*column as usize] += value;
    }
    if analysis.general.is_estimable(&function, &analysis.echelon) {
        observation.predicted = predicted;
        observation.leverage = analysis.function(&function).0;
        observation.t_quantile = analysis.t_quantile;
    }
}

impl Making {
    fn create(
        statement: &OutputStatement,
        bound: &Bound<'_>,
        input: &Input,
        world: &mut World,
    ) -> Outcome<Self> {
        let mut variables: Vec<Variable> = input
            .fields()
            .iter()
            .map(|field| field.variable.clone())
            .collect();
        let first = variables.len();
        let names: Vec<&str> = bound
            .dependents
            .iter()
            .map(|field| field.variable.name.as_str())
            .collect();
        variables.extend(statement.variables(&names));
        let encoding = input.metadata().encoding;
        let table = Table::create(world, &statement.out, variables, "GLM", encoding)?;
        Ok(Self {
            copy: table.copier(input.fields()),
            table,
            first,
            columns: statement.columns(names.len()),
            leverage: statement.needs_leverage(),
        })
    }

    fn write(&mut self, row: &[u8], observations: &[Observation]) -> Outcome<()> {
        self.table.copy(&self.copy, row);
        for (place, (statistic, dependent)) in self.columns.iter().enumerate() {
            let value = observations[*dependent].statistic(*statistic);
            self.table.number(self.first + place, value);
        }
        self.table.write()
    }
}
