//! Text files: INFILE and INPUT read records, FILE and PUT write them.

mod compile;
mod infile;
mod input;
mod output;
mod put;

pub(super) use self::infile::Infile;
pub(super) use self::output::{LogLine, OutFile};
pub(super) use self::program::{ReadList, WriteList};

/// Compiled INPUT and PUT statements.
mod program {
    use base::diag::Span;
    use lang::ast::FormatModifier;
    use sas7bdat::Format;

    use crate::expr::array::ElementRef;
    use crate::expr::{Number, Slot, Text};
    use crate::format::informat::Informat;

    /// What happens to the line at the end of a statement.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::datastep) enum Hold {
        No,
        /// `@`
        Iteration,
        /// `@@`
        Across,
    }

    /// A move of the pointer.
    #[derive(Debug, Clone, PartialEq)]
    pub(in crate::datastep) enum Move {
        Column(Number),
        Find(Text),
        Relative(Number),
        NextLine,
        /// `#n`, from 1.
        Line(usize),
    }

    /// Where a value is kept.
    #[derive(Debug, Clone, PartialEq)]
    pub(in crate::datastep) enum ValuePlace {
        Variable(Slot),
        Element(Box<ElementRef>),
    }

    /// INPUT.
    #[derive(Debug, Clone, PartialEq)]
    pub(in crate::datastep) struct ReadList {
        pub(in crate::datastep) items: Vec<ReadItem>,
        pub(in crate::datastep) hold: Hold,
    }

    /// An item of INPUT.
    #[derive(Debug, Clone, PartialEq)]
    pub(in crate::datastep) enum ReadItem {
        Move(Move),
        Value(ReadValue),
        /// Named input: values with the names of these variables, as they come.
        Named(Vec<ReadValue>),
    }

    /// A value to read.
    #[derive(Debug, Clone, PartialEq)]
    pub(in crate::datastep) struct ReadValue {
        pub(in crate::datastep) place: ValuePlace,
        pub(in crate::datastep) name: String,
        pub(in crate::datastep) form: ReadForm,
        pub(in crate::datastep) informat: Informat,
        pub(in crate::datastep) quiet: u8,
    }

    /// How a value is found.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::datastep) enum ReadForm {
        /// Between delimiters; with `ampersand` only two of them end it.
        List { ampersand: bool, tilde: bool },
        /// From the pointer on.
        Width(usize),
        /// From a column (0-based) on.
        Columns(usize, usize),
        /// Behind its name; with an informat blanks belong to it.
        Named { blanks: bool },
    }

    /// PUT.
    #[derive(Debug, Clone, PartialEq)]
    pub(in crate::datastep) struct WriteList {
        pub(in crate::datastep) items: Vec<WriteItem>,
        pub(in crate::datastep) hold: Hold,
    }

    /// An item of PUT.
    #[derive(Debug, Clone, PartialEq)]
    pub(in crate::datastep) enum WriteItem {
        Move(Move),
        Text(Vec<u8>),
        Value(WriteValue),
        All,
        Infile(Span),
    }

    /// A value to write.
    #[derive(Debug, Clone, PartialEq)]
    pub(in crate::datastep) struct WriteValue {
        pub(in crate::datastep) place: ValuePlace,
        /// `x=`: the name.
        pub(in crate::datastep) named: Option<String>,
        pub(in crate::datastep) form: WriteForm,
        /// `-L` and the like.
        pub(in crate::datastep) align: FormatModifier,
    }

    /// How a value is laid out.
    #[derive(Debug, Clone, PartialEq)]
    pub(in crate::datastep) enum WriteForm {
        /// Without blanks around it, apart from the next value; in the variable's format unless the statement has one.
        List(Option<Format>),
        /// As wide as the format.
        Formatted(Format),
        /// From a column (0-based) on, so many of them.
        Columns(usize, usize, Format),
    }
}
