//! What was run, where and how: the heading, the cache, the host and the options.

use base::units::Bytes;
use results::node::NodeRecord;
use serde::Serialize;

use super::Run;
use super::cards::{capital, physical_share};
use super::number::{count, figure, percent, rounded};

/// The heading.
#[derive(Debug, Serialize)]
pub(super) struct Head {
    suite: String,
    node: String,
    run: String,
    started: String,
    program: String,
}

pub(super) fn head(run: &Run) -> Head {
    let plan = &run.plan;
    Head {
        suite: plan.suite.clone(),
        node: plan.place(),
        run: plan.run.clone(),
        started: date(plan.started_unix_s),
        program: plan.program.clone(),
    }
}

/// `2026-11-20 23:39 UTC`.
fn date(unix_s: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "seconds of today are far below 2^63"
    )]
    let whole = unix_s as i64;
    jiff::Timestamp::from_second(whole).map_or_else(
        |_| "at an unknown time".to_owned(),
        |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

/// Something known, with its name.
#[derive(Debug, Serialize)]
pub(super) struct Fact {
    name: String,
    value: String,
    about: String,
}

fn fact(name: impl Into<String>, value: impl Into<String>) -> Fact {
    with_about(name, value, "")
}

fn with_about(name: impl Into<String>, value: impl Into<String>, about: impl Into<String>) -> Fact {
    Fact {
        name: name.into(),
        value: value.into(),
        about: about.into(),
    }
}

/// How much of what was read could have come from memory.
pub(super) fn cache(run: &Run) -> Vec<Fact> {
    let (plan, all) = (&run.plan, &run.result.aggregate);
    let input = staged(run);
    let measured = |share: Option<f64>| share.map_or("not measured".to_owned(), percent);
    let physical = physical_share(run);
    vec![
        with_about(
            "Input to memory",
            format!(
                "{} : 1",
                figure(input as f64 / plan.memory_bytes.max(1) as f64)
            ),
            format!(
                "{} staged, {} of memory",
                Bytes(input),
                Bytes(plan.memory_bytes)
            ),
        ),
        with_about(
            "Cached at the start",
            measured(all.cached_share),
            if plan.cold {
                "of the staged input, after the caches were dropped or the files evicted"
            } else {
                "of the staged input: a warm start was asked for"
            },
        ),
        with_about(
            "Physical reads",
            measured(physical.as_ref().map(|(share, _)| *share)),
            match physical {
                Some((_, basis)) => format!("of the bytes that programs read; {basis}"),
                None => "a file system hides it, or a job left no record of its steps".to_owned(),
            },
        ),
        with_about(
            "Qualifying",
            if plan.qualifying { "yes" } else { "no" },
            if plan.qualifying {
                "all files together are at least three times the memory"
            } else {
                "all files together are less than three times the memory: caches may have helped"
            },
        ),
    ]
}

fn staged(run: &Run) -> u64 {
    let of_jobs = || run.plan.jobs.iter().map(|job| job.input_bytes).sum();
    run.plan.staged_bytes.unwrap_or_else(of_jobs)
}

/// Where a directory lies: `ext4 on /dev/vda1, mounted at /; devices: vda`.
fn file_system(node: &NodeRecord, channel: &str) -> Option<String> {
    let found = node.file_systems.get(channel)?;
    let devices =
        (!found.devices.is_empty()).then(|| format!("devices: {}", found.devices.join(", ")));
    let place = format!(
        "{} on {}, mounted at {}",
        found.kind, found.source, found.mount_point
    );
    let parts: Vec<String> = [Some(place), devices, found.hidden.clone()]
        .into_iter()
        .flatten()
        .collect();
    Some(parts.join("; "))
}

/// Groups of facts about the host, the suite and its options.
#[derive(Debug, Serialize)]
pub(super) struct Group {
    title: &'static str,
    facts: Vec<Fact>,
}

pub(super) fn host(run: &Run) -> Vec<Group> {
    let plan = &run.plan;
    let mut host = vec![
        fact("Node", plan.place()),
        with_about("Cores", count(u64::from(plan.cores)), &plan.cores_basis),
        fact("Memory", Bytes(plan.memory_bytes).to_string()),
        fact("Program", &plan.program),
    ];
    let kernels = run.nodes.iter().filter(|node| !node.kernel.is_empty());
    host.extend(kernels.map(|node| fact("Kernel", &node.kernel)));
    let mut suite = vec![
        fact("Suite", &plan.suite),
        with_about("Scale", rounded(plan.scale).to_string(), &plan.scale_reason),
    ];
    if (plan.time_scale - 1.0).abs() > 1e-9 {
        suite.push(with_about(
            "Time scale",
            rounded(plan.time_scale).to_string(),
            "factor on launch offsets and thinking times",
        ));
    }
    suite.extend(plan.variant.iter().map(|variant| fact("Variant", variant)));
    let parameters = plan.parameters.iter();
    suite.extend(parameters.map(|(name, value)| fact(capital(name), count(*value))));
    suite.push(fact("Input staged", Bytes(staged(run)).to_string()));
    suite.push(fact("Seed", plan.seed.to_string()));
    suite.push(fact("Start", if plan.cold { "cold" } else { "warm" }));
    let directories = plan.directories.iter().map(|(channel, path)| {
        let about = run.nodes.iter().find_map(|node| file_system(node, channel));
        with_about(
            channel,
            path.display().to_string(),
            about.unwrap_or_default(),
        )
    });
    let options = plan.options.iter().map(|(name, value)| {
        let value = if value.is_empty() { "on" } else { value };
        fact(name, value)
    });
    let groups = [
        ("Host", host),
        ("Suite", suite),
        ("Directories", directories.collect()),
        ("SAS options", options.collect()),
        (
            "Changed against the suite",
            plan.notes.iter().map(|note| fact("", note)).collect(),
        ),
    ];
    groups
        .into_iter()
        .filter(|(_, facts): &(_, Vec<Fact>)| !facts.is_empty())
        .map(|(title, facts)| Group { title, facts })
        .collect()
}
