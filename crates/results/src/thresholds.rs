//! What a verdict asks for, as data: `thresholds.toml`, or a file of the user's in its place.

use serde::Deserialize;
use toml::Spanned;

/// A set of requirements.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// What set it is, for the report.
    pub title: String,
    /// Requirements in the order in which they are reported.
    pub requirements: Vec<Threshold>,
}

/// One requirement.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// Stable id.
    pub id: String,
    /// Which figure it is about.
    pub measure: Measure,
    /// How much it weighs.
    pub level: Level,
    /// The figure must be this or more.
    #[serde(default)]
    pub at_least: Option<f64>,
    /// The figure must be this or less.
    #[serde(default)]
    pub at_most: Option<f64>,
    /// Unit of figure and limit.
    pub unit: String,
    /// What is required, for people.
    pub title: String,
    /// Document and section.
    pub source: String,
    /// When the source was published.
    pub date: String,
}

/// Figures that can be required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Sustained MB/s of all channels per core.
    TotalPerCore,
    /// Sustained MB/s of permanent data per core.
    SharedPerCore,
    /// Sustained throughput of WORK and utility files over that of permanent data.
    WorkOverShared,
    /// Jobs that ended with errors.
    JobsFailed,
    /// Jobs whose outputs were not checked.
    JobsNotVerified,
    /// Mean of the jobs' CPU/real.
    CpuReal,
    /// Time inside file operations over elapsed time.
    TimeInIo,
    /// Elapsed time over that on tmpfs.
    Elongation,
    /// Longest over shortest of equal jobs.
    Spread,
    /// Mean run time over that on one node.
    Growth,
    /// Longest job of class `latency`.
    MetadataLatency,
    /// Longest job of class `interactive` without its thinking time.
    Response,
}

impl Measure {
    /// The word in files and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TotalPerCore => "total-per-core",
            Self::SharedPerCore => "shared-per-core",
            Self::WorkOverShared => "work-over-shared",
            Self::JobsFailed => "jobs-failed",
            Self::JobsNotVerified => "jobs-not-verified",
            Self::CpuReal => "cpu-real",
            Self::TimeInIo => "time-in-io",
            Self::Elongation => "elongation",
            Self::Spread => "spread",
            Self::Growth => "growth",
            Self::MetadataLatency => "metadata-latency",
            Self::Response => "response",
        }
    }

    /// Failures and proof concern every run, so they are judged with either part, and no limit lets them pass.
    pub const fn concerns_every_run(self) -> bool {
        matches!(self, Self::JobsFailed | Self::JobsNotVerified)
    }

    /// Judged from saturating load.
    pub const fn is_capability(self) -> bool {
        matches!(
            self,
            Self::TotalPerCore | Self::SharedPerCore | Self::WorkOverShared
        )
    }
}

/// How much a requirement weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Without it the part fails.
    Required,
    /// It is said whether it is met.
    Wanted,
    /// The figure is reported.
    Reported,
}

impl Level {
    /// The word in files and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Wanted => "wanted",
            Self::Reported => "reported",
        }
    }
}

/// A file of thresholds that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is no such file; says line and column.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// The limits of a requirement cannot be used.
    #[error("line {line}, column {column}: requirement {id}: {problem}")]
    Limit {
        /// Where it is, from 1.
        line: usize,
        /// The same.
        column: usize,
        /// Which one.
        id: String,
        /// What is wrong.
        problem: &'static str,
    },
}

/// Where requirements and their limits are.
#[derive(Deserialize)]
struct Places {
    requirements: Vec<Place>,
}

#[derive(Deserialize)]
struct Place {
    id: Spanned<String>,
    at_least: Option<Spanned<f64>>,
    at_most: Option<Spanned<f64>>,
}

impl Place {
    /// Line and column of the last limit, or of the requirement's id.
    fn of(&self, text: &str) -> (usize, usize) {
        let limits = [&self.at_least, &self.at_most].into_iter().flatten();
        let starts = limits.map(|limit| limit.span().start);
        let start = starts.max().unwrap_or(self.id.span().start);
        let before = &text[..start];
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }
}

impl Thresholds {
    /// The published ones.
    pub fn published() -> Self {
        Self::parse(include_str!("thresholds.toml")).expect("a test reads the built-in file")
    }

    /// Those of a file.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let all: Self = toml::from_str(text)?;
        let places: Places = toml::from_str(text)?;
        let mut seen = std::collections::BTreeSet::new();
        for (one, place) in all.requirements.iter().zip(&places.requirements) {
            let limits = usize::from(one.at_least.is_some()) + usize::from(one.at_most.is_some());
            let finite = [one.at_least, one.at_most]
                .into_iter()
                .flatten()
                .all(f64::is_finite);
            let problem = match (limits, one.level) {
                (2, _) => "give at_least or at_most, not both",
                (0, Level::Required | Level::Wanted) => {
                    "give at_least or at_most, or level = \"reported\""
                }
                (1, Level::Reported) => {
                    "a limit is judged: give level = \"required\" or \"wanted\""
                }
                _ if one.is_moot() => {
                    "a run whose jobs failed or were not verified passes in no case: the only limit is at_most = 0"
                }
                _ if !finite => "the limit must be a number",
                _ if !seen.insert(one.id.clone()) => "there are two of this id",
                _ => continue,
            };
            let (line, column) = place.of(text);
            return Err(Error::Limit {
                line,
                column,
                id: one.id.clone(),
                problem,
            });
        }
        Ok(all)
    }
}

impl Threshold {
    /// The limit and the JSON word for its direction.
    pub const fn limit(&self) -> (Option<f64>, &'static str) {
        match (self.at_least, self.at_most) {
            (Some(limit), _) => (Some(limit), "at_least"),
            (None, limit) => (limit, "at_most"),
        }
    }

    /// A limit of what no limit lets pass.
    fn is_moot(&self) -> bool {
        let limit = self.limit().0;
        let is_zero = self.at_most == Some(0.0);
        self.measure.concerns_every_run() && limit.is_some() && !is_zero
    }

    /// Whether a figure meets it; true if there is no limit.
    pub fn is_met(&self, value: f64) -> bool {
        self.at_least.is_none_or(|limit| value >= limit)
            && self.at_most.is_none_or(|limit| value <= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_threshold_has_a_source_and_a_date() {
        let all = Thresholds::published();
        assert!(all.requirements.len() > 10);
        for one in &all.requirements {
            assert!(
                !one.source.is_empty() && one.date.starts_with("20"),
                "{}",
                one.id
            );
        }
    }

    #[test]
    fn measures_are_called_as_in_files() {
        #[derive(Deserialize)]
        struct File {
            measure: Measure,
        }
        for one in Thresholds::published().requirements {
            let name = one.measure.name();
            let read: File = toml::from_str(&format!("measure = '{name}'")).unwrap();
            assert_eq!(read.measure, one.measure);
        }
    }

    #[test]
    fn mistakes_are_named() {
        let file = |more: &str| {
            format!(
                "title = 't'\n[[requirements]]\nid = 'a'\nmeasure = 'spread'\nunit = 'x'\ntitle = 'x'\n\
                 source = 's'\ndate = '2026'\n{more}\n"
            )
        };
        let said = |more: &str| Thresholds::parse(&file(more)).unwrap_err().to_string();
        assert!(said("level = 'wanted'\nat_mots = 3").contains("line 10"));
        assert!(said("level = 'wanted'").contains("requirement a: give at_least or at_most"));
        assert!(said("level = 'wanted'\nat_most = 1\nat_least = 0").contains("not both"));
        assert!(said("level = 'reported'\nat_most = 1").contains("a limit is judged"));
        assert!(said("level = 'wanted'\nat_most = inf").contains("must be a number"));
        assert!(Thresholds::parse(&file("level = 'wanted'\nat_most = 2")).is_ok());
        let of_jobs = |measure: &str, limit: &str| {
            let text = file(&format!("level = 'required'\n{limit}"));
            Thresholds::parse(&text.replace("'spread'", measure))
        };
        for measure in ["'jobs-failed'", "'jobs-not-verified'"] {
            assert!(of_jobs(measure, "at_most = 0").is_ok());
            for limit in ["at_most = 2", "at_least = 0"] {
                let said = of_jobs(measure, limit).unwrap_err().to_string();
                let column = limit.len();
                let place =
                    format!("line 10, column {column}: requirement a: a run whose jobs failed");
                assert!(said.starts_with(&place), "{said}");
            }
        }
    }
}
