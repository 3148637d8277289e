//! What a series would do, without doing it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use base::units::Bytes;
use bench::matrix::design::Cell;
use bench::matrix::device::{self, Description};
use bench::matrix::plan::Channel;
use bench::matrix::possible::{Answer, Host};
use bench::matrix::series::Config;
use bench::matrix::setting::Of;
use report::table::wrapped;
use results::matrix::record::MatrixPlan;
use serde::Serialize;

use crate::exit::Exit;
use crate::ui;

/// What was found about the plan on this host.
pub struct Found {
    /// By cell.
    answers: Vec<Answer>,
    /// By device.
    devices: Vec<(String, Result<Description, String>)>,
    /// Settings of the host: file, what it says now, what the series sets.
    settings: Vec<(String, String, Vec<String>)>,
}

#[derive(Serialize)]
struct Json<'a> {
    plan: &'a MatrixPlan,
    cells: Vec<JsonCell<'a>>,
}

#[derive(Serialize)]
struct JsonCell<'a> {
    levels: &'a BTreeMap<String, String>,
    possible: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

/// Prints it.
pub fn tell(config: &Config<'_>, json: bool) -> Result<Exit> {
    let scratch = tempfile::tempdir().context("failed to make a temporary directory")?;
    let is_root = rustix::process::geteuid().is_root();
    let place = is_root.then(|| scratch.path());
    let mut host = Host::new(&config.matrix.text, config.kernel.clone(), place);
    let found = Found {
        answers: config.cells.iter().map(|cell| host.cell(cell)).collect(),
        devices: config
            .devices()
            .into_iter()
            .map(|name| (name.clone(), device::check(&name)))
            .collect(),
        settings: settings(config),
    };
    if json {
        let cell = |(cell, answer)| of_cell(cell, answer);
        let all = Json {
            plan: &config.plan,
            cells: config.cells.iter().zip(&found.answers).map(cell).collect(),
        };
        ui::data(&serde_json::to_string(&all)?);
    } else {
        ui::data(describe(config, &found).trim_end());
    }
    Ok(Exit::Good)
}

fn of_cell<'a>(cell: &'a Cell, answer: &'a Answer) -> JsonCell<'a> {
    let (possible, why) = match answer {
        Answer::Yes => ("yes", None),
        Answer::No(why) => ("no", Some(why.as_str())),
        Answer::Unknown(why) => ("unknown", Some(why.as_str())),
    };
    JsonCell {
        levels: &cell.levels,
        possible,
        why,
    }
}

/// Files of settings of the host, and of the disks below directories that are there already, with what they say now.
fn settings(config: &Config<'_>) -> Vec<(String, String, Vec<String>)> {
    let mut found: Vec<(String, String, Vec<String>)> = Vec::new();
    for wanted in config.cells.iter().flat_map(|cell| &cell.settings) {
        let mut places = vec![Of::Host];
        if wanted.kind.is_of_volumes() {
            let is_wanted = |name: &str| wanted.volumes.iter().any(|one| one == name);
            let volumes = config.matrix.text.volumes.iter();
            let volumes = volumes.filter(|(name, _)| is_wanted(name.get_ref()));
            let there = volumes.filter_map(|(_, volume)| volume.directory.as_ref());
            places = there
                .map(|path| Of::Mounted(Path::new(path.get_ref())))
                .collect();
        }
        let knobs = places.into_iter().flat_map(|of| {
            let knobs = config.kernel.knobs(wanted, of);
            knobs.unwrap_or_default()
        });
        for knob in knobs {
            let what = knob.path.display().to_string();
            let now = knob.now().unwrap_or_else(|error| error.to_string());
            let place = found.iter().position(|(known, _, _)| *known == what);
            let place = place.unwrap_or_else(|| {
                found.push((what, now, Vec::new()));
                found.len() - 1
            });
            let values = &mut found[place].2;
            if !values.contains(&knob.wanted) {
                values.push(knob.wanted);
            }
        }
    }
    found
}

/// The series as people read it.
pub fn describe(config: &Config<'_>, found: &Found) -> String {
    let plan = &config.plan;
    let mut out = format!("Series {}: {}\n", plan.name, plan.title);
    for source in &plan.sources {
        line(&mut out, &format!("after {source}"));
    }
    let (cells, runs) = (config.cells.len(), plan.runs.len());
    line(
        &mut out,
        &format!(
            "design {}: {cells} cells, {} blocks of them, {runs} runs; order by seed {}",
            plan.design, plan.repeats, plan.seed
        ),
    );
    line(
        &mut out,
        &format!("each run: gristmill run {}", plan.arguments.join(" ")),
    );
    line(
        &mut out,
        &format!("folder {}", config.folder.path().display()),
    );
    volumes(&mut out, config);
    devices(&mut out, config, found);
    factors(&mut out, plan);
    if !found.settings.is_empty() {
        out.push_str("Settings of the host, put back after each run\n");
        for (what, now, values) in &found.settings {
            line(
                &mut out,
                &format!("{what}: {now} now; {}", values.join(", ")),
            );
        }
    }
    table(&mut out, config, found);
    reasons(&mut out, found);
    order(&mut out, config);
    out
}

fn line(out: &mut String, text: &str) {
    for (at, part) in wrapped(text, 96).iter().enumerate() {
        let indent = if at == 0 { "  " } else { "      " };
        let _ = writeln!(out, "{indent}{part}");
    }
}

fn volumes(out: &mut String, config: &Config<'_>) {
    out.push_str("Volumes\n");
    for (name, volume) in &config.matrix.text.volumes {
        let holds: Vec<&str> = volume
            .holds
            .iter()
            .map(|channel| channel.get_ref().name())
            .collect();
        let holds = if holds.is_empty() {
            Channel::ALL.map(Channel::name).join(", ")
        } else {
            holds.join(", ")
        };
        let place = config
            .plan
            .volumes
            .get(name.get_ref())
            .map_or("", String::as_str);
        line(out, &format!("{}: {place}; holds {holds}", name.get_ref()));
    }
}

fn devices(out: &mut String, config: &Config<'_>, found: &Found) {
    if found.devices.is_empty() {
        return;
    }
    out.push_str("Devices that are formatted for every run: everything on them is lost\n");
    for (name, checked) in &found.devices {
        let text = match checked {
            Ok(Description { size, holds }) => {
                let size = size.map_or("size not known".to_owned(), |size: Bytes| size.to_string());
                format!("{name}: {size}, holds {holds}")
            }
            Err(why) => format!("REFUSED: {why}"),
        };
        let confirmed = if config.format.contains(name) {
            "confirmed"
        } else {
            "not confirmed: --format with its name does that"
        };
        line(out, &format!("{text}; {confirmed}"));
    }
}

fn factors(out: &mut String, plan: &MatrixPlan) {
    out.push_str("Factors, the first level of which others are held against\n");
    for factor in &plan.factors {
        let levels = factor.levels.iter().map(|level| {
            let own = level
                .value
                .iter()
                .filter(|value| **value != level.name && !value.is_empty());
            let by = level
                .by
                .iter()
                .map(|(key, value)| format!("{key}: {value}"));
            let sets: Vec<String> = own.cloned().chain(by).collect();
            if sets.is_empty() {
                level.name.clone()
            } else {
                format!("{} ({})", level.name, sets.join("; "))
            }
        });
        let levels: Vec<String> = levels.collect();
        let setting = factor
            .setting
            .as_ref()
            .map_or(String::new(), |name| format!(" {name}"));
        line(
            out,
            &format!(
                "{} ({}{setting}): {}",
                factor.name,
                factor.kind,
                levels.join(", ")
            ),
        );
    }
}

/// The cells with their numbers; a letter refers to a reason below.
fn table(out: &mut String, config: &Config<'_>, found: &Found) {
    out.push_str("Cells\n");
    for (number, (cell, answer)) in (1..).zip(config.cells.iter().zip(&found.answers)) {
        let levels = config.plan.factors.iter();
        let levels: Vec<&str> = levels
            .filter_map(|factor| cell.levels.get(&factor.name).map(String::as_str))
            .collect();
        let mark = match answer {
            Answer::Yes => String::new(),
            Answer::No(why) => format!("  not possible here [{}]", place(found, why)),
            Answer::Unknown(why) => format!("  not known yet [{}]", place(found, why)),
        };
        let _ = writeln!(out, "  {number:>3}  {}{mark}", levels.join(", "));
    }
}

/// Reasons, each once, in the order of the cells.
fn all_reasons(found: &Found) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for answer in &found.answers {
        match answer {
            Answer::No(why) | Answer::Unknown(why) if !all.contains(&why.as_str()) => all.push(why),
            _ => {}
        }
    }
    all
}

fn place(found: &Found, why: &str) -> usize {
    let place = all_reasons(found).iter().position(|one| *one == why);
    place.map_or(0, |place| place + 1)
}

fn reasons(out: &mut String, found: &Found) {
    for (number, why) in (1..).zip(all_reasons(found)) {
        line(out, &format!("[{number}] {why}"));
    }
}

fn order(out: &mut String, config: &Config<'_>) {
    out.push_str("Order of the cells, shuffled within each block\n");
    for block in 1..=config.plan.repeats {
        let runs = config.plan.runs.iter().filter(|run| run.block == block);
        let numbers = runs.filter_map(|run| {
            config
                .cells
                .iter()
                .position(|cell| cell.levels == run.levels)
        });
        let numbers: Vec<String> = numbers.map(|place| (place + 1).to_string()).collect();
        line(out, &format!("block {block}: {}", numbers.join(" ")));
    }
}

#[cfg(test)]
mod tests {
    use bench::matrix::design;
    use bench::matrix::plan::{Changes, parse};
    use bench::matrix::setting::Kernel;
    use results::matrix::record::MatrixFolder;

    use super::*;

    const PLAN: &str = r#"name = "a"
title = "Two file systems on a device"
suite = "large-sorts"
repeats = 2
volumes.data = { device = "/dev/sdb" }

[[factors]]
name = "file system"
kind = "file-system"
levels = ["ext4", "xfs"]

[[factors]]
name = "barriers"
kind = "mount"
levels = [{ name = "on", value = "" }, { name = "off", value = "nobarrier" }]
"#;

    #[test]
    fn what_cannot_be_done_here_is_named_beside_the_cell_and_explained_once() {
        let matrix = parse("a.toml", PLAN, &Changes::default()).unwrap();
        let cells = design::cells(&matrix);
        let config = Config {
            plan: design::record(&matrix, &cells, &BTreeMap::new(), "test"),
            matrix: &matrix,
            cells: &cells,
            folder: MatrixFolder::open("/series".as_ref()),
            images: "/series/images".into(),
            format: Vec::new(),
            program: "gristmill".into(),
            kernel: Kernel::live(),
        };
        let unknown = || Answer::Unknown("ext4 with nobarrier: to try that needs root".to_owned());
        let found = Found {
            answers: vec![
                Answer::Yes,
                unknown(),
                Answer::Yes,
                Answer::No("xfs of Linux 6.1 refuses the mount option nobarrier".to_owned()),
            ],
            devices: vec![(
                "/dev/sdb".to_owned(),
                Err("/dev/sdb is mounted at /home".to_owned()),
            )],
            settings: Vec::new(),
        };
        insta::assert_snapshot!(describe(&config, &found), @r"
        Series a: Two file systems on a device
          design full: 4 cells, 2 blocks of them, 8 runs; order by seed 0
          each run: gristmill run large-sorts
          folder /series
        Volumes
          data: the device /dev/sdb; holds data, output, work, util
        Devices that are formatted for every run: everything on them is lost
          REFUSED: /dev/sdb is mounted at /home; not confirmed: --format with its name does that
        Factors, the first level of which others are held against
          file system (file-system): ext4, xfs
          barriers (mount): on, off (nobarrier)
        Cells
            1  ext4, on
            2  ext4, off  not known yet [1]
            3  xfs, on
            4  xfs, off  not possible here [2]
          [1] ext4 with nobarrier: to try that needs root
          [2] xfs of Linux 6.1 refuses the mount option nobarrier
        Order of the cells, shuffled within each block
          block 1: 4 2 1 3
          block 2: 4 3 1 2
        ");
    }
}
