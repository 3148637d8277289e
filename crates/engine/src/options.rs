//! SAS system options that the engine honours. Anything else is refused by name, never ignored.

mod shown;

use base::limits;
use base::units::{Bytes, parse_size};
use sas7bdat::Compression;

pub use self::shown::Shown;

/// What FILELOCKS= says about locks on permanent data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileLocks {
    /// Lock, and fail when refused.
    Fail,
    /// Do not lock.
    None,
    /// Lock, and go on with a warning when refused.
    Continue,
}

/// Values of the options in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// BUFSIZE=: page size of new data sets, bytes; 0 = 64 KiB or as large as a row needs.
    pub bufsize: u64,
    /// IBUFSIZE=: page size of new index files, bytes; 0 = the smallest that will do.
    pub ibufsize: u64,
    /// IBUFNO=: pages of an index file kept beside one a level.
    pub ibufno: u64,
    /// UBUFSIZE=: block size of utility files, bytes.
    pub ubufsize: u64,
    /// SORTSIZE=: memory for one sort, bytes.
    pub sortsize: u64,
    /// SUMSIZE=: memory for the groups of MEANS, SUMMARY and FREQ, bytes; 0 = what MEMSIZE leaves.
    pub sumsize: u64,
    /// MEMSIZE=: memory for the session, bytes.
    pub memsize: u64,
    /// CPUCOUNT=: threads of one step.
    pub cpucount: u32,
    /// THREADS.
    pub threads: bool,
    /// ALIGNSASIOFILES: header as large as a page; otherwise 8 KiB as SAS 9.3 wrote.
    pub alignsasiofiles: bool,
    /// FILELOCKS=.
    pub filelocks: FileLocks,
    /// COMPRESS=.
    pub compress: Compression,
    /// FULLSTIMER.
    pub fullstimer: bool,
    /// STIMER.
    pub stimer: bool,
    /// NOTES.
    pub notes: bool,
    /// SOURCE.
    pub source: bool,
    /// OBS=; `u64::MAX` = MAX.
    pub obs: u64,
    /// FIRSTOBS=.
    pub firstobs: u64,
    /// LINESIZE=.
    pub linesize: u32,
    /// MSGLEVEL=I.
    pub informative: bool,
    /// ERRORS=: how many errors of a step are shown in full.
    pub errors: u64,
    /// ERRORABEND: the session ends at the first error.
    pub errorabend: bool,
    /// FMTERR: formats that are not there are errors.
    pub fmterr: bool,
    /// SYNTAXCHECK: after an error the steps that follow are only compiled.
    pub syntaxcheck: bool,
    /// SORTEQUALS: ties keep their order unless NOEQUALS is given.
    pub sortequals: bool,
    /// MPRINT: the log shows the statements that macros make.
    pub mprint: bool,
    /// MLOGIC: the log tells what macros do.
    pub mlogic: bool,
    /// SYMBOLGEN: the log tells what macro variable references resolve to.
    pub symbolgen: bool,
    /// MINOPERATOR: `IN` and `#` are operators of macro expressions.
    pub minoperator: bool,
}

/// SAS 9.4's defaults on UNIX, with the number of processors given.
impl Options {
    /// Defaults for a host with `processors` usable processors.
    pub fn new(processors: u32) -> Self {
        Self {
            bufsize: 0,
            ibufsize: 0,
            ibufno: 0,
            ubufsize: Bytes::kib(128).0,
            sortsize: Bytes::gib(1).0,
            sumsize: 0,
            memsize: Bytes::gib(2).0,
            cpucount: processors.clamp(1, limits::THREADS_MAX),
            threads: true,
            alignsasiofiles: true,
            filelocks: FileLocks::Fail,
            compress: Compression::None,
            fullstimer: false,
            stimer: true,
            notes: true,
            source: true,
            obs: u64::MAX,
            firstobs: 1,
            linesize: 132,
            informative: false,
            errors: 20,
            errorabend: false,
            fmterr: true,
            syntaxcheck: true,
            sortequals: true,
            mprint: false,
            mlogic: false,
            symbolgen: false,
            minoperator: false,
        }
    }

    /// Sets an option as an OPTIONS statement or `--option NAME=VALUE` does.
    ///
    /// Errors are sentences that name the option and say what it takes.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let upper = name.to_ascii_uppercase();
        match value {
            None => self.set_switch(&upper),
            Some(value) => self.set_value(&upper, value.trim()),
        }
    }

    fn set_switch(&mut self, name: &str) -> Result<(), String> {
        let (on, base) = match name.strip_prefix("NO") {
            Some(rest) if rest != "TES" => (false, rest),
            _ => (true, name),
        };
        let field = match base {
            "ALIGNSASIOFILES" => &mut self.alignsasiofiles,
            "FULLSTIMER" | "FULLSTATS" => &mut self.fullstimer,
            "STIMER" => &mut self.stimer,
            "NOTES" => &mut self.notes,
            "SOURCE" => &mut self.source,
            "THREADS" => &mut self.threads,
            "SORTEQUALS" => &mut self.sortequals,
            "ERRORABEND" => &mut self.errorabend,
            "FMTERR" => &mut self.fmterr,
            "SYNTAXCHECK" => &mut self.syntaxcheck,
            "MPRINT" => &mut self.mprint,
            "MLOGIC" => &mut self.mlogic,
            "SYMBOLGEN" | "SGEN" => &mut self.symbolgen,
            "MINOPERATOR" | "MINOP" => &mut self.minoperator,
            _ => return Err(unknown(name)),
        };
        *field = on;
        Ok(())
    }

    fn set_value(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "BUFSIZE" => self.bufsize = size(name, value, 0, limits::PAGE_BYTES_MAX)?,
            "IBUFSIZE" => self.ibufsize = size(name, value, 0, 32_767)?,
            "IBUFNO" => self.ibufno = size(name, value, 0, 10_000)?,
            "UBUFSIZE" => self.ubufsize = size(name, value, 4096, limits::PAGE_BYTES_MAX)?,
            "SORTSIZE" => self.sortsize = memory(name, value)?,
            "SUMSIZE" => self.sumsize = size(name, value, 0, u64::MAX)?,
            "MEMSIZE" => self.memsize = memory(name, value)?,
            "CPUCOUNT" => self.cpucount = cpucount(value)?,
            "FILELOCKS" => self.filelocks = filelocks(value)?,
            "COMPRESS" => self.compress = compression(value)?,
            "OBS" => self.obs = count(name, value, 0)?,
            "FIRSTOBS" => self.firstobs = count(name, value, 1)?,
            "ERRORS" => self.errors = count(name, value, 0)?,
            "LS" | "LINESIZE" => {
                let columns = size(name, value, 64, 256)?;
                self.linesize = u32::try_from(columns).expect("at most 256");
            }
            "MSGLEVEL" => match value.to_ascii_uppercase().as_str() {
                "I" => self.informative = true,
                "N" => self.informative = false,
                _ => return Err(format!("MSGLEVEL={value} is not valid; use I or N.")),
            },
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    /// Page size for rows of `row_bytes`, by BUFSIZE= or the default: 64 KiB, or as many whole KiB
    /// as one row needs.
    pub fn page_bytes(&self, bufsize: Option<u64>, row_bytes: u32) -> u64 {
        let wanted = bufsize.unwrap_or(self.bufsize);
        if wanted != 0 {
            return wanted.next_multiple_of(1024).max(1024);
        }
        // Page header, free-row bitmap and a stored row's pointer fit in one further KiB.
        let needed = (u64::from(row_bytes) + 1024).next_multiple_of(1024);
        Bytes::kib(64).0.max(needed)
    }

    /// How much a procedure may hold in memory: MEMSIZE, less what the session itself needs.
    pub fn procedure_memory(&self) -> u64 {
        self.memsize
            .saturating_sub(Bytes::mib(64).0)
            .max(Bytes::mib(1).0)
    }

    /// How much the arrays and hash objects of a DATA step may take: MEMSIZE, less what a step without
    /// them needs.
    pub fn step_memory(&self) -> u64 {
        let kept_free = Bytes::mib(16).0;
        self.memsize.saturating_sub(kept_free).max(kept_free)
    }

    /// How much the groups of MEANS, SUMMARY and FREQ may take: SUMSIZE, but within MEMSIZE.
    pub fn summary_memory(&self) -> u64 {
        let most = self.procedure_memory();
        match self.sumsize {
            0 => most,
            size => size.clamp(Bytes::mib(1).0, most),
        }
    }

    /// How much a sort may hold in memory: SORTSIZE, but within MEMSIZE.
    pub fn sort_memory(&self) -> u64 {
        self.sortsize
            .min(self.procedure_memory())
            .max(Bytes::mib(1).0)
    }
}

/// Names of all options that [`Options::set`] takes, in order.
pub const NAMES: [&str; 29] = [
    "ALIGNSASIOFILES",
    "BUFSIZE",
    "COMPRESS",
    "CPUCOUNT",
    "ERRORABEND",
    "ERRORS",
    "FILELOCKS",
    "FIRSTOBS",
    "FMTERR",
    "FULLSTIMER",
    "IBUFNO",
    "IBUFSIZE",
    "LINESIZE",
    "MEMSIZE",
    "MINOPERATOR",
    "MLOGIC",
    "MPRINT",
    "MSGLEVEL",
    "NOTES",
    "OBS",
    "SORTEQUALS",
    "SORTSIZE",
    "SOURCE",
    "STIMER",
    "SUMSIZE",
    "SYMBOLGEN",
    "SYNTAXCHECK",
    "THREADS",
    "UBUFSIZE",
];

fn unknown(name: &str) -> String {
    format!("Option {name} is not recognized or not implemented yet; remove it from the program.")
}

fn size(name: &str, value: &str, least: u64, most: u64) -> Result<u64, String> {
    match parse_size(value) {
        Some(Bytes(bytes)) if (least..=most).contains(&bytes) => Ok(bytes),
        _ => Err(format!(
            "{name}={value} is not valid; give a size from {least} to {most}, such as 128k or 1M."
        )),
    }
}

/// SORTSIZE and MEMSIZE: a size, or MAX for what the other limit allows.
fn memory(name: &str, value: &str) -> Result<u64, String> {
    if value.eq_ignore_ascii_case("max") {
        return Ok(u64::MAX / 2);
    }
    size(name, value, Bytes::mib(1).0, u64::MAX / 2)
}

fn count(name: &str, value: &str, least: u64) -> Result<u64, String> {
    // What PROC OPTIONS shows for MAX is taken as MAX.
    let most = |number: u64| number >= i64::MAX.unsigned_abs();
    if value.eq_ignore_ascii_case("max") || value.parse().is_ok_and(most) {
        return Ok(u64::MAX);
    }
    size(name, value, least, u64::MAX)
}

fn cpucount(value: &str) -> Result<u32, String> {
    match value.parse() {
        Ok(threads) if (1..=limits::THREADS_MAX).contains(&threads) => Ok(threads),
        _ => Err(format!(
            "CPUCOUNT={value} is not valid; give a number from 1 to {}.",
            limits::THREADS_MAX
        )),
    }
}

/// FILELOCKS=FAIL|NONE|CONTINUE.
pub fn filelocks(value: &str) -> Result<FileLocks, String> {
    match value.to_ascii_uppercase().as_str() {
        "FAIL" => Ok(FileLocks::Fail),
        "NONE" => Ok(FileLocks::None),
        "CONTINUE" => Ok(FileLocks::Continue),
        _ => Err(format!(
            "FILELOCKS={value} is not valid; use FAIL, NONE or CONTINUE."
        )),
    }
}

/// COMPRESS=NO|YES|CHAR|BINARY.
pub fn compression(value: &str) -> Result<Compression, String> {
    match value.to_ascii_uppercase().as_str() {
        "NO" | "OFF" | "N" => Ok(Compression::None),
        "YES" | "ON" | "Y" | "CHAR" => Ok(Compression::Char),
        "BINARY" => Ok(Compression::Binary),
        _ => Err(format!(
            "COMPRESS={value} is not valid; use NO, CHAR (or YES) or BINARY."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options::new(2)
    }

    #[test]
    fn sizes_switches_and_words_are_taken() {
        let mut options = options();
        for (name, value) in [
            ("bufsize", Some("128k")),
            ("SortSize", Some("768M")),
            ("cpucount", Some("2")),
            ("noalignsasiofiles", None),
            ("fullstimer", None),
            ("compress", Some("binary")),
            ("filelocks", Some("none")),
            ("nonotes", None),
        ] {
            options.set(name, value).unwrap();
        }
        assert_eq!((options.bufsize, options.sortsize), (131_072, 768 << 20));
        assert!(!options.alignsasiofiles && options.fullstimer && !options.notes);
        assert_eq!(options.compress, Compression::Binary);
        assert_eq!(options.filelocks, FileLocks::None);
        options.set("notes", None).unwrap();
        assert!(options.notes);
    }

    #[test]
    fn what_is_not_known_or_not_valid_is_refused_by_name() {
        let refused = |name, value| options().set(name, value).unwrap_err();
        assert!(refused("reuse", Some("yes")).contains("REUSE"));
        assert!(refused("bufsize", Some("99g")).contains("BUFSIZE=99g"));
        assert!(refused("compress", Some("zip")).contains("COMPRESS=zip"));
        assert!(refused("bufsize", None).contains("BUFSIZE"));
    }

    #[test]
    fn a_page_holds_at_least_one_row() {
        assert_eq!(options().page_bytes(None, 360), 65_536);
        assert!(options().page_bytes(None, 100_000) > 100_000);
        assert_eq!(options().page_bytes(Some(131_072), 360), 131_072);
    }
}
