//! The plan of a series as it is written: every key of the format is a field here.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use toml::Spanned;

use super::validate;
use crate::suite::{Error, Mistake, Wrong, mistake};

/// What is varied, on which volumes, how often.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MatrixText {
    /// Name, also that of the series' folder.
    pub name: Spanned<String>,
    /// A sentence.
    pub title: String,
    /// Documents that it follows, document and section.
    #[serde(default)]
    pub sources: Vec<String>,
    /// The suite: a name, or the path of a folder.
    pub suite: Spanned<String>,
    /// Factor on the paper's rows; absent: demonstration scale.
    pub scale: Option<Spanned<f64>>,
    /// Which combinations are run.
    #[serde(default)]
    pub design: Design,
    /// Blocks: each holds every cell once, in an order of its own.
    pub repeats: Spanned<u32>,
    /// Seed of the order.
    #[serde(default)]
    pub seed: u64,
    /// What else `gristmill run` is given.
    #[serde(default)]
    pub arguments: Vec<Spanned<String>>,
    /// Where data lie.
    pub volumes: BTreeMap<Spanned<String>, VolumeText>,
    /// What is varied.
    pub factors: Vec<FactorText>,
    /// The combinations, if the design is a list: level by factor; the first level where none is named.
    #[serde(default)]
    pub cells: Vec<BTreeMap<Spanned<String>, Spanned<String>>>,
}

/// Which combinations of levels are run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Every level with every other.
    #[default]
    Full,
    /// The first level of all factors, and from there one factor at a time.
    OneAtATime,
    /// Those of `cells`.
    List,
}

impl Design {
    /// The word in the plan.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::OneAtATime => "one-at-a-time",
            Self::List => "list",
        }
    }
}

/// Where data lie: one of image, device, devices, source and directory.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VolumeText {
    /// What lies there; everything, if there is but one volume.
    #[serde(default)]
    pub holds: Vec<Spanned<Channel>>,
    /// Size of a file that is made, and holds the file system by a loop device.
    pub image: Option<Spanned<String>>,
    /// A device, which is formatted.
    pub device: Option<Spanned<String>>,
    /// Devices that a striped logical volume is made of.
    pub devices: Option<Vec<Spanned<String>>>,
    /// Stripe of a logical volume, such as 64k.
    pub stripe_size: Option<Spanned<String>>,
    /// An export, which is mounted and never formatted.
    pub source: Option<Spanned<String>>,
    /// A directory that is there and stays as it is.
    pub directory: Option<Spanned<String>>,
    /// File system, where it is no factor.
    #[serde(rename = "type")]
    pub kind: Option<Spanned<String>>,
    /// Options of mkfs in all cells.
    pub mkfs: Option<String>,
    /// Mount options in all cells.
    pub mount: Option<String>,
}

/// What `gristmill run` puts somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    /// Input data.
    Data,
    /// Permanent outputs.
    Output,
    /// WORK.
    Work,
    /// Utility files.
    Util,
}

impl Channel {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Data, Self::Output, Self::Work, Self::Util];

    /// The word in the plan, and the flag of `gristmill run`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Output => "output",
            Self::Work => "work",
            Self::Util => "util",
        }
    }
}

/// A factor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FactorText {
    /// Name.
    pub name: Spanned<String>,
    /// What it sets.
    pub kind: Kind,
    /// The sysctl or the SAS option.
    pub setting: Option<Spanned<String>>,
    /// Volumes it is of; all that it fits, if none is named.
    #[serde(default)]
    pub volumes: Vec<Spanned<String>>,
    /// Its levels; others are held against the first.
    pub levels: Vec<Spanned<Level>>,
}

/// What a factor sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// ext3, ext4, xfs, btrfs, gfs2.
    FileSystem,
    /// Options of mkfs.
    Mkfs,
    /// Mount options.
    Mount,
    /// Read-ahead of the mounted file system, a size.
    ReadAhead,
    /// Scheduler of the disks.
    Scheduler,
    /// `rq_affinity` of the disks.
    RqAffinity,
    /// Transparent huge pages.
    Thp,
    /// Profile of `TuneD`.
    Tuned,
    /// Governor of the processors' frequency.
    Governor,
    /// The longest exit latency of idle states that are allowed, µs, or `all`.
    CStates,
    /// Simultaneous multithreading.
    Smt,
    /// A sysctl, such as `vm.dirty_ratio`.
    Sysctl,
    /// Disks that a logical volume is striped over.
    LvmStripes,
    /// A SAS option.
    SasOption,
    /// Suite.
    Suite,
    /// Scale.
    Scale,
}

impl Kind {
    /// The word in the plan.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FileSystem => "file-system",
            Self::Mkfs => "mkfs",
            Self::Mount => "mount",
            Self::ReadAhead => "read-ahead",
            Self::Scheduler => "scheduler",
            Self::RqAffinity => "rq-affinity",
            Self::Thp => "thp",
            Self::Tuned => "tuned",
            Self::Governor => "governor",
            Self::CStates => "c-states",
            Self::Smt => "smt",
            Self::Sysctl => "sysctl",
            Self::LvmStripes => "lvm-stripes",
            Self::SasOption => "sas-option",
            Self::Suite => "suite",
            Self::Scale => "scale",
        }
    }

    /// True if it is of volumes.
    pub const fn is_of_volumes(self) -> bool {
        matches!(
            self,
            Self::FileSystem
                | Self::Mkfs
                | Self::Mount
                | Self::ReadAhead
                | Self::Scheduler
                | Self::RqAffinity
                | Self::LvmStripes
        )
    }

    /// True if its levels are settings of the host or of its devices, which are put back afterwards.
    pub const fn is_setting(self) -> bool {
        matches!(
            self,
            Self::ReadAhead
                | Self::Scheduler
                | Self::RqAffinity
                | Self::Thp
                | Self::Tuned
                | Self::Governor
                | Self::CStates
                | Self::Smt
                | Self::Sysctl
        )
    }
}

/// A level: `"xfs"`, `4096`, or `{ name = "off", value = "nobarrier", by = { ext3 = "barrier=0" } }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Name, in tables.
    pub name: String,
    /// What is set; `None` where it is only known by file system.
    pub value: Option<String>,
    /// What is set on some file systems.
    pub by: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelText {
    name: String,
    value: Option<String>,
    #[serde(default)]
    by: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(LevelVisitor)
    }
}

struct LevelVisitor;

impl Level {
    fn plain(value: impl fmt::Display) -> Self {
        Self {
            name: value.to_string(),
            value: Some(value.to_string()),
            by: BTreeMap::new(),
        }
    }
}

impl<'de> Visitor<'de> for LevelVisitor {
    type Value = Level;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, or a table with name, value and by")
    }

    fn visit_str<E>(self, text: &str) -> Result<Level, E> {
        Ok(Level::plain(text))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Level, E> {
        Ok(Level::plain(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Level, E> {
        Ok(Level::plain(number))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Level, A::Error> {
        let text = LevelText::deserialize(MapAccessDeserializer::new(map))?;
        if text.value.is_none() && text.by.is_empty() {
            return Err(A::Error::custom(
                "a level needs `value`, or `by` with values by file system",
            ));
        }
        Ok(Level {
            name: text.name,
            value: text.value,
            by: text.by,
        })
    }
}

/// A plan without mistakes.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// What the file says, and what the command line changed.
    pub text: MatrixText,
}

/// What the command line changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Instead of the plan's scale.
    pub scale: Option<f64>,
    /// Instead of the plan's repeats.
    pub repeats: Option<u32>,
    /// Levels that are left of a factor.
    pub only: Vec<(String, Vec<String>)>,
    /// A device in place of what a volume is.
    pub devices: Vec<(String, String)>,
    /// What else `gristmill run` is given.
    pub arguments: Vec<String>,
}

/// Plans that are part of the binary, by the suite that they are of.
const BUILTIN: [(&str, &str); 1] = [(
    "mixed-8core",
    include_str!("../../../../suites/mixed-8core/matrix.toml"),
)];

/// Reads a plan: a file, or the one that a built-in suite has.
pub fn read(path: &Path, changes: &Changes) -> Result<Matrix, Error> {
    if let Some((name, text)) = BUILTIN.iter().find(|(name, _)| path == Path::new(name)) {
        return parse(&format!("suites/{name}/matrix.toml"), text, changes);
    }
    let source = fs::read_to_string(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    parse(&path.display().to_string(), &source, changes)
}

/// A plan from its text.
pub fn parse(file: &str, source: &str, changes: &Changes) -> Result<Matrix, Error> {
    let mut text: MatrixText = toml::from_str(source).map_err(|error| {
        let message = error.message().trim_end().to_owned();
        let wrong = Wrong::new(error.span().unwrap_or_default(), message);
        Error::Mistakes(vec![mistake(file, source, &wrong)])
    })?;
    let more = changes.arguments.iter();
    let start = text.name.span();
    text.arguments
        .extend(more.map(|word| Spanned::new(start.clone(), word.clone())));
    let mut wrong = validate::validate(&text);
    if wrong.is_empty() {
        wrong = apply(&mut text, changes);
    }
    if wrong.is_empty() {
        // What the command line gives must fit as what the file gives.
        wrong = validate::changed(&text);
    }
    if wrong.is_empty() {
        return Ok(Matrix { text });
    }
    wrong.sort_by_key(|one| one.span.start);
    wrong.dedup();
    let mistakes: Vec<Mistake> = wrong.iter().map(|one| mistake(file, source, one)).collect();
    Err(Error::Mistakes(mistakes))
}

/// Changes the plan as the command line says; what does not fit is shown where the plan has it.
fn apply(text: &mut MatrixText, changes: &Changes) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let start = text.name.span();
    if let Some(scale) = changes.scale {
        text.scale = Some(Spanned::new(start.clone(), scale));
    }
    if let Some(repeats) = changes.repeats {
        text.repeats = Spanned::new(text.repeats.span(), repeats);
    }
    for (name, device) in &changes.devices {
        let volume = text
            .volumes
            .iter_mut()
            .find(|(key, _)| key.get_ref() == name);
        let Some((key, volume)) = volume else {
            let message = format!("--device {name}=…: there is no [volumes.{name}]");
            wrong.push(Wrong::new(start.clone(), message));
            continue;
        };
        (
            volume.image,
            volume.devices,
            volume.source,
            volume.directory,
        ) = (None, None, None, None);
        volume.device = Some(Spanned::new(key.span(), device.clone()));
    }
    for (name, levels) in &changes.only {
        let factor = text
            .factors
            .iter_mut()
            .find(|factor| factor.name.get_ref() == name);
        let Some(factor) = factor else {
            let message = format!("--only {name}=…: there is no factor {name}");
            wrong.push(Wrong::new(start.clone(), message));
            continue;
        };
        for level in levels {
            let has = |one: &Spanned<Level>| one.get_ref().name == *level;
            if !factor.levels.iter().any(has) {
                let message = format!("--only {name}={level}: the factor has no such level");
                wrong.push(Wrong::new(factor.name.span(), message));
            }
        }
        factor
            .levels
            .retain(|level| levels.contains(&level.get_ref().name));
    }
    wrong
}
