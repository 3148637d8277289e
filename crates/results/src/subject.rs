//! A run or a published run as tables see it: the same figures, whoever measured them.

use std::collections::{BTreeMap, BTreeSet};

use base::units::Bytes;

use crate::audit::NodeAudit;
use crate::node::NodeRecord;
use crate::run::{ChannelResult, JobResult, RunPlan, RunResult, SustainedPeak};
use crate::statistics::summarize;
use crate::verdict::machines;

/// What settings of nodes after the first end with, where they differ from the first's.
pub const ON_OTHERS: &str = " of other nodes";

/// A run, or a reference run from a paper.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Subject {
    /// The run's name, or `paper:isilon-f810`.
    pub name: String,
    /// What was measured, for people.
    pub title: String,
    /// Document of a reference run.
    pub source: Option<String>,
    /// Of a reference run: storage and how data are compressed, the same on any number of nodes.
    pub system: Option<String>,
    /// Suite.
    pub suite: String,
    /// Scale; absent for papers, which define what 1 is.
    pub scale: Option<f64>,
    /// Scale, options and so on, by which two runs are told to be of the same configuration.
    pub configuration: BTreeMap<String, String>,
    /// Nodes.
    pub nodes: Option<u32>,
    /// Cores of all nodes.
    pub cores: Option<u32>,
    /// Jobs that were launched.
    pub programs: Option<u64>,
    /// Its load pushes storage to its limit.
    pub saturating: bool,
    /// Its jobs, if each is known.
    pub jobs: Vec<JobResult>,
    /// Channels, if they are known.
    pub channels: BTreeMap<String, ChannelResult>,
    /// The paper's share of WORK and utility files in all bytes, from and to.
    pub work_util_share: Option<[f64; 2]>,
    /// Figures of all jobs together.
    pub figures: Figures,
    /// The slowest job on each node.
    pub slowest: Option<Slowest>,
    /// Why its figures are to be taken with care, a sentence each.
    pub cautions: Vec<String>,
    /// What the audits of its nodes found; empty if none was audited.
    pub audits: Vec<NodeAudit>,
}

/// Figures of all jobs together. From the jobs where they are known, otherwise as printed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Sum of elapsed times, seconds.
    pub real_sum_s: Option<f64>,
    /// Mean.
    pub real_mean_s: Option<f64>,
    /// Longest.
    pub real_max_s: Option<f64>,
    /// Population standard deviation.
    pub real_deviation_s: Option<f64>,
    /// From the first launch to the last end, seconds.
    pub elapsed_s: Option<f64>,
    /// Sum of user CPU times, seconds.
    pub user_s: Option<f64>,
    /// Sum of system CPU times, seconds.
    pub system_s: Option<f64>,
    /// Sum of the jobs' memory, bytes.
    pub memory_bytes: Option<f64>,
    /// Mean of the jobs' CPU/real.
    pub cpu_real_mean: Option<f64>,
    /// Its population standard deviation.
    pub cpu_real_deviation: Option<f64>,
    /// Largest less smallest.
    pub cpu_real_range: Option<f64>,
    /// Sum of CPU times over sum of elapsed times.
    pub cpu_real_of_sums: Option<f64>,
    /// Mean throughput of all channels over the whole run, flush included, MB/s.
    pub mb_per_s: Option<f64>,
    /// Sustained throughput of all channels, MB/s, from and to.
    pub total_mb_per_s: Option<(f64, f64)>,
    /// Highest throughput of all channels, MB/s.
    pub total_peak_mb_per_s: Option<f64>,
    /// Sustained throughput of permanent data, MB/s, from and to.
    pub shared_mb_per_s: Option<(f64, f64)>,
    /// Elapsed time with FILELOCKS=FAIL over that with NONE.
    pub locks_ratio: Option<f64>,
    /// The same where a paper says "or more".
    pub locks_ratio_min: Option<f64>,
    /// Models calibrated per hour.
    pub models_per_hour: Option<f64>,
    /// Files created per second, all nodes.
    pub creates_per_s: Option<f64>,
}

/// The slowest job, or the same job, on each node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slowest {
    /// Which job; several where nodes differ.
    pub job: String,
    /// Its elapsed time on each node, seconds.
    pub real_s: Vec<f64>,
    /// Known to a minute only.
    pub minutes: bool,
}

impl Figures {
    /// What follows from the jobs themselves.
    pub fn of_jobs(jobs: &[JobResult]) -> Self {
        let of = |figure: fn(&JobResult) -> Option<f64>| -> Vec<f64> {
            jobs.iter().filter_map(figure).collect()
        };
        let sum = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>());
        let real = summarize(&of(|job| job.real_s));
        let ratios = summarize(&of(cpu_real));
        let real_sum_s = sum(of(|job| job.real_s));
        let (user_s, system_s) = (sum(of(|job| job.user_s)), sum(of(|job| job.system_s)));
        // Jobs without CPU times do not belong under jobs with them.
        let timed_s = sum(of(|job| job.user_s.and(job.system_s).and(job.real_s)));
        Self {
            real_sum_s,
            real_mean_s: real.map(|real| real.mean),
            real_max_s: real.map(|real| real.max),
            real_deviation_s: real.map(|real| real.deviation),
            user_s,
            system_s,
            memory_bytes: sum(of(|job| job.memory_bytes.map(|bytes| bytes as f64))),
            cpu_real_mean: ratios.map(|ratios| ratios.mean),
            cpu_real_deviation: ratios.map(|ratios| ratios.deviation),
            cpu_real_range: ratios.map(|ratios| ratios.max - ratios.min),
            cpu_real_of_sums: ratio_of_sums(user_s, system_s, timed_s),
            ..Self::default()
        }
    }

    /// These where they are known, otherwise others.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        Self {
            real_sum_s: self.real_sum_s.or(other.real_sum_s),
            real_mean_s: self.real_mean_s.or(other.real_mean_s),
            real_max_s: self.real_max_s.or(other.real_max_s),
            real_deviation_s: self.real_deviation_s.or(other.real_deviation_s),
            elapsed_s: self.elapsed_s.or(other.elapsed_s),
            user_s: self.user_s.or(other.user_s),
            system_s: self.system_s.or(other.system_s),
            memory_bytes: self.memory_bytes.or(other.memory_bytes),
            cpu_real_mean: self.cpu_real_mean.or(other.cpu_real_mean),
            cpu_real_deviation: self.cpu_real_deviation.or(other.cpu_real_deviation),
            cpu_real_range: self.cpu_real_range.or(other.cpu_real_range),
            cpu_real_of_sums: self.cpu_real_of_sums.or(other.cpu_real_of_sums),
            mb_per_s: self.mb_per_s.or(other.mb_per_s),
            total_mb_per_s: self.total_mb_per_s.or(other.total_mb_per_s),
            total_peak_mb_per_s: self.total_peak_mb_per_s.or(other.total_peak_mb_per_s),
            shared_mb_per_s: self.shared_mb_per_s.or(other.shared_mb_per_s),
            locks_ratio: self.locks_ratio.or(other.locks_ratio),
            locks_ratio_min: self.locks_ratio_min.or(other.locks_ratio_min),
            models_per_hour: self.models_per_hour.or(other.models_per_hour),
            creates_per_s: self.creates_per_s.or(other.creates_per_s),
        }
    }
}

/// CPU time over elapsed time of a job.
pub fn cpu_real(job: &JobResult) -> Option<f64> {
    Some(job.cpu_s()? / job.real_s.filter(|real| *real > 0.0)?)
}

/// Sum of CPU times over sum of elapsed times.
pub(crate) fn ratio_of_sums(
    user_s: Option<f64>,
    system_s: Option<f64>,
    real_s: Option<f64>,
) -> Option<f64> {
    Some((user_s? + system_s?) / real_s.filter(|real| *real > 0.0)?)
}

impl Subject {
    /// A run, finished or not.
    pub fn of_run(plan: &RunPlan, result: &RunResult) -> Self {
        let nodes: BTreeSet<&str> = result.jobs.iter().map(|job| &*job.node).collect();
        let elapsed_s = result.aggregate.elapsed_s;
        let per_s = |count: Option<u64>| Some(count? as f64 / elapsed_s?);
        let done = result
            .jobs
            .iter()
            .filter(|job| job.exit.is_some_and(|exit| exit < 2));
        let models = plan
            .parameters
            .contains_key("models")
            .then(|| done.count() as u64);
        let peak = result.sustained_peak.as_ref();
        let peak = peak.and_then(SustainedPeak::of_storage);
        let range = |figure: f64| (figure, figure);
        let figures = Figures {
            elapsed_s,
            mb_per_s: result.aggregate.mb_per_s_flushed,
            total_mb_per_s: peak.map(|peak| range(peak.total)),
            shared_mb_per_s: peak.map(|peak| range(peak.shared)),
            models_per_hour: per_s(models).map(|rate| rate * 3600.0),
            creates_per_s: per_s(operations(result, "create")),
            ..Figures::of_jobs(&result.jobs)
        };
        Self {
            name: plan.run.clone(),
            title: title(plan),
            source: None,
            system: None,
            suite: plan.suite.clone(),
            scale: Some(plan.scale),
            configuration: configuration(plan),
            nodes: u32::try_from(nodes.len()).ok(),
            cores: Some(plan.cores),
            programs: Some(plan.jobs.len() as u64),
            saturating: plan.saturating,
            jobs: result.jobs.clone(),
            channels: result.channels.clone(),
            work_util_share: plan.work_util_share,
            figures,
            slowest: slowest(&result.jobs),
            cautions: cautions(plan, result),
            audits: Vec::new(),
        }
    }
}

impl Subject {
    /// The same, with the kernel and the file systems of its nodes in its configuration: the first node's, and those
    /// that others have otherwise.
    #[must_use]
    pub fn on_nodes(mut self, nodes: &[NodeRecord]) -> Self {
        let Some((first, others)) = nodes.split_first() else {
            return self;
        };
        let of = settings(first);
        let mut differing: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, value) in others.iter().flat_map(settings) {
            if of.get(&name) != Some(&value) {
                differing.entry(name).or_default().insert(value);
            }
        }
        let differing = differing.into_iter().map(|(name, values)| {
            let values: Vec<String> = values.into_iter().collect();
            (format!("{name}{ON_OTHERS}"), values.join("; "))
        });
        self.configuration.extend(of.into_iter().chain(differing));
        self
    }
}

/// A node's kernel and file systems, as far as they are recorded.
fn settings(node: &NodeRecord) -> BTreeMap<String, String> {
    let kernel = Some(("kernel".to_owned(), node.kernel.clone()));
    let systems = node.file_systems.iter();
    let systems = systems.map(|(name, system)| (format!("{name} file system"), system.to_string()));
    let kernel = kernel.filter(|(_, release)| !release.is_empty());
    systems.chain(kernel).collect()
}

/// What was disturbed, failed or unproven.
fn cautions(plan: &RunPlan, result: &RunResult) -> Vec<String> {
    let count = |which: fn(&JobResult) -> bool| result.jobs.iter().filter(|job| which(job)).count();
    let all = result.jobs.len();
    let mut found: Vec<String> = [
        (count(|job| job.exit.is_none()), "did not finish"),
        (
            count(|job| job.exit.is_some_and(|exit| exit > 1)),
            "ended with errors",
        ),
        (
            count(|job| job.verified == Some(false)),
            "have wrong outputs",
        ),
        (count(|job| job.verified.is_none()), "were not verified"),
    ]
    .into_iter()
    .filter(|(jobs, _)| *jobs > 0)
    .map(|(jobs, what)| format!("{jobs} of {all} jobs {what}"))
    .collect();
    if plan.demonstration {
        found.push("demonstration scale: most data stay in memory".to_owned());
    } else if !plan.qualifying {
        found.push(
            "all files together are less than three times the memory: caches may have helped"
                .to_owned(),
        );
    }
    let shared = result
        .nodes
        .iter()
        .filter(|node| node.same_host_as.is_some())
        .count();
    if shared > 0 {
        let all = result.nodes.len();
        found.push(format!(
            "its {all} nodes are only {}",
            machines(all - shared)
        ));
    }
    let disturbed = result.disturbance.iter().filter(|one| one.exceeded);
    found.extend(disturbed.map(|one| format!("disturbed: {}", one.statement)));
    found
}

/// How often an operation was done, all channels together; absent where operations were not kept.
fn operations(result: &RunResult, name: &str) -> Option<u64> {
    let known = result
        .channels
        .values()
        .any(|channel| !channel.operations.is_empty());
    let counts = result
        .channels
        .values()
        .filter_map(|channel| channel.operations.get(name));
    known.then(|| counts.sum())
}

fn title(plan: &RunPlan) -> String {
    let variant = plan
        .variant
        .as_ref()
        .map_or(String::new(), |name| format!(", {name}"));
    format!("{} at scale {}{variant}", plan.suite, plan.scale)
}

/// What must be equal for two runs to be repeats of each other: all that was chosen, not where or when.
fn configuration(plan: &RunPlan) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    let mut put = |name: &str, value: String| all.insert(name.to_owned(), value);
    put("program", plan.program.clone());
    put("memory", Bytes(plan.memory_bytes).to_string());
    put("suite", plan.suite.clone());
    put("scale", plan.scale.to_string());
    put("time scale", plan.time_scale.to_string());
    put("seed", plan.seed.to_string());
    put("variant", plan.variant.clone().unwrap_or_default());
    put(
        "pace",
        plan.pace.clone().unwrap_or_else(|| "none".to_owned()),
    );
    if let Some(sas) = &plan.sas {
        put("engine", sas.display().to_string());
    }
    if let Some(pacing) = &plan.pacing {
        put("pace by", pacing.by.clone());
        put(
            "pace table",
            format!("{} ({})", pacing.table, pacing.table_date),
        );
    }
    if let Some(copies) = &plan.copies {
        put("copies", copies.kind.clone());
    }
    if plan.lanes > 1 {
        put("batches side by side", plan.lanes.to_string());
    }
    put("cold", plan.cold.to_string());
    put("cores", plan.cores.to_string());
    put("node", plan.node.clone());
    for (name, value) in &plan.labels {
        put(&format!("label {name}"), value.clone());
    }
    for (name, value) in &plan.options {
        put(&format!("option {name}"), value.clone());
    }
    for (name, value) in &plan.parameters {
        put(&format!("parameter {name}"), value.to_string());
    }
    for (name, path) in &plan.directories {
        put(&format!("{name} directory"), path.display().to_string());
    }
    all
}

/// The slowest job of each node and batch.
fn slowest(jobs: &[JobResult]) -> Option<Slowest> {
    let mut places: BTreeMap<(&str, u32), (&str, f64)> = BTreeMap::new();
    for job in jobs {
        let Some(real_s) = job.real_s else { continue };
        let place = places
            .entry((&job.node, job.batch))
            .or_insert((&job.name, real_s));
        if real_s > place.1 {
            *place = (&job.name, real_s);
        }
    }
    let mut names: Vec<&str> = places.values().map(|(name, _)| *name).collect();
    names.dedup();
    (!places.is_empty()).then(|| Slowest {
        job: names.join(", "),
        real_s: places.values().map(|(_, real_s)| *real_s).collect(),
        minutes: false,
    })
}
