//! What suite.toml says, as it is written: every key of the format is a field here. Texts that name
//! something else keep their place in the file, so that a mistake can be shown where it is.

use std::collections::BTreeMap;

use base::units::{Bytes, parse_size};
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// A published workload, or one of a site.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteText {
    /// Name, as on the command line: that of its folder.
    pub name: Spanned<String>,
    /// A sentence.
    pub title: String,
    /// Where it is described, document and section.
    #[serde(default)]
    pub sources: Vec<String>,
    /// How several nodes share the work.
    #[serde(default)]
    pub distribution: Distribution,
    /// What further copies of the same data are.
    #[serde(default)]
    pub copies: Copies,
    /// SORTSIZE of a job is reduced until its largest input is this many times as large.
    pub file_per_sortsize_min: Option<u64>,
    /// SAS options of every job; an empty value is a bare name.
    #[serde(default)]
    pub options: BTreeMap<Spanned<String>, String>,
    /// Other ways in which the suite was run.
    #[serde(default)]
    pub variants: BTreeMap<String, Variant>,
    /// Where each channel lies.
    #[serde(default)]
    pub channels: Channels,
    /// Bytes of the other channels at the peak.
    #[serde(default)]
    pub space: SpaceText,
    /// What a run may choose.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    /// When jobs start.
    pub launch: Launch,
    /// Kinds of jobs.
    #[serde(default)]
    pub classes: BTreeMap<String, String>,
    /// Kinds of users.
    #[serde(default)]
    pub personas: BTreeMap<String, String>,
    /// How the number of users can be raised.
    pub mix: Option<Mix>,
    /// The small size that is run without being asked for another.
    pub demonstration: Demonstration,
    /// Data sets and text files that are staged.
    #[serde(default)]
    pub datasets: Vec<Dataset>,
    /// Jobs, many launches of one program in one entry.
    pub jobs: Vec<Job>,
}

/// How several nodes share the work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Each node has the whole workload on data of its own.
    #[default]
    PerNode,
    /// All nodes share one set of jobs, inputs and outputs.
    Spread,
}

/// What further copies of the same data are: those of other streams, and of batches side by side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// The same bytes, written once more.
    #[default]
    Identical,
    /// Of seeds of their own: other values of the same kind.
    Distinct,
}

impl Copies {
    /// The word in suite.toml, flags and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Distinct => "distinct",
        }
    }
}

/// What the suite is otherwise.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// A sentence.
    pub title: String,
    /// SAS options.
    #[serde(default)]
    pub options: BTreeMap<Spanned<String>, String>,
    /// Macro variables of its jobs that have other values.
    #[serde(default)]
    pub symbols: BTreeMap<String, Spanned<String>>,
    /// Instead of that of its jobs.
    pub moved_per_input: Option<f64>,
    /// Instead of [`SuiteText::space`].
    pub space: Option<SpaceText>,
}

/// Where each channel lies.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channels {
    /// Staged data.
    pub input: Option<Place>,
    /// Permanent outputs.
    pub output: Option<Place>,
    /// WORK.
    pub work: Option<Place>,
    /// Utility files.
    pub util: Option<Place>,
    /// The paper's share of WORK and utility files in all bytes, from and to.
    pub work_util_share: Option<[f64; 2]>,
}

/// Where a channel lies.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// On a shared file system or on the node.
    pub on: On,
    /// What the paper says of it.
    pub paper: Option<String>,
}

/// On a shared file system or on the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum On {
    /// A file system that all nodes share.
    Shared,
    /// A file system of the node.
    Local,
}

/// Bytes at the peak: multiples of the staged input, and what does not grow with it, such as the pages that
/// the smallest files have. Both grow in proportion to some parameters.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SpaceText {
    /// Permanent outputs.
    pub output: f64,
    /// Those at any scale.
    #[serde(deserialize_with = "size")]
    pub output_fixed: Bytes,
    /// Values of parameters for which that is so.
    pub output_at: BTreeMap<Spanned<String>, u64>,
    /// WORK.
    pub work: f64,
    /// That at any scale.
    #[serde(deserialize_with = "size")]
    pub work_fixed: Bytes,
    /// Values of parameters for which that is so.
    pub work_at: BTreeMap<Spanned<String>, u64>,
    /// Utility files.
    pub util: f64,
    /// Those at any scale.
    #[serde(deserialize_with = "size")]
    pub util_fixed: Bytes,
    /// Values of parameters for which that is so.
    pub util_at: BTreeMap<Spanned<String>, u64>,
    /// Logs and records in the run directory, at any scale.
    #[serde(deserialize_with = "size")]
    pub runs_fixed: Bytes,
    /// Values of parameters for which that is so.
    pub runs_at: BTreeMap<Spanned<String>, u64>,
}

/// Something that a run may choose: a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The paper's.
    pub value: Option<u64>,
    /// The paper's, per physical core.
    pub per_core: Option<u64>,
    /// At demonstration scale.
    pub demonstration: Option<u64>,
}

/// When jobs start.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// By which rule.
    pub rule: Spanned<Rule>,
    /// Rule `together`: all start within this time, seconds.
    pub spread_s: Option<f64>,
    /// Rule `waves`: seconds between waves.
    pub interval_s: Option<f64>,
    /// Jobs at once, as the paper says; for people.
    pub simultaneous: Option<u32>,
}

/// By which rule jobs start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// All within `spread_s`.
    Together,
    /// Each at its `at_s`.
    Offsets,
    /// Each with its `wave`; the launches of a stream follow each other.
    Waves,
    /// As many at once as the parameter `concurrency` says; the next starts when one ends.
    Pool,
}

/// How the number of users can be raised above the suite's.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// The macro variable that tells users apart: another user's has `u2`, `u3` and so on at its end.
    pub symbol: String,
    /// Seconds between a user's launch and that of the next one like it.
    pub interval_s: f64,
}

/// The small size.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demonstration {
    /// All staged inputs together; this or `scale`.
    #[serde(default, deserialize_with = "some_size")]
    pub bytes: Option<Bytes>,
    /// Factor on rows.
    pub scale: Option<f64>,
    /// Factor on launch times and on `timed` symbols.
    #[serde(default = "one")]
    pub time_scale: f64,
    /// Instead of [`SuiteText::space`].
    pub space: Option<SpaceText>,
}

/// Data sets of one recipe and size.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// Member names; `{1..3}` stands for numbers.
    pub names: Vec<Spanned<String>>,
    /// Recipe: of the folder `recipes` beside suite.toml, or built in.
    pub recipe: Spanned<String>,
    /// Rows at scale 1; this or `memory_multiple`.
    pub rows: Option<u64>,
    /// Bytes at scale 1 as a multiple of the node's memory.
    pub memory_multiple: Option<f64>,
    /// No fewer rows at any scale.
    pub rows_min: Option<u64>,
    /// Not scaled.
    #[serde(default)]
    pub fixed: bool,
    /// No job reads them: they are not staged.
    #[serde(default)]
    pub unread: bool,
    /// Data sets of the same seed and recipe are copies. Otherwise each has a seed of its own.
    pub seed: Option<u64>,
    /// Data set or text.
    #[serde(default)]
    pub format: Format,
    /// Page size instead of the option BUFSIZE.
    #[serde(default, deserialize_with = "some_size")]
    pub bufsize: Option<Bytes>,
    /// Simple indexes, made when the data set is staged.
    #[serde(default)]
    pub indexes: Vec<Spanned<String>>,
    /// Published sizes: uncompressed, COMPRESS=BINARY, that on an array that compresses.
    pub published: Option<[Spanned<String>; 3]>,
    /// How far COMPRESS=BINARY / uncompressed, and the size on such an array, may be off the published ones.
    pub published_within: Option<[f64; 2]>,
}

/// Data set or text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// A SAS data set.
    #[default]
    Sas7bdat,
    /// Comma-separated values with names in the first line.
    Csv,
}

/// Launches of one program.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of its launches; `{number}` and `{copy}` tell them apart.
    pub name: Option<Spanned<String>>,
    /// File in the folder `programs`.
    pub program: Spanned<String>,
    /// Kind of job.
    pub class: Option<Spanned<String>>,
    /// Kind of user.
    pub persona: Option<Spanned<String>>,
    /// SAS options that replace those of the suite.
    #[serde(default)]
    pub options: BTreeMap<Spanned<String>, String>,
    /// Macro variables.
    #[serde(default)]
    pub symbols: BTreeMap<String, Spanned<String>>,
    /// Macro variables that are multiplied by the scale: value at scale 1, least value.
    #[serde(default)]
    pub scaled: BTreeMap<String, [u64; 2]>,
    /// Macro variables that are multiplied by the time scale, seconds.
    #[serde(default)]
    pub timed: BTreeMap<String, f64>,
    /// Staged data that it reads beside those that its macro variables `in`, `in2` and so on name.
    #[serde(default)]
    pub inputs: Vec<Spanned<String>>,
    /// One launch for each number, such as `1..jobs`.
    pub numbers: Option<Spanned<String>>,
    /// Its launches one by one.
    #[serde(default)]
    pub launches: Vec<LaunchOf>,
    /// Launches that follow each other: stream `{copy}` starts with its wave.
    #[serde(default)]
    pub streams: Vec<Stream>,
    /// Seconds after the first job.
    pub at_s: Option<f64>,
    /// The wave with which it starts, from 1.
    pub wave: Option<u32>,
    /// Minutes that a launch takes alone; for people.
    pub minutes: Option<f64>,
    /// Bytes read and written over all channels, as a multiple of its inputs.
    pub moved_per_input: Option<f64>,
    /// GB read and written per channel at scale 1.
    #[serde(default)]
    pub traffic_gb: BTreeMap<String, [f64; 2]>,
    /// What must hold of its outputs.
    #[serde(default)]
    pub checks: Vec<CheckText>,
}

/// One launch.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchOf {
    /// Its name.
    pub name: Spanned<String>,
    /// Seconds after the first job.
    pub at_s: Option<f64>,
    /// The wave with which it starts, from 1.
    pub wave: Option<u32>,
    /// More macro variables.
    #[serde(default)]
    pub symbols: BTreeMap<String, Spanned<String>>,
}

/// Launches that follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The wave with which the first starts, from 1.
    pub wave: u32,
    /// How many.
    pub launches: u32,
}

/// What must hold of an output. Which keys go with a kind is in [`super::check`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckText {
    /// What is checked.
    pub kind: Spanned<KindOfCheck>,
    /// Data set of the library OUT; `{1..3}` stands for numbers.
    pub dataset: Option<Spanned<String>>,
    /// Text file in the directory of OUT.
    pub file: Option<Spanned<String>>,
    /// Variables of a key.
    pub by: Option<Vec<String>>,
    /// Names of indexes.
    pub indexes: Option<Vec<String>>,
    /// A variable whose values are added up.
    pub variable: Option<Spanned<String>>,
    /// Condition on rows of the output.
    #[serde(rename = "where")]
    pub condition: Option<Spanned<String>>,
    /// The staged data set with the same rows.
    pub same_rows_as: Option<Spanned<String>>,
    /// The staged data set whose keys are counted.
    pub of: Option<Spanned<String>>,
    /// How many; may be a macro variable of the job, such as `{rows}`.
    pub count: Option<Spanned<String>>,
    /// As many as rows of this staged data, or of an output `out.name`.
    pub rows_of: Option<Spanned<String>>,
    /// Condition on rows of the input.
    pub input_where: Option<Spanned<String>>,
    /// So many times as many.
    pub times: Option<u64>,
    /// Lines before the rows of a text file.
    pub header: Option<u64>,
    /// Lines after them.
    pub footer: Option<u64>,
    /// Numbers are equal to so many digits.
    pub digits: Option<u32>,
    /// Checked only where these macro variables have these values.
    #[serde(default)]
    pub when: BTreeMap<String, String>,
}

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KindOfCheck {
    /// In order, and the same rows as an input.
    Sorted,
    /// In order.
    Ordered,
    /// So many rows.
    Rows,
    /// The same rows as an input.
    SameRows,
    /// A variable adds up to so much.
    Total,
    /// In order, and one row for each key of an input.
    Distinct,
    /// There are these indexes.
    Indexed,
    /// There is no such data set.
    Absent,
    /// There are these data sets and no others of the name.
    Members,
    /// A text file of so many lines.
    Lines,
    /// The same in all launches of this entry.
    Equal,
}

const fn one() -> f64 {
    1.0
}

fn some_size<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Bytes>, D::Error> {
    size(deserializer).map(Some)
}

fn size<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_size(&text).ok_or_else(|| {
        serde::de::Error::custom(format!("{text:?} is not a size; write 640M or 2G"))
    })
}
