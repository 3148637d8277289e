//! A rule, as its file says it.

use serde::{Deserialize, Serialize};

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Data may be lost or wrong.
    Critical,
    /// A large share of the speed, or sessions that fail.
    High,
    /// A measurable share.
    Medium,
    /// Little.
    Low,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// As rules and JSON write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Info => "info",
        }
    }
}

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// One of the four papers.
    Seed,
    /// A publication since then.
    Newer,
    /// This project: from several publications together, or from captures.
    Derived,
}

/// What has become of the advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It holds as it is written.
    Current,
    /// The intent holds; names or values have changed.
    Adapt,
    /// It depends on what the host does: a failure is a warning.
    Context,
    /// It has no effect today: never a failure.
    Obsolete,
    /// It harms today: check and fix are its inverse.
    Dangerous,
}

/// What a run can be short of, and a rule relieves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bottleneck {
    /// Reads of data.
    Reads,
    /// Writes of data.
    Writes,
    /// Files made, opened, looked up, renamed, removed.
    Metadata,
    /// Locks.
    Locks,
    /// Links between node and storage.
    Network,
    /// Processors.
    Cpu,
    /// Memory.
    Memory,
}

impl Bottleneck {
    /// As rules and JSON write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Metadata => "metadata",
            Self::Locks => "locks",
            Self::Network => "network",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
        }
    }
}

/// A document, and where in it the advice stands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Of `rules/documents.toml`.
    pub document: String,
    /// Section.
    #[serde(default)]
    pub section: String,
    /// The sentence, word for word; of the papers always.
    #[serde(default)]
    pub quote: Option<String>,
}

/// For which hosts, mounts and devices a rule is. What is empty holds for all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Applies {
    /// `linux` (if empty) or `windows`.
    pub os: String,
    /// Types of file systems; of the mount in question, or of any mount.
    pub fs: Vec<String>,
    /// Roles of paths.
    pub role: Vec<String>,
    /// Roles of the host.
    pub host: Vec<String>,
    /// `none`, `kvm`, `vmware`, `hyperv`, …; `any` is all but `none`.
    pub virtualisation: Vec<String>,
    /// `aws`, `azure`, `gcp`, `oci`.
    pub cloud: Vec<String>,
    /// Vendors of storage, as devices call themselves or `--vendor` says.
    pub vendor: Vec<String>,
    /// `rhel8`, …
    pub release: Vec<String>,
    /// Modules of which one is loaded.
    pub module: Vec<String>,
    /// Kinds of devices: `scsi`, `nvme`, `dm`, `md`, `virtual`.
    pub device: Vec<String>,
}

/// What must hold.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Which fact; with `[]` of every subject, with `[a*]` of those that fit.
    #[serde(default)]
    pub fact: String,
    /// Other settings of the same subject that are to hold alike: the worst decides.
    #[serde(default)]
    pub also: Vec<String>,
    /// How it is compared.
    pub op: Op,
    /// With what.
    #[serde(default)]
    pub value: Option<toml::Value>,
    /// What is expected, in words, where the comparison does not say it well.
    #[serde(default)]
    pub expected: Option<String>,
    /// The result where the fact was not found and that says enough: `pass`, `not_applicable`.
    #[serde(default)]
    pub absent: Option<Absent>,
    /// Persisted values do not matter (they are other things than what runs).
    #[serde(default)]
    pub running_only: bool,
    /// Only what is persisted matters (options that no table of mounts shows).
    #[serde(default)]
    pub persisted_only: bool,
}

/// What an absent fact means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absent {
    /// All is well.
    Pass,
    /// The rule is for others.
    NotApplicable,
    /// It was not set, if anything is known of its class.
    Fail,
}

/// Comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// At least.
    Ge,
    /// At most.
    Le,
    /// Between two numbers.
    Between,
    /// One of.
    In,
    /// None of.
    NotIn,
    /// A list that has all of these.
    Has,
    /// A list that has none of these.
    Lacks,
    /// Known and not empty.
    Exists,
    /// Empty, or not there where something is known of its class.
    Empty,
    /// Each number of a row at least the one in its place.
    EachGe,
    /// A version, at least.
    VersionGe,
    /// A version, below.
    VersionLt,
    /// Only reported.
    Report,
    /// Only people can answer.
    Ask,
    /// Only several nodes together can answer: they agree in the facts of `value`, without it in
    /// their findings.
    Fleet,
    /// Code of its own: `value` is its name.
    Named,
}

/// How it is mended.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Fix {
    /// Mechanism: `sysctl`, `tuned`, `udev`, `modprobe`, `limits`, `multipath`, `systemd`, `fstab`,
    /// …
    pub kind: String,
    /// Which file.
    #[serde(default)]
    pub file: String,
    /// What to write, or what to do.
    pub text: String,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// `VM-105`; never given twice.
    pub id: String,
    /// What should be so, a sentence.
    pub title: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What has become of it.
    pub status: Status,
    /// How much it matters.
    pub severity: Severity,
    /// What keeping it relieves; empty where it guards correctness or sessions and not speed. Every
    /// rule that is judged says it.
    #[serde(default)]
    pub bottleneck: Option<Vec<Bottleneck>>,
    /// The setting: of rules on the same one the highest rank decides.
    pub param: String,
    /// Why it matters.
    pub why: String,
    /// What the same intent is called today.
    #[serde(default)]
    pub modern: Option<String>,
    /// What the change can cost.
    #[serde(default)]
    pub risk: Option<String>,
    /// A rule that depends on the host and fails nevertheless.
    #[serde(default)]
    pub fails: bool,
    /// Documents.
    pub source: Vec<Source>,
    /// For whom.
    #[serde(default)]
    pub applies: Applies,
    /// Facts that must hold for the rule to apply.
    #[serde(default)]
    pub when: Vec<Check>,
    /// What must hold.
    pub check: Check,
    /// How it is mended.
    #[serde(default)]
    pub fix: Option<Fix>,
}

impl Rule {
    /// True if a host can fail it or be warned by it.
    pub fn is_judged(&self) -> bool {
        let asked = matches!(self.check.op, Op::Ask | Op::Fleet | Op::Report);
        !asked && self.status != Status::Obsolete
    }

    /// True if what does not hold is a failure, and not only a warning.
    pub fn can_fail(&self) -> bool {
        match self.status {
            Status::Current | Status::Adapt | Status::Dangerous => true,
            Status::Context => self.fails,
            Status::Obsolete => false,
        }
    }
}
