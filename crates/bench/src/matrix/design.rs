//! The cells of a plan and the order of their runs. Pure: the same plan gives the same series everywhere.

use std::collections::BTreeMap;

use base::random::Stream;
use results::matrix::record::{FactorRecord, LevelRecord, MatrixPlan, PlannedRun};

use super::filesystem::FileSystem;
use super::plan::{Design, FactorText, Kind, Level, Matrix, MatrixText, VolumeText};
use super::setting::Wanted;
use super::validate::covers;

/// What a cell is made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// Level by factor.
    pub levels: BTreeMap<String, String>,
    /// Suite.
    pub suite: String,
    /// Scale; `None`: demonstration scale.
    pub scale: Option<f64>,
    /// SAS options.
    pub options: BTreeMap<String, String>,
    /// By volume.
    pub volumes: BTreeMap<String, Volume>,
    /// Settings of the host and of volumes.
    pub settings: Vec<Wanted>,
    /// Why there can be no such cell, whatever the host is.
    pub contradiction: Option<String>,
}

/// A volume in a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Volume {
    /// The file system that is made; `None` where nothing is made.
    pub file_system: Option<FileSystem>,
    /// What is mounted, such as nfs4 of an export; empty for a directory.
    pub kind: String,
    /// Words for mkfs.
    pub mkfs: Vec<String>,
    /// Mount options.
    pub mount: String,
    /// Disks of a striped volume.
    pub stripes: usize,
}

/// The cells, in the order of the plan.
pub fn cells(matrix: &Matrix) -> Vec<Cell> {
    let text = &matrix.text;
    combinations(text)
        .iter()
        .map(|levels| cell(text, levels))
        .collect()
}

/// Places of levels by factor, cell by cell.
fn combinations(text: &MatrixText) -> Vec<Vec<usize>> {
    let factors = &text.factors;
    let base = vec![0; factors.len()];
    match text.design {
        Design::Full => {
            let mut all = vec![Vec::new()];
            for factor in factors {
                let longer = |levels: &Vec<usize>| -> Vec<Vec<usize>> {
                    let places = 0..factor.levels.len();
                    places
                        .map(|place| [&levels[..], &[place]].concat())
                        .collect()
                };
                all = all.iter().flat_map(longer).collect();
            }
            all
        }
        Design::OneAtATime => {
            let mut all = vec![base.clone()];
            for (at, factor) in factors.iter().enumerate() {
                for place in 1..factor.levels.len() {
                    let mut levels = base.clone();
                    levels[at] = place;
                    all.push(levels);
                }
            }
            all
        }
        Design::List => {
            let mut all: Vec<Vec<usize>> = Vec::new();
            for listed in &text.cells {
                let level = |factor: &FactorText| {
                    let named = listed.iter().find(|(name, _)| *name == &factor.name);
                    let named = named.map(|(_, level)| level.get_ref());
                    let place = |name: &String| {
                        factor
                            .levels
                            .iter()
                            .position(|one| one.get_ref().name == *name)
                    };
                    named.map_or(Some(0), place)
                };
                // A level that was left out by the command line takes its cells along.
                let levels: Option<Vec<usize>> = factors.iter().map(level).collect();
                all.extend(levels.filter(|levels| !all.contains(levels)));
            }
            all
        }
    }
}

fn cell(text: &MatrixText, places: &[usize]) -> Cell {
    let chosen: Vec<(&FactorText, &Level)> = text
        .factors
        .iter()
        .zip(places)
        .map(|(factor, place)| (factor, factor.levels[*place].get_ref()))
        .collect();
    let mut cell = Cell {
        levels: chosen
            .iter()
            .map(|(factor, level)| (factor.name.get_ref().clone(), level.name.clone()))
            .collect(),
        suite: text.suite.get_ref().clone(),
        scale: text.scale.as_ref().map(|scale| *scale.get_ref()),
        ..Cell::default()
    };
    for (name, volume) in &text.volumes {
        let found = volume_of(name.get_ref(), volume, &chosen, &mut cell.contradiction);
        cell.volumes.insert(name.get_ref().clone(), found);
    }
    for (factor, level) in &chosen {
        let value = level.value.clone().unwrap_or_default();
        match factor.kind {
            Kind::Suite => cell.suite = value,
            Kind::Scale => cell.scale = value.parse().ok(),
            Kind::SasOption => {
                let name = factor
                    .setting
                    .as_ref()
                    .map(|name| name.get_ref().to_ascii_uppercase());
                cell.options.insert(name.unwrap_or_default(), value);
            }
            kind if kind.is_setting() => cell.settings.push(Wanted {
                factor: factor.name.get_ref().clone(),
                kind,
                setting: factor.setting.as_ref().map(|name| name.get_ref().clone()),
                value,
                volumes: text
                    .volumes
                    .iter()
                    .filter(|(name, volume)| covers(factor, name.get_ref(), volume))
                    .map(|(name, _)| name.get_ref().clone())
                    .collect(),
            }),
            _ => {}
        }
    }
    cell
}

fn volume_of(
    name: &str,
    text: &VolumeText,
    chosen: &[(&FactorText, &Level)],
    contradiction: &mut Option<String>,
) -> Volume {
    let of_kind = |kind: Kind| {
        let mut of_it = chosen
            .iter()
            .filter(move |(factor, _)| factor.kind == kind && covers(factor, name, text));
        of_it.next()
    };
    let is_made = text.image.is_some() || text.device.is_some() || text.devices.is_some();
    let named = of_kind(Kind::FileSystem).and_then(|(_, level)| level.value.clone());
    let kind = named
        .or_else(|| text.kind.as_ref().map(|kind| kind.get_ref().clone()))
        .unwrap_or_default();
    let mut mount: Vec<String> = text.mount.clone().into_iter().collect();
    let mut mkfs: Vec<String> = text.mkfs.clone().into_iter().collect();
    for (factor, level) in chosen
        .iter()
        .filter(|(factor, _)| covers(factor, name, text))
    {
        let list = match factor.kind {
            Kind::Mount => &mut mount,
            Kind::Mkfs => &mut mkfs,
            _ => continue,
        };
        match level.by.get(&kind).or(level.value.as_ref()) {
            Some(value) => list.push(value.clone()),
            None => {
                let why = format!(
                    "the plan has no {} of {} for {kind}",
                    level.name,
                    factor.name.get_ref()
                );
                contradiction.get_or_insert(why);
            }
        }
    }
    mount.retain(|options| !options.is_empty());
    let devices = text.devices.as_ref().map_or(0, Vec::len);
    let stripes =
        of_kind(Kind::LvmStripes).and_then(|(_, level)| level.value.as_ref()?.parse().ok());
    let stripes = stripes.unwrap_or(devices);
    if stripes > devices {
        let why =
            format!("{stripes} stripes need as many devices, the volume {name} has {devices}");
        contradiction.get_or_insert(why);
    }
    Volume {
        file_system: FileSystem::of(&kind).filter(|_| is_made),
        kind,
        mkfs: mkfs
            .iter()
            .flat_map(|words| words.split_whitespace())
            .map(str::to_owned)
            .collect(),
        mount: mount.join(","),
        stripes,
    }
}

/// The order of the runs: each block holds every cell once, shuffled by a stream of its own. A plan with fewer
/// repeats is the beginning of one with more.
pub fn order(cells: usize, repeats: u32, seed: u64) -> Vec<(u32, usize)> {
    let mut all = Vec::new();
    for block in 1..=repeats {
        let stream = Stream::new(seed).child(u64::from(block));
        let mut places: Vec<usize> = (0..cells).collect();
        for last in (1..cells).rev() {
            let other = stream.below(last as u64, last as u64 + 1);
            places.swap(last, usize::try_from(other).unwrap_or(last));
        }
        all.extend(places.into_iter().map(|place| (block, place)));
    }
    all
}

/// The record of a series with these cells.
pub fn record(
    matrix: &Matrix,
    cells: &[Cell],
    labels: &BTreeMap<String, String>,
    version: &str,
) -> MatrixPlan {
    let text = &matrix.text;
    let repeats = *text.repeats.get_ref();
    let runs = order(cells.len(), repeats, text.seed)
        .into_iter()
        .enumerate();
    MatrixPlan {
        schema: results::SCHEMA.to_owned(),
        program: version.to_owned(),
        name: text.name.get_ref().clone(),
        title: text.title.clone(),
        sources: text.sources.clone(),
        design: text.design.name().to_owned(),
        repeats,
        seed: text.seed,
        labels: labels.clone(),
        factors: text.factors.iter().map(factor).collect(),
        volumes: text
            .volumes
            .iter()
            .map(|(name, volume)| (name.get_ref().clone(), place(volume)))
            .collect(),
        arguments: work(text),
        runs: runs
            .map(|(at, (block, cell))| PlannedRun {
                number: at + 1,
                block,
                levels: cells[cell].levels.clone(),
            })
            .collect(),
    }
}

fn factor(text: &FactorText) -> FactorRecord {
    let level = |level: &toml::Spanned<Level>| {
        let Level { name, value, by } = level.get_ref().clone();
        LevelRecord { name, value, by }
    };
    FactorRecord {
        name: text.name.get_ref().clone(),
        kind: text.kind.name().to_owned(),
        setting: text.setting.as_ref().map(|name| name.get_ref().clone()),
        levels: text.levels.iter().map(level).collect(),
    }
}

/// What all runs are given.
fn work(text: &MatrixText) -> Vec<String> {
    let mut words = vec![text.suite.get_ref().clone()];
    if let Some(scale) = &text.scale {
        words.extend(["--scale".to_owned(), scale.get_ref().to_string()]);
    }
    words.extend(text.arguments.iter().map(|word| word.get_ref().clone()));
    words
}

/// Where a volume is, for people.
pub fn place(volume: &VolumeText) -> String {
    let text =
        |value: &Option<toml::Spanned<String>>| value.as_ref().map(|value| value.get_ref().clone());
    let mut place = if let Some(size) = text(&volume.image) {
        format!("a file of {size} on a loop device")
    } else if let Some(device) = text(&volume.device) {
        format!("the device {device}")
    } else if let Some(devices) = &volume.devices {
        let names: Vec<&str> = devices
            .iter()
            .map(|device| device.get_ref().as_str())
            .collect();
        let stripe = text(&volume.stripe_size).unwrap_or_else(|| super::lvm::STRIPE.to_owned());
        format!(
            "a logical volume over {}, stripes of {stripe}",
            names.join(", ")
        )
    } else if let Some(source) = text(&volume.source) {
        format!("the export {source}")
    } else {
        format!(
            "the directory {}",
            text(&volume.directory).unwrap_or_default()
        )
    };
    let fixed = [("mkfs", &volume.mkfs), ("mount", &volume.mount)];
    if let Some(kind) = text(&volume.kind) {
        place = format!("{place}, {kind}");
    }
    for (what, options) in fixed {
        if let Some(options) = options {
            place = format!("{place}, {what} {options}");
        }
    }
    place
}
