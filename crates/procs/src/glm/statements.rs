//! The statements of PROC GLM.

use base::diag::Span;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{ByList, DatasetRef, Expr, ProcStep, VariableList};
use lang::cursor::Cursor;

use crate::diagnostics::{OutputStatement, output_statement};
use crate::effects::classes::ClassStatement;
use crate::effects::written::{Written, effects};
use crate::target::{Attributes, dataset_value, input_or_last, restrict, unknown};

/// One run group as it was written.
pub(super) struct Statements {
    pub(super) data: DatasetRef,
    pub(super) printed: bool,
    pub(super) outstat: Option<DatasetRef>,
    pub(super) classes: ClassStatement,
    pub(super) model: Option<Model>,
    pub(super) by: Option<ByList>,
    pub(super) weight: Option<VariableList>,
    pub(super) freq: Option<VariableList>,
    pub(super) condition: Option<Expr>,
    pub(super) means: Vec<LeastSquaresMeans>,
    pub(super) outputs: Vec<OutputStatement>,
    pub(super) attributes: Attributes,
}

/// A MODEL statement.
pub(super) struct Model {
    pub(super) dependents: Vec<VariableList>,
    pub(super) effects: Vec<Written>,
    pub(super) intercept: bool,
    pub(super) solution: bool,
    pub(super) limits: bool,
    /// Which types of sums of squares are asked for: 1, 2, 3; by default 1 and 3.
    pub(super) types: Vec<u8>,
    pub(super) alpha: f64,
}

/// An LSMEANS statement.
pub(super) struct LeastSquaresMeans {
    pub(super) effects: Vec<Written>,
    pub(super) errors: bool,
    pub(super) differences: bool,
    pub(super) limits: bool,
}

/// Reads a run group.
pub(super) fn parse(step: &ProcStep, world: &mut World) -> Outcome<Statements> {
    let (mut data, mut outstat, mut printed) = (None, None, true);
    let mut cursor = Cursor::new(&step.options, &step.span);
    while let Some(word) = cursor.peek_word() {
        match word.to_ascii_uppercase().as_str() {
            "DATA" => {
                cursor.next();
                data = Some(dataset_value(&mut cursor)?);
            }
            "OUTSTAT" => {
                cursor.next();
                outstat = Some(dataset_value(&mut cursor)?);
            }
            "NOPRINT" => {
                cursor.next();
                printed = false;
            }
            // Graphs are not made in a listing; the input is read again for OUTPUT in any case.
            "PLOTS" | "PLOT" | "MULTIPASS" => {
                cursor.setting()?;
            }
            _ => return Err(unknown(&cursor, "GLM", "option")),
        }
    }
    cursor.expect_end()?;
    let mut parsed = Statements {
        data: input_or_last(data, world, &step.span)?,
        printed,
        outstat,
        classes: ClassStatement::default(),
        model: None,
        by: None,
        weight: None,
        freq: None,
        condition: None,
        means: Vec::new(),
        outputs: Vec::new(),
        attributes: Attributes::default(),
    };
    for statement in &step.statements {
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        parsed.statement(&mut cursor, world, &statement.span)?;
        cursor.expect_end()?;
    }
    Ok(parsed)
}

impl Statements {
    fn statement(
        &mut self,
        cursor: &mut Cursor<'_>,
        world: &mut World,
        span: &Span,
    ) -> Outcome<()> {
        if self.attributes.eat(cursor)? {
        } else if cursor.eat_word("CLASS") || cursor.eat_word("CLASSES") {
            if self.model.is_some() {
                let message = "CLASS statement must precede the MODEL statement";
                return Err(Failure::at(span, message));
            }
            self.classes.read(cursor)?;
            if self
                .classes
                .items
                .iter()
                .any(|(_, one)| one.coding.is_some())
            {
                let message = "PARAM= is no option of CLASS in PROC GLM, whose classes always have a \
                               column for each level: leave it out";
                return Err(Failure::at(span, message));
            }
        } else if cursor.eat_word("MODEL") {
            if self.model.is_some() {
                return Err(Failure::at(span, "Only one MODEL statement is allowed"));
            }
            self.model = Some(model(cursor)?);
        } else if cursor.eat_word("BY") {
            self.by = Some(cursor.by_list()?);
        } else if cursor.eat_word("WHERE") {
            restrict(&mut self.condition, cursor.restriction()?, world)?;
        } else if cursor.eat_word("WEIGHT") {
            self.weight = Some(cursor.variable_item()?);
        } else if cursor.eat_word("FREQ") {
            self.freq = Some(cursor.variable_item()?);
        } else if cursor.eat_word("LSMEANS") {
            self.means.push(least_squares_means(cursor)?);
        } else if cursor.eat_word("OUTPUT") {
            self.outputs.push(output_statement(cursor, "GLM")?);
        } else {
            return Err(unknown(cursor, "GLM", "statement"));
        }
        Ok(())
    }
}

fn model(cursor: &mut Cursor<'_>) -> Outcome<Model> {
    let dependents = cursor.variable_list()?;
    cursor.expect_symbol("=")?;
    let mut model = Model {
        dependents,
        effects: effects(cursor)?,
        intercept: true,
        solution: false,
        limits: false,
        types: Vec::new(),
        alpha: 0.05,
    };
    if cursor.eat_symbol("/") {
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "NOINT" => model.intercept = false,
                "SOLUTION" => model.solution = true,
                "CLPARM" => (model.solution, model.limits) = (true, true),
                "SS1" => model.types.push(1),
                "SS2" => model.types.push(2),
                "SS3" => model.types.push(3),
                "ALPHA" => {
                    cursor.next();
                    cursor.expect_symbol("=")?;
                    model.alpha = cursor.expect_number()?;
                    if !(model.alpha > 0.0 && model.alpha < 1.0) {
                        return Err(cursor.fail("ALPHA= is between 0 and 1").into());
                    }
                    continue;
                }
                _ => return Err(unknown(cursor, "GLM", "option of MODEL")),
            }
            cursor.next();
        }
    }
    if model.types.is_empty() {
        model.types = vec![1, 3];
    }
    model.types.sort_unstable();
    model.types.dedup();
    Ok(model)
}

fn least_squares_means(cursor: &mut Cursor<'_>) -> Outcome<LeastSquaresMeans> {
    let mut means = LeastSquaresMeans {
        effects: effects(cursor)?,
        errors: false,
        differences: false,
        limits: false,
    };
    if cursor.eat_symbol("/") {
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "STDERR" => means.errors = true,
                "PDIFF" if !cursor.is_symbol_at(1, "=") => means.differences = true,
                "CL" => means.limits = true,
                _ => return Err(unknown(cursor, "GLM", "option of LSMEANS")),
            }
            cursor.next();
        }
    }
    Ok(means)
}
