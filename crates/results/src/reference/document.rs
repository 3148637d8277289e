//! A paper's figures as the files under `reference/` have them.

use serde::Deserialize;

use crate::subject::Figures;

/// A paper.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Short name.
    pub id: String,
    /// Title.
    pub title: String,
    /// Publisher and number.
    pub publisher: String,
    /// When it was published, a year at least.
    pub date: String,
    /// What was measured.
    #[serde(default)]
    pub(super) runs: Vec<Run>,
    /// Figures of whole runs.
    #[serde(default)]
    pub printed: Vec<Printed>,
    /// Run times by job.
    #[serde(default)]
    pub(super) jobs: Option<Jobs>,
    /// Run times of one job by node.
    #[serde(default)]
    pub(super) slowest: Option<SlowestTable>,
    /// Sizes by file.
    #[serde(default)]
    pub sizes: Option<Sizes>,
    /// What compression costs and saves.
    #[serde(default)]
    pub trade_off: Option<TradeOff>,
    /// Differences between two runs, as printed.
    #[serde(default)]
    pub(super) deltas: Vec<Delta>,
    /// Factors that the text gives.
    #[serde(default)]
    pub statements: Vec<Statement>,
    /// Places that contradict others and no table shows.
    #[serde(default)]
    pub(super) contradictions: Vec<Contradiction>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) title: String,
    /// What the title says but for the number of nodes, if that is another text.
    pub(super) system: Option<String>,
    pub(super) suite: String,
    pub(super) nodes: Option<u32>,
    pub(super) cores: Option<u32>,
    pub(super) programs: Option<u64>,
    #[serde(default)]
    pub(super) saturating: bool,
}

/// Figures of a run at one place of the paper.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Printed {
    /// Of which run.
    pub run: String,
    /// Where in the paper.
    pub place: String,
    real_sum: Option<String>,
    real_mean: Option<String>,
    real_max: Option<String>,
    real_deviation: Option<String>,
    elapsed: Option<String>,
    real_sum_min: Option<f64>,
    user_min: Option<f64>,
    system_min: Option<f64>,
    memory_gb: Option<f64>,
    cpu_real_mean: Option<f64>,
    cpu_real_deviation: Option<f64>,
    cpu_real_range: Option<f64>,
    /// Jobs at once.
    pub(super) concurrency: Option<f64>,
    total_mb_per_s: Option<(f64, f64)>,
    total_peak_mb_per_s: Option<f64>,
    shared_mb_per_s: Option<(f64, f64)>,
    locks_ratio: Option<f64>,
    locks_ratio_min: Option<f64>,
}

impl Printed {
    /// In our units.
    pub fn figures(&self) -> Figures {
        let seconds = |text: &Option<String>| text.as_deref().and_then(|text| time(text, 1.0));
        let minutes = |value: Option<f64>| value.map(|minutes| minutes * 60.0);
        Figures {
            real_sum_s: seconds(&self.real_sum).or(minutes(self.real_sum_min)),
            real_mean_s: seconds(&self.real_mean),
            real_max_s: seconds(&self.real_max),
            real_deviation_s: seconds(&self.real_deviation),
            elapsed_s: seconds(&self.elapsed),
            user_s: minutes(self.user_min),
            system_s: minutes(self.system_min),
            memory_bytes: self.memory_gb.map(|gigabytes| gigabytes * 1e9),
            cpu_real_mean: self.cpu_real_mean,
            cpu_real_deviation: self.cpu_real_deviation,
            cpu_real_range: self.cpu_real_range,
            total_mb_per_s: self.total_mb_per_s,
            total_peak_mb_per_s: self.total_peak_mb_per_s,
            shared_mb_per_s: self.shared_mb_per_s,
            locks_ratio: self.locks_ratio,
            locks_ratio_min: self.locks_ratio_min,
            ..Figures::default()
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Jobs {
    pub(super) place: String,
    pub(super) runs: Vec<String>,
    pub(super) rows: Vec<[String; 4]>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SlowestTable {
    pub(super) place: String,
    pub(super) job: String,
    pub(super) rows: Vec<SlowestRow>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SlowestRow {
    pub(super) run: String,
    real: Vec<String>,
}

impl SlowestRow {
    /// Seconds of hours and minutes.
    pub(super) fn seconds(&self) -> Vec<f64> {
        self.real
            .iter()
            .filter_map(|text| time(text, 60.0))
            .collect()
    }
}

/// Sizes by file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Where in the paper.
    pub place: String,
    /// How the files were compressed.
    pub columns: [String; 3],
    /// Totals as printed.
    pub totals: [String; 3],
    /// The second total over the third, as printed.
    pub savings: f64,
    /// Name of the file and its sizes.
    pub rows: Vec<[String; 4]>,
}

impl Sizes {
    /// Name and bytes of each file.
    pub fn files(&self) -> impl Iterator<Item = (&str, [Option<f64>; 3])> {
        self.rows.iter().map(|[name, none, sas, hardware]| {
            (&**name, [none, sas, hardware].map(|text| size(text)))
        })
    }

    /// The totals as printed, bytes.
    pub fn printed_totals(&self) -> [Option<f64>; 3] {
        self.totals.each_ref().map(|text| size(text))
    }
}

/// What compression costs and saves.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TradeOff {
    /// Where in the paper.
    pub place: String,
    /// The job of the table of run times that it is about.
    pub(super) job: String,
    /// Rows.
    pub rows: Vec<TradeOffRow>,
}

/// One way to store the same data.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TradeOffRow {
    /// Which storage.
    pub storage: String,
    /// COMPRESS=BINARY.
    pub sas: bool,
    /// The storage compresses.
    pub hardware: bool,
    /// The run in which the job did the same.
    pub(super) run: Option<String>,
    size: String,
    create: String,
    copy: String,
    all: String,
}

impl TradeOffRow {
    /// Bytes of the file.
    pub fn bytes(&self) -> Option<f64> {
        size(&self.size)
    }

    /// Seconds to create it, to copy it, and of all steps of the job.
    pub fn seconds(&self) -> [Option<f64>; 3] {
        [&self.create, &self.copy, &self.all].map(|text| time(text, 1.0))
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Delta {
    pub(super) place: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) real_sum_min: f64,
    pub(super) memory_gb: f64,
    pub(super) user_min: f64,
    pub(super) system_min: f64,
}

/// A factor that the text gives.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Where in the paper.
    pub place: String,
    /// Of what.
    pub what: String,
    /// The factor.
    pub factor: f64,
    /// The paper's words.
    pub says: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Contradiction {
    pub(super) place: String,
    pub(super) what: String,
    pub(super) printed: String,
    pub(super) other: String,
    pub(super) why: String,
}

impl Document {
    /// Title, publisher and date, for citations.
    pub fn name(&self) -> String {
        format!("{} ({}, {})", self.title, self.publisher, self.date)
    }
}

/// `h:mm:ss` or `mm:ss` in seconds; with a unit of 60, `h:mm`.
pub(super) fn time(text: &str, unit_s: f64) -> Option<f64> {
    let mut sum = 0.0;
    for part in text.split(':') {
        sum = sum * 60.0 + f64::from(part.parse::<u32>().ok()?);
    }
    Some(sum * unit_s)
}

/// Bytes of `63 GB` as `du -h` prints it.
fn size(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let unit = match unit {
        "KB" => 1u64 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * unit as f64)
}
