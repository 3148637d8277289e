//! The data set of OUTEST=.

use engine::failure::{Failure, Outcome};
use engine::session::World;
use sas7bdat::{Variable, missing};

use super::fit::Status;
use super::{Analysis, Bound};
use crate::by::ByGroups;
use crate::table::Table;

/// Made with the first BY group, whose class levels give the names.
#[derive(Default)]
pub(super) struct Estimates {
    made: Option<(Table, usize)>,
    /// Its parameters, which all BY groups must have.
    names: Vec<String>,
}

/// A name of letters, digits and underscores, at most 32, that is not in use.
fn name(wanted: &str, used: &[Variable]) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '_'
        }
    };
    let mut base: String = wanted.chars().map(letter).take(32).collect();
    let mut number = 1;
    while used.iter().any(|one| one.name.eq_ignore_ascii_case(&base)) {
        let tail = format!("_{number}");
        base.truncate(32 - tail.len());
        base.push_str(&tail);
        number += 1;
    }
    base
}

impl Estimates {
    pub(super) fn write(
        &mut self,
        bound: &Bound<'_>,
        analysis: &Analysis,
        by: Option<&ByGroups>,
        world: &mut World,
    ) -> Outcome<()> {
        let Some(out) = &bound.statements.outest else {
            return Ok(());
        };
        if by.is_some() && !bound.class_fields.is_empty() {
            let message = "OUTEST= with BY and CLASS is not implemented yet";
            return Err(Failure::at(&bound.model.span, message));
        }
        let parameters = parameters(bound, analysis);
        let names: Vec<String> = parameters.iter().map(|one| one.0.clone()).collect();
        if self.made.is_none() {
            let by_fields = by.map_or(&[][..], ByGroups::fields);
            let mut variables: Vec<Variable> = by_fields
                .iter()
                .map(|field| field.variable.clone())
                .collect();
            let first = variables.len();
            for (name, length) in [
                ("_LINK_", 8),
                ("_TYPE_", 8),
                ("_STATUS_", 32),
                ("_NAME_", 32),
            ] {
                variables.push(Variable::character(name, length));
            }
            for (wanted, label) in &parameters {
                let mut variable = Variable::numeric(name(wanted, &variables));
                variable.label.clone_from(label);
                variables.push(variable);
            }
            let mut likelihood = Variable::numeric("_LNLIKE_");
            "Model Log Likelihood".clone_into(&mut likelihood.label);
            variables.push(likelihood);
            variables.push(Variable::character("_ESTTYPE_", 8));
            let table = Table::create(world, out, variables, "LOGISTIC", bound.encoding)?;
            self.made = Some((table, first));
            self.names.clone_from(&names);
        }
        let Some((table, first)) = &mut self.made else {
            return Ok(());
        };
        if self.names != names {
            let message = "OUTEST= of BY groups with different responses is not implemented yet";
            return Err(Failure::at(&bound.model.span, message));
        }
        if let Some(by) = by {
            by.copy(table);
        }
        let status = match analysis.fitted.status {
            Status::Converged => "0 Converged",
            Status::Complete => "1 Warning: Complete separation",
            Status::Quasi => "1 Warning: Quasi-complete",
            Status::Unfinished => "1 Warning: Not converged",
        };
        let response = &bound.response_field.variable.name;
        for (place, text) in ["LOGIT", "PARMS", status, response].into_iter().enumerate() {
            table.text(*first + place, text.as_bytes());
        }
        let values = values(bound, analysis);
        for (place, value) in values.iter().enumerate() {
            table.number(*first + 4 + place, *value);
        }
        let end = *first + 4 + values.len();
        table.number(end, analysis.fitted.likelihood);
        table.text(end + 1, b"MLE");
        table.write()
    }

    pub(super) fn finish(self, world: &mut World) -> Outcome<()> {
        if let Some((table, _)) = self.made {
            table.finish(world)?;
        }
        Ok(())
    }

    pub(super) fn discard(self, world: &mut World) {
        if let Some((table, _)) = self.made {
            table.discard(world);
        }
    }
}

/// Names and labels of the parameters, of effects that are not in the model, too.
fn parameters(bound: &Bound<'_>, analysis: &Analysis) -> Vec<(String, String)> {
    let mut parameters = Vec::new();
    for cut in 0..analysis.intercepts {
        let level = &analysis.responses.labels[cut];
        if analysis.intercepts == 1 {
            let label = format!("Intercept: {}={level}", bound.response_field.variable.name);
            parameters.push(("Intercept".to_owned(), label));
        } else {
            parameters.push((format!("Intercept_{level}"), format!("Intercept: {level}")));
        }
    }
    for index in 0..bound.effects.effects.len() {
        for (effect, level) in analysis.parameters(bound, index) {
            let name = format!("{}{}", effect.replace('*', ""), level.replace(' ', ""));
            parameters.push((name, format!("{effect} {level}").trim().to_owned()));
        }
    }
    parameters
}

fn values(bound: &Bound<'_>, analysis: &Analysis) -> Vec<f64> {
    let mut values = analysis.fitted.beta.clone();
    for index in 0..bound.effects.effects.len() {
        if !analysis.active[index] {
            let columns = &analysis.design.effects[index];
            values[columns.first..columns.first + columns.count].fill(missing::missing());
        }
    }
    values
}
