//! What does not depend on rows: the price of a tiny step, the time of reading a program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::super::groups::{Contestant, other};
use super::super::{beside, page::verdict, sample};
use crate::places::own;

/// A measurement by its title; it takes the engine's binary, a folder and how often.
type Measurement = (&'static str, fn(&str, &Path, usize) -> Result<String>);

pub(super) const ALL: [Measurement; 2] = [
    ("7,000 tiny steps of a macro loop", tiny_steps),
    ("Reading a program of 10,000 lines", parsing),
];

/// The engine's own share of a step may take so long.
const STEP_S_MAX: f64 = 1e-4;
const PARSE_S_MAX: f64 = 0.05;

/// The part of a step's record that is looked at.
#[derive(Deserialize)]
struct Step {
    kind: String,
    name: String,
    real_s: f64,
    channels: BTreeMap<String, Channel>,
}

#[derive(Deserialize)]
struct Channel {
    operations: BTreeMap<String, Operation>,
}

#[derive(Deserialize)]
struct Operation {
    total_s: f64,
}

impl Step {
    /// Seconds inside calls of the file system.
    fn calls_s(&self) -> f64 {
        let operations = self
            .channels
            .values()
            .flat_map(|one| one.operations.values());
        operations.map(|operation| operation.total_s).sum()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn contestant(command: Vec<String>) -> Contestant {
    Contestant {
        name: "ours",
        command,
        bytes: 0,
        rows: None,
        counts: true,
        removes: None,
    }
}

fn tiny_steps(gristmill: &str, folder: &Path, rotations: usize) -> Result<String> {
    let program = own("programs/engine/steps.sas").display().to_string();
    let records = folder.join("steps.json");
    let (records_text, work) = (records.display().to_string(), folder.display().to_string());
    let mut command = vec![gristmill, "exec", &program, "--work", &work];
    command.extend([
        "--steps",
        &records_text,
        "--log",
        "/dev/null",
        "--print",
        "/dev/null",
    ]);
    let ours = contestant(other(&command));
    let mut steps = Vec::new();
    let mut whole = Vec::new();
    for _ in 0..rotations {
        whole.push(sample(&ours)?.wall_s);
        for line in fs::read_to_string(&records)?.lines() {
            steps.push(serde_json::from_str::<Step>(line).context("a step's record")?);
        }
    }
    fs::remove_file(&records)?;
    // The end of the session is no step.
    steps.retain(|step: &Step| step.kind != "end");
    let mut by_name: BTreeMap<String, Vec<&Step>> = BTreeMap::new();
    for step in &steps {
        let name = if step.kind == "data" {
            "DATA"
        } else {
            step.name.as_str()
        };
        by_name.entry(name.to_owned()).or_default().push(step);
    }
    by_name.insert("all".to_owned(), steps.iter().collect());
    let mut text = format!(
        "## 7,000 tiny steps of a macro loop\n\n{rotations} rotations; the whole program takes {:.2} s \
        (median). Milliseconds per step, medians; the engine's own time is the step's real time without \
        what its calls of the file system took.\n\n\
        | step | how many | real | in calls | engine |\n|---|---|---|---|---|\n",
        median(whole)
    );
    let own_s = |step: &&Step| step.real_s - step.calls_s();
    for (name, steps) in &by_name {
        let milliseconds =
            |value: fn(&Step) -> f64| 1e3 * median(steps.iter().map(|step| value(step)).collect());
        let _ = writeln!(
            text,
            "| {name} | {} | {:.3} | {:.3} | {:.3} |",
            steps.len() / rotations,
            milliseconds(|step| step.real_s),
            milliseconds(Step::calls_s),
            1e3 * median(steps.iter().map(own_s).collect()),
        );
    }
    let engine_s = median(steps.iter().collect::<Vec<_>>().iter().map(own_s).collect());
    let _ = writeln!(
        text,
        "\nThe engine's own time: {:.3} ms, wanted at most {:.1} ms: {}.",
        engine_s * 1e3,
        STEP_S_MAX * 1e3,
        verdict(engine_s <= STEP_S_MAX)
    );
    Ok(text)
}

fn parsing(_: &str, _: &Path, rotations: usize) -> Result<String> {
    let example = beside("examples/speed");
    let ours = contestant(other(&[&example]));
    // The example itself tells the median of nine readings.
    let times = (0..rotations).map(|_| Ok(sample(&ours)?.wall_s));
    let median_s = median(times.collect::<Result<Vec<f64>>>()?);
    Ok(format!(
        "## Reading a program of 10,000 lines\n\n`crates/lang/examples/speed.rs`, {rotations} rotations \
        of nine readings: {:.1} ms, wanted at most {:.0} ms: {}.\n",
        median_s * 1e3,
        PARSE_S_MAX * 1e3,
        verdict(median_s <= PARSE_S_MAX)
    ))
}
