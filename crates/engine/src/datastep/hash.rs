//! Hash objects and their iterators.

mod compile;
mod methods;
mod run;

use base::diag::Span;
use lang::ast::DatasetRef;

use crate::expr::{Number, Slot, Text};
use crate::hash_table::Table;

pub use methods::hash_methods;

/// An object of DECLARE.
#[derive(Debug)]
pub(super) struct Object {
    name: String,
    span: Span,
    kind: ObjectKind,
}

#[derive(Debug)]
enum ObjectKind {
    Hash(Box<Shape>),
    /// Over this hash object.
    Iterator(usize),
}

/// What a hash object is made with.
#[derive(Debug, Default)]
struct Shape {
    keys: Vec<Named>,
    data: Vec<Named>,
    /// DATASET:
    dataset: Option<DatasetRef>,
    /// ORDERED: ascending or descending.
    ordered: Option<bool>,
    multidata: bool,
    duplicates: Duplicates,
    done: bool,
}

/// A key or data variable; its place is known once all statements are compiled.
#[derive(Debug)]
struct Named {
    name: String,
    span: Span,
    slot: Option<Slot>,
}

/// DUPLICATE: what happens to a key of DATASET: that is there already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Duplicates {
    /// The first stays.
    #[default]
    First,
    /// The last stays.
    Replace,
    /// The step stops.
    Error,
}

/// A call of a method.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MethodCall {
    object: usize,
    method: Method,
    span: Span,
    /// A statement of its own: nobody takes its result.
    alone: bool,
}

impl MethodCall {
    /// Makes it a statement of its own.
    pub(super) fn stand_alone(&mut self) {
        self.alone = true;
    }
}

/// Methods and attributes.
#[derive(Debug, Clone, PartialEq)]
enum Method {
    /// DECLARE at run time: an empty object.
    Declare,
    /// What was done while compiling.
    Nothing,
    DefineDone,
    Find(Vec<Given>),
    Check(Vec<Given>),
    Add(Vec<Given>, Vec<Given>),
    Replace(Vec<Given>, Vec<Given>),
    Ref(Vec<Given>),
    Remove(Vec<Given>),
    FindNext,
    /// The answer goes to this variable.
    HasNext(Slot),
    Output(Text),
    Items,
    Clear,
    Delete,
    First,
    Last,
    Next,
    Prev,
}

/// A key or data value given in a call.
#[derive(Debug, Clone, PartialEq)]
enum Given {
    Number(Number),
    Text(Text),
}

/// Objects of a step at work.
pub(super) struct Objects {
    shapes: Vec<Object>,
    states: Vec<State>,
}

#[derive(Default)]
struct State {
    /// `None` before DECLARE and after DELETE.
    table: Option<Table>,
    /// The item that FIND found last, for `FIND_NEXT`.
    found: Option<u32>,
    /// Iterators: the present item.
    at: Option<u32>,
}

impl Objects {
    pub(super) fn new(shapes: Vec<Object>) -> Self {
        let states = shapes.iter().map(|_| State::default()).collect();
        Self { shapes, states }
    }
}
