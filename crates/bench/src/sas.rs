//! A licensed SAS as what runs the programs: its command line, the autoexec file of a job, its log as records of
//! steps.
//!
//! A job's macro variables and librefs reach the built-in engine as arguments. SAS takes them from an autoexec
//! file, which is written into the job's folder, and everything else from its command line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use engine::datetime::{Date, days_from};
use results::log::Summary;
use results::log::reader;
use results::log::record::step_record;

/// SAS counts days from 1960.
const DAYS_1960_TO_1970: i64 = 3653;

/// What a job is started with.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The job's folder in the run directory.
    pub folder: &'a Path,
    /// The program.
    pub program: &'a Path,
    /// WORK goes below this directory.
    pub work: &'a Path,
    /// Utility files go below this one.
    pub util: &'a Path,
    /// Librefs and their directories.
    pub libraries: &'a [(&'a str, &'a Path)],
    /// Macro variables.
    pub symbols: &'a BTreeMap<String, String>,
    /// System options; an empty value is a switch.
    pub options: &'a BTreeMap<String, String>,
}

/// Whether a path can be started as SAS; says why not.
pub fn check(sas: &Path) -> Result<(), String> {
    let about = fs::metadata(sas).map_err(|error| format!("{}: {error}", sas.display()))?;
    if !about.is_file() || about.permissions().mode() & 0o111 == 0 {
        return Err(format!(
            "{} is no executable file; name the sas command itself, such as \
             sas:/opt/sas/SASHome/SASFoundation/9.4/sas",
            sas.display()
        ));
    }
    Ok(())
}

/// Writes the autoexec file of a job and gives the command that starts it.
pub fn command(sas: &Path, job: &Job<'_>) -> io::Result<Vec<String>> {
    let autoexec = job.folder.join("autoexec.sas");
    let text = autoexec_text(job).map_err(io::Error::other)?;
    fs::write(&autoexec, text)?;
    let mut command = vec![shown(sas)];
    let mut option = |name: &str, value: &str| {
        command.push(format!("-{}", name.to_ascii_lowercase()));
        command.extend((!value.is_empty()).then(|| value.to_owned()));
    };
    option("sysin", &shown(job.program));
    option("log", &shown(&job.folder.join("job.log")));
    option("print", &shown(&job.folder.join("job.lst")));
    option("autoexec", &shown(&autoexec));
    option("work", &shown(job.work));
    option("utilloc", &shown(job.util));
    for switch in ["fullstimer", "noterminal", "nodms"] {
        option(switch, "");
    }
    for (name, value) in job.options {
        // It is asked for in any case.
        if name != "FULLSTIMER" {
            option(name, value);
        }
    }
    Ok(command)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn autoexec_text(job: &Job<'_>) -> Result<String, String> {
    let mut text = String::new();
    for (libref, path) in job.libraries {
        let path = shown(path);
        if path.contains(['\'', '\n']) {
            return Err(format!(
                "{path}: a libref's directory has no quotation marks"
            ));
        }
        let _ = writeln!(text, "libname {libref} '{path}';");
    }
    for (name, value) in job.symbols {
        let value = assigned(value).map_err(|why| format!("macro variable {name}: {why}"))?;
        let _ = writeln!(text, "%let {name}={value};");
    }
    Ok(text)
}

/// A value as %LET takes it. What the macro processor would take for its own is refused: it would be another value
/// there than under the built-in engine.
fn assigned(value: &str) -> Result<&str, String> {
    let refuse = |what: &str| {
        Err(format!(
            "{value:?} has {what}, which %LET of a licensed SAS does not take"
        ))
    };
    if value.trim() != value {
        return refuse("blanks at an end");
    }
    if let Some(sign) = value.chars().find(|sign| ";&%\n".contains(*sign)) {
        return refuse(&format!("{sign:?}"));
    }
    // What follows in the file would be a comment.
    if value.contains("/*") {
        return refuse("\"/*\"");
    }
    let (mut quote, mut open) = (None, 0i32);
    for sign in value.chars() {
        match (quote, sign) {
            (None, '\'' | '"') => quote = Some(sign),
            (Some(begun), _) if begun == sign => quote = None,
            (None, '(') => open += 1,
            (None, ')') => open -= 1,
            _ => {}
        }
        if open < 0 {
            break;
        }
    }
    if quote.is_some() || open != 0 {
        return refuse("quotation marks or brackets without their other half");
    }
    Ok(value)
}

/// What the log of a job says, beside its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRead {
    /// Platform, version, whether the session's end is there.
    pub summary: Summary,
    /// Steps whose accounting has no user and system CPU time: they left no record.
    pub unaccounted: u64,
}

/// Reads the log of a job and writes the records of its steps beside it. `None`: it is no log of SAS.
pub fn read_log(folder: &Path, utc_offset_s: f64) -> io::Result<Option<LogRead>> {
    let log = File::open(folder.join("job.log"))?;
    let mut records = BufWriter::new(File::create(folder.join("steps.jsonl"))?);
    let (mut unaccounted, mut wrong) = (0, None);
    let unix_s = |text: &str| unix_s(text).map(|local| local - utc_offset_s);
    let summary = reader::read(log, &mut |step| {
        let Some(record) = step_record(&step, &unix_s) else {
            unaccounted += 1;
            return;
        };
        let written = serde_json::to_writer(&mut records, &record).map_err(io::Error::other);
        let written = written.and_then(|()| records.write_all(b"\n"));
        wrong = wrong.take().or(written.err());
    })?;
    records.flush()?;
    if let Some(error) = wrong {
        return Err(error);
    }
    Ok(summary.map(|summary| LogRead {
        summary,
        unaccounted,
    }))
}

/// Seconds since 1970 of a time of day such as `2016-08-25T08:37:42`, as if it were UTC.
fn unix_s(text: &str) -> Option<f64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u32>().ok();
    let date = Date {
        year: i64::from(number(0, 4)?),
        month: number(5, 7).filter(|month| (1..=12).contains(month))?,
        day: number(8, 10)?,
    };
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let days = days_from(date) - DAYS_1960_TO_1970;
    let seconds = (hour * 60 + minute) * 60 + second;
    Some(days as f64 * 86_400.0 + f64::from(seconds))
}

/// Version and platform in one line; what a log does not say is left out.
pub fn engine(summary: &Summary) -> String {
    let version = summary
        .version
        .as_deref()
        .unwrap_or("of a version its log does not name");
    let platform = summary.platform.as_deref();
    format!(
        "SAS {version}{}",
        platform.map_or(String::new(), |platform| format!(" on {platform}"))
    )
}

/// `builtin`, or `sas:` and the path of a licensed SAS.
pub fn parse_engine(text: &str) -> Result<Option<PathBuf>, String> {
    if text == "builtin" {
        return Ok(None);
    }
    match text.strip_prefix("sas:") {
        Some(path) if !path.is_empty() => Ok(Some(PathBuf::from(path))),
        _ => Err("needs builtin, or sas: and the path of the sas command".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        // By `date -u -d … +%s`.
        for (text, seconds) in [
            ("1970-01-01T00:00:00", 0.0),
            ("2000-02-29T12:00:00", 951_825_600.0),
            ("2016-08-25T08:37:42", 1_472_114_262.0),
            ("2026-12-31T23:59:59", 1_798_761_599.0),
        ] {
            assert_eq!(unix_s(text), Some(seconds), "{text}");
        }
        assert_eq!(unix_s("08/25/2016"), None);
    }

    #[test]
    fn what_the_macro_processor_would_take_is_refused() {
        for good in [
            "",
            "a b",
            "x < 5 and y = 'a b'",
            "nmiss(x) \"it's\"",
            "k1 k2",
        ] {
            assert_eq!(assigned(good), Ok(good));
        }
        for bad in [
            " a", "a;b", "a&b", "100%", "it's", "f(x", "f)x(", "a\nb", "a/*b",
        ] {
            assert!(assigned(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_job_has_its_command_line_and_its_autoexec_file() {
        let folder = tempfile::tempdir().unwrap();
        let of = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let job = Job {
            folder: folder.path(),
            program: Path::new("/r/program.sas"),
            work: Path::new("/w"),
            util: Path::new("/u"),
            libraries: &[("in", Path::new("/d/in")), ("out", Path::new("/d/my out"))],
            symbols: &of(&[("by", "k1 k2"), ("where", "status = 'A'")]),
            options: &of(&[("FULLSTIMER", ""), ("MEMSIZE", "2G"), ("NOTHREADS", "")]),
        };
        let command = command(Path::new("/opt/sas"), &job).unwrap();
        let own = folder.path().display();
        let wanted = format!(
            "/opt/sas -sysin /r/program.sas -log {own}/job.log -print {own}/job.lst -autoexec {own}/autoexec.sas \
             -work /w -utilloc /u -fullstimer -noterminal -nodms -memsize 2G -nothreads"
        );
        assert_eq!(command.join(" "), wanted);
        let text = fs::read_to_string(folder.path().join("autoexec.sas")).unwrap();
        assert_eq!(
            text,
            "libname in '/d/in';\nlibname out '/d/my out';\n%let by=k1 k2;\n%let where=status = 'A';\n"
        );
    }

    #[test]
    fn every_job_of_the_built_in_suites_can_have_an_autoexec_file() {
        use crate::plan::Request;
        use crate::plan::tests::host;
        use crate::plan::{Scale, plan};
        for name in crate::suite::names() {
            let suite = crate::suite::builtin(name).unwrap();
            let plan = plan(&suite, &Request::of(Scale::Demonstration), &host(10_000)).unwrap();
            for job in &plan.jobs {
                for value in job.symbols.values() {
                    assert_eq!(assigned(value), Ok(&**value), "{name}: {}", job.name);
                }
            }
        }
    }

    #[test]
    fn engines_are_told_apart() {
        assert_eq!(parse_engine("builtin"), Ok(None));
        assert_eq!(
            parse_engine("sas:/a/sas"),
            Ok(Some(PathBuf::from("/a/sas")))
        );
        assert!(parse_engine("sas:").is_err() && parse_engine("/a/sas").is_err());
        assert!(check(Path::new("/")).unwrap_err().contains("no executable"));
        assert!(check(Path::new("/none")).unwrap_err().contains("/none"));
    }
}
