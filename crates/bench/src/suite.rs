//! A suite as data: suite.toml and programs. The built-in ones are part of the binary.

use std::collections::BTreeMap;

use base::units::{Bytes, parse_size};
use serde::Deserialize;

/// A published workload.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Name, as on the command line.
    pub name: String,
    /// A sentence.
    pub title: String,
    /// Where it is described, document and section.
    pub sources: Vec<String>,
    /// `per-node` or `spread`.
    pub distribution: String,
    /// Jobs per physical core.
    pub jobs_per_core: u32,
    /// All jobs are launched within this time, seconds.
    pub launch_spread_s: f64,
    /// SAS options of every job; an empty value is a bare name.
    pub options: BTreeMap<String, String>,
    /// How large the files are.
    pub size: Size,
    /// Data sets, `{job}` standing for the job's number.
    pub datasets: Vec<Dataset>,
    /// Jobs, `{job}` standing for the job's number.
    pub jobs: Vec<Job>,
    /// Programs by file name; not in the TOML.
    #[serde(skip)]
    pub programs: BTreeMap<String, String>,
    /// Recipes by name; not in the TOML.
    #[serde(skip)]
    pub recipes: BTreeMap<String, String>,
}

/// How large the files are.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// A job's file at scale 1, as a multiple of the node's memory.
    pub memory_multiple: f64,
    /// All files together at demonstration scale.
    #[serde(deserialize_with = "size")]
    pub demonstration_bytes: Bytes,
    /// SORTSIZE is reduced so that a file is at least this many times as large.
    pub file_per_sortsize_min: u64,
}

/// A data set to be staged.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// Member name.
    pub name: String,
    /// Recipe name.
    pub recipe: String,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Job name.
    pub name: String,
    /// Program file.
    pub program: String,
    /// The data set it reads.
    pub input: String,
    /// Macro variables.
    #[serde(default)]
    pub symbols: BTreeMap<String, String>,
    /// What must hold of its outputs.
    #[serde(default)]
    pub checks: Vec<Check>,
}

/// What must hold of an output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Check {
    /// Sorted by these variables, ascending, and the same multiset of rows as an input.
    Sorted {
        /// Output data set.
        dataset: String,
        /// Key variables.
        by: Vec<String>,
        /// The input with the same rows.
        same_rows_as: String,
    },
}

fn size<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_size(&text).ok_or_else(|| {
        serde::de::Error::custom(format!("{text:?} is not a size; write 640M or 2G"))
    })
}

/// What is wrong with a suite.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no suite of that name.
    #[error("there is no suite {name}; there are: {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// suite.toml cannot be read; the message has line and column.
    #[error("{name}/suite.toml: {source}")]
    Toml {
        /// The suite.
        name: String,
        /// Line, column and cause.
        source: toml::de::Error,
    },
}

struct Builtin {
    name: &'static str,
    toml: &'static str,
    programs: &'static [(&'static str, &'static str)],
}

const BUILTIN: &[Builtin] = &[Builtin {
    name: "large-sorts",
    toml: include_str!("../../../suites/large-sorts/suite.toml"),
    programs: &[(
        "sort.sas",
        include_str!("../../../suites/large-sorts/programs/sort.sas"),
    )],
}];

/// Names of the built-in suites.
pub fn names() -> Vec<&'static str> {
    BUILTIN.iter().map(|suite| suite.name).collect()
}

/// A built-in suite.
pub fn builtin(name: &str) -> Result<Suite, Error> {
    let found = BUILTIN
        .iter()
        .find(|suite| suite.name == name)
        .ok_or_else(|| Error::Unknown {
            name: name.to_owned(),
            known: names().join(", "),
        })?;
    let mut suite: Suite = toml::from_str(found.toml).map_err(|source| Error::Toml {
        name: name.to_owned(),
        source,
    })?;
    let programs = found.programs.iter();
    suite.programs = programs
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    for dataset in &suite.datasets {
        if let Some(text) = recipe::text(&dataset.recipe) {
            suite
                .recipes
                .insert(dataset.recipe.clone(), text.to_owned());
        }
    }
    Ok(suite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_suite_is_whole() {
        for name in names() {
            let suite = builtin(name).unwrap();
            assert_eq!(suite.name, name);
            for job in &suite.jobs {
                assert!(suite.programs.contains_key(&job.program), "{}", job.program);
            }
            for dataset in &suite.datasets {
                assert!(
                    suite.recipes.contains_key(&dataset.recipe),
                    "{}",
                    dataset.recipe
                );
            }
        }
    }

    #[test]
    fn an_unknown_suite_is_named_with_those_there_are() {
        let message = builtin("nosuch").unwrap_err().to_string();
        assert!(
            message.contains("nosuch") && message.contains("large-sorts"),
            "{message}"
        );
    }
}
