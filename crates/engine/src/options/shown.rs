//! What PROC OPTIONS shows of the options.

use sas7bdat::Compression;

use super::{FileLocks, Options};

/// An option as PROC OPTIONS shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Upper case, without NO.
    pub name: &'static str,
    value: Value,
    /// What it is for.
    pub description: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Text(String),
    Switch(bool),
}

impl Shown {
    /// `BUFSIZE=0`, `NOTES`, `NOFULLSTIMER`.
    pub fn setting(&self) -> String {
        match &self.value {
            Value::Text(value) => format!("{}={value}", self.name),
            Value::Switch(true) => self.name.to_owned(),
            Value::Switch(false) => format!("NO{}", self.name),
        }
    }

    /// The value alone; a switch as it would be written.
    pub fn value(&self) -> String {
        match &self.value {
            Value::Text(value) => value.clone(),
            Value::Switch(_) => self.setting(),
        }
    }
}

impl Options {
    /// All options, sorted by name.
    pub fn shown(&self) -> Vec<Shown> {
        let mut all = self.shown_values();
        all.extend(self.shown_switches());
        all.sort_unstable_by_key(|one| one.name);
        all
    }

    fn shown_values(&self) -> Vec<Shown> {
        let most = |value: u64| value.min(i64::MAX.unsigned_abs()).to_string();
        let mut all = self.shown_words();
        let mut add = |name, value, description| {
            all.push(Shown {
                name,
                value: Value::Text(most(value)),
                description,
            });
        };
        let cpucount = u64::from(self.cpucount);
        let linesize = u64::from(self.linesize);
        add(
            "BUFSIZE",
            self.bufsize,
            "Page size of new data sets, bytes.",
        );
        add("CPUCOUNT", cpucount, "Threads of one step.");
        add("ERRORS", self.errors, "Errors of a step shown in full.");
        add("FIRSTOBS", self.firstobs, "First observation that is read.");
        add(
            "IBUFNO",
            self.ibufno,
            "Further pages of an index in memory.",
        );
        add(
            "IBUFSIZE",
            self.ibufsize,
            "Page size of new indexes, bytes.",
        );
        add("LINESIZE", linesize, "Width of log and listing.");
        add("MEMSIZE", self.memsize, "Memory for the session, bytes.");
        add("OBS", self.obs, "Last observation that is read.");
        add("SORTSIZE", self.sortsize, "Memory for one sort, bytes.");
        add(
            "SUMSIZE",
            self.sumsize,
            "Memory for groups, bytes; 0 for MEMSIZE.",
        );
        add(
            "UBUFSIZE",
            self.ubufsize,
            "Block size of utility files, bytes.",
        );
        all
    }

    fn shown_words(&self) -> Vec<Shown> {
        let locks = match self.filelocks {
            FileLocks::Fail => "FAIL",
            FileLocks::None => "NONE",
            FileLocks::Continue => "CONTINUE",
        };
        let compress = match self.compress {
            Compression::None => "NO",
            Compression::Char => "CHAR",
            Compression::Binary => "BINARY",
        };
        let level = if self.informative { "I" } else { "N" };
        let words = [
            ("COMPRESS", compress, "Compression of new data sets."),
            ("FILELOCKS", locks, "Locks on permanent data sets."),
            ("MSGLEVEL", level, "Whether INFO messages are shown."),
        ];
        let shown = words.map(|(name, value, description)| Shown {
            name,
            value: Value::Text(value.to_owned()),
            description,
        });
        shown.into()
    }

    fn shown_switches(&self) -> Vec<Shown> {
        let mut all = Vec::new();
        let mut add = |name, on, description| {
            all.push(Shown {
                name,
                value: Value::Switch(on),
                description,
            });
        };
        let aligned = self.alignsasiofiles;
        add(
            "ALIGNSASIOFILES",
            aligned,
            "Headers are as large as a page.",
        );
        add(
            "ERRORABEND",
            self.errorabend,
            "The first error ends the session.",
        );
        add("FMTERR", self.fmterr, "Unknown formats are errors.");
        add(
            "FULLSTIMER",
            self.fullstimer,
            "All resources of a step are shown.",
        );
        add(
            "MINOPERATOR",
            self.minoperator,
            "IN is an operator of macros.",
        );
        add("MLOGIC", self.mlogic, "What macros do is shown.");
        add("MPRINT", self.mprint, "Statements of macros are shown.");
        add("NOTES", self.notes, "Notes are shown.");
        add(
            "SORTEQUALS",
            self.sortequals,
            "Sorting keeps the order of ties.",
        );
        add("SOURCE", self.source, "Program lines are shown.");
        add("STIMER", self.stimer, "The time of a step is shown.");
        add(
            "SYMBOLGEN",
            self.symbolgen,
            "Values of references are shown.",
        );
        add(
            "SYNTAXCHECK",
            self.syntaxcheck,
            "After an error steps are only checked.",
        );
        add("THREADS", self.threads, "Steps may use threads.");
        all
    }
}
