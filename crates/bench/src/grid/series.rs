//! Runs on growing numbers of nodes that one command submits: which there are, and how each ended. Kept in a folder
//! below that of the run directories, so that a series that was cut short can be gone on with.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use results::run::{EventKind, RunDirectory};
use serde::{Deserialize, Serialize};

use crate::run::directories::{free_name, run_name};

/// What the names of the folders begin with.
const PREFIX: &str = "series-";

/// A series and its folder.
#[derive(Debug, Clone)]
pub struct Series {
    folder: PathBuf,
    record: Record,
}

/// `series.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    /// The command, without how it is submitted.
    words: Vec<String>,
    /// Where it was given: paths may be relative.
    from: PathBuf,
    /// By number of nodes, in the order of submission.
    parts: Vec<Part>,
}

/// The runs on one number of nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Nodes.
    pub nodes: u32,
    /// How often it was submitted.
    pub attempts: u32,
    /// Slurm's number of the job submitted last.
    pub job: Option<String>,
    /// Its run directories with a result, in which all nodes did their part; empty as long as there are none.
    pub runs: Vec<PathBuf>,
}

impl Series {
    /// A new one.
    pub fn create(runs: &Path, suite: &str, words: Vec<String>, from: PathBuf) -> io::Result<Self> {
        let folder = runs.join(free_name(runs, &format!("{PREFIX}{}", run_name(suite))));
        fs::create_dir_all(&folder)?;
        let series = Self {
            folder,
            record: Record {
                words,
                from,
                parts: Vec::new(),
            },
        };
        series.write()?;
        Ok(series)
    }

    /// That of a folder.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let bytes = fs::read(folder.join("series.json"))?;
        Ok(Self {
            folder: folder.to_owned(),
            record: serde_json::from_slice(&bytes).map_err(io::Error::other)?,
        })
    }

    /// The one begun last of this command, if there is any.
    pub fn find(runs: &Path, words: &[String], from: &Path) -> io::Result<Option<Self>> {
        let mut folders = Vec::new();
        for entry in fs::read_dir(runs)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                folders.push(entry.path());
            }
        }
        // Their names sort by time.
        folders.sort_unstable();
        for folder in folders.iter().rev() {
            // One that cannot be read was cut short before it had begun.
            let Ok(series) = Self::read(folder) else {
                continue;
            };
            if series.record.words == words && series.record.from == from {
                return Ok(Some(series));
            }
        }
        Ok(None)
    }

    /// Where it is kept.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its name.
    pub fn name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Its parts, in the order of submission.
    pub fn parts(&self) -> &[Part] {
        &self.record.parts
    }

    /// That of a number of nodes; a new one if there is none.
    pub fn part(&self, nodes: u32) -> Part {
        let mut parts = self.record.parts.iter();
        let found = parts.find(|part| part.nodes == nodes).cloned();
        found.unwrap_or(Part {
            nodes,
            ..Part::default()
        })
    }

    /// Keeps how a part stands.
    pub fn note(&mut self, part: Part) -> io::Result<()> {
        let mut parts = self.record.parts.iter_mut();
        match parts.find(|known| known.nodes == part.nodes) {
            Some(known) => *known = part,
            None => self.record.parts.push(part),
        }
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(&self.record).map_err(io::Error::other)?;
        let beside = self.folder.join("series.json.new");
        fs::write(&beside, bytes)?;
        fs::rename(beside, self.folder.join("series.json"))
    }

    /// Output and messages of a part's job.
    pub fn outputs(&self, part: &Part) -> (PathBuf, PathBuf) {
        let of = |ending: &str| {
            let name = format!("{}-nodes-{}.{ending}", part.nodes, part.attempts);
            self.folder.join(name)
        };
        (of("out"), of("err"))
    }

    /// The place of a run on so many nodes, as its directory keeps it: the part that is being run, and what was
    /// measured on fewer nodes.
    pub fn place(&self, nodes: u32) -> io::Result<results::run::Series> {
        let parts = self.parts();
        let index = parts.iter().position(|part| part.nodes == nodes);
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let fewer = parts
            .iter()
            .filter(|part| part.nodes < nodes && !part.runs.is_empty());
        let base = fewer.min_by_key(|part| part.nodes);
        Ok(results::run::Series {
            name: self.name(),
            kind: "nodes".to_owned(),
            index: number(index.map_or(parts.len(), |index| index + 1)),
            of: number(parts.len()),
            load: Some(u64::from(nodes)),
            option: None,
            base: base.map(base_of).transpose()?,
        })
    }
}

/// What was measured on the fewest nodes.
fn base_of(part: &Part) -> io::Result<results::run::SeriesBase> {
    let mut times = Vec::new();
    for run in &part.runs {
        let result = RunDirectory::open(run).result().map_err(io::Error::other)?;
        let jobs = result.map_or(Vec::new(), |result| result.jobs);
        // Half a job is done in half the time.
        if jobs.iter().any(results::run::JobResult::has_failed) {
            continue;
        }
        times.extend(results::subject::Figures::of_jobs(&jobs).real_mean_s);
    }
    Ok(results::run::SeriesBase {
        nodes: part.nodes,
        real_mean_s: results::statistics::summarize(&times).map(|all| all.mean),
    })
}

/// Whether all nodes of a run did their part: only then it says something of so many.
pub fn is_whole(run: &Path) -> Result<bool, results::run::Error> {
    let directory = RunDirectory::open(run);
    if directory.result()?.is_none() {
        return Ok(false);
    }
    let events = directory.events()?;
    Ok(!events
        .iter()
        .any(|event| event.event == EventKind::NodeLost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_found_again_by_its_command() {
        let runs = tempfile::tempdir().unwrap();
        let words = |scale: &str| vec!["run".to_owned(), "multiuser".to_owned(), scale.to_owned()];
        let from = Path::new("/here");
        let create =
            |scale| Series::create(runs.path(), "multiuser", words(scale), from.to_owned());
        let mut first = create("1").unwrap();
        create("2").unwrap();
        let part = Part {
            job: Some("17".to_owned()),
            attempts: 1,
            ..first.part(4)
        };
        first.note(part.clone()).unwrap();
        let found = Series::find(runs.path(), &words("1"), from)
            .unwrap()
            .unwrap();
        assert_eq!(found.folder(), first.folder());
        assert_eq!((found.part(4), found.part(8).attempts), (part, 0));
        let elsewhere = Series::find(runs.path(), &words("1"), Path::new("/there"));
        assert!(elsewhere.unwrap().is_none());
        // The next attempt has files of its own.
        let again = Part {
            attempts: 2,
            ..found.part(4)
        };
        assert_ne!(found.outputs(&found.part(4)), found.outputs(&again));
    }
}
