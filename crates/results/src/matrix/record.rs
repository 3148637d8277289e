//! What the folder of a series holds, readable at any moment.
//!
//! ```text
//! matrix.json          what was planned: factors, cells, the order of the runs          (written first)
//! journal.jsonl        settings and mounts that were changed, each before it was; what was put back
//! runs/NNN/record.json how the run of a cell went, once it ended
//! runs/NNN/<run>/      its run directory ([`crate::run`])
//! images/, mounts/     files that hold file systems, and where they are mounted      (while it runs)
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::run::Error;

/// Name of the file with the plan.
pub const PLAN: &str = "matrix.json";

/// Name of the file with a run's record.
const RECORD: &str = "record.json";

/// What was planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixPlan {
    /// [`crate::SCHEMA`].
    pub schema: String,
    /// Version and commit of the program that planned it.
    pub program: String,
    /// Name, as the plan gives it.
    pub name: String,
    /// A sentence.
    pub title: String,
    /// Documents that it follows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// `full`, `list` or `one-at-a-time`.
    pub design: String,
    /// Blocks: each holds every cell once.
    pub repeats: u32,
    /// Seed of the order.
    pub seed: u64,
    /// Labels of all runs, beside their levels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// What is varied.
    pub factors: Vec<FactorRecord>,
    /// Where data lie, a sentence by volume.
    pub volumes: BTreeMap<String, String>,
    /// What else `gristmill run` is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The runs in their order.
    pub runs: Vec<PlannedRun>,
}

/// A factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactorRecord {
    /// Name.
    pub name: String,
    /// Kind, such as `mount`.
    pub kind: String,
    /// The sysctl or the SAS option, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// Levels with what each sets, the first of which others are held against.
    pub levels: Vec<LevelRecord>,
}

/// A level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelRecord {
    /// Name.
    pub name: String,
    /// What is set; absent where file systems differ in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// By file system, where they differ.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by: BTreeMap<String, String>,
}

/// A run as planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Place in the order, from 1.
    pub number: usize,
    /// Block, from 1.
    pub block: u32,
    /// Level by factor.
    pub levels: BTreeMap<String, String>,
}

/// How the run of a cell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Its jobs ended well; figures count.
    Done,
    /// It did not end well; `reason` says why. It is tried again when the series is.
    Failed,
    /// This host cannot do it; `reason` says why.
    NotPossible,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`crate::SCHEMA`].
    pub schema: String,
    /// What was planned.
    pub planned: PlannedRun,
    /// How it ended.
    pub state: State,
    /// Why, if it is not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Run directory, within the run's folder; absent if it did not come so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<PathBuf>,
    /// When it began, seconds since the Unix epoch.
    pub began_unix_s: f64,
    /// When it ended and everything was put back.
    pub ended_unix_s: f64,
    /// Commands that prepared it, as they were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// What was mounted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<MountRecord>,
    /// Settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingRecord>,
    /// What else must be known of it, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A file system as the kernel had it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MountRecord {
    /// Volume.
    pub volume: String,
    /// Device or export.
    pub source: String,
    /// File system.
    pub kind: String,
    /// Options in force.
    pub options: Vec<String>,
}

/// A setting of the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingRecord {
    /// What it is, such as its file.
    pub what: String,
    /// As it was before.
    pub before: String,
    /// As it was wanted.
    pub wanted: String,
    /// As it was read back before the run.
    pub read_back: String,
    /// As it was read after the run; absent if the run did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The folder of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixFolder {
    path: PathBuf,
}

impl MatrixFolder {
    /// That of a path; nothing is read yet.
    pub fn open(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// True if a path is the folder of a series.
    pub fn is_one(path: &Path) -> bool {
        path.join(PLAN).is_file()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Folder of a run.
    pub fn run(&self, number: usize) -> PathBuf {
        self.path.join("runs").join(format!("{number:03}"))
    }

    /// The plan; `None` if there is none yet.
    pub fn plan(&self) -> Result<Option<MatrixPlan>, Error> {
        let plan: Option<MatrixPlan> = read(&self.path.join(PLAN))?;
        let major = |schema: &str| schema.split('.').next().map(str::to_owned);
        match plan {
            Some(plan) if major(&plan.schema) != major(crate::SCHEMA) => Err(Error::Schema {
                path: self.path.join(PLAN),
                found: plan.schema,
            }),
            other => Ok(other),
        }
    }

    /// Writes the plan.
    pub fn write_plan(&self, plan: &MatrixPlan) -> Result<(), Error> {
        write(&self.path.join(PLAN), plan)
    }

    /// What became of a run; `None` if it has not ended.
    pub fn record(&self, number: usize) -> Result<Option<RunRecord>, Error> {
        read(&self.run(number).join(RECORD))
    }

    /// Writes what became of a run.
    pub fn write_record(&self, record: &RunRecord) -> Result<(), Error> {
        let folder = self.run(record.planned.number);
        fs::create_dir_all(&folder).map_err(|source| Error::Io {
            action: "create",
            path: folder.clone(),
            source,
        })?;
        write(&folder.join(RECORD), record)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|source| Error::Io {
            action: "read",
            path: path.to_owned(),
            source,
        })?,
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|source| Error::Json {
            path: path.to_owned(),
            line: source.line(),
            source,
        })
}

/// Written beside and renamed, so that a reader never sees half a file.
fn write(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut bytes = serde_json::to_vec_pretty(value).expect("records have only plain keys");
    bytes.push(b'\n');
    fs::write(&beside, bytes)
        .and_then(|()| fs::rename(&beside, path))
        .map_err(|source| Error::Io {
            action: "write",
            path: path.to_owned(),
            source,
        })
}
