//! What is wrong with a plan beyond its syntax.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use base::units::parse_size;
use toml::Spanned;

use super::filesystem::FileSystem;
use super::plan::{Channel, Design, FactorText, Kind, Level, MatrixText, VolumeText};
use crate::suite::{self, Wrong};

/// Flags of `gristmill run` that the series gives itself, or that make several runs of one.
const OWN_FLAGS: [&str; 18] = [
    "--data",
    "--output",
    "--work",
    "--util",
    "--runs",
    "--scale",
    "--option",
    "--label",
    "--json",
    "--dry-run",
    "--keep",
    "--repeat",
    "--ladder",
    "--compare-option",
    "--slurm",
    "--launched",
    "--nodes",
    "--duration",
];

/// More runs than this are a mistake.
const RUNS_MAX: usize = 10_000;

/// All that is wrong.
pub fn validate(text: &MatrixText) -> Vec<Wrong> {
    let mut found = Found(Vec::new());
    found.head(text);
    found.volumes(text);
    let mut names = BTreeSet::new();
    for factor in &text.factors {
        if !names.insert(factor.name.get_ref()) {
            found.add(
                factor.name.span(),
                format!("there are two factors {}", factor.name.get_ref()),
            );
        }
        found.factor(text, factor);
    }
    found.cells(text);
    found.0
}

/// What is wrong with what the command line may change: scale, repeats, volumes.
pub fn changed(text: &MatrixText) -> Vec<Wrong> {
    let mut found = Found(Vec::new());
    found.head(text);
    found.volumes(text);
    found.0
}

/// How many cells a full design has.
fn combinations(text: &MatrixText) -> usize {
    let counts = text.factors.iter().map(|factor| factor.levels.len());
    counts.fold(1, usize::saturating_mul)
}

struct Found(Vec<Wrong>);

impl Found {
    fn add(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.0.push(Wrong::new(span, message));
    }

    fn head(&mut self, text: &MatrixText) {
        let name = text.name.get_ref();
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            let message = "the name becomes that of a folder: letters, digits, - _ . only";
            self.add(text.name.span(), message);
        }
        if let Err(error) = suite::find(text.suite.get_ref()) {
            self.add(text.suite.span(), error.to_string());
        }
        if let Some(scale) = text
            .scale
            .as_ref()
            .filter(|scale| !fits_scale(*scale.get_ref()))
        {
            self.add(scale.span(), "scale is a number above 0");
        }
        if *text.repeats.get_ref() == 0 {
            self.add(
                text.repeats.span(),
                "repeats is 1 or more; intervals need 2 or more",
            );
        }
        for argument in &text.arguments {
            let flag = argument.get_ref().split('=').next().unwrap_or_default();
            if OWN_FLAGS.contains(&flag) {
                let message =
                    format!("{flag} is given by the series itself, or does not go with one");
                self.add(argument.span(), message);
            }
        }
        let all = combinations(text).saturating_mul(*text.repeats.get_ref() as usize);
        if text.design == Design::Full && all > RUNS_MAX {
            let message =
                format!("{all} runs are more than {RUNS_MAX}: leave out levels, or make a list");
            self.add(text.name.span(), message);
        }
    }

    fn volumes(&mut self, text: &MatrixText) {
        let mut places: BTreeMap<Channel, &str> = BTreeMap::new();
        let mut devices = BTreeSet::new();
        let single = text.volumes.len() == 1;
        for (name, volume) in &text.volumes {
            self.volume(text, name, volume);
            for device in volume.device.iter().chain(volume.devices.iter().flatten()) {
                if !devices.insert(device.get_ref()) {
                    self.add(
                        device.span(),
                        format!("{} is named twice", device.get_ref()),
                    );
                }
            }
            for channel in &volume.holds {
                if let Some(other) = places.insert(*channel.get_ref(), name.get_ref()) {
                    let message = format!("{} lies on {other} already", channel.get_ref().name());
                    self.add(channel.span(), message);
                }
            }
            if volume.holds.is_empty() && !single {
                let message =
                    "with several volumes each says what it holds: holds = [\"data\", \"output\"]";
                self.add(name.span(), message);
            }
        }
        if !single && !places.contains_key(&Channel::Data) {
            self.add(text.name.span(), "no volume holds \"data\"");
        }
    }

    fn volume(&mut self, text: &MatrixText, name: &Spanned<String>, volume: &VolumeText) {
        let given = [
            volume.image.is_some(),
            volume.device.is_some(),
            volume.devices.is_some(),
            volume.source.is_some(),
            volume.directory.is_some(),
        ];
        let called = name.get_ref();
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if called.is_empty() || !called.chars().all(plain) {
            self.add(
                name.span(),
                "names of volumes are of letters, digits, - and _",
            );
        }
        if given.iter().filter(|given| **given).count() != 1 {
            let message =
                "a volume is one of image (a size), device, devices, source and directory";
            self.add(name.span(), message);
        }
        if let Some(size) = &volume.image {
            self.size(size);
        }
        if let Some(size) = &volume.stripe_size {
            self.size(size);
        }
        for path in volume
            .directory
            .iter()
            .chain(&volume.device)
            .chain(volume.devices.iter().flatten())
        {
            if !path.get_ref().starts_with('/') {
                self.add(path.span(), "a full path is needed");
            }
        }
        let is_made = volume.image.is_some() || volume.device.is_some() || volume.devices.is_some();
        let by_factor = text
            .factors
            .iter()
            .any(|factor| factor.kind == Kind::FileSystem && covers(factor, called, volume));
        match &volume.kind {
            Some(kind) if is_made && FileSystem::of(kind.get_ref()).is_none() => {
                self.add(kind.span(), unknown_file_system(kind.get_ref()));
            }
            Some(kind) if is_made && by_factor => {
                self.add(kind.span(), "its file system is a factor: leave out type");
            }
            None if is_made && !by_factor => {
                self.add(
                    name.span(),
                    format!("[volumes.{called}] needs type, or a factor of kind file-system"),
                );
            }
            None if volume.source.is_some() => {
                self.add(
                    name.span(),
                    format!("[volumes.{called}] needs type, such as nfs4"),
                );
            }
            _ => {}
        }
    }

    fn size(&mut self, size: &Spanned<String>) {
        if parse_size(size.get_ref()).is_none_or(|bytes| bytes.0 == 0) {
            self.add(size.span(), "a size is needed, such as 64k, 512M or 20G");
        }
    }

    fn factor(&mut self, text: &MatrixText, factor: &FactorText) {
        let kind = factor.kind;
        let span = factor.name.span();
        let is_label = |letter: char| letter != '=' && letter != ',' && !letter.is_control();
        if factor.name.get_ref().is_empty() || !factor.name.get_ref().chars().all(is_label) {
            self.add(span.clone(), "a factor's name has neither = nor ,");
        }
        if factor.levels.is_empty() {
            self.add(span.clone(), "a factor needs levels");
        }
        let wants_setting = matches!(kind, Kind::Sysctl | Kind::SasOption);
        match &factor.setting {
            None if wants_setting => {
                let example = if kind == Kind::Sysctl {
                    "vm.dirty_ratio"
                } else {
                    "FILELOCKS"
                };
                self.add(
                    span.clone(),
                    format!("kind {} needs setting, such as {example}", kind.name()),
                );
            }
            Some(setting) if !wants_setting => {
                self.add(
                    setting.span(),
                    format!("kind {} has no setting", kind.name()),
                );
            }
            Some(setting) if kind == Kind::Sysctl && !is_sysctl(setting.get_ref()) => {
                self.add(setting.span(), "a sysctl is needed, such as vm.dirty_ratio");
            }
            _ => {}
        }
        for volume in &factor.volumes {
            let known = text.volumes.keys().any(|name| name == volume);
            if !kind.is_of_volumes() {
                self.add(
                    volume.span(),
                    format!("kind {} is of no volume", kind.name()),
                );
            } else if !known {
                self.add(
                    volume.span(),
                    format!("there is no [volumes.{}]", volume.get_ref()),
                );
            }
        }
        let covered = text
            .volumes
            .iter()
            .any(|(name, volume)| covers(factor, name.get_ref(), volume));
        if kind.is_of_volumes() && !covered {
            let message = format!(
                "no volume can have a {}; the disks of a directory are changed where `volumes` names it",
                kind.name()
            );
            self.add(span, message);
        }
        let mut names = BTreeSet::new();
        for level in &factor.levels {
            if !names.insert(&level.get_ref().name) {
                self.add(
                    level.span(),
                    format!("there are two levels {}", level.get_ref().name),
                );
            }
            self.level(factor, level);
        }
    }

    fn level(&mut self, factor: &FactorText, level: &Spanned<Level>) {
        let Level { name, value, by } = level.get_ref();
        if name.is_empty() || name.contains(',') || name.chars().any(char::is_control) {
            self.add(
                level.span(),
                "a level's name is not empty and has no comma; `value` may have",
            );
        }
        if !by.is_empty() && !matches!(factor.kind, Kind::Mkfs | Kind::Mount) {
            self.add(
                level.span(),
                "only levels of mkfs and mount differ by file system",
            );
        }
        let Some(value) = value else { return };
        let number = || {
            value
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
        };
        let why = match factor.kind {
            Kind::FileSystem if FileSystem::of(value).is_none() => unknown_file_system(value),
            Kind::ReadAhead if parse_size(value).is_none_or(|size| size.0 % 1024 != 0) => {
                "read-ahead is a size in whole KiB, such as 128k or 4M".to_owned()
            }
            Kind::RqAffinity if !["0", "1", "2"].contains(&&**value) => {
                "rq_affinity is 0, 1 or 2".to_owned()
            }
            Kind::Thp if !["always", "madvise", "never"].contains(&&**value) => {
                "THP is always, madvise or never".to_owned()
            }
            Kind::Smt if !["on", "off"].contains(&&**value) => "SMT is on or off".to_owned(),
            Kind::CStates if value != "all" && value.parse::<u32>().is_err() => {
                "c-states is all, or the longest exit latency in microseconds, such as 10"
                    .to_owned()
            }
            Kind::LvmStripes
                if value.parse::<u32>().is_ok_and(|stripes| stripes == 0)
                    || value.parse::<u32>().is_err() =>
            {
                "stripes are 1 or more".to_owned()
            }
            Kind::Scale if !number().is_some_and(fits_scale) => {
                "scale is a number above 0".to_owned()
            }
            Kind::Suite => match suite::find(value) {
                Ok(_) => return,
                Err(error) => error.to_string(),
            },
            Kind::SasOption => match factor
                .setting
                .as_ref()
                .map(|name| sas_option(name.get_ref(), value))
            {
                Some(Err(message)) => message,
                _ => return,
            },
            _ => return,
        };
        self.add(level.span(), why);
    }

    fn cells(&mut self, text: &MatrixText) {
        let start = text.name.span();
        match (text.design, text.cells.is_empty()) {
            (Design::List, true) => self.add(start, "design \"list\" needs [[cells]]"),
            (Design::List, false) | (_, true) => {}
            (_, false) => self.add(start, "[[cells]] go with design = \"list\""),
        }
        for (name, level) in text.cells.iter().flatten() {
            let factor = text
                .factors
                .iter()
                .find(|factor| factor.name.get_ref() == name.get_ref());
            let Some(factor) = factor else {
                self.add(
                    name.span(),
                    format!("there is no factor {}", name.get_ref()),
                );
                continue;
            };
            let has = |one: &Spanned<Level>| one.get_ref().name == *level.get_ref();
            if !factor.levels.iter().any(has) {
                let message = format!(
                    "the factor {} has no level {}",
                    name.get_ref(),
                    level.get_ref()
                );
                self.add(level.span(), message);
            }
        }
    }
}

/// True if a factor changes something on a volume. What is there and stays as it is, a directory, has its disks changed
/// only by a factor that names it: others may live on them.
pub fn covers(factor: &FactorText, name: &str, volume: &VolumeText) -> bool {
    let by_name = factor.volumes.iter().any(|one| one.get_ref() == name);
    let named = factor.volumes.is_empty() || by_name;
    let is_made = volume.image.is_some() || volume.device.is_some() || volume.devices.is_some();
    let fits = match factor.kind {
        Kind::FileSystem | Kind::Mkfs => is_made,
        Kind::Mount => is_made || volume.source.is_some(),
        Kind::LvmStripes => volume.devices.is_some(),
        Kind::Scheduler | Kind::RqAffinity => is_made || (by_name && volume.source.is_none()),
        Kind::ReadAhead => is_made || volume.source.is_some() || by_name,
        _ => false,
    };
    named && fits
}

fn fits_scale(scale: f64) -> bool {
    scale.is_finite() && scale > 0.0
}

/// Names below /proc/sys: no way out of it.
fn is_sysctl(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
    };
    name.contains('.') && name.split('.').all(plain)
}

fn unknown_file_system(name: &str) -> String {
    format!("{name} is none of {}", FileSystem::names().join(", "))
}

fn sas_option(name: &str, value: &str) -> Result<(), String> {
    let value = (!value.is_empty()).then_some(value);
    engine::options::Options::new(1).set(name, value)
}
