//! `gristmill suites tradeoff`: a job without and with SAS compression, on storage that compresses and on
//! storage that does not, as Table 5 of the Isilon paper has it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use base::units::Bytes;
use bench::plan::{self, Plan, Request, Scale};
use bench::run::{Config, Directories, Outcome};
use bench::suite::{self, Suite};
use results::statistics::summarize;
use serde::Serialize;

use results::thresholds::Thresholds;

use crate::cli::{TradeoffArgs, VERSION};
use crate::commands::exec::host_name;
use crate::commands::run::{host_facts, stop_on_signals};
use crate::commands::view::View;
use crate::exit::{Exit, usage};
use crate::ui;

/// The variant whose data SAS compresses.
const COMPRESSED: &str = "compressed";

/// A row of the table.
#[derive(Debug, Clone, Default, Serialize)]
struct Row {
    sas_compression: bool,
    storage_compression: bool,
    /// Length of the job's staged data.
    apparent_bytes: u64,
    /// What the file system says that they take (`du`).
    allocated_bytes: u64,
    /// What was gone of the free space when they were flushed; absent if they were there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_bytes: Option<u64>,
    /// Elapsed time of the first step that writes to OUT, a run each, seconds.
    create_s: Vec<f64>,
    /// Of the second one.
    copy_s: Vec<f64>,
    /// Of the job.
    job_s: Vec<f64>,
    /// Runs whose job failed or whose outputs were wrong.
    failed: usize,
}

/// Runs the verb.
pub fn run(args: &TradeoffArgs) -> Result<Exit> {
    let suite = suite::find(&args.suite)?;
    check(args, &suite)?;
    let stop = stop_on_signals()?;
    let mut rows: Vec<Row> = [(false, false), (true, false), (false, true), (true, true)]
        .map(|(sas_compression, storage_compression)| Row {
            sas_compression,
            storage_compression,
            ..Row::default()
        })
        .into();
    for round in 0..args.repeat as usize {
        for place in 0..rows.len() {
            let at = (round + place) % rows.len();
            if !measure(args, &suite, &mut rows[at], &stop)? {
                return Ok(Exit::Interrupted);
            }
        }
    }
    if args.json {
        ui::data(&serde_json::to_string(&rows)?);
    } else {
        ui::data(as_text(args, &rows).trim_end());
    }
    Ok(if rows.iter().all(|row| row.failed == 0) {
        Exit::Good
    } else {
        Exit::No
    })
}

fn check(args: &TradeoffArgs, suite: &Suite) -> Result<()> {
    if !(args.scale > 0.0 && args.scale <= 1000.0) {
        usage!("--scale: a number above 0 is needed");
    }
    if !suite.text.variants.contains_key(COMPRESSED) {
        usage!(
            "the suite {} has no variant {COMPRESSED}, under which SAS compresses",
            suite.text.name.get_ref()
        );
    }
    Ok(())
}

/// The directories of a configuration: those of each have a folder of their own, since their staged data
/// differ.
fn directories(args: &TradeoffArgs, row: &Row) -> Result<Directories> {
    let folder = if row.storage_compression {
        &args.data_compressed
    } else {
        &args.data
    };
    let own = folder.join(if row.sas_compression {
        "gristmill-sas-binary"
    } else {
        "gristmill-sas-none"
    });
    let made = |path: &Path| -> Result<PathBuf> {
        fs::create_dir_all(path)
            .with_context(|| format!("failed to make the directory {}", path.display()))?;
        std::path::absolute(path).with_context(|| format!("failed to find {}", path.display()))
    };
    let (data, work) = (made(&own)?, made(&args.work)?);
    Ok(Directories {
        output: data.clone(),
        data,
        util: work.clone(),
        work,
        runs: made(&args.runs)?,
    })
}

/// The plan of the one job.
fn planned(args: &TradeoffArgs, suite: &Suite, row: &Row, at: &Directories) -> Result<Plan> {
    let request = Request {
        time_scale: Some(0.0),
        variant: row.sas_compression.then(|| COMPRESSED.to_owned()),
        ..Request::of(Scale::Factor(args.scale))
    };
    let mut host = host_facts(None, suite.text.name.get_ref(), at)?;
    // What the whole suite needs does not matter here.
    host.free.clear();
    let mut plan = plan::plan(suite, &request, &host).context("failed to plan the run")?;
    let names: Vec<&str> = plan.jobs.iter().map(|job| job.name.as_str()).collect();
    if !names.contains(&args.job.as_str()) {
        let known = names.join(", ");
        usage!("--job: there is no job {}; there are: {known}", args.job);
    }
    plan.retain_jobs(|job| job.name == args.job);
    plan.notes
        .push(format!("{} alone, for its trade-off", args.job));
    Ok(plan)
}

/// One run of a configuration; false if it was interrupted.
fn measure(args: &TradeoffArgs, suite: &Suite, row: &mut Row, stop: &AtomicBool) -> Result<bool> {
    let at = directories(args, row)?;
    let plan = planned(args, suite, row, &at)?;
    let mut config = Config {
        plan,
        directories: at,
        warm: false,
        empty_caches: None,
        keep: false,
        only_stage: true,
        audit: false,
        wall_limit: None,
        duration: None,
        pace: None,
        labels: BTreeMap::new(),
        series: None,
        program: std::env::current_exe().context("failed to find this program's own file")?,
        sas: None,
        version: VERSION.to_owned(),
        node: host_name(),
        host: host_name(),
        observe: Vec::new(),
        ceiling: None,
        thresholds: Thresholds::published(),
    };
    let stage = config
        .directories
        .data
        .join(format!("gristmill-{}", config.plan.suite));
    let is_there = stage.exists();
    let before = free(&config.directories.data)?;
    if launch(&config, stop)?.interrupted {
        return Ok(false);
    }
    let after = free(&config.directories.data)?;
    (row.apparent_bytes, row.allocated_bytes) = sizes(&stage, &config.plan)?;
    if !is_there {
        row.taken_bytes = Some(before.saturating_sub(after));
    }
    config.only_stage = false;
    let outcome = launch(&config, stop)?;
    if outcome.interrupted {
        return Ok(false);
    }
    add(args, row, &outcome)?;
    Ok(true)
}

fn launch(config: &Config, stop: &AtomicBool) -> Result<Outcome> {
    let mut view = View::new();
    let outcome = bench::run::run(config, stop, &mut view);
    view.finish();
    Ok(outcome?)
}

/// Free bytes once everything written is on the device.
fn free(directory: &Path) -> Result<u64> {
    let explain = || format!("failed to find the free space at {}", directory.display());
    io::cache::flush(directory).with_context(explain)?;
    let found = rustix::fs::statvfs(directory).with_context(explain)?;
    Ok(found.f_bfree * found.f_frsize)
}

/// Length of the staged data, and what the file system says that they take.
fn sizes(stage: &Path, plan: &Plan) -> Result<(u64, u64)> {
    let (mut apparent, mut allocated) = (0, 0);
    for set in &plan.datasets {
        let path = stage.join(format!("{}.sas7bdat", set.name));
        let about =
            fs::metadata(&path).with_context(|| format!("failed to look at {}", path.display()))?;
        apparent += about.len();
        allocated += about.blocks() * 512;
    }
    Ok((apparent, allocated))
}

fn add(args: &TradeoffArgs, row: &mut Row, outcome: &Outcome) -> Result<()> {
    let job = outcome.result.jobs.first().context("the run has no job")?;
    let is_well = job.ended_well() && job.verified == Some(true);
    row.failed += usize::from(!is_well);
    row.job_s.extend(job.real_s);
    let steps = outcome.directory.steps(&args.job)?.records;
    let writes_out = |name: &str| name.to_ascii_lowercase().starts_with("out.");
    let mut writing = steps
        .iter()
        .filter(|step| step.outputs.iter().any(|output| writes_out(&output.name)));
    row.create_s.extend(writing.next().map(|step| step.real_s));
    row.copy_s.extend(writing.next().map(|step| step.real_s));
    Ok(())
}

fn as_text(args: &TradeoffArgs, rows: &[Row]) -> String {
    let mut out = format!(
        "{:<4} {:<8} {:>9} {:>9} {:>9} {:>18} {:>18} {:>18}\n",
        "SAS", "storage", "length", "du", "taken", "create s", "copy s", "job s"
    );
    let word = |yes: bool| if yes { "yes" } else { "-" };
    for row in rows {
        let taken = row.taken_bytes.map(|bytes| Bytes(bytes).to_string());
        let _ = writeln!(
            out,
            "{:<4} {:<8} {:>9} {:>9} {:>9} {:>18} {:>18} {:>18}{}",
            word(row.sas_compression),
            word(row.storage_compression),
            Bytes(row.apparent_bytes).to_string(),
            Bytes(row.allocated_bytes).to_string(),
            taken.unwrap_or_else(|| "-".to_owned()),
            seconds(&row.create_s),
            seconds(&row.copy_s),
            seconds(&row.job_s),
            match row.failed {
                0 => String::new(),
                count => format!("  {count} failed"),
            }
        );
    }
    let _ = writeln!(
        out,
        "\nSAS: COMPRESS=BINARY. storage: {} (yes) or {} (-). Sizes are those of the data that {} reads. du: what the \
         file\nsystem says that they take; taken: what was gone of its free space, which btrfs and \
         others that compress tell only so.\ncreate and copy: the first and the second step that \
         write to OUT. Median of {} runs, and their range.",
        args.data_compressed.display(),
        args.data.display(),
        args.job,
        args.repeat
    );
    out
}

fn seconds(runs: &[f64]) -> String {
    match summarize(runs) {
        None => "-".to_owned(),
        Some(all) if all.count == 1 => format!("{:.2}", all.median),
        Some(all) => format!("{:.2} ({:.2}-{:.2})", all.median, all.min, all.max),
    }
}
