//! Jobs under a licensed SAS: how they start, and what is read of their logs.

use std::io;
use std::path::{Path, PathBuf};

use ::io::process::ProcessMeter;
use base::meter::Meter as _;
use results::run::{Event, EventKind};

use super::{Error, Run, failed, symbols};
use crate::launch::Start;
use crate::plan::PlannedJob;
use crate::sas;

impl Run<'_> {
    /// A job under a licensed SAS.
    pub(super) fn start_sas(
        &self,
        sas: &Path,
        (name, job): (String, &PlannedJob),
        own: &Path,
        at: &[PathBuf; 2],
    ) -> Result<Start, Error> {
        let directories = &self.config.directories;
        let job_of_sas = sas::Job {
            folder: own,
            program: &own.join("program.sas"),
            work: &directories.work,
            util: &directories.util,
            libraries: &[("in", &at[0]), ("out", &at[1])],
            symbols: &symbols(job, at),
            options: &self.config.plan.options_of(job),
        };
        let command = sas::command(sas, &job_of_sas);
        Ok(Start {
            command: command.map_err(failed(format!("prepare job {name} for SAS")))?,
            name,
            offset_s: job.offset_s,
            follows: job.follows,
            stderr: own.join("job.err"),
            wall_limit: self.config.wall_limit,
        })
    }

    /// Makes records of steps of the logs that a licensed SAS left, and notes which SAS it was.
    pub(super) fn read_logs(&self) -> Result<(), Error> {
        let utc_offset_s = ProcessMeter::start().wall().utc_offset;
        let (mut engine, mut silent, mut unaccounted) = (None, Vec::new(), 0);
        let last = self.batch();
        for batch in 1..=last {
            self.set_batch(batch);
            for job in &self.config.plan.jobs {
                let name = self.name(job);
                let folder = self.directory.job(&name);
                match sas::read_log(&folder, utc_offset_s) {
                    Ok(Some(read)) => {
                        unaccounted += read.unaccounted;
                        engine.get_or_insert_with(|| sas::engine(&read.summary));
                    }
                    Ok(None) => silent.push(name),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => silent.push(name),
                    Err(error) => return Err(failed(format!("read the log of {name}"))(error)),
                }
            }
        }
        self.set_batch(last);
        let mut event = Event::new(self.time(), EventKind::LogsRead);
        event.detail = engine;
        self.event(&event)?;
        let not_measured = |text: String| {
            self.event(&Event::new(self.time(), EventKind::NotMeasured).with_detail(text))
        };
        not_measured(
            "bytes by channel, latencies and locks: a licensed SAS does not tell them".to_owned(),
        )?;
        if let Some(first) = silent.first() {
            let count = silent.len();
            not_measured(format!(
                "the steps of {count} jobs that left no log of SAS, the first {first}"
            ))?;
        }
        if unaccounted > 0 {
            not_measured(format!(
                "{unaccounted} steps whose accounting in the log has no user and system CPU time"
            ))?;
        }
        Ok(())
    }
}
