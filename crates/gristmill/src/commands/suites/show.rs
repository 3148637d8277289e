//! `gristmill suites show`: a suite explained.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;
use base::units::Bytes;
use bench::plan::{Plan, Scale};
use bench::suite::text::{self, Distribution, On, Rule};
use bench::suite::{Suite, check};
use serde::Serialize;

use crate::exit::Exit;
use crate::ui;

/// Prints it.
pub(super) fn run(suite: &Suite, json: bool) -> Result<Exit> {
    let shown = shown(suite)?;
    if json {
        ui::data(&serde_json::to_string(&shown)?);
    } else {
        ui::data(shown.text().trim_end());
    }
    Ok(Exit::Good)
}

/// What is told of a suite.
#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    title: &'a str,
    sources: &'a [String],
    distribution: Distribution,
    launch: Launch,
    places: Vec<Place<'a>>,
    parameters: Vec<Parameter<'a>>,
    variants: BTreeMap<&'a str, &'a str>,
    whole: Size,
    demonstration: Size,
    datasets: Vec<Dataset<'a>>,
    jobs: Vec<Job<'a>>,
    classes: &'a BTreeMap<String, String>,
    personas: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Launch {
    rule: Rule,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_s: Option<f64>,
    /// At a time in the paper.
    simultaneous: Option<u32>,
}

#[derive(Serialize)]
struct Place<'a> {
    name: &'static str,
    on: On,
    /// What the paper says of it.
    paper: Option<&'a str>,
}

#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    /// As in the paper; nothing where it grows with the cores.
    value: Option<u64>,
    per_core: Option<u64>,
    demonstration: Option<u64>,
}

/// All jobs and inputs at one scale.
#[derive(Serialize)]
struct Size {
    jobs: usize,
    input_bytes: u64,
}

/// Data sets of one entry.
#[derive(Serialize)]
struct Dataset<'a> {
    names: Vec<&'a str>,
    recipe: &'a str,
    /// Read by some job, and so staged.
    staged: bool,
    /// The same at all scales.
    fixed: bool,
    /// Rows of each at scale 1, also of those that are not staged.
    rows: Option<u64>,
    /// What is staged at scale 1.
    whole: Option<Staged>,
    demonstration: Option<Staged>,
}

/// Data sets of one entry at one scale.
#[derive(Serialize)]
struct Staged {
    datasets: usize,
    /// Of each.
    rows: u64,
    bytes: u64,
}

/// Launches of one entry.
#[derive(Serialize)]
struct Job<'a> {
    program: &'a str,
    /// At scale 1.
    launches: usize,
    class: Option<&'a str>,
    persona: Option<&'a str>,
    checks: Vec<&'static str>,
}

fn shown(suite: &Suite) -> Result<Shown<'_>> {
    let text = &suite.text;
    let whole = super::planned(suite, Scale::Factor(1.0))?;
    let small = super::planned(suite, Scale::Demonstration)?;
    let size = |plan: &Plan| Size {
        jobs: plan.jobs.len(),
        input_bytes: plan.input_bytes().0,
    };
    let parameters = text.parameters.iter().map(|(name, parameter)| Parameter {
        name,
        value: parameter
            .value
            .or_else(|| parameter.per_core.is_none().then_some(1)),
        per_core: parameter.per_core,
        demonstration: parameter.demonstration,
    });
    let datasets = text.datasets.iter().enumerate();
    let jobs = text.jobs.iter().enumerate();
    let variants = text.variants.iter();
    Ok(Shown {
        name: text.name.get_ref(),
        title: &text.title,
        sources: &text.sources,
        distribution: text.distribution,
        launch: launch(suite),
        places: places(suite),
        parameters: parameters.collect(),
        variants: variants
            .map(|(name, variant)| (name.as_str(), variant.title.as_str()))
            .collect(),
        datasets: datasets
            .map(|(entry, dataset)| data(entry, dataset, &whole, &small))
            .collect(),
        jobs: jobs.map(|(entry, one)| job(entry, one, &whole)).collect(),
        classes: &text.classes,
        personas: &text.personas,
        whole: size(&whole),
        demonstration: size(&small),
    })
}

fn launch(suite: &Suite) -> Launch {
    let launch = &suite.text.launch;
    let rule = *launch.rule.get_ref();
    Launch {
        rule,
        spread_s: (rule == Rule::Together).then(|| launch.spread_s.unwrap_or(0.0)),
        interval_s: (rule == Rule::Waves).then(|| launch.interval_s.unwrap_or(0.0)),
        simultaneous: launch.simultaneous,
    }
}

fn places(suite: &Suite) -> Vec<Place<'_>> {
    let channels = &suite.text.channels;
    [
        ("Inputs", &channels.input),
        ("Outputs", &channels.output),
        ("WORK", &channels.work),
        ("Utility", &channels.util),
    ]
    .into_iter()
    .filter_map(|(name, place)| {
        let place = place.as_ref()?;
        Some(Place {
            name,
            on: place.on,
            paper: place.paper.as_deref(),
        })
    })
    .collect()
}

fn data<'a>(entry: usize, dataset: &'a text::Dataset, whole: &Plan, small: &Plan) -> Dataset<'a> {
    let of = |plan: &Plan| {
        let mut sets = plan.datasets.iter().filter(|set| set.entry == entry);
        sets.next().map(|first| Staged {
            datasets: sets.count() + 1,
            rows: first.rows,
            bytes: first.bytes().0,
        })
    };
    let (whole, demonstration) = (of(whole), of(small));
    let names = dataset.names.iter();
    Dataset {
        names: names.map(|name| name.get_ref().as_str()).collect(),
        recipe: dataset.recipe.get_ref(),
        staged: !dataset.unread,
        fixed: dataset.fixed,
        rows: whole.as_ref().map(|set| set.rows).or(dataset.rows),
        whole,
        demonstration,
    }
}

fn job<'a>(entry: usize, job: &'a text::Job, whole: &Plan) -> Job<'a> {
    let launches = whole.jobs.iter().filter(|planned| planned.entry == entry);
    let checks = job.checks.iter();
    let mut checks: Vec<&str> = checks
        .map(|one| check::kind_name(*one.kind.get_ref()))
        .collect();
    checks.dedup();
    Job {
        program: job.program.get_ref(),
        launches: launches.count(),
        class: job.class.as_ref().map(|name| name.get_ref().as_str()),
        persona: job.persona.as_ref().map(|name| name.get_ref().as_str()),
        checks,
    }
}

impl Shown<'_> {
    fn text(&self) -> String {
        let mut out = format!("{}\n", self.title);
        let mut line = |text: String| writeln!(out, "{text}").expect("a String takes everything");
        for source in self.sources {
            line(format!("  {source}"));
        }
        line(String::new());
        let nodes = match self.distribution {
            Distribution::PerNode => "each node has the whole workload on its own data",
            Distribution::Spread => "all nodes share one set of jobs, inputs and outputs",
        };
        line(format!("Nodes     {nodes}"));
        line(format!("Launch    {}", self.launch.text()));
        for place in &self.places {
            line(format!("{:<9} {}", place.name, place.text()));
        }
        for parameter in &self.parameters {
            line(format!("Parameter {}", parameter.text()));
        }
        for (name, title) in &self.variants {
            line(format!("Variant   {name}: {title}"));
        }
        line(format!(
            "\nData, {} at scale 1, {} at demonstration scale",
            Bytes(self.whole.input_bytes),
            Bytes(self.demonstration.input_bytes)
        ));
        for dataset in &self.datasets {
            line(format!("  {}", dataset.text()));
        }
        line(format!(
            "\nJobs, {} at scale 1, {} at demonstration scale",
            self.whole.jobs, self.demonstration.jobs
        ));
        for job in &self.jobs {
            line(format!("  {}", job.text()));
        }
        for (title, table) in [("Classes", self.classes), ("Personas", self.personas)] {
            if !table.is_empty() {
                line(format!("\n{title}"));
            }
            for (name, what) in table {
                line(format!("  {name:<14} {what}"));
            }
        }
        out
    }
}

impl Launch {
    fn text(&self) -> String {
        let rule = match self.rule {
            Rule::Together => format!("all within {} s", self.spread_s.unwrap_or(0.0)),
            Rule::Offsets => "each job at its time".to_owned(),
            Rule::Waves => format!(
                "waves, one every {} s; launches of a stream follow each other",
                self.interval_s.unwrap_or(0.0)
            ),
            Rule::Pool => "as many at once as the parameter concurrency says".to_owned(),
        };
        match self.simultaneous {
            Some(count) => format!("{rule}; {count} at a time in the paper"),
            None => rule,
        }
    }
}

impl Place<'_> {
    fn text(&self) -> String {
        let on = match self.on {
            On::Shared => "shared file system",
            On::Local => "local file system",
        };
        self.paper
            .map_or(on.to_owned(), |paper| format!("{on} ({paper})"))
    }
}

impl Parameter<'_> {
    fn text(&self) -> String {
        let paper = match (self.value, self.per_core) {
            (_, Some(count)) => format!("{count} per core"),
            (value, None) => value.unwrap_or(1).to_string(),
        };
        let small = self.demonstration.map_or(String::new(), |value| {
            format!(", {value} at demonstration scale")
        });
        format!("{}: {paper}{small}", self.name)
    }
}

impl Dataset<'_> {
    fn text(&self) -> String {
        let names = self.names.join(", ");
        if !self.staged {
            let rows = self.rows.unwrap_or(0);
            return format!("{names}: {rows} rows, not read by any job, not staged");
        }
        let size = |staged: &Option<Staged>| {
            staged.as_ref().map_or("none".to_owned(), |set| {
                let each = if set.datasets > 1 { " each" } else { "" };
                format!("{} rows ({}){each}", set.rows, Bytes(set.bytes))
            })
        };
        let whole = size(&self.whole);
        let sizes = if self.fixed {
            format!("{whole}, not scaled")
        } else {
            format!("{whole}; demonstration {}", size(&self.demonstration))
        };
        format!("{names}: recipe {}, {sizes}", self.recipe)
    }
}

impl Job<'_> {
    fn text(&self) -> String {
        let user: Vec<&str> = self.class.into_iter().chain(self.persona).collect();
        let checks = if self.checks.is_empty() {
            "no checks of its own".to_owned()
        } else {
            format!("checks: {}", self.checks.join(", "))
        };
        format!(
            "{:>4} x {:<18} {:<24} {checks}",
            self.launches,
            self.program,
            user.join(", ")
        )
    }
}
