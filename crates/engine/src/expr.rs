//! Expressions compiled to typed trees that read their variables straight from a row of bytes: a
//! PDV, or a row as it lies in a data set.

pub mod array;
mod attribute;
mod between;
pub mod block;
mod call;
pub mod code;
pub mod compile;
pub mod evaluate;
pub mod function;
pub mod general;
pub mod like;
pub mod outside;
pub mod pattern;
pub mod print;
pub mod routine;
pub mod surroundings;

use sas7bdat::Kind;

/// Where a variable lies in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Numeric or character.
    pub kind: Kind,
    /// First byte.
    pub offset: u32,
    /// Bytes: 3 to 8 for numerics.
    pub length: u32,
    /// Numerics: byte order of the row. A PDV is always little-endian.
    pub big_endian: bool,
}

impl Slot {
    /// The bytes of this variable.
    #[inline]
    pub fn bytes<'a>(&self, row: &'a [u8]) -> &'a [u8] {
        &row[self.offset as usize..(self.offset + self.length) as usize]
    }

    /// Whether it is a number that lies in rows as in memory.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.kind == Kind::Numeric && self.length == 8 && !self.big_endian
    }

    /// The value of a numeric variable.
    #[inline]
    pub fn number(&self, row: &[u8]) -> f64 {
        let bytes = self.bytes(row);
        if self.length == 8 && !self.big_endian {
            return f64::from_le_bytes(bytes.try_into().expect("the length is 8"));
        }
        // Truncated numerics keep the most significant bytes.
        let mut whole = [0; 8];
        if self.big_endian {
            whole[..bytes.len()].copy_from_slice(bytes);
            f64::from_be_bytes(whole)
        } else {
            whole[8 - bytes.len()..].copy_from_slice(bytes);
            f64::from_le_bytes(whole)
        }
    }
}

/// A numeric expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// A constant; missing values are NaN with SAS's payload.
    Constant(f64),
    /// A variable.
    Variable(Slot),
    /// `-x`
    Negate(Box<Self>),
    /// Arithmetic; the index counts how often it met a missing value.
    Arithmetic(Arithmetic, Box<Self>, Box<Self>, usize),
    /// The smaller or larger of two, missing being smallest.
    Extreme {
        /// True for the larger one.
        larger: bool,
        /// Left operand.
        left: Box<Self>,
        /// Right operand.
        right: Box<Self>,
    },
    /// Numeric comparison: 1 or 0.
    Compare(Relation, Box<Self>, Box<Self>),
    /// Character comparison; `prefix` compares over the shorter length (`=:`).
    CompareText {
        /// Which comparison.
        relation: Relation,
        /// Left operand.
        left: Text,
        /// Right operand.
        right: Text,
        /// Over the shorter length.
        prefix: bool,
    },
    /// `a and b`
    And(Box<Self>, Box<Self>),
    /// `a or b`
    Or(Box<Self>, Box<Self>),
    /// `not a`
    Not(Box<Self>),
    /// `x in (…)`
    In(Box<Self>, Vec<(f64, f64)>),
    /// `c in ('a', 'b')`
    InText(Text, Vec<Vec<u8>>),
    /// `c like 'a%'`, `c contains 'a'`
    Like {
        /// Tested value.
        value: Text,
        /// Pattern or text.
        pattern: Vec<u8>,
        /// CONTAINS instead of LIKE.
        contains: bool,
    },
    /// A function of numbers.
    Call(function::OfNumbers, Vec<Self>),
    /// Any other function that gives a number.
    General(Box<general::General>),
    /// `missing(c)`: 1 if the text is blank.
    Blank(Text),
    /// An array element.
    Element(Box<array::ElementRef>),
    /// Arithmetic and comparisons as steps.
    Code(Box<code::Code>),
    /// A text read as a number (`12.` informat); the index counts conversions that failed.
    FromText(Text, usize),
}

/// A character expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Text {
    /// A constant.
    Constant(Vec<u8>),
    /// A variable, blank padded.
    Variable(Slot),
    /// `a || b`
    Concatenate(Box<Self>, Box<Self>),
    /// A function of one text.
    Call(function::OfText, Box<Self>),
    /// An array element.
    Element(Box<array::ElementRef>),
    /// Any other function that gives a text.
    General(Box<general::General>),
    /// A number as text: BEST with this width, right aligned.
    FromNumber(Box<Number>, u32),
}

/// Arithmetic that yields missing when an operand is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `**`
    Power,
}

pub use lang::ast::Comparison as Relation;

/// A compiled expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Numeric.
    Number(Number),
    /// Character.
    Text(Text),
}

impl Text {
    /// Longest value this expression can have, bytes: the length of a variable first assigned it.
    pub fn length(&self) -> u32 {
        match self {
            Self::Constant(bytes) => u32::try_from(bytes.len()).unwrap_or(u32::MAX).max(1),
            Self::Variable(slot) => slot.length,
            Self::Concatenate(left, right) => left.length().saturating_add(right.length()),
            Self::Call(_, argument) => argument.length(),
            Self::Element(element) => element.array().length(),
            Self::General(call) => call.length.max(1),
            Self::FromNumber(_, width) => *width,
        }
    }
}
