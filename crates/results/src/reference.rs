//! The papers' published figures as read-only reference runs, `paper:isilon-f810` and so on.
//!
//! The files under `reference/` hold what is printed, as it is printed. Sums, means and deviations are
//! computed from rows where there are rows; [`discrepancies`] compares them with what is printed.

mod check;
mod document;

use std::sync::OnceLock;

use crate::run::JobResult;
use crate::subject::{Figures, Slowest, Subject, ratio_of_sums};

pub use check::{Discrepancy, discrepancies};
pub use document::{Document, Printed, Sizes, Statement, TradeOff, TradeOffRow};

/// What names of reference runs begin with on the command line.
pub const PREFIX: &str = "paper:";

const FILES: [(&str, &str); 4] = [
    ("isilon", include_str!("reference/isilon.toml")),
    ("pure", include_str!("reference/pure.toml")),
    ("rhel", include_str!("reference/rhel.toml")),
    ("survey", include_str!("reference/survey.toml")),
];

/// All documents.
pub fn documents() -> &'static [Document] {
    static DOCUMENTS: OnceLock<Vec<Document>> = OnceLock::new();
    DOCUMENTS.get_or_init(|| {
        let parse = |(name, text): &(&str, &str)| {
            toml::from_str(text).unwrap_or_else(|error| panic!("reference/{name}.toml: {error}"))
        };
        FILES.iter().map(parse).collect()
    })
}

/// Names of all reference runs, with the prefix.
pub fn names() -> Vec<String> {
    let runs = documents().iter().flat_map(|document| &document.runs);
    runs.map(|run| format!("{PREFIX}{}", run.id)).collect()
}

/// A reference run by its name, with or without the prefix.
pub fn find(name: &str) -> Option<Subject> {
    let id = name.strip_prefix(PREFIX).unwrap_or(name);
    documents()
        .iter()
        .find_map(|document| subject(document, id))
}

impl Document {
    /// Its reference runs.
    pub fn subjects(&self) -> Vec<Subject> {
        let runs = self.runs.iter();
        runs.filter_map(|run| subject(self, &run.id)).collect()
    }
}

fn subject(document: &Document, id: &str) -> Option<Subject> {
    let run = document.runs.iter().find(|run| run.id == id)?;
    let jobs = jobs(document, id);
    let printed = document.printed.iter().filter(|printed| printed.run == id);
    let figures = printed.fold(Figures::of_jobs(&jobs), |known, printed| {
        known.or(&printed.figures())
    });
    let figures = with_consequences(&figures, run.programs);
    Some(Subject {
        name: format!("{PREFIX}{id}"),
        title: run.title.clone(),
        source: Some(document.name()),
        system: Some(run.system.as_ref().unwrap_or(&run.title).clone()),
        suite: run.suite.clone(),
        nodes: run.nodes,
        cores: run.cores,
        programs: run.programs,
        saturating: run.saturating,
        jobs,
        figures,
        slowest: slowest(document, id),
        ..Subject::default()
    })
}

/// What follows from sums alone.
fn with_consequences(figures: &Figures, programs: Option<u64>) -> Figures {
    let mean = |sum: f64| programs.map(|programs| sum / programs as f64);
    Figures {
        real_mean_s: figures
            .real_mean_s
            .or_else(|| figures.real_sum_s.and_then(mean)),
        cpu_real_of_sums: figures
            .cpu_real_of_sums
            .or_else(|| ratio_of_sums(figures.user_s, figures.system_s, figures.real_sum_s)),
        ..figures.clone()
    }
}

fn jobs(document: &Document, id: &str) -> Vec<JobResult> {
    let Some(table) = &document.jobs else {
        return Vec::new();
    };
    let Some(column) = table.runs.iter().position(|run| run == id) else {
        return Vec::new();
    };
    table
        .rows
        .iter()
        .map(|row| JobResult {
            real_s: document::time(&row[column + 1], 1.0),
            ..JobResult::unknown(&row[0])
        })
        .collect()
}

fn slowest(document: &Document, id: &str) -> Option<Slowest> {
    let table = document.slowest.as_ref()?;
    let row = table.rows.iter().find(|row| row.run == id)?;
    Some(Slowest {
        job: table.job.clone(),
        real_s: row.seconds(),
        minutes: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_and_every_run_is_found() {
        assert_eq!(documents().len(), FILES.len());
        for name in names() {
            let found = find(&name).expect("it is listed");
            assert_eq!(found.name, name);
            assert!(found.source.is_some_and(|source| source.contains("20")));
        }
        assert_eq!(find("paper:nobody"), None);
    }

    #[test]
    fn every_printed_figure_belongs_to_a_run() {
        for document in documents() {
            let known = |id: &String| document.runs.iter().any(|run| run.id == *id);
            assert!(document.printed.iter().all(|printed| known(&printed.run)));
            assert!(document.jobs.iter().flat_map(|jobs| &jobs.runs).all(known));
            let slowest = document.slowest.iter().flat_map(|table| &table.rows);
            assert!(slowest.map(|row| &row.run).all(known));
        }
    }
}
