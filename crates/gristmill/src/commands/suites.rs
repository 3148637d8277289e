//! `gristmill suites`: what there is, what one does, what is wrong with one of your own.

mod sizes;
mod tradeoff;

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use base::units::Bytes;
use bench::plan::{self, HostFacts, Plan, Request, Scale};
use bench::suite::text::{Dataset, Job, On, Place, Rule};
use bench::suite::{self, Suite, programs};
use serde::Serialize;

use crate::cli::{SuitesArgs, SuitesVerb};
use crate::exit::Exit;
use crate::ui;

/// Runs the verb.
pub fn run(args: &SuitesArgs) -> Result<Exit> {
    match &args.what {
        None => list(args.json),
        Some(SuitesVerb::Show { suite }) => {
            ui::data(show(&suite::find(suite)?)?.trim_end());
            Ok(Exit::Good)
        }
        Some(SuitesVerb::Sizes(args)) => sizes::run(args),
        Some(SuitesVerb::Tradeoff(args)) => tradeoff::run(args),
        Some(SuitesVerb::Check { directory }) => check(directory),
    }
}

/// A line of `--json`.
#[derive(Serialize)]
struct Line {
    name: String,
    title: String,
    jobs: usize,
    input_bytes: u64,
    demonstration_jobs: usize,
    demonstration_input_bytes: u64,
}

/// The plan of a suite on this host at a scale, whether it fits or not.
fn planned(suite: &Suite, scale: Scale) -> Result<Plan> {
    let host = HostFacts {
        cores: host::cores::live().physical,
        cores_basis: String::new(),
        memory: Bytes(host::memory::live().context("failed to read the size of the memory")?),
        free: Vec::new(),
    };
    Ok(plan::plan(suite, &Request::of(scale), &host)?)
}

fn list(json: bool) -> Result<Exit> {
    let mut lines = Vec::new();
    for name in suite::names() {
        let suite = suite::builtin(name)?;
        let whole = planned(&suite, Scale::Factor(1.0))?;
        let small = planned(&suite, Scale::Demonstration)?;
        lines.push(Line {
            name: name.to_owned(),
            title: suite.text.title,
            jobs: whole.jobs.len(),
            input_bytes: whole.input_bytes().0,
            demonstration_jobs: small.jobs.len(),
            demonstration_input_bytes: small.input_bytes().0,
        });
    }
    if json {
        ui::data(&serde_json::to_string(&lines)?);
        return Ok(Exit::Good);
    }
    for line in lines {
        ui::data(&line.title);
        ui::data(&format!(
            "  gristmill run {:<20} {:>4} jobs, {:>7} of input; at scale 1 {} jobs, {}",
            line.name,
            line.demonstration_jobs,
            Bytes(line.demonstration_input_bytes).to_string(),
            line.jobs,
            Bytes(line.input_bytes)
        ));
    }
    ui::say(
        "`gristmill suites show SUITE` explains one, `gristmill suites check DIR` checks one of yours",
    );
    Ok(Exit::Good)
}

/// A suite explained.
fn show(suite: &Suite) -> Result<String> {
    let text = &suite.text;
    let whole = planned(suite, Scale::Factor(1.0))?;
    let small = planned(suite, Scale::Demonstration)?;
    let mut out = format!("{}\n", text.title);
    let mut line = |text: String| writeln!(out, "{text}").expect("a String takes everything");
    for source in &text.sources {
        line(format!("  {source}"));
    }
    line(String::new());
    let nodes = match text.distribution {
        suite::text::Distribution::PerNode => "each node has the whole workload on its own data",
        suite::text::Distribution::Spread => "all nodes share one set of jobs, inputs and outputs",
    };
    line(format!("Nodes     {nodes}"));
    line(format!("Launch    {}", launch(suite)));
    for (name, place) in places(suite) {
        line(format!("{name:<9} {place}"));
    }
    for (name, parameter) in &text.parameters {
        let paper = match (parameter.value, parameter.per_core) {
            (_, Some(count)) => format!("{count} per core"),
            (value, None) => value.unwrap_or(1).to_string(),
        };
        let small = parameter.demonstration.map_or(String::new(), |value| {
            format!(", {value} at demonstration scale")
        });
        line(format!("Parameter {name}: {paper}{small}"));
    }
    for (name, variant) in &text.variants {
        line(format!("Variant   {name}: {}", variant.title));
    }
    line(format!(
        "\nData, {} at scale 1, {} at demonstration scale",
        whole.input_bytes(),
        small.input_bytes()
    ));
    for (entry, dataset) in text.datasets.iter().enumerate() {
        line(format!("  {}", data_line(entry, dataset, &whole, &small)));
    }
    line(format!(
        "\nJobs, {} at scale 1, {} at demonstration scale",
        whole.jobs.len(),
        small.jobs.len()
    ));
    for (entry, job) in text.jobs.iter().enumerate() {
        let launches = whole
            .jobs
            .iter()
            .filter(|planned| planned.entry == entry)
            .count();
        line(format!("  {}", job_line(job, launches)));
    }
    for (title, table) in [("Classes", &text.classes), ("Personas", &text.personas)] {
        if !table.is_empty() {
            line(format!("\n{title}"));
        }
        for (name, what) in table {
            line(format!("  {name:<14} {what}"));
        }
    }
    Ok(out)
}

fn launch(suite: &Suite) -> String {
    let launch = &suite.text.launch;
    let rule = match launch.rule.get_ref() {
        Rule::Together => format!("all within {} s", launch.spread_s.unwrap_or(0.0)),
        Rule::Offsets => "each job at its time".to_owned(),
        Rule::Waves => format!(
            "waves, one every {} s; launches of a stream follow each other",
            launch.interval_s.unwrap_or(0.0)
        ),
        Rule::Pool => "as many at once as the parameter concurrency says".to_owned(),
    };
    match launch.simultaneous {
        Some(count) => format!("{rule}; {count} at a time in the paper"),
        None => rule,
    }
}

fn places(suite: &Suite) -> Vec<(&'static str, String)> {
    let channels = &suite.text.channels;
    let text = |place: &Place| {
        let on = match place.on {
            On::Shared => "shared file system",
            On::Local => "local file system",
        };
        let paper = place.paper.as_ref();
        paper.map_or(on.to_owned(), |paper| format!("{on} ({paper})"))
    };
    [
        ("Inputs", &channels.input),
        ("Outputs", &channels.output),
        ("WORK", &channels.work),
        ("Utility", &channels.util),
    ]
    .into_iter()
    .filter_map(|(name, place)| Some((name, text(place.as_ref()?))))
    .collect()
}

fn data_line(entry: usize, dataset: &Dataset, whole: &Plan, small: &Plan) -> String {
    let names: Vec<&str> = dataset
        .names
        .iter()
        .map(|name| name.get_ref().as_str())
        .collect();
    let names = names.join(", ");
    if dataset.unread {
        let rows = dataset.rows.unwrap_or(0);
        return format!("{names}: {rows} rows, not read by any job, not staged");
    }
    let size = |plan: &Plan| {
        let mut sets = plan.datasets.iter().filter(|set| set.entry == entry);
        sets.next().map_or("none".to_owned(), |set| {
            let each = if sets.next().is_some() { " each" } else { "" };
            format!("{} rows ({}){each}", set.rows, set.bytes())
        })
    };
    let sizes = if dataset.fixed {
        format!("{}, not scaled", size(whole))
    } else {
        format!("{}; demonstration {}", size(whole), size(small))
    };
    format!("{names}: recipe {}, {sizes}", dataset.recipe.get_ref())
}

fn job_line(job: &Job, launches: usize) -> String {
    let user = [&job.class, &job.persona];
    let user: Vec<&str> = user
        .into_iter()
        .flatten()
        .map(|name| name.get_ref().as_str())
        .collect();
    let mut checks: Vec<String> = job
        .checks
        .iter()
        .map(|check| suite::check::kind_name(*check.kind.get_ref()).to_owned())
        .collect();
    checks.dedup();
    let checks = if checks.is_empty() {
        "no checks of its own".to_owned()
    } else {
        format!("checks: {}", checks.join(", "))
    };
    format!(
        "{launches:>4} x {:<18} {:<24} {checks}",
        job.program.get_ref(),
        user.join(", ")
    )
}

fn check(directory: &Path) -> Result<Exit> {
    let mistakes = match suite::folder(directory) {
        Ok(suite) => {
            let small = planned(&suite, Scale::Demonstration)?;
            let procedures = procs::all();
            let is_procedure = |name: &str| procedures.iter().any(|one| one.name() == name);
            let mistakes = programs::check(&suite, &small.jobs, &is_procedure);
            if mistakes.is_empty() {
                ui::say(&format!(
                    "{}: {} jobs, {} of input at demonstration scale; nothing wrong",
                    suite.file,
                    small.jobs.len(),
                    small.input_bytes()
                ));
                return Ok(Exit::Good);
            }
            mistakes
        }
        Err(suite::Error::Mistakes(mistakes)) => mistakes,
        Err(error) => return Err(error.into()),
    };
    for mistake in &mistakes {
        ui::data(&mistake.to_string());
    }
    ui::say(&format!("mistakes: {}", mistakes.len()));
    Ok(Exit::No)
}
