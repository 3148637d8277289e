//! The files of a run directory, written as things happen and read at any moment.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lines::{Records, append, read_lines, read_whole};
use super::{Event, EventKind, RunPlan, RunResult, Time};
use crate::audit::NodeAudit;
use crate::node::NodeRecord;
use crate::sample::Sample;
use crate::step::StepRecord;
use crate::written::FileChange;

/// Where each node of a run on several writes its own events: no two write to one file.
const EVENTS: &str = "events";

/// A failure to read or write a run directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    #[error("failed to {action} {}", path.display())]
    Io {
        /// `read`, `write`, `create`.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what its name says.
    #[error("failed to read {} (line {line})", path.display())]
    Json {
        /// Which file.
        path: PathBuf,
        /// Which line.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// Written by a version whose keys mean something else.
    #[error("failed to read {}: its schema is {found}, this program reads {}", path.display(), crate::SCHEMA)]
    Schema {
        /// Which file.
        path: PathBuf,
        /// Its schema.
        found: String,
    },
}

/// A run directory on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Makes the directory and writes the plan.
    pub fn create(path: &Path, plan: &RunPlan) -> Result<Self, Error> {
        fs::create_dir_all(path.join("jobs")).map_err(|source| Error::Io {
            action: "create",
            path: path.to_owned(),
            source,
        })?;
        let directory = Self {
            path: path.to_owned(),
        };
        for job in &plan.jobs {
            let of_job = directory.job(&job.name);
            fs::create_dir_all(&of_job).map_err(|source| Error::Io {
                action: "create",
                path: of_job,
                source,
            })?;
        }
        directory.write_json("run.json", plan)?;
        Ok(directory)
    }

    /// Opens one that is there.
    pub fn open(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Directory of a job.
    pub fn job(&self, name: &str) -> PathBuf {
        self.path.join("jobs").join(name)
    }

    /// The plan.
    pub fn plan(&self) -> Result<RunPlan, Error> {
        let plan: RunPlan = self.read_json("run.json")?;
        let major = |schema: &str| schema.split('.').next().map(str::to_owned);
        if major(&plan.schema) != major(crate::SCHEMA) {
            return Err(Error::Schema {
                path: self.path.join("run.json"),
                found: plan.schema,
            });
        }
        Ok(plan)
    }

    /// Writes the plan again, with what became known after it was made.
    pub fn write_plan(&self, plan: &RunPlan) -> Result<(), Error> {
        self.write_json("run.json", plan)
    }

    /// The figures; `None` if the run never got that far.
    pub fn result(&self) -> Result<Option<RunResult>, Error> {
        if !self.path.join("result.json").exists() {
            return Ok(None);
        }
        self.read_json("result.json").map(Some)
    }

    /// Writes the figures.
    pub fn write_result(&self, result: &RunResult) -> Result<(), Error> {
        self.write_json("result.json", result)
    }

    /// Events so far, those of all nodes by time. A last line cut short by a kill is passed over.
    pub fn events(&self) -> Result<Vec<Event>, Error> {
        let mut events: Vec<Event> = read_lines(&self.path.join("events.jsonl"))?;
        let nodes = self.names(EVENTS, ".jsonl")?;
        for node in &nodes {
            events.extend(read_lines::<Event>(&self.events_of(node))?);
        }
        if !nodes.is_empty() {
            events.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
        }
        Ok(events)
    }

    /// Where each node of a run on several writes its events.
    pub fn events_folder(run: &Path) -> PathBuf {
        run.join(EVENTS)
    }

    /// Events of a node of a run on several.
    fn events_of(&self, node: &str) -> PathBuf {
        self.path.join(EVENTS).join(format!("{node}.jsonl"))
    }

    /// Steps that a job has finished so far.
    pub fn steps(&self, job: &str) -> Result<Records<StepRecord>, Error> {
        read_whole(&self.job(job).join("steps.jsonl"), StepRecord::is_possible)
    }

    /// What became of the permanent files of a job, in order.
    pub fn written(&self, job: &str) -> Result<Records<FileChange>, Error> {
        read_whole(&self.job(job).join("written.jsonl"), |_| true)
    }

    /// Whether a job left a record of what became of permanent files: it begins before its program does.
    pub fn has_written(&self, job: &str) -> bool {
        self.job(job).join("written.jsonl").exists()
    }

    /// Names of the nodes that were sampled, sorted.
    pub fn nodes(&self) -> Result<Vec<String>, Error> {
        self.names("nodes", ".jsonl")
    }

    /// Names of files in a folder without their ending, sorted; none if there is no such folder.
    fn names(&self, folder: &str, ending: &str) -> Result<Vec<String>, Error> {
        let folder = self.path.join(folder);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.and_then(Iterator::collect::<std::io::Result<Vec<_>>>),
        };
        let entries = entries.map_err(|source| Error::Io {
            action: "read",
            path: folder,
            source,
        })?;
        let name = |entry: fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.strip_suffix(ending).map(str::to_owned)
        };
        let mut names: Vec<String> = entries.into_iter().filter_map(name).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// File of a node's samples.
    pub fn samples_path(&self, node: &str) -> PathBuf {
        self.path.join("nodes").join(format!("{node}.jsonl"))
    }

    /// Samples of a node so far; none if nothing was sampled.
    pub fn samples(&self, node: &str) -> Result<Vec<Sample>, Error> {
        read_lines(&self.samples_path(node))
    }

    /// Writes what a node is.
    pub fn write_node(&self, node: &NodeRecord) -> Result<(), Error> {
        self.write_of_node("nodes", &node.node, node)
    }

    /// Writes what the audit of a node found.
    pub fn write_audit(&self, audit: &NodeAudit) -> Result<(), Error> {
        self.write_of_node("audits", &audit.node, audit)
    }

    /// What the audits of the nodes found; none in runs of earlier versions.
    pub fn audits(&self) -> Result<Vec<NodeAudit>, Error> {
        let names = self.names("audits", ".json")?.into_iter();
        names
            .map(|node| self.read_json(&format!("audits/{node}.json")))
            .collect()
    }

    fn write_of_node(&self, kind: &str, node: &str, value: &impl Serialize) -> Result<(), Error> {
        let folder = self.path.join(kind);
        fs::create_dir_all(&folder).map_err(|source| Error::Io {
            action: "create",
            path: folder,
            source,
        })?;
        self.write_json(&format!("{kind}/{node}.json"), value)
    }

    /// What a node is; `None` if nothing was sampled on it.
    pub fn node(&self, node: &str) -> Result<Option<NodeRecord>, Error> {
        let name = format!("nodes/{node}.json");
        if !self.path.join(&name).exists() {
            return Ok(None);
        }
        self.read_json(&name).map(Some)
    }

    /// Adds an event; it is on its way to the disk when this returns.
    pub fn add_event(&self, event: &Event) -> Result<(), Error> {
        let path = match &event.node {
            None => self.path.join("events.jsonl"),
            Some(node) => self.events_of(node),
        };
        let mut line = serde_json::to_vec(event).expect("events have only plain keys");
        line.push(b'\n');
        append(&path, &line).map_err(|source| Error::Io {
            action: "write",
            path,
            source,
        })
    }

    /// Puts something on the timeline of a run that somebody else writes, at a time by the wall clock;
    /// returns when that is, seconds since the run began. The run's first event, or its
    /// record, tells how far apart its clocks are.
    pub fn mark(&self, unix_s: f64, text: &str) -> Result<f64, Error> {
        let events = self.events()?;
        let began = match events.first() {
            Some(event) => event.unix_s - event.at_s,
            None => self.plan()?.started_unix_s,
        };
        let at_s = (unix_s - began).max(0.0);
        let time = Time { unix_s, at_s };
        self.add_event(&Event::new(time, EventKind::Mark).with_detail(text))?;
        Ok(at_s)
    }

    fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        let path = self.path.join(name);
        let bytes = fs::read(&path).map_err(|source| Error::Io {
            action: "read",
            path: path.clone(),
            source,
        })?;
        serde_json::from_slice(&bytes).map_err(|source| Error::Json {
            path,
            line: source.line(),
            source,
        })
    }

    /// Written beside and renamed, so that a reader never sees half a file.
    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        let path = self.path.join(name);
        let beside = self.path.join(format!("{name}.new"));
        let mut bytes = serde_json::to_vec_pretty(value).expect("records have only plain keys");
        bytes.push(b'\n');
        fs::write(&beside, bytes)
            .and_then(|()| fs::rename(&beside, &path))
            .map_err(|source| Error::Io {
                action: "write",
                path,
                source,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(job: &str) -> Event {
        Event {
            exit: Some(0),
            ..Event::of_job(Time::default(), EventKind::JobFinished, job)
        }
    }

    #[test]
    fn events_survive_a_line_cut_short() {
        let directory = tempfile::tempdir().unwrap();
        let run = RunDirectory::open(directory.path());
        run.add_event(&event("a")).unwrap();
        run.add_event(&event("b")).unwrap();
        let path = directory.path().join("events.jsonl");
        let whole = fs::read_to_string(&path).unwrap();
        assert_eq!(run.events().unwrap(), [event("a"), event("b")]);
        fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        assert_eq!(run.events().unwrap(), [event("a")]);
    }

    #[test]
    fn a_broken_line_is_named() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("events.jsonl"), "{}\n").unwrap();
        let message = RunDirectory::open(directory.path())
            .events()
            .unwrap_err()
            .to_string();
        assert!(message.contains("events.jsonl (line 1)"), "{message}");
    }

    #[test]
    fn steps_are_read_up_to_what_is_none() {
        let step = |read_bytes: u64| {
            serde_json::json!({
                "step": 1, "kind": "data", "name": "DATA", "real_s": 1.0, "user_s": 0.5, "system_s": 0.1,
                "channels": {"work": {"read_bytes": read_bytes, "write_bytes": 0, "read_s": 0.1, "write_s": 0.0,
                    "operations": {}}},
                "inputs": [], "outputs": [], "notes": 0, "warnings": 0, "errors": 0,
            })
        };
        let directory = tempfile::tempdir().unwrap();
        let run = RunDirectory::open(directory.path());
        let path = run.job("a").join("steps.jsonl");
        fs::create_dir_all(run.job("a")).unwrap();
        let read = |text: String| {
            fs::write(&path, text).unwrap();
            let steps = run.steps("a").unwrap();
            (steps.records.len(), steps.broken.map(|(line, _)| line))
        };
        assert_eq!(read(format!("{}\n{}\n", step(1), step(2))), (2, None));
        let halves = format!("{}\n{{\"step\": 2, {}\n", step(1), step(3));
        assert_eq!(read(halves), (1, Some(2)));
        assert_eq!(read(format!("{}\n", step(u64::MAX))), (0, Some(1)));
        assert_eq!(read(step(1).to_string()), (0, None));
    }

    #[test]
    fn a_run_without_a_result_is_not_an_error() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(RunDirectory::open(directory.path()).result().unwrap(), None);
    }
}
