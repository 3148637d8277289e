//! Words of the language that several rooms of the parser know, and what names are made of.

/// Procedures that work at every RUN and stay until QUIT or the next step.
pub(crate) const RUN_GROUP_PROCEDURES: &[&str] = &[
    "DATASETS", "REG", "GLM", "PLOT", "CATALOG", "ANOVA", "GPLOT", "GCHART", "ARIMA", "IML", "SQL",
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
