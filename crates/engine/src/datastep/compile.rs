//! From statements to operations.

use std::collections::HashMap;

use base::diag::{Diagnostic, Span};
use lang::ast::{
    self, Argument, DataStep, DatasetRef, Expr, ExprKind, MethodArgument, Place, Select, Statement,
    StatementKind,
};
use sas7bdat::{Encoding, Kind};

use super::hash::Object;
use super::pdv::Pdv;
use super::program::{Loop, Operation, Program, Range, Start, Substr, Test, TextPlace};
use super::source::{Reading, Source};
use super::target::{self, Declared};
use super::text::{Infile, OutFile};
use crate::expr::array::ElementRef;
use crate::expr::compile::{Compiler, Scope, Site, Sites, implicit_index};
use crate::expr::{Number, Slot, Text, Value};
use crate::failure::{Failure, Outcome};
use crate::session::World;

/// A step being compiled.
pub(super) struct Builder<'a> {
    pub(super) world: &'a mut World,
    pub(super) pdv: Pdv,
    pub(super) sources: Vec<Source>,
    pub(super) infiles: Vec<Infile>,
    pub(super) files: Vec<OutFile>,
    pub(super) objects: Vec<Object>,
    pub(super) sites: Sites,
    outputs: &'a [DatasetRef],
    pub(super) data_lines: Option<&'a [String]>,
    explicit_output: bool,
    pub(super) declared: Declared,
    pub(super) condition: Option<Expr>,
    /// Variables that FORMAT or ATTRIB gave a format, and where.
    pub(super) formatted: Vec<(usize, Span)>,
    /// RETAIN without a list: nothing is reset, whatever is mentioned later.
    pub(super) retain_all: bool,
    /// Labels by upper-case name: number, and where they were jumped to.
    labels: HashMap<String, (usize, Span)>,
    marks: Vec<Option<usize>>,
    depth: u32,
    temporaries: usize,
}

/// Compiles a step; opens its inputs, makes no output yet.
pub(super) fn compile<'a>(step: &'a DataStep, world: &'a mut World) -> Outcome<Program> {
    let mut builder = Builder {
        world,
        pdv: Pdv::default(),
        sources: Vec::new(),
        infiles: Vec::new(),
        files: Vec::new(),
        objects: Vec::new(),
        sites: Sites::default(),
        outputs: &step.outputs,
        data_lines: step.data_lines.as_deref(),
        explicit_output: false,
        declared: Declared::default(),
        condition: None,
        formatted: Vec::new(),
        retain_all: false,
        labels: HashMap::new(),
        marks: Vec::new(),
        depth: 0,
        temporaries: 0,
    };
    let counter = builder.pdv.automatic("_N_", &step.span)?;
    let error = builder.pdv.automatic("_ERROR_", &step.span)?;
    let operations = builder.block(&step.statements)?;
    builder.finish()?;
    let targets = target::targets(
        builder.world,
        &builder.pdv,
        &builder.declared,
        &step.outputs,
    )?;
    let implicit_output = !builder.explicit_output && !step.outputs.is_empty();
    let marks = builder.resolved_marks()?;
    Ok(Program {
        operations,
        marks,
        targets,
        implicit_output,
        counter,
        error,
        pdv: builder.pdv,
        sources: builder.sources,
        infiles: builder.infiles,
        files: builder.files,
        objects: builder.objects,
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

    fn inner_block(&mut self, statements: &'a [Statement]) -> Outcome<Vec<Operation>> {
        self.depth += 1;
        let operations = self.block(statements);
        self.depth -= 1;
        operations
    }

    fn branch(&mut self, statement: &'a Statement) -> Outcome<Vec<Operation>> {
        self.inner_block(std::slice::from_ref(statement))
    }

    fn statement(&mut self, statement: &'a Statement, out: &mut Vec<Operation>) -> Outcome<()> {
        self.operations(statement, out)?;
        self.pdv.check(&statement.span)
    }

    fn operations(&mut self, statement: &'a Statement, out: &mut Vec<Operation>) -> Outcome<()> {
        let span = &statement.span;
        match &statement.kind {
            StatementKind::Set { datasets, options } => {
                out.push(self.source(Reading::Set, datasets, options, span)?);
            }
            StatementKind::Merge { datasets, options } => {
                out.push(self.source(Reading::Merge, datasets, options, span)?);
            }
            StatementKind::Update { datasets, options } => {
                out.push(self.source(Reading::Update, datasets, options, span)?);
            }
            StatementKind::Assign { target, value } => self.assign(target, value, out)?,
            StatementKind::Sum { target, value } => self.sum(target, value, out)?,
            StatementKind::Store { place, sum, value } => {
                self.store(place, *sum, value, span, out)?;
            }
            StatementKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.number(condition, out)?;
                let then = self.branch(then)?;
                let otherwise = otherwise.as_deref().map(|one| self.branch(one));
                let otherwise = otherwise.transpose()?.unwrap_or_default();
                out.push(Operation::If(condition, then, otherwise));
            }
            StatementKind::Select(select) => self.select(select, span, out)?,
            StatementKind::SubsettingIf(condition) => {
                let condition = self.number(condition, out)?;
                out.push(Operation::Subset(condition));
            }
            StatementKind::Block(statements) => {
                let block = self.inner_block(statements)?;
                out.extend(block);
            }
            StatementKind::Output(datasets) => out.push(self.output(datasets)?),
            StatementKind::Delete => out.push(Operation::Delete),
            StatementKind::Call(name, arguments) => {
                self.call(name, arguments, span, out)?;
            }
            StatementKind::Return => out.push(Operation::Return),
            StatementKind::Stop => out.push(Operation::Stop),
            StatementKind::List => out.push(self.list(span)?),
            StatementKind::Abort(end) => out.push(Operation::Abort(span.clone(), *end)),
            StatementKind::Loop(body) => self.do_loop(body, out)?,
            StatementKind::Leave => out.push(Operation::Leave),
            StatementKind::Continue => out.push(Operation::Continue),
            StatementKind::Empty => {}
            StatementKind::Mark(name) => self.mark(name, span, out.len())?,
            StatementKind::GoTo(name) => out.push(Operation::GoTo(self.label(name, span))),
            StatementKind::Link(name) => out.push(Operation::Link(self.label(name, span))),
            StatementKind::Infile(file) => out.push(self.infile(file)?),
            StatementKind::File(file) => out.push(self.file(file)?),
            StatementKind::Input(items) => self.input(items, span, out)?,
            StatementKind::Put { items, log } => self.put(items, *log, span, out)?,
            StatementKind::Declare {
                iterator,
                name,
                arguments,
            } => self.declare_object(*iterator, name, arguments.as_deref(), span, out)?,
            StatementKind::Method(call) => {
                self.hoisted(call, out)?;
                if let Some(Operation::Method(call, _)) = out.last_mut() {
                    call.stand_alone();
                }
            }
            _ => self.declaration(statement)?,
        }
        Ok(())
    }

    /// A compiler of expressions over the PDV.
    pub(super) fn compiler(&mut self) -> Compiler<'_> {
        Compiler {
            encoding: self.pdv.encoding(),
            scope: &mut self.pdv,
            sites: &mut self.sites,
            formats: &self.world.formats,
        }
    }

    /// An expression of either type; what must be done before it is evaluated goes to `out`.
    pub(super) fn value(&mut self, expr: &Expr, out: &mut Vec<Operation>) -> Outcome<Value> {
        if self.objects.is_empty() {
            return self.compiler().value(expr);
        }
        let expr = self.hoisted(expr, out)?;
        self.compiler().value(&expr)
    }

    /// A numeric expression.
    pub(super) fn number(&mut self, expr: &Expr, out: &mut Vec<Operation>) -> Outcome<Number> {
        let value = self.value(expr, out)?;
        Ok(self.compiler().to_number(value, &expr.span).lowered())
    }

    /// A condition that is evaluated more often than the statement it belongs to.
    fn test(&mut self, expr: Option<&Expr>) -> Outcome<Option<Test>> {
        let Some(expr) = expr else {
            return Ok(None);
        };
        let mut before = Vec::new();
        let condition = self.number(expr, &mut before)?;
        Ok(Some(Test { before, condition }))
    }

    /// `expr` with variables in the place of method calls, which are carried out before.
    fn hoisted(&mut self, expr: &Expr, out: &mut Vec<Operation>) -> Outcome<Expr> {
        let kind = match &expr.kind {
            ExprKind::Method {
                object,
                method,
                arguments,
            } => return self.method_value(object, method, arguments.as_deref(), &expr.span, out),
            ExprKind::Unary(operator, operand) => {
                ExprKind::Unary(*operator, Box::new(self.hoisted(operand, out)?))
            }
            ExprKind::Binary(operator, left, right) => ExprKind::Binary(
                *operator,
                Box::new(self.hoisted(left, out)?),
                Box::new(self.hoisted(right, out)?),
            ),
            ExprKind::In {
                value,
                items,
                negated,
            } => ExprKind::In {
                value: Box::new(self.hoisted(value, out)?),
                items: items.clone(),
                negated: *negated,
            },
            ExprKind::Call(name, arguments) => {
                ExprKind::Call(name.clone(), self.hoisted_arguments(arguments, out)?)
            }
            other => other.clone(),
        };
        Ok(Expr {
            span: expr.span.clone(),
            kind,
        })
    }

    fn hoisted_arguments(
        &mut self,
        arguments: &[Argument],
        out: &mut Vec<Operation>,
    ) -> Outcome<Vec<Argument>> {
        let hoisted = arguments.iter().map(|argument| {
            Ok(match argument {
                Argument::Value(value) => Argument::Value(self.hoisted(value, out)?),
                other => other.clone(),
            })
        });
        hoisted.collect()
    }

    /// Calls a method now and gives the variable that holds its result.
    fn method_value(
        &mut self,
        object: &str,
        method: &str,
        arguments: Option<&[MethodArgument]>,
        span: &Span,
        out: &mut Vec<Operation>,
    ) -> Outcome<Expr> {
        // A blank keeps the name apart from all that a program can write.
        let name = format!(" method {}", self.temporaries);
        self.temporaries += 1;
        let slot = self.pdv.automatic(&name, span)?;
        let call = self.method(object, method, arguments, span, out)?;
        out.push(Operation::Method(Box::new(call), slot));
        Ok(Expr {
            span: span.clone(),
            kind: ExprKind::Variable(name),
        })
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &[Argument],
        span: &Span,
        out: &mut Vec<Operation>,
    ) -> Outcome<()> {
        let arguments = self.hoisted_arguments(arguments, out)?;
        let routine = self.compiler().routine(name, &arguments, span)?;
        for slot in routine.targets() {
            self.pdv.assigned_slot(slot);
        }
        for array in routine.arrays() {
            self.pdv.assigned_array(array);
        }
        out.push(Operation::Call(Box::new(routine)));
        Ok(())
    }

    /// The element that the name of an array without dimensions stands for.
    fn implicit(&self, name: &str, span: &Span) -> Option<Place> {
        let array = self.pdv.array(name).filter(|array| array.implicit)?;
        Some(Place::Element {
            array: array.name.clone(),
            subscripts: vec![implicit_index(span)],
        })
    }

    fn assign(&mut self, target: &str, value: &Expr, out: &mut Vec<Operation>) -> Outcome<()> {
        if let Some(place) = self.implicit(target, &value.span) {
            return self.store(&place, false, value, &value.span, out);
        }
        let compiled = self.value(value, out)?;
        if target.eq_ignore_ascii_case("_INFILE_") {
            self.pdv.infile(&value.span)?;
        }
        let index = match &compiled {
            Value::Number(_) => self.pdv.numeric(target),
            Value::Text(text) => self.pdv.character(target, text.length()),
        };
        let variable = &mut self.pdv.variables[index];
        variable.assigned = true;
        let slot = variable.slot;
        let mut compiler = self.compiler();
        out.push(match slot.kind {
            Kind::Numeric => {
                let number = compiler.to_number(compiled, &value.span);
                Operation::Number(slot, number.lowered())
            }
            Kind::Character => {
                let text = compiler.to_text_of(compiled, slot.length, &value.span);
                Operation::Text(slot, text)
            }
        });
        Ok(())
    }

    fn sum(&mut self, target: &str, value: &Expr, out: &mut Vec<Operation>) -> Outcome<()> {
        if let Some(place) = self.implicit(target, &value.span) {
            return self.store(&place, true, value, &value.span, out);
        }
        let new = self.pdv.find(target).is_none_or(|index| {
            let variable = &self.pdv.variables[index];
            !variable.assigned && !variable.kept_over
        });
        let index = self.pdv.numeric(target);
        let variable = &mut self.pdv.variables[index];
        (variable.assigned, variable.kept_over) = (true, true);
        let slot = variable.slot;
        if slot.kind != Kind::Numeric {
            let message = format!("The sum statement needs {target} to be numeric.");
            return Err(Failure::at(&value.span, message));
        }
        if new || !self.pdv.initial.iter().any(|(known, _)| *known == slot) {
            self.pdv
                .initial
                .push((slot, super::pdv::Initial::Number(0.0)));
        }
        let number = self.number(value, out)?;
        out.push(Operation::Sum(slot, number));
        Ok(())
    }

    fn store(
        &mut self,
        place: &Place,
        sum: bool,
        value: &Expr,
        span: &Span,
        out: &mut Vec<Operation>,
    ) -> Outcome<()> {
        match place {
            Place::Element { array, subscripts } => {
                let element = self.compiler().element(array, subscripts, span)?;
                self.pdv.assigned_array(array);
                self.store_element(element, sum, value, out)
            }
            Place::Substr { of, start, length } => {
                let mut compiler = self.compiler();
                let of = match compiler.value(of)? {
                    Value::Text(Text::Variable(slot)) => TextPlace::Variable(slot),
                    Value::Text(Text::Element(element)) => TextPlace::Element(*element),
                    _ => {
                        let message = "SUBSTR to the left of = needs a character variable.";
                        return Err(Failure::at(span, message));
                    }
                };
                let start = self.number(start, out)?;
                let length = length.as_deref().map(|length| self.number(length, out));
                let length = length.transpose()?;
                let compiled = self.value(value, out)?;
                let value = self.compiler().to_text(compiled, &value.span);
                if let TextPlace::Variable(slot) = &of {
                    self.pdv.assigned_slot(*slot);
                }
                let site = self.sites.add(Site::InvalidArgument("SUBSTR"), span);
                out.push(Operation::Substr(Box::new(Substr {
                    of,
                    start,
                    length,
                    value,
                    site,
                })));
                Ok(())
            }
        }
    }

    fn store_element(
        &mut self,
        element: ElementRef,
        sum: bool,
        value: &Expr,
        out: &mut Vec<Operation>,
    ) -> Outcome<()> {
        let (kind, length) = (element.array().kind, element.array().length());
        if sum {
            if kind != Kind::Numeric {
                let message = "The sum statement needs a numeric array.";
                return Err(Failure::at(&value.span, message));
            }
            let slots = element.array().slots.clone();
            self.pdv.accumulate(&slots);
            let number = self.number(value, out)?;
            out.push(Operation::SumElement(Box::new(element), number));
            return Ok(());
        }
        let compiled = self.value(value, out)?;
        let mut compiler = self.compiler();
        out.push(match kind {
            Kind::Numeric => {
                let number = compiler.to_number(compiled, &value.span).lowered();
                Operation::NumberElement(Box::new(element), number)
            }
            Kind::Character => {
                let text = compiler.to_text_of(compiled, length, &value.span);
                Operation::TextElement(Box::new(element), text)
            }
        });
        Ok(())
    }

    fn select(&mut self, select: &'a Select, span: &Span, out: &mut Vec<Operation>) -> Outcome<()> {
        let value = select.value.as_ref().map(|value| self.hoisted(value, out));
        let value = value.transpose()?;
        let mut cases = Vec::new();
        for (tests, statement) in &select.whens {
            let mut condition: Option<Number> = None;
            for test in tests {
                let one = match &value {
                    None => self.number(test, out)?,
                    Some(value) => {
                        let test = self.hoisted(test, out)?;
                        self.compiler().equal(value, &test)?
                    }
                };
                condition = Some(match condition {
                    None => one,
                    Some(before) => Number::Or(Box::new(before), Box::new(one)),
                });
            }
            let body = self.branch(statement)?;
            cases.extend(condition.map(|condition| (condition, body)));
        }
        let otherwise = match &select.otherwise {
            Some(statement) => self.branch(statement)?,
            None => vec![Operation::Unsatisfied(span.clone())],
        };
        out.push(Operation::Select(cases, otherwise));
        Ok(())
    }

    fn do_loop(&mut self, source: &'a ast::Loop, out: &mut Vec<Operation>) -> Outcome<()> {
        let mut ranges = Vec::new();
        let mut index = None;
        match &source.index {
            None => ranges.push(Range {
                counts: None,
                start: None,
                stop: None,
                step: None,
                while_: self.test(source.while_.as_ref())?,
                until: self.test(source.until.as_ref())?,
            }),
            Some((name, items)) => {
                for item in items {
                    let start = self.value(&item.start, out)?;
                    let slot = match index {
                        Some(slot) => slot,
                        None => self.loop_index(name, &start),
                    };
                    index = Some(slot);
                    ranges.push(self.range(slot, start, item, out)?);
                }
            }
        }
        let body = self.inner_block(&source.body)?;
        out.push(Operation::Loop(Box::new(Loop {
            index,
            ranges,
            body,
        })));
        Ok(())
    }

    /// The index variable of a loop, of the type of its first value if it is new.
    fn loop_index(&mut self, name: &str, start: &Value) -> Slot {
        let index = match start {
            Value::Number(_) => self.pdv.numeric(name),
            Value::Text(text) => self.pdv.character(name, text.length()),
        };
        self.pdv.variables[index].assigned = true;
        self.pdv.variables[index].slot
    }

    fn range(
        &mut self,
        index: Slot,
        start: Value,
        item: &ast::LoopRange,
        out: &mut Vec<Operation>,
    ) -> Outcome<Range> {
        let counts = item.stop.is_some() || item.step.is_some();
        let span = &item.start.span;
        let start = match index.kind {
            Kind::Numeric => Start::Number(self.compiler().to_number(start, span)),
            Kind::Character if counts => {
                let message = "A DO loop over a character variable cannot have TO or BY.";
                return Err(Failure::at(span, message));
            }
            Kind::Character => Start::Text(self.compiler().to_text_of(start, index.length, span)),
        };
        let mut optional =
            |expr: Option<&Expr>| expr.map(|expr| self.number(expr, out)).transpose();
        let (stop, step) = (optional(item.stop.as_ref())?, optional(item.step.as_ref())?);
        Ok(Range {
            counts: counts.then(|| span.clone()),
            start: Some(start),
            stop,
            step,
            while_: self.test(item.while_.as_ref())?,
            until: self.test(item.until.as_ref())?,
        })
    }

    fn output(&mut self, datasets: &[DatasetRef]) -> Outcome<Operation> {
        self.explicit_output = true;
        if datasets.is_empty() {
            return Ok(Operation::Output((0..self.outputs.len()).collect()));
        }
        let targets = datasets.iter().map(|dataset| {
            if let Some(option) = dataset.options.first() {
                let message = "Data set options stand in the DATA statement, not in OUTPUT.";
                return Err(Failure::at(&option.span, message));
            }
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

    fn label(&mut self, name: &str, span: &Span) -> usize {
        let next = self.marks.len();
        let (number, _) = self
            .labels
            .entry(name.to_ascii_uppercase())
            .or_insert_with(|| (next, span.clone()));
        let number = *number;
        if number == next {
            self.marks.push(None);
        }
        number
    }

    fn mark(&mut self, name: &str, span: &Span, place: usize) -> Outcome<()> {
        if self.depth > 0 {
            let message = format!("The label {name} inside a DO group is not implemented yet.");
            return Err(Failure::at(span, message));
        }
        let number = self.label(name, span);
        if self.marks[number].replace(place).is_some() {
            let message = format!("The label {name} is defined more than once.");
            return Err(Failure::at(span, message));
        }
        Ok(())
    }

    fn resolved_marks(&self) -> Outcome<Vec<usize>> {
        let mut marks = Vec::with_capacity(self.marks.len());
        for (number, place) in self.marks.iter().enumerate() {
            let Some(place) = place else {
                let (name, (_, span)) = self
                    .labels
                    .iter()
                    .find(|(_, (label, _))| *label == number)
                    .expect("every mark has a label");
                let message = format!("Statement label {name} is not defined.");
                return Err(Failure::at(span, message));
            };
            marks.push(*place);
        }
        Ok(marks)
    }

    /// What can only be said when all statements are known.
    fn finish(&mut self) -> Outcome<()> {
        if self.retain_all {
            for variable in &mut self.pdv.variables {
                variable.kept_over = true;
            }
        }
        self.apply_condition()?;
        self.check_updates()?;
        self.pdv.check_arrays()?;
        self.pdv.check_buffers()?;
        self.check_encoding()?;
        if let Some((name, span)) = self.pdv.groups_wanted.first() {
            let message = format!(
                "{name} needs a BY statement with this variable behind the SET or MERGE statement."
            );
            return Err(Failure::at(span, message));
        }
        self.finish_objects()?;
        self.check_formats()?;
        self.note_uninitialized();
        Ok(())
    }

    fn apply_condition(&mut self) -> Outcome<()> {
        let Some(condition) = &self.condition else {
            return Ok(());
        };
        if self.sources.is_empty() {
            let message = "No input data sets available for WHERE statement.";
            return Err(Failure::at(&condition.span, message));
        }
        for source in &mut self.sources {
            source.filter(condition)?;
        }
        Ok(())
    }

    fn check_updates(&self) -> Outcome<()> {
        self.sources.iter().try_for_each(Source::check_update)
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
