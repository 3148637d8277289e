//! The checks of a suite on the outputs of its jobs. Files are read back from the device, not from what
//! the job left in the cache; conditions on rows are the engine's business, which runs a small program
//! for each.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use ::io::cache;
use base::rowhash::RowHash;
use sas7bdat::{Kind, Metadata, trim_blanks};

use super::located::Located;
use super::{ExpectedRows, Order, read_rows, sorted_same_rows};
use crate::plan::{Plan, PlannedJob};
use crate::stage::{Stage, Staged};
use crate::suite::check::{Check, Counted, Expected};
use crate::suite::text::Copies;

/// Runs a program of the checker on IN and OUT of a batch; the folder keeps it with its log. Returns the log.
pub type Execute<'a> = dyn Fn(u32, &Path, &str, &str) -> Result<Executed, String> + 'a;

/// Which outputs must be equal: of one check of an entry, and of the same data.
type Equals = (usize, usize, Vec<(u32, u64)>);

/// What a program of the checker left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// Its log.
    pub log: String,
    /// Hash and number of the rows of the last data set written.
    pub written: Option<RowHash>,
}

/// Checks jobs one by one.
pub struct Checker<'a> {
    plan: &'a Plan,
    stage: &'a Stage,
    output_of: &'a dyn Fn(u32) -> PathBuf,
    execute: &'a Execute<'a>,
    /// The batch, of those side by side, to which the job at work belongs.
    lane: u32,
    /// Where it makes its outputs.
    output: PathBuf,
    /// Outputs that have just been read from storage: what is cached of them came from there.
    read: HashSet<PathBuf>,
    /// Answers of programs by batch and text: several jobs ask the same of an input.
    answers: HashMap<(u32, String), Executed>,
    /// The first output of its kind, which the others must equal.
    firsts: HashMap<Equals, PathBuf>,
}

/// What is wrong, or why it could not be found out.
type Findings = Result<Vec<String>, String>;

impl<'a> Checker<'a> {
    /// For outputs in the folder of each batch, of which some have just been `read` from storage.
    pub fn new(
        plan: &'a Plan,
        stage: &'a Stage,
        output_of: &'a dyn Fn(u32) -> PathBuf,
        execute: &'a Execute<'a>,
        read: Vec<PathBuf>,
    ) -> Self {
        Self {
            plan,
            stage,
            output_of,
            execute,
            lane: 1,
            output: output_of(1),
            read: read.into_iter().collect(),
            answers: HashMap::new(),
            firsts: HashMap::new(),
        }
    }

    /// What is wrong with the outputs of a job; `folder` is the job's in the run directory.
    pub fn check(&mut self, job: &PlannedJob, folder: &Path) -> Vec<String> {
        self.lane = job.lane;
        self.output = (self.output_of)(job.lane);
        let mut findings = Vec::new();
        for check in &job.checks {
            match self.one(job, check, folder) {
                Ok(found) => findings.extend(found),
                Err(message) => findings.push(message),
            }
        }
        findings
    }

    fn one(&mut self, job: &PlannedJob, check: &Check, folder: &Path) -> Findings {
        match check {
            Check::Sorted {
                dataset,
                by,
                same_rows_as,
            } => {
                let Some(input) = same_rows_as else {
                    let path = self.evicted(dataset)?;
                    return Ok(sorted_same_rows(&path, by, Order::Ties, None));
                };
                let hash = self.staged(input)?.rows();
                self.same_rows(dataset, by, (input, hash, true))
            }
            Check::Rows { datasets, expected } => {
                let wanted = self.expected(expected, folder)?;
                let mut findings = Vec::new();
                for dataset in datasets {
                    let path = self.evicted(dataset)?;
                    let found = read_rows(&path)?.rows;
                    findings.extend(differs(&path, "rows", found, wanted));
                }
                Ok(findings)
            }
            Check::SameRows {
                dataset,
                same_rows_as,
                input_where,
            } => {
                let hash = self.rows_of(same_rows_as, input_where.as_deref(), folder)?;
                self.same_rows(dataset, &[], (same_rows_as, hash, input_where.is_none()))
            }
            Check::Total { .. } => self.total(check, folder),
            Check::Distinct { dataset, by, of } => {
                let wanted = self.keys(of, by, folder)?;
                let path = self.evicted(dataset)?;
                let mut findings = sorted_same_rows(&path, by, Order::NoTies, None);
                findings.extend(differs(&path, "rows", read_rows(&path)?.rows, wanted));
                Ok(findings)
            }
            Check::Indexed { datasets, indexes } => self.indexed(datasets, indexes),
            Check::Absent { datasets } => {
                let there = datasets.iter().map(|name| self.path(name));
                let there = there.filter(|path| path.exists());
                Ok(there
                    .map(|path| format!("{}: it was to be deleted", path.display()))
                    .collect())
            }
            Check::Members { datasets, start } => self.members(datasets, start),
            Check::Lines {
                file,
                expected,
                more,
            } => {
                let wanted = self.expected(expected, folder)? + more;
                let path = self.output.join(file);
                self.evict(&path)?;
                let found = lines(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                Ok(differs(&path, "lines", found, wanted).into_iter().collect())
            }
            Check::Equal {
                dataset,
                digits,
                place,
            } => {
                let of = (job.entry, *place, self.own_data(job));
                self.equal_launches(of, dataset, *digits)
            }
        }
    }

    /// Which copies of its data a job read, where that makes a difference.
    fn own_data(&self, job: &PlannedJob) -> Vec<(u32, u64)> {
        if self.plan.copies == Copies::Identical {
            return Vec::new();
        }
        let inputs = job.inputs.iter().map(|at| &self.plan.datasets[*at]);
        inputs.map(|set| (set.lane, set.replica)).collect()
    }

    /// Compares the rows of an output with those of an input, or some of them.
    fn same_rows(
        &self,
        dataset: &str,
        by: &[String],
        (input, hash, whole): (&str, RowHash, bool),
    ) -> Findings {
        let held_by = &self.input(input);
        let expected = ExpectedRows {
            hash,
            held_by,
            whole,
        };
        let path = self.evicted(dataset)?;
        Ok(sorted_same_rows(&path, by, Order::Ties, Some(expected)))
    }

    /// Compares an output with that of the first launch that left one.
    fn equal_launches(&mut self, place: Equals, dataset: &str, digits: Option<u32>) -> Findings {
        let path = self.evicted(dataset)?;
        if !path.exists() {
            return Err(format!("{}: there is no such file", path.display()));
        }
        let first = self.firsts.entry(place).or_insert_with(|| path.clone());
        equal(first, &path, digits).map(|finding| finding.into_iter().collect())
    }

    fn path(&self, dataset: &str) -> PathBuf {
        self.output
            .join(format!("{}.sas7bdat", dataset.to_ascii_lowercase()))
    }

    /// The file of an input.
    fn input(&self, dataset: &str) -> PathBuf {
        let folder = self.stage.of_lane(self.lane);
        folder.join(format!("{dataset}.sas7bdat"))
    }

    /// The file of an output, out of the cache. One that is missing is reported by who reads it.
    fn evicted(&self, dataset: &str) -> Result<PathBuf, String> {
        let path = self.path(dataset);
        self.evict(&path)?;
        Ok(path)
    }

    fn evict(&self, path: &Path) -> Result<(), String> {
        if self.read.contains(path) || !path.exists() {
            return Ok(());
        }
        cache::evict(path).map_err(|error| format!("failed to evict {}: {error}", path.display()))
    }

    fn staged(&self, name: &str) -> Result<Staged, String> {
        self.stage
            .staged(self.lane, name)
            .ok_or_else(|| format!("{name} is not among the staged data"))
    }

    fn expected(&mut self, expected: &Expected, folder: &Path) -> Result<u64, String> {
        let one = match &expected.of {
            Counted::Known(number) => *number,
            Counted::Output(name) => read_rows(&self.path(name))?.rows,
            Counted::Input { name, condition } => match condition {
                None => self.staged(name)?.rows,
                Some(condition) => {
                    self.sum(&format!("in.{name}"), "1", Some(condition), folder)?
                        .0
                }
            },
        };
        Ok(one * expected.times)
    }

    fn total(&mut self, check: &Check, folder: &Path) -> Findings {
        let Check::Total {
            dataset,
            variable,
            condition,
            expected,
        } = check
        else {
            return Ok(Vec::new());
        };
        let wanted = self.expected(expected, folder)?;
        let path = self.evicted(dataset)?;
        let metadata = Located::open(&path)?.metadata().clone();
        if metadata.column(variable).is_none() {
            return Err(format!(
                "{}: there is no variable {variable}",
                path.display()
            ));
        }
        let name = format!("out.{dataset}");
        let (_, found) = self.sum(&name, variable, condition.as_deref(), folder)?;
        let adds_up = (found - wanted as f64).abs() < 0.5;
        let only = condition
            .as_ref()
            .map_or(String::new(), |text| format!(" where {text}"));
        let finding = || {
            format!(
                "{}: {variable}{only} adds up to {found} instead of {wanted}",
                path.display()
            )
        };
        Ok((!adds_up).then(finding).into_iter().collect())
    }

    /// Rows that fulfil a condition, and the sum of an expression over them.
    fn sum(
        &mut self,
        name: &str,
        expression: &str,
        condition: Option<&str>,
        folder: &Path,
    ) -> Result<(u64, f64), String> {
        let condition = condition.map_or(String::new(), |text| format!("  where {text};\n"));
        let program = format!(
            "data _null_;\n  if _n_ = 1 then put 'CHECK 0 0';\n  set {name} end=check_last;\n{condition}  \
             check_rows + 1;\n  check_total + ({expression});\n  if check_last then put 'CHECK ' \
             check_rows 20. +1 check_total best32.;\nrun;\n"
        );
        let log = self.ask(&program, folder)?.log;
        let mut answers = log.lines().filter_map(|line| line.strip_prefix("CHECK "));
        let words = answers
            .next_back()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        match words.as_deref() {
            Some([rows, total]) => rows
                .parse()
                .ok()
                .zip(total.parse().ok())
                .ok_or_else(|| format!("the check of {name} left no numbers: {rows} {total}")),
            _ => Err(format!("the check of {name} left no answer")),
        }
    }

    /// How many different keys an input has.
    fn keys(&mut self, of: &str, by: &[String], folder: &Path) -> Result<u64, String> {
        let by = by.join(" ");
        let program = format!(
            "proc sort data=in.{of}(keep={by}) out=work.keys nodupkey;\n  by {by};\nrun;\n"
        );
        let written = self.ask(&program, folder)?.written;
        written
            .map(|hash| hash.rows)
            .ok_or_else(|| format!("the check of {of} left no answer"))
    }

    /// The rows of an input, or those that fulfil a condition.
    fn rows_of(
        &mut self,
        name: &str,
        condition: Option<&str>,
        folder: &Path,
    ) -> Result<RowHash, String> {
        let Some(condition) = condition else {
            return Ok(self.staged(name)?.rows());
        };
        let program = format!("data work.rows;\n  set in.{name};\n  where {condition};\nrun;\n");
        let written = self.ask(&program, folder)?.written;
        written.ok_or_else(|| format!("the check of {name} left no answer"))
    }

    /// Runs a program, or remembers what it said.
    fn ask(&mut self, program: &str, folder: &Path) -> Result<Executed, String> {
        let question = (self.lane, program.to_owned());
        if let Some(known) = self.answers.get(&question) {
            return Ok(known.clone());
        }
        let name = format!("check{}", self.answers.len() + 1);
        let executed = (self.execute)(self.lane, folder, &name, program)?;
        self.answers.insert(question, executed.clone());
        Ok(executed)
    }

    fn indexed(&self, datasets: &[String], indexes: &[String]) -> Findings {
        let mut findings = Vec::new();
        for dataset in datasets {
            let path = self.path(dataset);
            let metadata = Located::open(&path)?.metadata().clone();
            for index in indexes {
                let known = metadata.indexes.iter();
                if !known
                    .clone()
                    .any(|one| one.name.eq_ignore_ascii_case(index))
                {
                    findings.push(format!("{}: there is no index {index}", path.display()));
                }
            }
            let file = path.with_extension("sas7bndx");
            if !file.exists() {
                findings.push(format!("{}: there is no such file", file.display()));
            }
        }
        Ok(findings)
    }

    fn members(&self, datasets: &[String], start: &str) -> Findings {
        let explain = |error: io::Error| format!("{}: {error}", self.output.display());
        let start = start.to_ascii_lowercase();
        let mut there = BTreeSet::new();
        for entry in fs::read_dir(&self.output).map_err(explain)? {
            let name = entry.map_err(explain)?.file_name();
            let name = name.to_string_lossy();
            if let Some(name) = name
                .strip_suffix(".sas7bdat")
                .filter(|name| name.starts_with(&start))
            {
                there.insert(name.to_owned());
            }
        }
        let wanted: BTreeSet<String> = datasets
            .iter()
            .map(|name| name.to_ascii_lowercase())
            .collect();
        let missing = wanted
            .difference(&there)
            .map(|name| format!("{name} is missing"));
        let extra = there
            .difference(&wanted)
            .map(|name| format!("{name} is there and should not be"));
        Ok(missing
            .chain(extra)
            .map(|finding| format!("{}: {finding}", self.output.display()))
            .collect())
    }
}

fn differs(path: &Path, what: &str, found: u64, wanted: u64) -> Option<String> {
    (found != wanted).then(|| format!("{}: {found} {what} instead of {wanted}", path.display()))
}

fn lines(path: &Path) -> io::Result<u64> {
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut count = 0;
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        count += 1;
        line.clear();
    }
    Ok(count)
}

/// Compares two data sets row by row; names the first value that differs.
fn equal(first: &Path, second: &Path, digits: Option<u32>) -> Result<Option<String>, String> {
    if first == second {
        return read_rows(first).map(|_| None);
    }
    let (mut left, mut right) = (Located::open(first)?, Located::open(second)?);
    let metadata = left.metadata().clone();
    let other = right.metadata().clone();
    let shape = |metadata: &Metadata| {
        let variables = metadata.variables.iter();
        variables
            .map(|one| (one.name.to_ascii_lowercase(), one.kind, one.length))
            .collect::<Vec<_>>()
    };
    let say = |what: String| {
        let (second, first) = (second.display(), first.display());
        Ok(Some(format!("{second}: {what}, unlike {first}")))
    };
    if shape(&metadata) != shape(&other) {
        return say("it has other variables".to_owned());
    }
    loop {
        let (ours, theirs) = (left.advance()?, right.advance()?);
        if !ours || !theirs {
            return if ours == theirs {
                Ok(None)
            } else {
                say(format!("it has {} rows", other.rows))
            };
        }
        for (place, variable) in metadata.variables.iter().enumerate() {
            let value = |row: &[u8], metadata: &Metadata| {
                let from = metadata.layout.offsets[place] as usize;
                row[from..from + variable.length as usize].to_vec()
            };
            let (one, two) = (value(left.row(), &metadata), value(right.row(), &other));
            let same = match variable.kind {
                Kind::Numeric => same_number(&one, &two, digits),
                Kind::Character => trim_blanks(&one) == trim_blanks(&two),
            };
            if !same {
                return say(format!("{} differs in {}", right.place(), variable.name));
            }
        }
    }
}

/// Numbers as little-endian doubles, perhaps without their last bytes.
fn same_number(one: &[u8], two: &[u8], digits: Option<u32>) -> bool {
    let Some(digits) = digits.filter(|_| one != two) else {
        return one == two;
    };
    let number = |bytes: &[u8]| {
        let mut whole = [0; 8];
        whole[8 - bytes.len()..].copy_from_slice(bytes);
        f64::from_le_bytes(whole)
    };
    let (one, two) = (number(one), number(two));
    let within = 10f64.powi(-i32::try_from(digits).unwrap_or(15));
    // Missing values are NaN: they are the same only by their bytes.
    (one - two).abs() <= within * one.abs().max(two.abs())
}

#[cfg(test)]
mod tests {
    use super::same_number;

    #[test]
    fn numbers_are_compared_to_so_many_digits() {
        let bytes = f64::to_le_bytes;
        assert!(same_number(&bytes(1.0), &bytes(1.0 + 1e-10), Some(9)));
        assert!(!same_number(&bytes(1.0), &bytes(1.0 + 1e-8), Some(9)));
        assert!(!same_number(&bytes(1.0), &bytes(1.0 + 1e-10), None));
        assert!(!same_number(&bytes(f64::NAN), &bytes(1.0), Some(9)));
        assert!(same_number(&bytes(f64::NAN), &bytes(f64::NAN), Some(9)));
        assert!(same_number(&bytes(0.0), &bytes(0.0), Some(9)));
    }
}
