//! Words of the language, upper case and sorted by nothing but sense: what is known but not there
//! yet must be told apart from what nobody knows.

/// DATA step statements that are not there yet.
pub(crate) const STEP_NOT_YET: &[&str] = &[
    "UPDATE", "MODIFY", "ABORT", "CALL", "ERROR", "LIST", "LOSTCARD", "REMOVE", "REPLACE",
    "WINDOW", "DISPLAY", "REDIRECT", "DESCRIBE", "EXECUTE",
];

/// Global statements that are not there yet.
pub(crate) const GLOBAL_NOT_YET: &[&str] = &[
    "ODS",
    "X",
    "SYSTASK",
    "WAITFOR",
    "LOCK",
    "GOPTIONS",
    "DM",
    "MISSING",
    "PAGE",
    "SKIP",
    "CATNAME",
    "RSUBMIT",
    "ENDRSUBMIT",
    "SIGNON",
    "SIGNOFF",
    "SASFILE",
    "AXIS",
    "SYMBOL",
    "LEGEND",
    "PATTERN",
];

/// Those of [`GLOBAL_NOT_YET`] that no procedure has as a statement of its own.
pub(crate) const GLOBAL_EVEN_IN_PROCEDURES: &[&str] =
    &["ODS", "X", "SYSTASK", "WAITFOR", "GOPTIONS", "DM"];

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

/// Macro statements that are not there yet; `%MACRO` is skipped with its body.
pub(crate) const MACRO_STATEMENTS_NOT_YET: &[&str] = &[
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
    "ABORT",
    "LOCAL",
    "SYMDEL",
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

/// Macro functions that are not there yet.
pub(crate) const MACRO_FUNCTIONS_NOT_YET: &[&str] = &[
    "EVAL",
    "SYSEVALF",
    "SYSFUNC",
    "QSYSFUNC",
    "STR",
    "NRSTR",
    "QUOTE",
    "NRQUOTE",
    "BQUOTE",
    "NRBQUOTE",
    "SUPERQ",
    "UNQUOTE",
    "SCAN",
    "QSCAN",
    "SUBSTR",
    "QSUBSTR",
    "UPCASE",
    "QUPCASE",
    "LOWCASE",
    "QLOWCASE",
    "LENGTH",
    "INDEX",
    "SYMEXIST",
    "SYMLOCAL",
    "SYMGLOBL",
    "SYSGET",
    "SYSPROD",
    "DATATYP",
    "TRIM",
    "QTRIM",
    "LEFT",
    "QLEFT",
    "CMPRES",
    "QCMPRES",
    "VERIFY",
    "SYSMACEXEC",
    "SYSMACEXIST",
    "SYSMEXECDEPTH",
    "SYSMEXECNAME",
    "VALIDCHS",
    "COMPSTOR",
];

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
