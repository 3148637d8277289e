//! After the jobs: what they read is compared with what was staged, what they wrote is read back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use results::run::{Event, EventKind};
use results::step::DatasetRecord;
use results::written::FileChange;

use super::{Error, Run, Watcher, failed, first_error};
use crate::plan::{Plan, PlannedDataset, PlannedJob, Verify};
use crate::suite::expand::names_input;
use crate::suite::text::Format;
use crate::verify;
use crate::verify::checks::Checker;
use crate::verify::written::{Left, ReadBack};

/// What keeps jobs from being verified.
#[derive(Default)]
struct Happened {
    /// Jobs that a signal ended or that ended themselves early, by their names in their batches.
    died: BTreeSet<String>,
    /// Why what jobs wrote may be lost.
    lost: Option<String>,
}

impl Happened {
    /// What flushing found wrong is told even where nothing is verified.
    fn none_lost(&self) -> Result<(), Error> {
        match &self.lost {
            Some(lost) => Err(failed("write what the jobs wrote")(io::Error::other(
                lost.clone(),
            ))),
            None => Ok(()),
        }
    }
}

impl Run<'_> {
    /// Verifies the jobs of the plan; `all` has those too that other nodes ran or verify.
    pub(super) fn verify(&self, all: &Plan, watcher: &mut dyn Watcher) -> Result<(), Error> {
        let plan = &self.config.plan;
        let happened = self.happened()?;
        if plan.verify == Verify::Off {
            return happened.none_lost();
        }
        watcher.phase("verifying");
        let last = self.batch();
        for batch in 1..last {
            self.verify_replaced(batch, &happened)?;
        }
        self.set_batch(last);
        let places = |lane: u32| [self.stage.of_lane(lane), self.output_of(lane)];
        let execute = |lane: u32, folder: &Path, name: &str, program: &str| {
            self.execute(folder, name, program, &places(lane))
        };
        let output = |lane: u32| self.output_of(lane);
        // Jobs of the same entry run the same program.
        let mut seen = BTreeSet::new();
        let is_wanted = |job: &PlannedJob| plan.verify == Verify::Full || seen.insert(job.entry);
        let mut jobs = plan.jobs.clone();
        jobs.retain(is_wanted);
        let (mut as_written, read) = self.read_back(&jobs, all)?;
        let mut checker = Checker::new(plan, &self.stage, &output, &execute, read);
        for (done, job) in jobs.iter().enumerate() {
            if self.stopped() {
                return Ok(());
            }
            watcher.verifying(done, jobs.len());
            let mut found = as_written.remove(&job.name).unwrap_or_default();
            found
                .findings
                .extend(self.check(job, &happened, &mut checker)?);
            // What a check was cut short in is no finding.
            if self.stopped() {
                return Ok(());
            }
            // A licensed SAS does not tell what it wrote: nothing was compared.
            let tells = self.config.sas.is_none();
            let told = self.directory.has_written(&self.name(job));
            if tells && !told {
                let missing = "it left no record of what it wrote";
                found.findings.push(missing.to_owned());
            }
            self.verified(job, &found, tells && told)?;
        }
        watcher.verifying(jobs.len(), jobs.len());
        Ok(())
    }

    /// Compares the files that jobs of the batch left with what they wrote, for those that are wanted. Any of
    /// `all` may have changed them. Returns what was found by the job's name, and the files that were read.
    fn read_back(
        &self,
        wanted: &[PlannedJob],
        all: &Plan,
    ) -> Result<(BTreeMap<String, ReadBack>, Vec<PathBuf>), Error> {
        let mut changes = Vec::new();
        let mut broken = Vec::new();
        for job in &all.jobs {
            let of_job = self.directory.written(&self.name(job))?;
            broken.extend(of_job.broken.map(|(line, _)| {
                let name = self.name(job);
                let finding = format!(
                    "what it wrote is not known: jobs/{name}/written.jsonl has no record at line {line}"
                );
                (job.name.clone(), finding)
            }));
            let of_job = of_job.records;
            let offset_s = self
                .part
                .as_ref()
                .map_or(0.0, |part| part.offset_s(&job.name));
            changes.extend(of_job.into_iter().map(|change| {
                let unix_ns = on_first_clock(change.unix_ns, offset_s);
                (job.name.clone(), FileChange { unix_ns, ..change })
            }));
        }
        let wanted: BTreeSet<&str> = wanted.iter().map(|job| &*job.name).collect();
        let is_wanted = |job: &str| wanted.contains(job);
        let elsewhere = self.ran_elsewhere()?;
        let is_elsewhere = |job: &str| elsewhere.contains(job);
        let stopped = || self.stopped();
        let (mut found, files) =
            Left::after(changes).read_back(&is_wanted, &is_elsewhere, &stopped);
        for (job, finding) in broken {
            found.entry(job).or_default().findings.push(finding);
        }
        Ok((found, files))
    }

    /// Jobs that ran on other machines, as far as that is known: this one cached nothing when they wrote.
    fn ran_elsewhere(&self) -> Result<BTreeSet<String>, Error> {
        let mut found = BTreeSet::new();
        let Some(own) = self.part.as_ref().and(self.node.boot_id.as_ref()) else {
            return Ok(found);
        };
        for job in self.directory.plan()?.jobs {
            let node = job.node.map(|name| self.directory.node(&name));
            let boot_id = node.transpose()?.flatten().and_then(|node| node.boot_id);
            if boot_id.is_some_and(|other| other != *own) {
                found.insert(job.name);
            }
        }
        Ok(found)
    }

    /// A batch whose outputs were replaced by those of the next one: what it read, and its logs.
    fn verify_replaced(&self, batch: u32, happened: &Happened) -> Result<(), Error> {
        self.set_batch(batch);
        for job in &self.config.plan.jobs {
            let findings = match self.cut_short(job, happened) {
                Some(finding) => vec![finding],
                None => self.input_as_read(job)?,
            };
            let found = ReadBack {
                findings,
                ..ReadBack::default()
            };
            self.verified(job, &found, false)?;
        }
        Ok(())
    }

    /// Notes what was found, with how much was compared if anything was.
    fn verified(&self, job: &PlannedJob, found: &ReadBack, compared: bool) -> Result<(), Error> {
        let mut event = Event::of_job(self.time(), EventKind::JobVerified, &self.name(job));
        event.findings = Some(found.findings.clone());
        event.read_back_bytes = compared.then_some(found.bytes);
        event.from_storage_bytes = compared.then_some(found.from_storage);
        self.event(&event)
    }

    /// What the events of all nodes tell of the jobs, those for which the disk has no room yet among them.
    fn happened(&self) -> Result<Happened, Error> {
        self.journal.flush()?;
        let mut happened = Happened::default();
        let written = self.directory.events()?;
        for event in written.into_iter().chain(self.journal.waiting()) {
            match event.event {
                EventKind::JobFinished if event.exit.is_none_or(|exit| exit > 1) => {
                    happened.died.extend(event.job);
                }
                EventKind::Flushed if event.real_s.is_none() => happened.lost = event.detail,
                _ => {}
            }
        }
        Ok(happened)
    }

    /// Why a job did not do all that it was to do, if it did not.
    fn cut_short(&self, job: &PlannedJob, happened: &Happened) -> Option<String> {
        let name = self.name(job);
        let log = self.directory.job(&name).join("job.log");
        if let Err(error) = fs::metadata(&log) {
            return Some(format!("its log cannot be read: {error}"));
        }
        if let Some(error) = first_error(&log) {
            return Some(format!("its log has {error}"));
        }
        if happened.died.contains(&name) {
            return Some("it ended before its last step".to_owned());
        }
        let lost = happened.lost.as_ref();
        lost.map(|why| format!("what it wrote may be lost: {why}"))
    }

    fn check(
        &self,
        job: &PlannedJob,
        happened: &Happened,
        checker: &mut Checker<'_>,
    ) -> Result<Vec<String>, Error> {
        if let Some(finding) = self.cut_short(job, happened) {
            return Ok(vec![finding]);
        }
        let own = self.directory.job(&self.name(job));
        let mut findings = self.input_as_read(job)?;
        let wrong = checker.check(job, &own);
        if !wrong.is_empty() && findings.is_empty() {
            findings.extend(self.damaged_inputs(job));
        }
        findings.extend(wrong);
        Ok(findings)
    }

    /// Compares what the job read with what was staged, by the hashes taken while reading. What it read in part, or
    /// as text, cannot be told by them: there the staged file is compared.
    fn input_as_read(&self, job: &PlannedJob) -> Result<Vec<String>, Error> {
        let steps = match self.config.sas {
            // It tells no hashes.
            Some(_) => Vec::new(),
            None => self.directory.steps(&self.name(job))?.records,
        };
        let mut findings = Vec::new();
        for dataset in job.inputs.iter().map(|at| &self.config.plan.datasets[*at]) {
            if dataset.format == Format::Csv || self.config.sas.is_some() {
                findings.extend(self.as_staged(dataset));
                continue;
            }
            let Some(staged) = self.stage.staged(dataset.lane, &dataset.name) else {
                findings.push(unknown(dataset));
                continue;
            };
            let name = format!("in.{}", dataset.name);
            let inputs = steps.iter().flat_map(|step| &step.inputs);
            let reads: Vec<&DatasetRecord> = inputs
                .filter(|input| input.name.eq_ignore_ascii_case(&name))
                .collect();
            if reads.is_empty() && is_always_read(job, &dataset.name) {
                let name = &dataset.name;
                findings.push(format!("the job left no record of having read {name}"));
            }
            let is_whole = |input: &&&DatasetRecord| input.observations == dataset.rows;
            let differs = |input: &DatasetRecord| input.row_hash.as_ref() != Some(&staged.row_hash);
            if reads.iter().filter(is_whole).any(|input| differs(input)) {
                findings.push(format!(
                    "the rows that the job read from {} are not those staged",
                    dataset.name
                ));
                findings.extend(self.damaged(dataset));
            } else if !reads.iter().all(|input| is_whole(&input)) {
                findings.extend(self.as_staged(dataset));
            }
        }
        Ok(findings)
    }

    /// Compares a staged file with what was staged, once for all jobs; what is wrong, and where.
    fn as_staged(&self, dataset: &PlannedDataset) -> Vec<String> {
        let key = (dataset.lane, dataset.name.clone());
        let stopped = || self.stopped();
        let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        let findings = compared.entry(key).or_insert_with(|| {
            let path = self.stage.path(dataset);
            if dataset.format == Format::Csv {
                let wrong = verify::text_as_staged(&path, dataset, &stopped);
                return self.condemned(dataset, wrong).into_iter().collect();
            }
            let Some(staged) = self.stage.staged(dataset.lane, &dataset.name) else {
                return vec![unknown(dataset)];
            };
            let wrong = verify::as_staged(&path, &staged, &stopped);
            let row = wrong.as_ref().and_then(|_| self.damaged(dataset));
            let wrong = match row {
                Some(_) => wrong,
                // An index, or pages that lead to no row.
                None => self.condemned(dataset, wrong),
            };
            wrong.into_iter().chain(row).collect()
        });
        findings.clone()
    }

    fn damaged_inputs(&self, job: &PlannedJob) -> Vec<String> {
        let inputs = job.inputs.iter().map(|at| &self.config.plan.datasets[*at]);
        inputs.filter_map(|dataset| self.damaged(dataset)).collect()
    }

    /// Where the staged file differs from its seed, if it does.
    fn damaged(&self, dataset: &PlannedDataset) -> Option<String> {
        if dataset.format == Format::Csv {
            return None;
        }
        let path = self.stage.path(dataset);
        let wrong = verify::against_seed(&path, dataset);
        self.condemned(dataset, wrong.unwrap_or_else(Some))
    }

    /// Says of what is wrong with a staged file that it will be made anew, and sees to it.
    fn condemned(&self, dataset: &PlannedDataset, wrong: Option<String>) -> Option<String> {
        wrong.map(|wrong| match self.stage.condemn(dataset) {
            Ok(()) => {
                format!(
                    "{wrong}; the next run stages it anew (keep a copy if you want to look at it)"
                )
            }
            Err(error) => format!("{wrong}; stage it anew after `gristmill clean` ({error})"),
        })
    }
}

fn unknown(dataset: &PlannedDataset) -> String {
    format!("nothing is known of how {} was staged", dataset.name)
}

/// A time of a node whose clock is so far ahead, on the clock of the first.
fn on_first_clock(unix_ns: u64, offset_s: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "clocks are no centuries apart"
    )]
    let offset_ns = (offset_s * 1e9) as i64;
    unix_ns.saturating_add_signed(offset_ns.saturating_neg())
}

/// Whether a job reads an input whatever its parameters are: one that its macro variables name.
fn is_always_read(job: &PlannedJob, dataset: &str) -> bool {
    let mut symbols = job.symbols.iter();
    symbols.any(|(name, value)| names_input(name) && value.eq_ignore_ascii_case(dataset))
}
