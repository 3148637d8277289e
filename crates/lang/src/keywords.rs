//! Words of the language, upper case and sorted by nothing but sense: what is known but not there
//! yet must be told apart from what nobody knows.

/// DATA step statements that are not there yet.
pub(crate) const STEP_NOT_YET: &[&str] = &[
    "MODIFY", "ERROR", "LIST", "LOSTCARD", "REMOVE", "REPLACE", "WINDOW", "DISPLAY", "REDIRECT",
    "DESCRIBE", "EXECUTE",
];

/// Words that start raw data lines.
pub(crate) const DATA_LINES: &[&str] = &[
    "DATALINES",
    "CARDS",
    "LINES",
    "DATALINES4",
    "CARDS4",
    "LINES4",
    "PARMCARDS",
    "PARMCARDS4",
];

/// Procedures that work at every RUN and stay until QUIT or the next step.
pub(crate) const RUN_GROUP_PROCEDURES: &[&str] = &[
    "DATASETS", "REG", "GLM", "PLOT", "CATALOG", "ANOVA", "GPLOT", "GCHART", "ARIMA", "IML", "SQL",
];

/// Words that macro statements start with, or go on with.
pub(crate) const MACRO_STATEMENTS: &[&str] = &[
    "LET",
    "PUT",
    "GLOBAL",
    "LOCAL",
    "INCLUDE",
    "INC",
    "MACRO",
    "MEND",
    "IF",
    "THEN",
    "ELSE",
    "DO",
    "END",
    "TO",
    "BY",
    "WHILE",
    "UNTIL",
    "GOTO",
    "RETURN",
    "SYMDEL",
    "ABORT",
    "SYSCALL",
    "SYSEXEC",
    "SYSLPUT",
    "SYSRPUT",
    "SYSMACDELETE",
    "SYSMSTORECLEAR",
    "WINDOW",
    "DISPLAY",
    "INPUT",
    "COPY",
    "LIST",
    "RUN",
];

/// Macro functions of the language itself.
pub(crate) const MACRO_FUNCTIONS: &[&str] = &[
    "STR",
    "NRSTR",
    "QUOTE",
    "NRQUOTE",
    "BQUOTE",
    "NRBQUOTE",
    "SUPERQ",
    "UNQUOTE",
    "EVAL",
    "SYSEVALF",
    "SYSFUNC",
    "QSYSFUNC",
    "SCAN",
    "QSCAN",
    "SUBSTR",
    "QSUBSTR",
    "UPCASE",
    "QUPCASE",
    "LENGTH",
    "INDEX",
    "SYMEXIST",
    "SYMLOCAL",
    "SYMGLOBL",
    "SYSMACEXIST",
    "SYSMACEXEC",
    "SYSMEXECDEPTH",
    "SYSMEXECNAME",
];

/// Macro functions that SAS delivers as macros: a program may define its own of the same name.
pub(crate) const MACRO_AUTOCALLS: &[&str] = &[
    "LOWCASE", "QLOWCASE", "TRIM", "QTRIM", "LEFT", "QLEFT", "CMPRES", "QCMPRES", "VERIFY",
    "DATATYP",
];

/// Macro functions that are not there yet.
pub(crate) const MACRO_FUNCTIONS_NOT_YET: &[&str] = &["SYSGET", "SYSPROD", "VALIDCHS", "COMPSTOR"];

/// Longest name of a variable, member or macro variable.
pub(crate) const NAME_CHARACTERS_MAX: usize = 32;

/// Whether `word` is one of `table`, ignoring case.
pub(crate) fn is_one_of(word: &str, table: &[&str]) -> bool {
    table.iter().any(|entry| entry.eq_ignore_ascii_case(word))
}

/// Whether a character may start a name.
pub(crate) const fn starts_name(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

/// Whether a character may stand inside a name.
pub(crate) const fn in_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}
