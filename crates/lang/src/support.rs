//! What there is of each word of the language, in the words of COMPAT.md. The tables that the parser
//! reads by say it, so that nothing is listed that is not read, and the other way round.

/// What of a statement, an option or a procedure there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Support {
    /// Forms and options that there are, and what differs from SAS.
    pub yes: &'static str,
    /// What is refused by name.
    pub no: &'static str,
}

impl Support {
    /// All that SAS has, in these forms.
    pub const fn all(yes: &'static str) -> Self {
        Self { yes, no: "" }
    }

    /// In part: `no` is refused.
    pub const fn part(yes: &'static str, no: &'static str) -> Self {
        Self { yes, no }
    }
}

/// A word of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Upper case.
    pub name: &'static str,
    /// What there is of it; `None` for what is known and refused.
    pub support: Option<Support>,
}
