//! What a DATA step is compiled to.

use base::diag::Span;
use lang::ast::SessionEnd;

use super::hash::MethodCall;
use super::pdv::Pdv;
use super::source::Source;
use super::target::Target;
use super::text::{Infile, OutFile, ReadList, WriteList};
use crate::expr::array::ElementRef;
use crate::expr::compile::Sites;
use crate::expr::routine::Routine;
use crate::expr::{Number, Slot, Text};

/// A compiled step.
pub(super) struct Program {
    pub(super) pdv: Pdv,
    pub(super) operations: Vec<Operation>,
    /// Where labels lie in `operations`.
    pub(super) marks: Vec<usize>,
    pub(super) sources: Vec<Source>,
    pub(super) infiles: Vec<Infile>,
    pub(super) files: Vec<OutFile>,
    pub(super) objects: Vec<super::hash::Object>,
    pub(super) targets: Vec<Target>,
    pub(super) sites: Sites,
    /// No OUTPUT statement: a row is written at the bottom.
    pub(super) implicit_output: bool,
    /// `_N_`
    pub(super) counter: Slot,
    /// `_ERROR_`
    pub(super) error: Slot,
}

/// What a step does to its PDV.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operation {
    /// Reads by a SET or MERGE statement; stops the step at the end.
    Read(usize),
    /// `x = number;`
    Number(Slot, Number),
    /// `c = text;`
    Text(Slot, Text),
    /// `x + number;`
    Sum(Slot, Number),
    /// `call routine(…);`
    Call(Box<Routine>),
    /// `a{i} = number;`
    NumberElement(Box<ElementRef>, Number),
    /// `c{i} = text;`
    TextElement(Box<ElementRef>, Text),
    /// `a{i} + number;`
    SumElement(Box<ElementRef>, Number),
    /// `substr(c, start, length) = text;`
    Substr(Box<Substr>),
    /// `if … then … else …`
    If(Number, Vec<Self>, Vec<Self>),
    /// SELECT: the first case that holds; else the last list.
    Select(Vec<(Number, Vec<Self>)>, Vec<Self>),
    /// No WHEN holds and there is no OTHERWISE.
    Unsatisfied(Span),
    /// `if …;`
    Subset(Number),
    /// Writes a row to these targets.
    Output(Vec<usize>),
    /// Back to the top without output.
    Delete,
    /// Back to the top, with the implicit output; back to the LINK if there is one.
    Return,
    /// Ends the step.
    Stop,
    /// Ends the step as an error does.
    Abort(Span, Option<(SessionEnd, Option<u8>)>),
    /// LIST.
    List,
    /// A DO loop.
    Loop(Box<Loop>),
    /// Out of the innermost loop.
    Leave,
    /// On with the innermost loop's next turn.
    Continue,
    /// On at a label.
    GoTo(usize),
    /// On at a label, and back at RETURN.
    Link(usize),
    /// INFILE: what INPUT reads from now on.
    Infile(usize),
    /// FILE: where PUT writes from now on; `None` is the log.
    File(Option<usize>),
    /// INPUT.
    Input(Box<ReadList>),
    /// PUT; to the log for PUTLOG.
    Put(Box<WriteList>, bool),
    /// A method of an object; its result goes into the slot.
    Method(Box<MethodCall>, Slot),
}

/// SUBSTR to the left of the equal sign.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Substr {
    pub(super) of: TextPlace,
    pub(super) start: Number,
    pub(super) length: Option<Number>,
    pub(super) value: Text,
    pub(super) site: usize,
}

/// A character variable or element.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TextPlace {
    Variable(Slot),
    Element(ElementRef),
}

/// A condition with the method calls that it needs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Test {
    pub(super) before: Vec<Operation>,
    pub(super) condition: Number,
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
    pub(super) start: Option<Start>,
    pub(super) stop: Option<Number>,
    pub(super) step: Option<Number>,
    pub(super) while_: Option<Test>,
    pub(super) until: Option<Test>,
}

/// The first value of a range.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Start {
    Number(Number),
    Text(Text),
}
