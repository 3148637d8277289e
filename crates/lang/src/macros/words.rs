//! The statements and functions of the macro language by name, and what there is of each.

use super::body::Keyword;
use crate::support::{Support, Word};

/// A macro statement.
struct Statement {
    name: &'static str,
    kind: Kind,
}

enum Kind {
    /// Without statements inside.
    Simple(Keyword, Support),
    /// With statements inside.
    Structure(Support),
    /// A part of one that has statements inside.
    Part,
    /// Known and refused.
    Refused,
}

const fn simple(name: &'static str, keyword: Keyword, support: Support) -> Statement {
    Statement {
        name,
        kind: Kind::Simple(keyword, support),
    }
}

const fn structure(name: &'static str, support: Support) -> Statement {
    Statement {
        name,
        kind: Kind::Structure(support),
    }
}

const fn part(name: &'static str) -> Statement {
    Statement {
        name,
        kind: Kind::Part,
    }
}

const fn refused(name: &'static str) -> Statement {
    Statement {
        name,
        kind: Kind::Refused,
    }
}

const NOTHING: Support = Support::all("");

static STATEMENTS: &[Statement] = &[
    structure(
        "MACRO",
        Support::part(
            "positional and keyword parameters, PARMBUFF, MINOPERATOR, DES=",
            "SECURE, STORE, SOURCE, STMT, CMD: stored macros, autocall libraries",
        ),
    ),
    structure("IF", Support::all("%THEN, %ELSE; in open code with %DO")),
    structure("DO", Support::all("all forms: %TO, %BY, %WHILE, %UNTIL")),
    simple(
        "GLOBAL",
        Keyword::Global,
        Support::part("names", "READONLY"),
    ),
    simple("GOTO", Keyword::Goto, NOTHING),
    simple("INCLUDE", Keyword::Include, INCLUDED),
    simple("INC", Keyword::Include, INCLUDED),
    simple("LET", Keyword::Let, NOTHING),
    simple("LOCAL", Keyword::Local, Support::part("names", "READONLY")),
    simple(
        "PUT",
        Keyword::Put,
        Support::all("_ALL_ _USER_ _LOCAL_ _GLOBAL_ _AUTOMATIC_ and `&=name`"),
    ),
    simple("RETURN", Keyword::Return, NOTHING),
    simple("SYMDEL", Keyword::Symdel, NOTHING),
    simple("SYSMACDELETE", Keyword::Sysmacdelete, NOTHING),
    part("MEND"),
    part("THEN"),
    part("ELSE"),
    part("END"),
    part("TO"),
    part("BY"),
    part("WHILE"),
    part("UNTIL"),
    refused("ABORT"),
    refused("COPY"),
    refused("DISPLAY"),
    refused("INPUT"),
    refused("LIST"),
    refused("RUN"),
    refused("SYSCALL"),
    refused("SYSEXEC"),
    refused("SYSLPUT"),
    refused("SYSMSTORECLEAR"),
    refused("SYSRPUT"),
    refused("WINDOW"),
];

const INCLUDED: Support = Support::part("paths and filerefs", "`*`, several files, options");

impl Keyword {
    /// The statement of this upper-case name, and whether it is one without statements inside.
    pub(crate) fn find(upper: &str) -> Option<Self> {
        let found = STATEMENTS.iter().find(|one| one.name == upper)?;
        Some(match found.kind {
            Kind::Simple(keyword, _) => keyword,
            Kind::Structure(_) | Kind::Part | Kind::Refused => Self::Other(found.name),
        })
    }
}

/// The macro statements, for COMPAT.md.
pub fn macro_statements() -> impl Iterator<Item = Word> {
    let word = |one: &Statement| {
        let support = match one.kind {
            Kind::Simple(_, support) | Kind::Structure(support) => Some(support),
            Kind::Refused => None,
            Kind::Part => return None,
        };
        Some(Word {
            name: one.name,
            support,
        })
    };
    STATEMENTS.iter().filter_map(word)
}

/// A macro function.
pub(crate) struct Function {
    /// Upper case.
    pub(crate) name: &'static str,
    /// Least and most arguments of those that take them apart.
    pub(crate) arguments: (usize, usize),
    pub(crate) origin: Origin,
    refused: &'static str,
}

/// Where a macro function comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The language itself.
    Language,
    /// SAS delivers it as a macro: a program may define its own of the same name.
    Autocall,
    /// Known and refused.
    Refused,
}

const fn function(name: &'static str, least: usize, most: usize) -> Function {
    Function {
        name,
        arguments: (least, most),
        origin: Origin::Language,
        refused: "",
    }
}

/// One that reads its argument in a way of its own.
const fn special(name: &'static str) -> Function {
    function(name, 0, usize::MAX)
}

const fn autocall(name: &'static str, least: usize, most: usize) -> Function {
    Function {
        origin: Origin::Autocall,
        ..function(name, least, most)
    }
}

const fn unknown(name: &'static str) -> Function {
    Function {
        origin: Origin::Refused,
        ..function(name, 0, 0)
    }
}

const fn scan(name: &'static str) -> Function {
    Function {
        refused: "modifiers",
        ..function(name, 2, 4)
    }
}

static FUNCTIONS: &[Function] = &[
    special("STR"),
    special("NRSTR"),
    special("QUOTE"),
    special("NRQUOTE"),
    special("BQUOTE"),
    special("NRBQUOTE"),
    special("SUPERQ"),
    special("UNQUOTE"),
    function("EVAL", 1, 1),
    function("SYSEVALF", 1, 2),
    special("SYSFUNC"),
    special("QSYSFUNC"),
    scan("SCAN"),
    scan("QSCAN"),
    function("SUBSTR", 2, 3),
    function("QSUBSTR", 2, 3),
    function("UPCASE", 1, 1),
    function("QUPCASE", 1, 1),
    function("LENGTH", 1, 1),
    function("INDEX", 2, 2),
    function("SYMEXIST", 1, 1),
    function("SYMLOCAL", 1, 1),
    function("SYMGLOBL", 1, 1),
    function("SYSMACEXIST", 1, 1),
    function("SYSMACEXEC", 1, 1),
    special("SYSMEXECDEPTH"),
    function("SYSMEXECNAME", 1, 1),
    autocall("LOWCASE", 1, 1),
    autocall("QLOWCASE", 1, 1),
    autocall("TRIM", 1, 1),
    autocall("QTRIM", 1, 1),
    autocall("LEFT", 1, 1),
    autocall("QLEFT", 1, 1),
    autocall("CMPRES", 1, 1),
    autocall("QCMPRES", 1, 1),
    autocall("VERIFY", 2, 2),
    autocall("DATATYP", 1, 1),
    unknown("COMPSTOR"),
    unknown("SYSGET"),
    unknown("SYSPROD"),
    unknown("VALIDCHS"),
];

impl Function {
    /// The function called `name`, any case.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        FUNCTIONS
            .iter()
            .find(|one| one.name.eq_ignore_ascii_case(name))
    }

    /// Whether this is a function of the language itself.
    pub(crate) fn is_of_language(name: &str) -> bool {
        Self::find(name).is_some_and(|one| one.origin == Origin::Language)
    }

    /// Whether there is a function of this name.
    pub(crate) fn is_known(name: &str) -> bool {
        Self::find(name).is_some_and(|one| one.origin != Origin::Refused)
    }
}

/// The macro functions, for COMPAT.md.
pub fn macro_functions() -> impl Iterator<Item = Word> {
    FUNCTIONS.iter().map(|one| Word {
        name: one.name,
        support: (one.origin != Origin::Refused).then_some(Support::part("", one.refused)),
    })
}
