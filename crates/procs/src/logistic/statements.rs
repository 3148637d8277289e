//! The statements of PROC LOGISTIC and PROC HPLOGISTIC.

use base::diag::Span;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{ByList, DatasetRef, Expr, ProcStep, VariableList};
use lang::cursor::Cursor;

use crate::effects::classes::{Chosen, ClassOptions, ClassStatement, reference};
use crate::effects::written::{Written, effects};
use crate::target::{Attributes, dataset_value, input_or_last, restrict, unknown};

/// How effects are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    None,
    Forward,
    Backward,
    Stepwise,
}

/// A step as it was written.
pub(super) struct Statements {
    pub(super) data: DatasetRef,
    pub(super) printed: bool,
    pub(super) outest: Option<DatasetRef>,
    pub(super) descending: bool,
    pub(super) classes: ClassStatement,
    pub(super) model: Option<Model>,
    pub(super) by: Option<ByList>,
    pub(super) weight: Option<VariableList>,
    pub(super) freq: Option<VariableList>,
    pub(super) condition: Option<Expr>,
    pub(super) outputs: Vec<OutputStatement>,
    /// ID, which HPLOGISTIC copies to its output.
    pub(super) id: Vec<VariableList>,
    pub(super) threads: Option<u64>,
    pub(super) attributes: Attributes,
    pub(super) selection: Selection,
}

/// The MODEL statement.
pub(super) struct Model {
    pub(super) response: VariableList,
    pub(super) span: Span,
    pub(super) options: ClassOptions,
    pub(super) event: Option<Chosen>,
    pub(super) effects: Vec<Written>,
    pub(super) intercept: bool,
    pub(super) maximum: u64,
    pub(super) criterion: f64,
    pub(super) alpha: f64,
    /// CLPARM=WALD: limits of the estimates.
    pub(super) limits: bool,
}

/// SELECTION= and its significance levels.
pub(super) struct Selection {
    pub(super) method: Method,
    pub(super) entry: f64,
    pub(super) stay: f64,
}

/// What an OUTPUT statement asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statistic {
    Probability,
    Predictor,
    PredictorError,
    Lower,
    Upper,
}

pub(super) struct OutputStatement {
    pub(super) out: DatasetRef,
    pub(super) requests: Vec<(Statistic, String)>,
    pub(super) alpha: f64,
}

/// Reads a step of PROC `name`.
pub(super) fn parse(name: &'static str, step: &ProcStep, world: &mut World) -> Outcome<Statements> {
    let high = name == "HPLOGISTIC";
    let (mut data, mut outest, mut printed, mut descending) = (None, None, true, false);
    let mut cursor = Cursor::new(&step.options, &step.span);
    while let Some(word) = cursor.peek_word() {
        match word.to_ascii_uppercase().as_str() {
            "DATA" => {
                cursor.next();
                data = Some(dataset_value(&mut cursor)?);
            }
            "OUTEST" if !high => {
                cursor.next();
                outest = Some(dataset_value(&mut cursor)?);
            }
            "NOPRINT" => {
                cursor.next();
                printed = false;
            }
            "DESCENDING" | "DESC" if !high => {
                cursor.next();
                descending = true;
            }
            // Graphs are not made in a listing; the utility file is there in any case.
            "PLOTS" | "PLOT" | "NOSIMPLE" | "MULTIPASS" => {
                cursor.setting()?;
            }
            _ => return Err(unknown(&cursor, name, "option")),
        }
    }
    cursor.expect_end()?;
    let mut parsed = Statements {
        data: input_or_last(data, world, &step.span)?,
        printed,
        outest,
        descending,
        classes: ClassStatement::default(),
        model: None,
        by: None,
        weight: None,
        freq: None,
        condition: None,
        outputs: Vec::new(),
        id: Vec::new(),
        threads: None,
        attributes: Attributes::default(),
        selection: Selection {
            method: Method::None,
            entry: 0.05,
            stay: 0.05,
        },
    };
    for statement in &step.statements {
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        parsed.statement(name, &mut cursor, world, &statement.span)?;
        cursor.expect_end()?;
    }
    Ok(parsed)
}

impl Statements {
    fn statement(
        &mut self,
        name: &'static str,
        cursor: &mut Cursor<'_>,
        world: &mut World,
        span: &Span,
    ) -> Outcome<()> {
        let high = name == "HPLOGISTIC";
        if self.attributes.eat(cursor)? {
        } else if cursor.eat_word("CLASS") {
            self.classes.read(cursor)?;
            if high
                && self
                    .classes
                    .items
                    .iter()
                    .any(|(_, one)| one.coding.is_some())
            {
                return Err(Failure::at(
                    span,
                    "PARAM= of PROC HPLOGISTIC is not implemented yet",
                ));
            }
        } else if cursor.eat_word("MODEL") {
            if self.model.is_some() {
                return Err(Failure::at(span, "Only one MODEL statement is allowed"));
            }
            self.model = Some(self.model(name, cursor)?);
        } else if cursor.eat_word("BY") {
            self.by = Some(cursor.by_list()?);
        } else if cursor.eat_word("WHERE") {
            restrict(&mut self.condition, cursor.restriction()?, world)?;
        } else if cursor.eat_word("WEIGHT") {
            self.weight = Some(cursor.variable_item()?);
        } else if cursor.eat_word("FREQ") {
            self.freq = Some(cursor.variable_item()?);
        } else if cursor.eat_word("OUTPUT") {
            self.outputs.push(output(name, cursor)?);
        } else if high && cursor.eat_word("ID") {
            self.id.extend(cursor.variable_list()?);
        } else if high && cursor.eat_word("PERFORMANCE") {
            self.performance(cursor)?;
        } else if high && cursor.eat_word("SELECTION") {
            self.selection_statement(cursor)?;
        } else {
            return Err(unknown(cursor, name, "statement"));
        }
        Ok(())
    }

    fn performance(&mut self, cursor: &mut Cursor<'_>) -> Outcome<()> {
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "DETAILS" => {
                    cursor.next();
                }
                "NTHREADS" | "THREADS" => {
                    cursor.next();
                    cursor.expect_symbol("=")?;
                    self.threads = Some(cursor.expect_count()?.max(1));
                }
                _ => return Err(unknown(cursor, "HPLOGISTIC", "option of PERFORMANCE")),
            }
        }
        Ok(())
    }

    fn selection_statement(&mut self, cursor: &mut Cursor<'_>) -> Outcome<()> {
        self.selection.method = Method::Stepwise;
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "METHOD" => {
                    cursor.next();
                    cursor.expect_symbol("=")?;
                    self.selection.method = method(cursor, "HPLOGISTIC")?;
                    if cursor.eat_symbol("(") {
                        while !cursor.eat_symbol(")") {
                            if !self.significance(cursor)? {
                                return Err(unknown(cursor, "HPLOGISTIC", "option of METHOD="));
                            }
                        }
                    }
                }
                _ => return Err(unknown(cursor, "HPLOGISTIC", "option of SELECTION")),
            }
        }
        Ok(())
    }

    /// `SLENTRY=` and `SLSTAY=`.
    fn significance(&mut self, cursor: &mut Cursor<'_>) -> Outcome<bool> {
        let word = cursor.peek_word().unwrap_or("").to_ascii_uppercase();
        let level = match word.as_str() {
            "SLENTRY" | "SLE" => &mut self.selection.entry,
            "SLSTAY" | "SLS" => &mut self.selection.stay,
            _ => return Ok(false),
        };
        cursor.next();
        cursor.expect_symbol("=")?;
        *level = cursor.expect_number()?;
        if !(0.0..=1.0).contains(level) {
            return Err(cursor.fail(format!("{word}= is between 0 and 1")).into());
        }
        Ok(true)
    }

    fn model(&mut self, name: &'static str, cursor: &mut Cursor<'_>) -> Outcome<Model> {
        let span = cursor.span();
        let response = cursor.variable_item()?;
        let mut options = ClassOptions {
            descending: self.descending,
            ..ClassOptions::default()
        };
        let mut event = None;
        if cursor.eat_symbol("(") {
            while !cursor.eat_symbol(")") {
                if cursor.eat_word("EVENT") {
                    cursor.expect_symbol("=")?;
                    event = Some(reference(cursor)?);
                } else {
                    options.read(cursor)?;
                }
            }
        }
        if cursor.at_symbol("/") {
            return Err(cursor.not_yet("events/trials").into());
        }
        cursor.expect_symbol("=")?;
        let mut model = Model {
            response,
            span,
            options,
            event,
            effects: effects(cursor)?,
            intercept: true,
            maximum: if name == "HPLOGISTIC" { 50 } else { 25 },
            criterion: 1e-8,
            alpha: 0.05,
            limits: false,
        };
        if cursor.eat_symbol("/") {
            while cursor.peek_word().is_some() {
                self.model_option(name, cursor, &mut model)?;
            }
        }
        Ok(model)
    }

    fn model_option(
        &mut self,
        name: &'static str,
        cursor: &mut Cursor<'_>,
        model: &mut Model,
    ) -> Outcome<()> {
        let high = name == "HPLOGISTIC";
        if !high && self.significance(cursor)? {
            return Ok(());
        }
        let word = cursor.peek_word().unwrap_or("").to_ascii_uppercase();
        match word.as_str() {
            "NOINT" => {
                cursor.next();
                model.intercept = false;
            }
            "LINK" => {
                cursor.next();
                cursor.expect_symbol("=")?;
                if !cursor.eat_word("LOGIT") && !cursor.eat_word("CLOGIT") {
                    return Err(unknown(cursor, name, "LINK="));
                }
            }
            "SELECTION" if !high => {
                cursor.next();
                cursor.expect_symbol("=")?;
                self.selection.method = method(cursor, name)?;
            }
            "MAXITER" if !high => {
                cursor.next();
                cursor.expect_symbol("=")?;
                model.maximum = cursor.expect_count()?;
            }
            "GCONV" | "ALPHA" => {
                cursor.next();
                cursor.expect_symbol("=")?;
                let value = cursor.expect_number()?;
                if !(value > 0.0 && value < 1.0) {
                    return Err(cursor.fail(format!("{word}= is between 0 and 1")).into());
                }
                *(if word == "ALPHA" {
                    &mut model.alpha
                } else {
                    &mut model.criterion
                }) = value;
            }
            "CLPARM" if cursor.is_symbol_at(1, "=") && cursor.is_word_at(2, "WALD") => {
                cursor.setting()?;
                model.limits = true;
            }
            "CL" if high => {
                cursor.next();
                model.limits = true;
            }
            _ => return Err(unknown(cursor, name, "option of MODEL")),
        }
        Ok(())
    }
}

fn method(cursor: &mut Cursor<'_>, name: &str) -> Outcome<Method> {
    let method = match cursor
        .peek_word()
        .unwrap_or("")
        .to_ascii_uppercase()
        .as_str()
    {
        "NONE" | "N" => Method::None,
        "FORWARD" | "F" => Method::Forward,
        "BACKWARD" | "B" => Method::Backward,
        "STEPWISE" | "S" => Method::Stepwise,
        _ => return Err(unknown(cursor, name, "selection method")),
    };
    cursor.next();
    Ok(method)
}

fn output(name: &'static str, cursor: &mut Cursor<'_>) -> Outcome<OutputStatement> {
    let high = name == "HPLOGISTIC";
    let (mut out, mut requests, mut alpha) = (None, Vec::new(), 0.05);
    while let Some(word) = cursor.peek_word() {
        let (statistic, default) = match word.to_ascii_uppercase().as_str() {
            "OUT" => {
                cursor.next();
                out = Some(dataset_value(cursor)?);
                continue;
            }
            "P" | "PRED" | "PREDICTED" | "PROB" => (Statistic::Probability, "Pred"),
            "XBETA" => (Statistic::Predictor, "Xbeta"),
            "STDXBETA" if !high => (Statistic::PredictorError, ""),
            "LOWER" | "L" if !high => (Statistic::Lower, ""),
            "UPPER" | "U" if !high => (Statistic::Upper, ""),
            _ if cursor.eat_symbol("/") => continue,
            "ALPHA" => {
                cursor.next();
                cursor.expect_symbol("=")?;
                alpha = cursor.expect_number()?;
                continue;
            }
            _ => return Err(unknown(cursor, name, "statistic of OUTPUT")),
        };
        cursor.next();
        let variable = if cursor.eat_symbol("=") {
            cursor.expect_name("a name")?.0
        } else if high {
            default.to_owned()
        } else {
            return Err(cursor.expected("'='").into());
        };
        requests.push((statistic, variable));
    }
    if high && requests.is_empty() {
        requests.push((Statistic::Probability, "Pred".to_owned()));
    }
    let out = out.ok_or_else(|| Failure::from(cursor.fail("OUTPUT needs OUT=")))?;
    Ok(OutputStatement {
        out,
        requests,
        alpha,
    })
}
