//! A run as one HTML file that needs nothing else: no network, no other file.
//!
//! What can be said without a chart is in the page as text and tables; the charts are drawn by the
//! scripts of `assets/` from data in a block of their own (`script`).

mod audit;
mod axis;
mod cards;
mod comparison;
mod condensed;
mod facts;
mod jobs;
mod latency;
mod matrix;
mod number;
mod panels;
mod scaling;
mod script;
mod series;
mod tables;
mod timeline;
mod trust;

use std::collections::BTreeMap;

use minijinja::{Environment, context};
use results::audit::NodeAudit;
use results::compare::Comparison;
use results::matrix::{Analysis, tables as series_tables};
use results::node::NodeRecord;
use results::run::{self, Event, RunDirectory, RunPlan, RunResult, name_in_batch};
use results::sample::Sample;
use results::table::Table;
use serde::Serialize;

pub use condensed::{StepLine, condensed};
use latency::Latencies;
use panels::Panel;
use series::Bins;
use timeline::Timeline;

/// Everything about a run that a page shows.
#[derive(Debug, Clone)]
pub struct Run {
    /// What was planned.
    pub plan: RunPlan,
    /// The figures.
    pub result: RunResult,
    /// What happened.
    pub events: Vec<Event>,
    /// Finished steps by job and batch, few enough for a page.
    pub steps: BTreeMap<String, Vec<StepLine>>,
    /// Samples by node; none if nothing was sampled.
    pub samples: BTreeMap<String, Vec<Sample>>,
    /// What the nodes are that were sampled.
    pub nodes: Vec<NodeRecord>,
    /// What the audits of the nodes found; none in runs of earlier versions.
    pub audits: Vec<NodeAudit>,
}

impl Run {
    /// Reads a run directory, whether the run was finished or not; `result` are its figures.
    pub fn read(directory: &RunDirectory, result: RunResult) -> Result<Self, run::Error> {
        let plan = directory.plan()?;
        let mut steps = BTreeMap::new();
        for job in &result.jobs {
            let name = name_in_batch(&job.name, job.batch);
            let lines = condensed(directory.steps(&name)?.records, result.jobs.len());
            steps.insert(name, lines);
        }
        let (mut samples, mut nodes) = (BTreeMap::new(), Vec::new());
        for node in directory.nodes()? {
            nodes.extend(directory.node(&node)?);
            samples.insert(node.clone(), directory.samples(&node)?);
        }
        samples.retain(|_, of_node| !of_node.is_empty());
        Ok(Self {
            events: directory.events()?,
            plan,
            result,
            steps,
            samples,
            nodes,
            audits: directory.audits()?,
        })
    }
}

/// What the scripts draw from.
#[derive(Debug, Serialize)]
struct Drawn<'a> {
    started_unix_s: f64,
    end_s: f64,
    panels: &'a [Panel],
    bins: &'a Bins,
    latency: Option<&'a Latencies>,
    jobs: &'a [jobs::Bar],
    marks: &'a [timeline::Mark],
}

/// Licences of what is embedded, as they ask to be kept with it.
const NOTICES: &str = concat!(
    "uPlot 1.6.32. ",
    include_str!("../assets/vendor/uplot-LICENSE"),
    "\nSource Sans 3 and Source Serif 4. Copyright Adobe (http://www.adobe.com/), with Reserved Font Name \
     \"Source\". Licensed under the SIL Open Font License, Version 1.1 (http://scripts.sil.org/OFL)."
);

const TEMPLATES: [(&str, &str); 9] = [
    ("matrix.html", include_str!("../templates/matrix.html")),
    ("tables.html", include_str!("../templates/tables.html")),
    ("run.html", include_str!("../templates/run.html")),
    ("findings.html", include_str!("../templates/findings.html")),
    ("chart.html", include_str!("../templates/chart.html")),
    ("scaling.html", include_str!("../templates/scaling.html")),
    ("series.html", include_str!("../templates/series.html")),
    ("table.html", include_str!("../templates/table.html")),
    (
        "comparison.html",
        include_str!("../templates/comparison.html"),
    ),
];

/// The scripts, in the order in which they need each other.
const SCRIPTS: [&str; 7] = [
    include_str!("../assets/theme.js"),
    include_str!("../assets/format.js"),
    include_str!("../assets/timeline.js"),
    include_str!("../assets/gantt.js"),
    include_str!("../assets/heatmap.js"),
    include_str!("../assets/jobs.js"),
    include_str!("../assets/page.js"),
];

/// The page of a run.
pub fn run(run: &Run) -> String {
    let timeline = Timeline::of(run);
    let (names, samples) = timeline.within(&run.samples);
    let bins = Bins::of(&samples);
    let panels = panels::all(&bins, &names);
    let latency = Latencies::of(&samples);
    let bars = jobs::bars(run, &timeline);
    let drawn = Drawn {
        started_unix_s: timeline.origin_unix_s,
        end_s: timeline.end_s,
        panels: &panels,
        bins: &bins,
        latency: latency.as_ref(),
        jobs: &bars,
        marks: &timeline.marks,
    };
    let values = context! {
        title => format!("{} on {}", run.plan.suite, run.plan.place()),
        head => facts::head(run),
        verdict => cards::verdict(run),
        relieving => audit::relieving(&run.result.verdict),
        audits => audit::all(run),
        figures => cards::figures(run),
        panels => panels.iter().map(|panel| tables::of_panel(panel, &bins)).collect::<Vec<_>>(),
        resolution => bins.resolution(),
        latency => latency.as_ref().map(tables::of_latency),
        jobs => jobs::table(run),
        channels => tables::channels(run),
        operations => tables::operations(run),
        cache => facts::cache(run),
        trust => trust::all(run),
        facts => facts::host(run),
        tables => papers_tables(run),
        events => timeline.events,
        style => script::style(),
        plot => script::PLOT,
        scripts => format!("(() => {{\n\"use strict\";\n{}\n}})();", SCRIPTS.join("\n")),
        data => script::json(&drawn),
        notices => NOTICES,
    };
    render("run.html", &values)
}

/// The page of runs over one another, with `tables` of them.
pub fn comparison(comparison: &Comparison, tables: &[Table]) -> String {
    let labels: Vec<&str> = comparison.sides.iter().map(|side| &*side.label).collect();
    let mut statements = comparison.statements.iter();
    let headline = statements
        .next()
        .map_or("Nothing can be compared", |first| first);
    let values = context! {
        title => labels.join(" against "),
        sides => comparison.sides,
        headline => headline,
        statements => statements.collect::<Vec<_>>(),
        scaling => comparison.growth.as_ref().map(scaling::figures),
        against => comparison::against(comparison),
        differences => comparison.differences,
        tables => tables.iter().map(comparison::printed).collect::<Vec<_>>(),
        method => comparison.method,
        style => script::style(),
        notices => NOTICES,
    };
    render("comparison.html", &values)
}

/// The page of a factorial series.
pub fn matrix(title: &str, analysis: &Analysis) -> String {
    let groups: Vec<(&str, &[String])> = analysis
        .responses
        .iter()
        .map(|all| (all.response.title(), &all.ranking[..]))
        .collect();
    let first = groups.first().and_then(|(_, ranking)| ranking.first());
    let factors: Vec<&str> = analysis
        .factors
        .iter()
        .map(|factor| &*factor.name)
        .collect();
    let tables = series_tables::all(analysis);
    let values = context! {
        title => title,
        headline => first.map_or("Nothing can be compared", |first| first),
        groups => groups,
        factors => factors.join(", "),
        cells => matrix::bars(analysis),
        notes => analysis.notes,
        tables => tables.iter().map(comparison::printed).collect::<Vec<_>>(),
        method => analysis.method,
        style => script::style(),
        notices => NOTICES,
    };
    render("matrix.html", &values)
}

/// A page of tables below some sentences, the first of which is its headline.
pub fn of_tables(title: &str, statements: &[String], tables: &[Table]) -> String {
    let (headline, statements) = statements
        .split_first()
        .map_or(("", &[][..]), |(first, others)| (&**first, others));
    let values = context! {
        title => title,
        headline => headline,
        statements => statements,
        tables => tables.iter().map(comparison::printed).collect::<Vec<_>>(),
        style => script::style(),
        notices => NOTICES,
    };
    render("tables.html", &values)
}

/// The run's tables in the forms of papers, but for those that the page has in other places.
fn papers_tables(run: &Run) -> Vec<comparison::Printed> {
    let samples: Vec<_> = run.samples.clone().into_iter().collect();
    let tables = results::tables::of_run(&run.plan, &run.result, &samples);
    let elsewhere = ["job-runtimes", "throughput"];
    let in_form = tables
        .iter()
        .filter(|table| table.form.is_some() && !elsewhere.contains(&&*table.id));
    in_form.map(comparison::printed).collect()
}

fn render(name: &str, values: &minijinja::Value) -> String {
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_filter("figure", |value: Option<f64>| tables::dash(value));
    environment.add_filter("capital", |text: String| cards::capital(&text));
    for (name, text) in TEMPLATES {
        environment
            .add_template(name, text)
            .expect("the template is part of the program");
    }
    let template = environment.get_template(name).expect("it is one of those");
    template
        .render(values)
        .expect("the template uses only what it is given")
}
