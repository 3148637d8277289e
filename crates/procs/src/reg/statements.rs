//! The statements of PROC REG.

use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{ByList, DatasetRef, Expr, ProcStep, VariableList};
use lang::cursor::Cursor;

use super::selection::{Method, Selection};
use crate::diagnostics::{OutputStatement, output_statement};
use crate::target::{dataset_value, input_or_last, restrict, unknown};

/// One run group as it was written.
pub(super) struct Statements {
    pub(super) data: DatasetRef,
    pub(super) printed: bool,
    pub(super) outest: Option<DatasetRef>,
    pub(super) by: Option<ByList>,
    pub(super) weight: Option<VariableList>,
    pub(super) freq: Option<VariableList>,
    pub(super) condition: Option<Expr>,
    pub(super) models: Vec<Model>,
    /// OUTPUT statements with the number of the model before them.
    pub(super) outputs: Vec<(usize, OutputStatement)>,
}

/// A MODEL statement.
pub(super) struct Model {
    /// Its label, or `MODEL1` and so on.
    pub(super) name: String,
    pub(super) dependents: Vec<VariableList>,
    pub(super) regressors: Vec<VariableList>,
    pub(super) intercept: bool,
    pub(super) printed: bool,
    /// Variance inflation factors.
    pub(super) vif: bool,
    /// Sequential sums of squares.
    pub(super) ss1: bool,
    /// Confidence limits of the estimates.
    pub(super) limits: bool,
    pub(super) selection: Option<Selection>,
}

/// Reads a run group.
pub(super) fn parse(step: &ProcStep, world: &mut World) -> Outcome<Statements> {
    let (mut data, mut outest, mut printed) = (None, None, true);
    let mut cursor = Cursor::new(&step.options, &step.span);
    while let Some(word) = cursor.peek_word() {
        match word.to_ascii_uppercase().as_str() {
            "DATA" => {
                cursor.next();
                data = Some(dataset_value(&mut cursor)?);
            }
            "OUTEST" => {
                cursor.next();
                outest = Some(dataset_value(&mut cursor)?);
            }
            "NOPRINT" => {
                cursor.next();
                printed = false;
            }
            // Graphs are not made in a listing.
            "PLOTS" => {
                cursor.setting()?;
            }
            _ => return Err(unknown(&cursor, "REG", "option")),
        }
    }
    cursor.expect_end()?;
    let mut parsed = Statements {
        data: input_or_last(data, world, &step.span)?,
        printed,
        outest,
        by: None,
        weight: None,
        freq: None,
        condition: None,
        models: Vec::new(),
        outputs: Vec::new(),
    };
    for statement in &step.statements {
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        parsed.statement(&mut cursor, world)?;
        cursor.expect_end()?;
    }
    Ok(parsed)
}

impl Statements {
    fn statement(&mut self, cursor: &mut Cursor<'_>, world: &mut World) -> Outcome<()> {
        let label = match cursor.peek_word() {
            Some(word) if cursor.is_symbol_at(1, ":") => Some(word.to_owned()),
            _ => None,
        };
        if label.is_some() {
            cursor.next();
            cursor.next();
        }
        if cursor.eat_word("MODEL") {
            let name = label.unwrap_or_else(|| format!("MODEL{}", self.models.len() + 1));
            self.models.push(model(cursor, name)?);
        } else if cursor.eat_word("BY") {
            self.by = Some(cursor.by_list()?);
        } else if cursor.eat_word("WHERE") {
            restrict(&mut self.condition, cursor.restriction()?, world)?;
        } else if cursor.eat_word("WEIGHT") {
            self.weight = Some(one(cursor)?);
        } else if cursor.eat_word("FREQ") {
            self.freq = Some(one(cursor)?);
        } else if cursor.eat_word("OUTPUT") {
            self.output(cursor)?;
        } else {
            return Err(unknown(cursor, "REG", "statement"));
        }
        Ok(())
    }

    fn output(&mut self, cursor: &mut Cursor<'_>) -> Outcome<()> {
        let Some(model) = self.models.len().checked_sub(1) else {
            return Err(cursor
                .fail("OUTPUT comes after the MODEL it belongs to")
                .into());
        };
        self.outputs.push((model, output_statement(cursor, "REG")?));
        Ok(())
    }
}

fn one(cursor: &mut Cursor<'_>) -> Outcome<VariableList> {
    let (name, span) = cursor.expect_name("a variable")?;
    Ok(VariableList::Name(name, span))
}

fn model(cursor: &mut Cursor<'_>, name: String) -> Outcome<Model> {
    let span = cursor.span();
    let dependents = cursor.variable_list()?;
    cursor.expect_symbol("=")?;
    let regressors = if cursor.is_at_end() || cursor.at_symbol("/") {
        Vec::new()
    } else {
        cursor.variable_list()?
    };
    let mut model = Model {
        name,
        dependents,
        regressors,
        intercept: true,
        printed: true,
        vif: false,
        ss1: false,
        limits: false,
        selection: None,
    };
    let (mut method, mut entry, mut stay) = (None, None, None);
    if cursor.eat_symbol("/") {
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "SELECTION" => {
                    cursor.next();
                    cursor.expect_symbol("=")?;
                    method = selection_method(cursor)?;
                    continue;
                }
                "SLENTRY" | "SLE" => {
                    entry = Some(level(cursor)?);
                    continue;
                }
                "SLSTAY" | "SLS" => {
                    stay = Some(level(cursor)?);
                    continue;
                }
                "NOINT" => model.intercept = false,
                "NOPRINT" => model.printed = false,
                "VIF" => model.vif = true,
                "SS1" => model.ss1 = true,
                "CLB" => model.limits = true,
                _ => return Err(unknown(cursor, "REG", "option of MODEL")),
            }
            cursor.next();
        }
    }
    model.selection = method.map(|method| Selection {
        method,
        entry: entry.unwrap_or(if method == Method::Forward { 0.5 } else { 0.15 }),
        stay: stay.unwrap_or(if method == Method::Backward {
            0.1
        } else {
            0.15
        }),
    });
    if !model.intercept && model.regressors.is_empty() {
        return Err(Failure::at(&span, "A model with NOINT needs a regressor"));
    }
    Ok(model)
}

/// The method of SELECTION=; `None` for NONE.
fn selection_method(cursor: &mut Cursor<'_>) -> Outcome<Option<Method>> {
    let method = match cursor
        .peek_word()
        .unwrap_or("")
        .to_ascii_uppercase()
        .as_str()
    {
        "NONE" => None,
        "FORWARD" | "F" => Some(Method::Forward),
        "BACKWARD" | "B" => Some(Method::Backward),
        "STEPWISE" => Some(Method::Stepwise),
        _ => return Err(unknown(cursor, "REG", "selection method")),
    };
    cursor.next();
    Ok(method)
}

/// `= level` behind the option's name.
fn level(cursor: &mut Cursor<'_>) -> Outcome<f64> {
    cursor.next();
    cursor.expect_symbol("=")?;
    let level = cursor.expect_number()?;
    if (0.0..=1.0).contains(&level) {
        Ok(level)
    } else {
        Err(cursor
            .fail("A significance level is between 0 and 1")
            .into())
    }
}
