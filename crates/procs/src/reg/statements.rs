//! The statements of PROC REG.

use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{ByList, DatasetRef, Expr, ProcStep, VariableList};
use lang::cursor::Cursor;

use crate::target::{dataset_value, input_or_last, replace_where, unknown};

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
    pub(super) outputs: Vec<OutputStatement>,
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
}

/// An OUTPUT statement, for the model before it.
pub(super) struct OutputStatement {
    pub(super) model: usize,
    pub(super) out: DatasetRef,
    pub(super) predicted: Vec<String>,
    pub(super) residual: Vec<String>,
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
            replace_where(&mut self.condition, cursor.where_expression()?, world);
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
        let (mut out, mut predicted, mut residual) = (None, Vec::new(), Vec::new());
        while let Some(word) = cursor.peek_word() {
            let word = word.to_ascii_uppercase();
            match word.as_str() {
                "OUT" => {
                    cursor.next();
                    out = Some(dataset_value(cursor)?);
                }
                "P" | "PREDICTED" | "R" | "RESIDUAL" => {
                    cursor.next();
                    cursor.expect_symbol("=")?;
                    let list = if word.starts_with('P') {
                        &mut predicted
                    } else {
                        &mut residual
                    };
                    while cursor.peek_word().is_some() && !cursor.is_symbol_at(1, "=") {
                        list.push(cursor.expect_name("a name")?.0);
                    }
                }
                _ => return Err(unknown(cursor, "REG", "statistic of OUTPUT")),
            }
        }
        let Some(out) = out else {
            return Err(cursor.fail("OUTPUT needs OUT=").into());
        };
        self.outputs.push(OutputStatement {
            model,
            out,
            predicted,
            residual,
        });
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
    };
    if cursor.eat_symbol("/") {
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
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
    if !model.intercept && model.regressors.is_empty() {
        return Err(Failure::at(&span, "A model with NOINT needs a regressor"));
    }
    Ok(model)
}
