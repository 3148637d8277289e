//! From statements to operations.

use base::diag::{Diagnostic, Span};
use lang::ast::{
    self, Argument, DataStep, DatasetRef, Expr, FormatRef, Setting, Statement, StatementKind,
    VariableKind, VariableList,
};
use sas7bdat::{Encoding, Format, Kind, Variable};

use super::pdv::Pdv;
use super::target::{self, Declared, Target};
use crate::dataset::copy::RowCopy;
use crate::dataset::input::Input;
use crate::dataset::options::numbers;
use crate::expr::compile::{Compiler, Sites};
use crate::expr::routine::Routine;
use crate::expr::{Number, Slot, Text, Value};
use crate::failure::{Failure, Outcome};
use crate::session::World;

/// A compiled step.
pub(super) struct Program {
    pub(super) pdv: Pdv,
    pub(super) operations: Vec<Operation>,
    pub(super) sets: Vec<Set>,
    pub(super) targets: Vec<Target>,
    pub(super) sites: Sites,
    /// No OUTPUT statement: a row is written at the bottom.
    pub(super) implicit_output: bool,
    /// `_N_` and `_ERROR_`.
    pub(super) counter: Slot,
}

/// What a step does to its PDV.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operation {
    /// Reads the next row of a SET statement; stops the step at the end.
    Set(usize),
    /// `x = number;`
    Number(Slot, Number),
    /// `c = text;`
    Text(Slot, Text),
    /// `x + number;`
    Sum(Slot, Number),
    /// `call routine(…);`
    Call(Box<Routine>),
    /// `if … then … else …`
    If(Number, Vec<Self>, Vec<Self>),
    /// `if …;`
    Subset(Number),
    /// Writes a row to these targets.
    Output(Vec<usize>),
    /// Back to the top without output.
    Delete,
    /// Back to the top, with the implicit output.
    Return,
    /// Ends the step.
    Stop,
    /// A DO loop.
    Loop(Box<Loop>),
    /// Out of the innermost loop.
    Leave,
    /// On with the innermost loop's next turn.
    Continue,
}

/// A DO loop.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Loop {
    /// Index variable and its ranges, one after the other; without an index one range without
    /// values.
    pub(super) index: Option<Slot>,
    pub(super) ranges: Vec<Range>,
    pub(super) body: Vec<Operation>,
}

/// `start [TO stop [BY step]] [WHILE(e)] [UNTIL(e)]`; all bounds are taken once.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Range {
    /// Where a range with TO or BY stands.
    pub(super) counts: Option<Span>,
    pub(super) start: Option<Number>,
    pub(super) stop: Option<Number>,
    pub(super) step: Option<Number>,
    pub(super) while_: Option<Number>,
    pub(super) until: Option<Number>,
}

/// A SET statement.
pub(super) struct Set {
    /// Data sets in order, each with the way of its rows into the PDV.
    pub(super) inputs: Vec<(Input, RowCopy)>,
    /// Variables of all of them: missing again when one data set follows another.
    pub(super) slots: Vec<Slot>,
    /// END=.
    pub(super) end: Option<Slot>,
    /// NOBS= and the number.
    pub(super) nobs: Option<(Slot, u64)>,
}

struct Builder<'a> {
    world: &'a mut World,
    pdv: Pdv,
    sets: Vec<Set>,
    sites: Sites,
    outputs: &'a [DatasetRef],
    explicit_output: bool,
    declared: Declared,
    condition: Option<&'a Expr>,
}

/// Compiles a step; opens its inputs, makes no output yet.
pub(super) fn compile(step: &DataStep, world: &mut World) -> Outcome<Program> {
    let mut builder = Builder {
        world,
        pdv: Pdv::default(),
        sets: Vec::new(),
        sites: Sites::default(),
        outputs: &step.outputs,
        explicit_output: false,
        declared: Declared::default(),
        condition: None,
    };
    let counter = builder.pdv.numeric("_N_");
    let error = builder.pdv.numeric("_ERROR_");
    for index in [counter, error] {
        let variable = &mut builder.pdv.variables[index];
        (variable.automatic, variable.assigned, variable.kept_over) = (true, true, true);
    }
    let operations = builder.block(&step.statements)?;
    builder.apply_condition()?;
    builder.check_encoding()?;
    builder.note_uninitialized();
    let targets = target::targets(
        builder.world,
        &builder.pdv,
        &builder.declared,
        &step.outputs,
    )?;
    let counter = builder.pdv.variables[counter].slot;
    let implicit_output = !builder.explicit_output && !step.outputs.is_empty();
    Ok(Program {
        operations,
        targets,
        implicit_output,
        counter,
        pdv: builder.pdv,
        sets: builder.sets,
        sites: builder.sites,
    })
}

impl<'a> Builder<'a> {
    fn block(&mut self, statements: &'a [Statement]) -> Outcome<Vec<Operation>> {
        let mut operations = Vec::new();
        for statement in statements {
            self.statement(statement, &mut operations)?;
        }
        Ok(operations)
    }

    fn statement(&mut self, statement: &'a Statement, out: &mut Vec<Operation>) -> Outcome<()> {
        self.operations(statement, out)?;
        self.pdv.check(&statement.span)
    }

    fn operations(&mut self, statement: &'a Statement, out: &mut Vec<Operation>) -> Outcome<()> {
        match &statement.kind {
            StatementKind::Set { datasets, options } => {
                out.push(self.set(datasets, options, &statement.span)?);
            }
            StatementKind::Assign { target, value } => out.push(self.assign(target, value)?),
            StatementKind::Sum { target, value } => out.push(self.sum(target, value)?),
            StatementKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.number(condition)?;
                let mut branches = (Vec::new(), Vec::new());
                self.statement(then, &mut branches.0)?;
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise, &mut branches.1)?;
                }
                out.push(Operation::If(condition, branches.0, branches.1));
            }
            StatementKind::SubsettingIf(condition) => {
                out.push(Operation::Subset(self.number(condition)?));
            }
            StatementKind::Block(statements) => {
                for statement in statements {
                    self.statement(statement, out)?;
                }
            }
            StatementKind::Output(datasets) => out.push(self.output(datasets)?),
            StatementKind::Delete => out.push(Operation::Delete),
            StatementKind::Call(name, arguments) => {
                out.push(self.call(name, arguments, &statement.span)?);
            }
            StatementKind::Return => out.push(Operation::Return),
            StatementKind::Stop => out.push(Operation::Stop),
            StatementKind::Loop(body) => out.push(self.do_loop(body)?),
            StatementKind::Leave => out.push(Operation::Leave),
            StatementKind::Continue => out.push(Operation::Continue),
            StatementKind::Empty => {}
            _ => self.declaration(statement)?,
        }
        Ok(())
    }

    /// Statements that act while the step is compiled.
    fn declaration(&mut self, statement: &'a Statement) -> Outcome<()> {
        match &statement.kind {
            StatementKind::Where(condition) => {
                if self.condition.replace(condition).is_some() {
                    self.world.note("WHERE clause has been replaced.");
                }
            }
            StatementKind::Keep(lists) => {
                self.declared
                    .keep
                    .get_or_insert_default()
                    .extend_from_slice(lists);
            }
            StatementKind::Drop(lists) => self.declared.drop.extend_from_slice(lists),
            StatementKind::Rename(pairs) => self.declared.rename.extend_from_slice(pairs),
            StatementKind::Length(items) => {
                for (list, kind, length) in items {
                    self.length(list, *kind, *length)?;
                }
            }
            StatementKind::Format(items) => self.formats(items, |variable, format| {
                variable.format = format;
            })?,
            StatementKind::Informat(items) => self.formats(items, |variable, format| {
                variable.informat = format;
            })?,
            StatementKind::Label(items) => {
                for (name, text) in items {
                    let index = self.pdv.numeric(name);
                    self.pdv.variables[index].variable.label.clone_from(text);
                }
            }
            StatementKind::Retain(items) if items.is_empty() => {
                for variable in &mut self.pdv.variables {
                    variable.kept_over = true;
                }
            }
            StatementKind::Retain(items) if items.iter().all(|(_, initial)| initial.is_none()) => {
                for (list, _) in items {
                    for index in self.declared(list, VariableKind::Numeric, 8)? {
                        self.pdv.variables[index].kept_over = true;
                    }
                }
            }
            _ => {
                let message = "This statement is not implemented yet in the DATA step.";
                return Err(Failure::at(&statement.span, message));
            }
        }
        Ok(())
    }

    fn value(&mut self, expr: &Expr) -> Outcome<Value> {
        let encoding = self.pdv.encoding();
        Compiler {
            scope: &mut self.pdv,
            sites: &mut self.sites,
            encoding,
        }
        .value(expr)
    }

    fn number(&mut self, expr: &Expr) -> Outcome<Number> {
        let encoding = self.pdv.encoding();
        Compiler {
            scope: &mut self.pdv,
            sites: &mut self.sites,
            encoding,
        }
        .number(expr)
    }

    fn call(&mut self, name: &str, arguments: &[Argument], span: &Span) -> Outcome<Operation> {
        let encoding = self.pdv.encoding();
        let mut compiler = Compiler {
            scope: &mut self.pdv,
            sites: &mut self.sites,
            encoding,
        };
        let routine = compiler.routine(name, arguments, span)?;
        for slot in routine.targets() {
            for variable in &mut self.pdv.variables {
                variable.assigned |= variable.slot == slot;
            }
        }
        Ok(Operation::Call(Box::new(routine)))
    }

    fn assign(&mut self, target: &str, value: &Expr) -> Outcome<Operation> {
        let compiled = self.value(value)?;
        let index = match &compiled {
            Value::Number(_) => self.pdv.numeric(target),
            Value::Text(text) => self.pdv.character(target, text.length()),
        };
        let variable = &mut self.pdv.variables[index];
        variable.assigned = true;
        let slot = variable.slot;
        let mut compiler = Compiler {
            encoding: self.pdv.encoding(),
            scope: &mut self.pdv,
            sites: &mut self.sites,
        };
        Ok(match slot.kind {
            Kind::Numeric => Operation::Number(slot, compiler.to_number(compiled, &value.span)),
            Kind::Character => {
                let text = compiler.to_text_of(compiled, slot.length, &value.span);
                Operation::Text(slot, text)
            }
        })
    }

    fn sum(&mut self, target: &str, value: &Expr) -> Outcome<Operation> {
        let index = self.pdv.numeric(target);
        let variable = &mut self.pdv.variables[index];
        (variable.assigned, variable.kept_over) = (true, true);
        let slot = variable.slot;
        if slot.kind != Kind::Numeric {
            let message = format!("The sum statement needs {target} to be numeric.");
            return Err(Failure::at(&value.span, message));
        }
        Ok(Operation::Sum(slot, self.number(value)?))
    }

    fn do_loop(&mut self, source: &'a ast::Loop) -> Outcome<Operation> {
        let index = source.index.as_ref().map(|(name, _)| {
            let index = self.pdv.numeric(name);
            self.pdv.variables[index].assigned = true;
            self.pdv.variables[index].slot
        });
        let mut ranges = Vec::new();
        match &source.index {
            None => ranges.push(Range {
                counts: None,
                start: None,
                stop: None,
                step: None,
                while_: self.optional(source.while_.as_ref())?,
                until: self.optional(source.until.as_ref())?,
            }),
            Some((_, items)) => {
                for item in items {
                    let counts = item.stop.is_some() || item.step.is_some();
                    ranges.push(Range {
                        counts: counts.then(|| item.start.span.clone()),
                        start: Some(self.number(&item.start)?),
                        stop: self.optional(item.stop.as_ref())?,
                        step: self.optional(item.step.as_ref())?,
                        while_: self.optional(item.while_.as_ref())?,
                        until: self.optional(item.until.as_ref())?,
                    });
                }
            }
        }
        if index.is_some_and(|slot| slot.kind != Kind::Numeric) {
            let message = "A DO loop over a character variable is not implemented yet.";
            return Err(Failure::world(message));
        }
        let body = self.block(&source.body)?;
        Ok(Operation::Loop(Box::new(Loop {
            index,
            ranges,
            body,
        })))
    }

    fn optional(&mut self, expr: Option<&Expr>) -> Outcome<Option<Number>> {
        expr.map(|expr| self.number(expr)).transpose()
    }

    fn set(
        &mut self,
        datasets: &[DatasetRef],
        options: &[Setting],
        span: &Span,
    ) -> Outcome<Operation> {
        if datasets.is_empty() {
            return Err(Failure::at(span, "SET needs the name of a data set here."));
        }
        let mut inputs = Vec::new();
        for dataset in datasets {
            let input = Input::open(self.world, dataset)?;
            let name = input.member().full_name();
            self.pdv.add_fields(input.fields(), &name)?;
            if input
                .fields()
                .iter()
                .any(|f| f.slot.kind == Kind::Character)
            {
                self.pdv.meet(input.metadata().encoding, &name)?;
            }
            inputs.push(input);
        }
        let (mut end, mut nobs) = (None, None);
        for option in options {
            let name = option.value.as_deref().unwrap_or_default();
            match option.name.to_ascii_uppercase().as_str() {
                "END" => end = Some(self.automatic(name)),
                "NOBS" => {
                    let rows = inputs.iter().map(|input| input.metadata().rows).sum();
                    nobs = Some((self.automatic(name), rows));
                }
                other => {
                    let message = format!("The option {other}= of SET is not implemented yet.");
                    return Err(Failure::at(&option.span, message));
                }
            }
        }
        let place = |name: &str| {
            let index = self.pdv.find(name).expect("its data set added it");
            self.pdv.variables[index].slot
        };
        let mut slots = Vec::new();
        let inputs = inputs.into_iter().map(|input| {
            let pairs: Vec<(Slot, Slot)> = input
                .fields()
                .iter()
                .map(|field| (field.slot, place(&field.variable.name)))
                .collect();
            slots.extend(pairs.iter().map(|(_, to)| *to));
            (input, RowCopy::new(&pairs))
        });
        let inputs = inputs.collect();
        self.sets.push(Set {
            inputs,
            slots,
            end,
            nobs,
        });
        Ok(Operation::Set(self.sets.len() - 1))
    }

    fn automatic(&mut self, name: &str) -> Slot {
        let index = self.pdv.numeric(name);
        let variable = &mut self.pdv.variables[index];
        (variable.automatic, variable.assigned, variable.kept_over) = (true, true, true);
        variable.slot
    }

    fn output(&mut self, datasets: &[DatasetRef]) -> Outcome<Operation> {
        self.explicit_output = true;
        if datasets.is_empty() {
            return Ok(Operation::Output((0..self.outputs.len()).collect()));
        }
        let targets = datasets.iter().map(|dataset| {
            let wanted = self.world.libraries.resolve(dataset)?;
            for (index, output) in self.outputs.iter().enumerate() {
                if self.world.libraries.resolve(output)? == wanted {
                    return Ok(index);
                }
            }
            let message = format!("{} is not named in the DATA statement.", wanted.full_name());
            Err(Failure::at(&dataset.span, message))
        });
        Ok(Operation::Output(targets.collect::<Outcome<_>>()?))
    }

    /// Variables of a list in a declaration, which may be the first mention of a name.
    fn declared(
        &mut self,
        list: &VariableList,
        kind: VariableKind,
        length: u32,
    ) -> Outcome<Vec<usize>> {
        let names = match list {
            VariableList::Name(name, _) => vec![name.clone()],
            VariableList::Numbered {
                prefix,
                first,
                last,
                digits,
                span,
            } => numbers(*first, *last, span)?
                .map(|n| format!("{prefix}{n:0digits$}"))
                .collect(),
            _ => return self.pdv.select(list),
        };
        Ok(names
            .iter()
            .map(|name| match kind {
                VariableKind::Numeric => self.pdv.numeric(name),
                VariableKind::Character => self.pdv.character(name, length),
            })
            .collect())
    }

    fn length(&mut self, list: &VariableList, kind: VariableKind, length: u32) -> Outcome<()> {
        for index in self.declared(list, kind, length)? {
            let variable = &mut self.pdv.variables[index].variable;
            match (kind, variable.kind) {
                (VariableKind::Numeric, Kind::Numeric) => variable.length = length,
                (VariableKind::Character, Kind::Character) if variable.length == length => {}
                (VariableKind::Character, Kind::Character) => {
                    let name = variable.name.clone();
                    self.world.log.warning(&format!(
                        "Length of character variable {name} has already been set.\nUse the LENGTH \
                         statement as the very first statement in the DATA STEP to declare the \
                         length of a character variable."
                    ));
                }
                _ => {
                    let name = &variable.name;
                    return Err(Failure::world(format!(
                        "Variable {name} has been defined as both character and numeric."
                    )));
                }
            }
        }
        Ok(())
    }

    fn formats(
        &mut self,
        items: &[(VariableList, Option<FormatRef>)],
        set: impl Fn(&mut Variable, Format),
    ) -> Outcome<()> {
        for (list, format) in items {
            let text = format
                .as_ref()
                .is_some_and(|format| format.name.starts_with('$'));
            let kind = if text {
                VariableKind::Character
            } else {
                VariableKind::Numeric
            };
            let length = format
                .as_ref()
                .map_or(8, |format| u32::from(format.width).max(1));
            for index in self.declared(list, kind, length)? {
                let format = format
                    .as_ref()
                    .map_or_else(Format::default, |format| Format {
                        name: format.name.to_ascii_uppercase(),
                        width: format.width,
                        decimals: format.decimals,
                    });
                set(&mut self.pdv.variables[index].variable, format);
            }
        }
        Ok(())
    }

    fn apply_condition(&mut self) -> Outcome<()> {
        let Some(condition) = self.condition else {
            return Ok(());
        };
        if self.sets.is_empty() {
            let message = "No input data sets available for WHERE statement.";
            return Err(Failure::at(&condition.span, message));
        }
        for (input, _) in self.sets.iter_mut().flat_map(|set| &mut set.inputs) {
            input.filter(condition)?;
        }
        Ok(())
    }

    /// Texts taken before the first SET are UTF-8; data of another encoding cannot take them.
    fn check_encoding(&self) -> Outcome<()> {
        let encoding = self.pdv.encoding().unwrap_or(Encoding::UTF_8);
        match &self.sites.unencoded {
            Some(span) if encoding != Encoding::UTF_8 => Err(Failure::at(
                span,
                format!(
                    "This text has characters beyond ASCII, and the data set read later has the \
                     encoding {}: put the text after the SET statement.",
                    encoding.name
                ),
            )),
            _ => Ok(()),
        }
    }

    fn note_uninitialized(&mut self) {
        for variable in &self.pdv.variables {
            if let (Some(span), false) = (&variable.mentioned, variable.assigned) {
                let message = format!("Variable {} is uninitialized.", variable.variable.name);
                self.sites.diagnostics.push(Diagnostic::note(span, message));
            }
        }
    }
}
