//! From a suite, a request and facts about the host to a plan: pure, so that `--dry-run` and tests
//! see exactly what a run does.

pub(crate) mod copies;
mod options;
mod space;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use base::units::Bytes;
use serde::{Deserialize, Serialize};

use crate::stage;
use crate::suite::check::Check;
use crate::suite::expand::{Choice, datasets, expand};
use crate::suite::text::{Copies, Format, On, SuiteText};
use crate::suite::validate::parameters;
use crate::suite::{self, Suite, mix, sizes};

pub use space::{Need, Space};

/// What the user asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Factor on rows, or how to choose it.
    pub scale: Scale,
    /// Factor on launch times; `None` = 1, or the suite's at demonstration scale.
    pub time_scale: Option<f64>,
    /// Parameters of the suite that are not to be what it says.
    pub parameters: BTreeMap<String, u64>,
    /// Options of this variant of the suite.
    pub variant: Option<String>,
    /// Seed of the data.
    pub seed: u64,
    /// SAS options that replace the suite's.
    pub options: BTreeMap<String, String>,
    /// Launches of personas, where they are not to be as many as the suite has.
    pub mix: BTreeMap<String, u64>,
    /// How outputs are verified.
    pub verify: Verify,
    /// What further copies of the same data are; `None` = what the suite says.
    pub copies: Option<Copies>,
    /// Batches side by side.
    pub lanes: u32,
    /// Nodes that one batch is spread over; `concurrency` counts on each.
    pub spread_over: u32,
    /// What `scale` comes to for the largest of several runs, which are all to have data of its size, and why.
    pub settled: Option<(f64, String)>,
}

impl Request {
    /// One batch of a suite as it is, of this size.
    pub fn of(scale: Scale) -> Self {
        Self {
            scale,
            time_scale: None,
            parameters: BTreeMap::new(),
            variant: None,
            seed: 1,
            options: BTreeMap::new(),
            mix: BTreeMap::new(),
            verify: Verify::Full,
            copies: None,
            lanes: 1,
            spread_over: 1,
            settled: None,
        }
    }
}

/// How outputs are verified.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verify {
    /// Those of every job.
    #[default]
    Full,
    /// Those of the first launch of each program.
    Sample,
    /// None: the run shows nothing.
    Off,
}

impl Verify {
    /// The word in flags and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Sample => "sample",
            Self::Off => "off",
        }
    }
}

/// How large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// One to two minutes, under 3 GB of disk.
    Demonstration,
    /// The largest that memory and free space make sensible.
    Auto,
    /// This factor; 1 is the paper's size.
    Factor(f64),
}

/// What the plan depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    /// Physical cores.
    pub cores: u32,
    /// How they were counted, or that they were given.
    pub cores_basis: String,
    /// Memory, bytes.
    pub memory: Bytes,
    /// Free bytes for data, utility files and outputs, by file system: directories on the same
    /// file system share one entry.
    pub free: Vec<FreeSpace>,
}

/// A file system and what will be put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeSpace {
    /// A directory on it, for messages.
    pub directory: String,
    /// Free now, with what is staged there: it is kept or replaced.
    pub free: Bytes,
    /// Files that are staged there, by their paths in the stage, and their lengths: those that a plan does not have
    /// stay where they are.
    pub staged: Vec<(PathBuf, u64)>,
    /// What goes there.
    pub uses: Vec<Use>,
    /// Kind of file system, if it is one that nodes share.
    pub shared: Option<String>,
}

/// What a run puts on a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Staged inputs.
    Data,
    /// Permanent outputs.
    Output,
    /// WORK.
    Work,
    /// Utility files.
    Util,
    /// Run directories.
    Runs,
}

impl FreeSpace {
    /// What is free once staged data are kept or replaced: files that are none of these data sets, in so many batches,
    /// stay where they are.
    fn without_stale(&self, planned: &[PlannedDataset], lanes: u32) -> Bytes {
        let planned: BTreeSet<PathBuf> = (1..=lanes.max(1))
            .flat_map(|lane| planned.iter().map(move |set| stage::inside(set, lane)))
            .collect();
        // An index goes with its data set.
        let stays = |(path, _): &&(PathBuf, u64)| {
            !planned.contains(path) && !planned.contains(&path.with_extension("sas7bdat"))
        };
        let stale: u64 = self.staged.iter().filter(stays).map(|file| file.1).sum();
        Bytes(self.free.0.saturating_sub(stale))
    }

    /// What goes there at the peak.
    fn need(&self, space: Space) -> Need {
        let need = |what: &Use| match what {
            Use::Data => Need::INPUT,
            Use::Output => space.output,
            Use::Work => space.work,
            Use::Util => space.util,
            Use::Runs => space.runs,
        };
        self.uses.iter().map(need).sum()
    }
}

/// A run as it will be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Suite name.
    pub suite: String,
    /// Factor on rows.
    pub scale: f64,
    /// How the factor came about, a sentence.
    pub scale_reason: String,
    /// Factor on launch times and thinking times.
    pub time_scale: f64,
    /// Parameters of the suite.
    pub parameters: BTreeMap<String, u64>,
    /// Variant of the suite.
    pub variant: Option<String>,
    /// As many jobs run at once at the most.
    pub concurrency: Option<usize>,
    /// What the other channels hold at the peak.
    pub space: Space,
    /// The paper's share of WORK and utility files in all bytes, from and to.
    pub work_util_share: Option<[f64; 2]>,
    /// Only large files, to push storage to its limit: throughput can be judged.
    pub saturating: bool,
    /// Demonstration scale: no verdict.
    pub demonstration: bool,
    /// All files together are at least three times the memory.
    pub qualifying: bool,
    /// Files are expected to be so many times as large as their rows: SAS may compress them.
    pub compressed_to: f64,
    /// Seed.
    pub seed: u64,
    /// Physical cores.
    pub cores: u32,
    /// How they were counted, or that they were given.
    pub cores_basis: String,
    /// Memory of the node.
    pub memory: Bytes,
    /// SAS options of every job.
    pub options: BTreeMap<String, String>,
    /// How outputs are verified.
    pub verify: Verify,
    /// What further copies of the same data are.
    pub copies: Copies,
    /// Batches side by side, each with inputs and outputs of its own.
    pub lanes: u32,
    /// What was changed against the suite, and why.
    pub notes: Vec<String>,
    /// Data sets to stage.
    pub datasets: Vec<PlannedDataset>,
    /// Jobs in launch order.
    pub jobs: Vec<PlannedJob>,
}

/// A data set to stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedDataset {
    /// Member name.
    pub name: String,
    /// Place of its entry in the suite.
    pub entry: usize,
    /// Recipe name and text.
    pub recipe: (String, String),
    /// Seed of this data set.
    pub seed: u64,
    /// Copies of the same data before it in its batch: 0 for the first one.
    pub replica: u64,
    /// Which of the batches side by side reads it, from 1.
    pub lane: u32,
    /// Rows.
    pub rows: u64,
    /// Bytes of a row of a data set.
    pub row_bytes: u64,
    /// Not scaled.
    pub fixed: bool,
    /// Data set or text.
    pub format: Format,
    /// Page size instead of the option BUFSIZE.
    pub bufsize: Option<Bytes>,
    /// Simple indexes.
    pub indexes: Vec<String>,
}

impl PlannedDataset {
    /// Bytes of all rows.
    pub const fn bytes(&self) -> Bytes {
        Bytes(self.rows * self.row_bytes)
    }
}

/// A job to launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedJob {
    /// Name.
    pub name: String,
    /// Place of its entry in the suite.
    pub entry: usize,
    /// Jobs of one kind do the same to data of the same size.
    pub kind: String,
    /// Kind of job.
    pub class: Option<String>,
    /// Kind of user.
    pub persona: Option<String>,
    /// Program text.
    pub program: String,
    /// Which of the batches side by side it belongs to, from 1.
    pub lane: u32,
    /// Places of the data that it reads.
    pub inputs: Vec<usize>,
    /// Macro variables.
    pub symbols: BTreeMap<String, String>,
    /// SAS options that replace the plan's.
    pub options: BTreeMap<String, String>,
    /// Launch offset, seconds.
    pub offset_s: f64,
    /// The job that must have ended before it starts.
    pub follows: Option<usize>,
    /// Bytes that it is expected to move.
    pub expected: Option<Bytes>,
    /// What must hold of its outputs.
    pub checks: Vec<Check>,
}

impl Plan {
    /// Bytes of all inputs.
    pub fn input_bytes(&self) -> Bytes {
        Bytes(self.datasets.iter().map(|dataset| dataset.bytes().0).sum())
    }

    /// Bytes of the inputs of a job.
    pub fn inputs_of(&self, job: &PlannedJob) -> Bytes {
        let inputs = job.inputs.iter().filter_map(|at| self.datasets.get(*at));
        Bytes(inputs.map(|dataset| dataset.bytes().0).sum())
    }

    /// Bytes that all jobs are expected to move, if the suite says so of all.
    pub fn expected(&self) -> Option<Bytes> {
        let each = self
            .jobs
            .iter()
            .map(|job| job.expected.map(|bytes| bytes.0));
        each.sum::<Option<u64>>().map(Bytes)
    }

    /// Leaves out jobs, and the data that only they read. A job that follows one of them follows nothing.
    pub fn retain_jobs(&mut self, keep: impl Fn(&PlannedJob) -> bool) {
        let mut places = Vec::new();
        let mut kept = 0;
        for job in &self.jobs {
            places.push(keep(job).then_some(kept));
            kept += usize::from(keep(job));
        }
        self.jobs.retain(|job| keep(job));
        for job in &mut self.jobs {
            job.follows = job.follows.and_then(|before| places[before]);
        }
        let reads = |place: usize, set: &PlannedDataset| {
            let checks = |job: &PlannedJob| {
                let mut inputs = job.checks.iter().filter_map(Check::input);
                job.lane == set.lane && inputs.any(|name| name.eq_ignore_ascii_case(&set.name))
            };
            let mut jobs = self.jobs.iter();
            jobs.any(|job| job.inputs.contains(&place) || checks(job))
        };
        let mut places = Vec::new();
        let mut datasets = Vec::new();
        for (place, set) in self.datasets.iter().enumerate() {
            let stays = reads(place, set);
            places.push(stays.then_some(datasets.len()));
            datasets.extend(stays.then(|| set.clone()));
        }
        self.datasets = datasets;
        for job in &mut self.jobs {
            job.inputs = job.inputs.iter().filter_map(|at| places[*at]).collect();
        }
    }

    /// Whether caches cannot hold much of the input.
    fn is_beyond_memory(&self) -> bool {
        self.input_bytes().0 as f64 * self.compressed_to >= 3.0 * self.memory.0 as f64
    }

    /// The same on so many nodes like the one it was made for: together they have more cores, and more memory
    /// for what they do not all read.
    pub fn on_nodes(&mut self, nodes: u32, spread: bool) {
        self.cores *= nodes;
        self.cores_basis = format!("{nodes} nodes; {}", self.cores_basis);
        if !spread {
            self.memory = Bytes(self.memory.0 * u64::from(nodes));
        }
        self.qualifying = self.is_beyond_memory();
        self.notes.push(if spread {
            format!("one set of jobs is spread over {nodes} nodes")
        } else {
            format!("{nodes} nodes, each with one of the batches")
        });
    }

    /// SAS options of a job.
    pub fn options_of(&self, job: &PlannedJob) -> BTreeMap<String, String> {
        let mut options = self.options.clone();
        options.extend(job.options.clone());
        options
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The suite has mistakes at this scale and with these parameters.
    #[error(transparent)]
    Suite(#[from] suite::Error),
    /// The run does not fit.
    #[error(
        "{needed} are needed at {directory} and {free} are free there (with a tenth kept free); \
         use a smaller --scale or another directory"
    )]
    Space {
        /// Where.
        directory: String,
        /// Bytes needed.
        needed: Bytes,
        /// Bytes free.
        free: Bytes,
    },
    /// A flag is out of range.
    #[error("{0}")]
    Usage(String),
}

/// Makes the plan, or says why it cannot be carried out.
pub fn plan(suite: &Suite, request: &Request, host: &HostFacts) -> Result<Plan, Error> {
    options::check(request)?;
    copies::check(request.lanes)?;
    let demonstration = request.scale == Scale::Demonstration;
    let text = &suite.text;
    let mut choice = Choice {
        scale: 1.0,
        time_scale: time_scale(text, request)?,
        parameters: chosen_parameters(text, request, host)?,
        memory: host.memory,
        seed: request.seed,
        mix: BTreeMap::new(),
        variant: request.variant.clone(),
    };
    let space = space::of_run(suite, request, &choice);
    let scale_reason;
    (choice.scale, scale_reason) = choose_scale(suite, request, (&choice, space), host)?;
    let users = users(suite, &choice, request)?;
    choice.mix.clone_from(&request.mix);
    let expanded = expand(suite, &choice);
    if !expanded.wrong.is_empty() {
        return Err(suite::Error::Mistakes(suite.mistakes(&expanded.wrong)).into());
    }
    let concurrency = choice.parameters.get("concurrency").copied();
    let mut plan = Plan {
        suite: text.name.get_ref().clone(),
        scale: choice.scale,
        scale_reason,
        time_scale: choice.time_scale,
        concurrency: concurrency.and_then(|count| usize::try_from(count).ok()),
        parameters: choice.parameters,
        variant: request.variant.clone(),
        space,
        work_util_share: text.channels.work_util_share,
        saturating: text
            .datasets
            .iter()
            .all(|dataset| dataset.memory_multiple.is_some())
            && !text.datasets.is_empty(),
        demonstration,
        qualifying: false,
        compressed_to: compressed_to(suite, request, &expanded.datasets)?,
        seed: request.seed,
        cores: host.cores,
        cores_basis: host.cores_basis.clone(),
        memory: host.memory,
        options: options::of_suite(text, request)?,
        verify: request.verify,
        copies: request.copies.unwrap_or(text.copies),
        lanes: request.lanes,
        notes: Vec::new(),
        jobs: expanded.jobs,
        datasets: expanded.datasets,
    };
    if !request.mix.is_empty() {
        plan.retain_jobs(|_| true);
        if plan.jobs.is_empty() {
            return Err(Error::Usage("--mix leaves no job".to_owned()));
        }
        plan.notes.push(mixed(&users, &request.mix));
    }
    copies::make(&mut plan);
    plan.qualifying = plan.is_beyond_memory();
    note_sizes(text, &mut plan);
    note_places(text, host, &mut plan);
    options::replace(request, &mut plan);
    options::reduce_sortsize(text, request, &mut plan);
    check_space(&plan, host)?;
    Ok(plan)
}

/// Launches of each persona as the suite has them.
fn users(
    suite: &Suite,
    choice: &Choice,
    request: &Request,
) -> Result<BTreeMap<String, u64>, Error> {
    let mut users: BTreeMap<String, u64> = BTreeMap::new();
    if !request.mix.is_empty() {
        for persona in expand(suite, choice)
            .jobs
            .into_iter()
            .filter_map(|job| job.persona)
        {
            *users.entry(persona).or_default() += 1;
        }
    }
    match mix::mistake(&suite.text, &users, &request.mix) {
        Some(message) => Err(Error::Usage(format!("--mix: {message}"))),
        None => Ok(users),
    }
}

/// The users that there are, for the record.
fn mixed(users: &BTreeMap<String, u64>, mix: &BTreeMap<String, u64>) -> String {
    let each = users.iter().map(|(persona, there)| match mix.get(persona) {
        Some(count) if count != there => format!("{persona} {count} instead of {there}"),
        _ => format!("{persona} {there}"),
    });
    format!(
        "launches by users changed: {}",
        each.collect::<Vec<_>>().join(", ")
    )
}

fn time_scale(text: &SuiteText, request: &Request) -> Result<f64, Error> {
    let time_scale = request.time_scale.unwrap_or(match request.scale {
        Scale::Demonstration => text.demonstration.time_scale,
        _ => 1.0,
    });
    if (0.0..=1000.0).contains(&time_scale) {
        return Ok(time_scale);
    }
    Err(Error::Usage(format!(
        "--time-scale {time_scale}: a number from 0 to 1000 is needed"
    )))
}

/// The suite's parameters on this host, and those asked for. `concurrency` limits any suite.
fn chosen_parameters(
    text: &SuiteText,
    request: &Request,
    host: &HostFacts,
) -> Result<BTreeMap<String, u64>, Error> {
    let demonstration = request.scale == Scale::Demonstration;
    let mut chosen = parameters(text, host.cores, demonstration);
    for (name, value) in &request.parameters {
        if !chosen.contains_key(name) && name != "concurrency" {
            let known: Vec<&str> = chosen.keys().map(String::as_str).collect();
            let known = if known.is_empty() {
                "it has none".to_owned()
            } else {
                format!("it has {}", known.join(", "))
            };
            return Err(Error::Usage(format!(
                "the suite {} has no parameter {name}; {known}",
                text.name.get_ref()
            )));
        }
        chosen.insert(name.clone(), *value);
    }
    for (name, value) in &chosen {
        if !(1..=10_000).contains(value) {
            return Err(Error::Usage(format!(
                "{name} {value}: 1 to 10000 are allowed"
            )));
        }
    }
    Ok(chosen)
}

/// What was chosen otherwise than the paper has it.
fn note_sizes(text: &SuiteText, plan: &mut Plan) {
    if let Some(name) = &plan.variant {
        let title = text.variants.get(name).map_or("", |variant| &variant.title);
        plan.notes.push(format!("variant {name}: {title}"));
    }
    if (plan.time_scale - 1.0).abs() > f64::EPSILON {
        let factor = plan.time_scale;
        plan.notes.push(format!(
            "launch times and thinking times multiplied by {factor}"
        ));
    }
    let own = text.parameters.contains_key("concurrency");
    if let Some(count) = plan.concurrency.filter(|_| !own) {
        plan.notes
            .push(format!("no more than {count} jobs at once"));
    }
    for (name, parameter) in &text.parameters {
        let here = plan.parameters.get(name).copied();
        let paper = parameter.value.or(parameter
            .per_core
            .map(|count| count * u64::from(plan.cores)));
        if let (Some(here), Some(paper)) = (here, paper)
            && here != paper
        {
            plan.notes
                .push(format!("{name}: {here} instead of {paper}"));
        }
    }
}

/// WORK on a shared file system, or on that of the inputs where the paper had them apart.
fn note_places(text: &SuiteText, host: &HostFacts, plan: &mut Plan) {
    for space in host
        .free
        .iter()
        .filter(|space| space.uses.contains(&Use::Work))
    {
        if let Some(kind) = &space.shared {
            plan.notes.push(format!(
                "WORK lies on a shared file system ({kind}): grid nodes have it on disks of their own"
            ));
        }
    }
    let on = |place: &Option<suite::text::Place>| place.as_ref().map(|place| place.on);
    let channels = &text.channels;
    if (on(&channels.input), on(&channels.work)) != (Some(On::Shared), Some(On::Local)) {
        return;
    }
    let both =
        |space: &&FreeSpace| space.uses.contains(&Use::Data) && space.uses.contains(&Use::Work);
    if let Some(space) = host.free.iter().find(both) {
        plan.notes.push(format!(
            "inputs and WORK share the file system of {}; in the paper, inputs lie on shared storage \
             and WORK on the node",
            space.directory
        ));
    }
}

/// The scale and its reason: that of the largest of several runs, if it is settled.
fn choose_scale(
    suite: &Suite,
    request: &Request,
    at_1: (&Choice, Space),
    host: &HostFacts,
) -> Result<(f64, String), Error> {
    match &request.settled {
        Some((scale, reason)) => Ok((*scale, format!("{reason}, for the largest load"))),
        None => own_scale(suite, request, at_1, host),
    }
}

fn own_scale(
    suite: &Suite,
    request: &Request,
    (at_1, takes): (&Choice, Space),
    host: &HostFacts,
) -> Result<(f64, String), Error> {
    let planned = datasets(suite, at_1).datasets;
    let scaled = planned.iter().filter(|set| !set.fixed);
    let paper_total = scaled.map(|set| set.bytes().0 as f64).sum::<f64>().max(1.0);
    match request.scale {
        Scale::Factor(factor) if factor > 0.0 && factor <= 1000.0 => {
            Ok((factor, format!("scale {factor} was asked for")))
        }
        Scale::Factor(factor) => Err(Error::Usage(format!(
            "--scale {factor}: a number above 0 and up to 1000 is needed, or auto"
        ))),
        Scale::Demonstration => {
            let factor = demonstration_scale(suite, paper_total);
            let size = suite.text.demonstration.bytes.map_or_else(
                || format!("{factor} of the rows"),
                |bytes| format!("{bytes} of input in all"),
            );
            Ok((factor, format!("demonstration scale: {size}")))
        }
        Scale::Auto => {
            // A qualifying run, 3.1 times the memory, if it fits in nine tenths of what is free.
            let wanted = 3.1 * host.memory.0 as f64 / compressed_to(suite, request, &planned)?;
            let room = host
                .free
                .iter()
                .map(|space| (space, space.need(takes)))
                .filter(|(_, need)| need.per_input > 0.0)
                .map(|(space, need)| {
                    let free = space.without_stale(&planned, request.lanes);
                    (0.9 * free.0 as f64 - need.fixed).max(0.0) / need.per_input
                })
                .fold(f64::INFINITY, f64::min)
                * 0.98
                / f64::from(request.lanes.max(1));
            // What is smaller than a demonstration is no run: its space is asked for, and refused.
            let least = demonstration_scale(suite, paper_total) * paper_total;
            let total = wanted.min(room.max(least));
            let reason = if room >= wanted {
                format!("auto: 3.1 times the memory of {}", host.memory)
            } else {
                format!(
                    "auto: what fits, since 3.1 times the memory of {} do not",
                    host.memory
                )
            };
            Ok((total / paper_total, reason))
        }
    }
}

/// What the request's options make of staged files, as a part of their rows.
fn compressed_to(suite: &Suite, request: &Request, sets: &[PlannedDataset]) -> Result<f64, Error> {
    let mut options = options::of_suite(&suite.text, request)?;
    options.extend(request.options.clone());
    let compressed = stage::compressed(request.variant.as_deref(), &options);
    Ok(sizes::compressed_to(suite, compressed, sets))
}

/// Of so many bytes at the paper's scale.
fn demonstration_scale(suite: &Suite, paper_total: f64) -> f64 {
    let small = &suite.text.demonstration;
    let of_bytes = small.bytes.map(|bytes| bytes.0 as f64 / paper_total);
    of_bytes.or(small.scale).unwrap_or(1.0)
}

fn check_space(plan: &Plan, host: &HostFacts) -> Result<(), Error> {
    for space in &host.free {
        let needed = space.need(plan.space).at(plan.input_bytes());
        let free = space.without_stale(&plan.datasets, plan.lanes);
        if needed.0 > free.0 / 10 * 9 {
            let directory = space.directory.clone();
            return Err(Error::Space {
                directory,
                needed,
                free,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
