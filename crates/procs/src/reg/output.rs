//! OUTPUT: the input is read once more, a BY group behind the analysis.

use engine::dataset::copy::RowCopy;
use engine::dataset::input::Input;
use engine::failure::Outcome;
use engine::session::World;
use sas7bdat::{Variable, missing};

use super::statements::Statements;
use super::{Design, Result, open};
use crate::diagnostics::{Observation, Statistic};
use crate::table::Table;

/// The data sets of all OUTPUT statements.
#[derive(Default)]
pub(super) struct Outputs {
    input: Option<Input>,
    tables: Vec<Making>,
}

struct Making {
    model: usize,
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
        design: &Design<'_>,
        world: &mut World,
    ) -> Outcome<Self> {
        let mut outputs = Self::default();
        if statements.outputs.is_empty() {
            return Ok(outputs);
        }
        let input = open(statements, world)?;
        for number in 0..statements.outputs.len() {
            match Making::create(number, statements, design, &input, world) {
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

    /// Writes the next `rows` rows by the results of their group.
    pub(super) fn group(
        &mut self,
        design: &Design<'_>,
        results: &[Result<'_>],
        rows: u64,
    ) -> Outcome<()> {
        let Some(input) = &mut self.input else {
            return Ok(());
        };
        for _ in 0..rows {
            let Some(row) = input.next_row()? else { break };
            for making in &mut self.tables {
                making.write(row, design, results)?;
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
    fn create(
        number: usize,
        statements: &Statements,
        design: &Design<'_>,
        input: &Input,
        world: &mut World,
    ) -> Outcome<Self> {
        let (model, statement) = &statements.outputs[number];
        let mut variables: Vec<Variable> = input
            .fields()
            .iter()
            .map(|field| field.variable.clone())
            .collect();
        let first = variables.len();
        let dependents = &design.models[*model].dependents;
        let names: Vec<&str> = dependents
            .iter()
            .map(|column| design.fields[column - 1].variable.name.as_str())
            .collect();
        variables.extend(statement.variables(&names));
        let encoding = input.metadata().encoding;
        let table = Table::create(world, &statement.out, variables, "REG", encoding)?;
        Ok(Self {
            model: *model,
            copy: table.copier(input.fields()),
            table,
            first,
            columns: statement.columns(names.len()),
            leverage: statement.needs_leverage(),
        })
    }

    fn write(&mut self, row: &[u8], design: &Design<'_>, results: &[Result<'_>]) -> Outcome<()> {
        let earlier: usize = design.models[..self.model]
            .iter()
            .map(|model| model.dependents.len())
            .sum();
        self.table.copy(&self.copy, row);
        let mut known: Option<(usize, Observation)> = None;
        for (place, (statistic, dependent)) in self.columns.iter().enumerate() {
            // A BY group without valid rows has no results.
            let Some(result) = results.get(earlier + dependent) else {
                self.table.number(self.first + place, missing::missing());
                continue;
            };
            let observation = match known {
                Some((of, observation)) if of == *dependent => observation,
                _ => observation(design, result, row, self.leverage),
            };
            known = Some((*dependent, observation));
            let value = missing::normalize(observation.statistic(*statistic));
            self.table.number(self.first + place, value);
        }
        self.table.write()
    }
}

fn observation(
    design: &Design<'_>,
    result: &Result<'_>,
    row: &[u8],
    leverage: bool,
) -> Observation {
    let value = |column: usize| match column {
        0 => 1.0,
        _ => design.fields[column - 1].slot.number(row),
    };
    let parts = result.columns.iter().zip(&result.fit.estimates);
    let predicted = parts
        .map(|(column, estimate)| value(*column) * estimate)
        .sum();
    let weight = design.weight.as_ref().map_or(1.0, |slot| slot.number(row));
    let echelon = &result.fit.echelon;
    let leverage = if leverage {
        let pivots = echelon
            .pivots()
            .iter()
            .map(|pivot| value(result.columns[*pivot]));
        let rotated = echelon.solve_transposed(&pivots.collect::<Vec<f64>>());
        rotated.iter().map(|part| part * part).sum()
    } else {
        f64::NAN
    };
    Observation {
        value: value(result.dependent_column),
        predicted,
        weight,
        leverage,
        mean_square: result.mean_square,
        error_degrees: result.error_degrees,
        rank: echelon.rank() as f64,
        t_quantile: result.t_quantile,
    }
}
