//! What was found out, as figures.

use std::collections::BTreeMap;

use results::measurement::Measurement;
use serde::Serialize;

use super::blocks::{BLOCK_BYTES, Blocks, Distinct, KEPT};
use super::chunk::{CHUNK_BYTES, COMPRESSED_BYTES, DEFLATE_STORED, KINDS, METHODS, PER_METHOD};
use super::estimate::{Estimate, Sums};
use super::rewrite::Rewritten;
use super::work::Found;
use super::{Effort, Options, Source};

/// What was found out about some files.
#[derive(Debug, Clone, PartialEq)]
pub struct Squeezed {
    /// File by file.
    pub files: Vec<FileFigures>,
    /// Bytes of all files, as far as they could be read.
    pub bytes: u64,
    /// Bytes of them that were compressed.
    pub compressed_bytes: u64,
    /// What each kind of compression leaves of each byte of all files; empty if none was compressed.
    pub shares: Vec<Estimate>,
    /// For each size of blocks; none if it was not looked for duplicates.
    pub duplicates: Vec<Duplicates>,
}

/// What was found out about a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileFigures {
    /// Its name.
    pub file: String,
    /// Its length, as far as it could be read.
    pub bytes: u64,
    /// What the file system says that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<u64>,
    /// Bytes that were compressed.
    pub compressed_bytes: u64,
    /// Its sizes by COMPRESS=, if it is a data set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sas: Option<Rewritten>,
    /// Why a data set has no such sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sas_error: Option<String>,
    /// Why it was not read, or not to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Bytes for one that is left, by the names of [`kinds`].
    #[serde(flatten)]
    pub ratios: BTreeMap<String, f64>,
    /// Their 95 % confidence intervals, where the file was compressed in a sample.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, [f64; 2]>,
    /// What is left of each byte, by kind.
    #[serde(skip)]
    pub shares: Vec<Estimate>,
}

/// Blocks of one size that are there more than once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duplicates {
    /// Size of blocks.
    pub block_bytes: usize,
    /// What was counted.
    pub distinct: Distinct,
}

/// A kind of compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// Name of its ratio.
    pub name: String,
    /// The method, one of [`METHODS`].
    pub method: &'static str,
    /// Bytes that are compressed together.
    pub block_bytes: usize,
    /// As storage gives out space.
    pub stored: bool,
}

/// The kinds, in the order of the shares.
pub fn kinds() -> Vec<Kind> {
    let of = |kind: usize| {
        let (method, size) = (METHODS[kind / PER_METHOD], kind % PER_METHOD);
        let stored = size == DEFLATE_STORED;
        let block_bytes = COMPRESSED_BYTES.get(size).copied().unwrap_or(CHUNK_BYTES);
        let name = match (stored, block_bytes) {
            (true, _) => format!("{method}_stored_ratio"),
            (_, CHUNK_BYTES) => format!("{method}_ratio"),
            _ => format!("{method}_{}k_ratio", block_bytes >> 10),
        };
        Kind {
            name,
            method,
            block_bytes,
            stored,
        }
    };
    (0..KINDS).map(of).collect()
}

impl Kind {
    /// What it is, for a table's legend.
    fn detail(&self) -> String {
        let kib = self.block_bytes >> 10;
        let level = match self.method {
            "deflate" => "deflate, level 6",
            "zstd" => "zstd, level 3",
            _ => "LZ4",
        };
        if self.stored {
            return format!(
                "{level}, each chunk of {kib} KiB in units of 8 KiB and no less than an eighth"
            );
        }
        format!("{level}, of blocks of {kib} KiB")
    }
}

/// Figures are printed to six digits behind the point; what threads add in another order differs far behind.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Bytes for one that is left.
fn ratio(share: Estimate) -> Option<Estimate> {
    (share.value > 0.0 && share.low > 0.0).then(|| share.falling(|share| rounded(1.0 / share)))
}

/// Whether a kind was compressed: an array needs one alone.
fn is_told(kind: usize, effort: Effort) -> bool {
    match effort {
        Effort::Full => true,
        Effort::Array => kind == DEFLATE_STORED || kind == DEFLATE_STORED - 1,
        Effort::Nothing => false,
    }
}

fn shares(sums: &Sums, chunks: u64, effort: Effort) -> Vec<Estimate> {
    let told = (0..KINDS).filter(|kind| is_told(*kind, effort));
    told.filter_map(|kind| sums.share(kind, chunks)).collect()
}

impl FileFigures {
    fn new(source: &Source<'_>, found: Found, options: &Options) -> Self {
        let bytes = if found.failed.is_some() {
            found.read_bytes
        } else {
            source.bytes
        };
        let chunks = bytes.div_ceil(CHUNK_BYTES as u64);
        let shares = shares(&found.sums, chunks, options.effort);
        let told = kinds().into_iter().enumerate();
        let told = told.filter(|(kind, _)| is_told(*kind, options.effort));
        let (mut ratios, mut intervals) = (BTreeMap::new(), BTreeMap::new());
        for ((_, kind), share) in told.zip(&shares) {
            let Some(ratio) = ratio(*share) else {
                continue;
            };
            if !ratio.is_exact() {
                intervals.insert(kind.name.clone(), [ratio.low, ratio.high]);
            }
            ratios.insert(kind.name, ratio.value);
        }
        Self {
            file: source.name.clone(),
            bytes,
            allocated_bytes: source.allocated_bytes,
            compressed_bytes: found.sums.compressed_bytes,
            sas: found.rewritten,
            sas_error: found.not_rewritten,
            error: found.failed,
            ratios,
            intervals,
            shares,
        }
    }
}

impl Squeezed {
    pub(super) fn new(
        sources: &[Source<'_>],
        found: Vec<Found>,
        blocks: &[Blocks],
        options: &Options,
    ) -> Self {
        let (mut sums, mut chunks) = (Sums::default(), 0);
        let mut files = Vec::new();
        for (source, found) in sources.iter().zip(found) {
            sums.merge(&found.sums);
            let figures = FileFigures::new(source, found, options);
            chunks += figures.bytes.div_ceil(CHUNK_BYTES as u64);
            files.push(figures);
        }
        let duplicates = BLOCK_BYTES
            .iter()
            .zip(blocks)
            .map(|(size, blocks)| Duplicates {
                block_bytes: *size,
                distinct: blocks.distinct(),
            });
        Self {
            bytes: files.iter().map(|file| file.bytes).sum(),
            files,
            compressed_bytes: sums.compressed_bytes,
            shares: shares(&sums, chunks, options.effort),
            duplicates: duplicates.collect(),
        }
    }

    /// What a kind of compression leaves of each byte of all files.
    pub fn share(&self, name: &str) -> Option<Estimate> {
        let kind = kinds().iter().position(|kind| kind.name == name)?;
        let told: Vec<usize> = if self.shares.len() == KINDS {
            (0..KINDS).collect()
        } else {
            (0..KINDS)
                .filter(|kind| is_told(*kind, Effort::Array))
                .collect()
        };
        let at = told.iter().position(|told| *told == kind)?;
        self.shares.get(at).copied()
    }

    /// Where figures of compression come from.
    pub fn basis(&self) -> String {
        if self.compressed_bytes == self.bytes {
            return "all bytes".to_owned();
        }
        let percent = 100.0 * self.compressed_bytes as f64 / self.bytes.max(1) as f64;
        format!(
            "a sample of {} of {} bytes ({percent:.2} %), chunks of 128 KiB by chance, one of each of equal parts",
            self.compressed_bytes, self.bytes
        )
    }

    /// The figures by name.
    pub fn measurements(&self) -> Vec<Measurement> {
        let mut list = vec![
            Measurement::new("bytes", self.bytes as f64, "B", "length of all files"),
            Measurement::new(
                "compressed_bytes",
                self.compressed_bytes as f64,
                "B",
                "bytes of them that were compressed",
            ),
        ];
        list.extend(self.of_sas());
        let basis = self.basis();
        for kind in kinds() {
            let Some(ratio) = self.share(&kind.name).and_then(ratio) else {
                continue;
            };
            let detail = format!("bytes for one that is left: {}; {basis}", kind.detail());
            list.push(measurement(&kind.name, ratio, "ratio", detail));
        }
        for duplicates in &self.duplicates {
            list.extend(duplicates.measurements(self));
        }
        list
    }

    /// Sums over all data sets.
    fn of_sas(&self) -> Vec<Measurement> {
        let sets: Vec<&Rewritten> = self
            .files
            .iter()
            .filter_map(|file| file.sas.as_ref())
            .collect();
        let sum = |of: fn(&Rewritten) -> u64| sets.iter().map(|set| of(set)).sum::<u64>() as f64;
        if sets.is_empty() {
            return Vec::new();
        }
        let (none, char, binary) = (
            sum(|set| set.none_bytes),
            sum(|set| set.char_bytes),
            sum(|set| set.binary_bytes),
        );
        let bytes = |name: &str, value: f64, how: &str| {
            let detail = format!("all data sets as SAS would write them {how}");
            Measurement::new(name, value, "B", detail)
        };
        let ratio = |name: &str, by: f64| {
            let detail = "bytes of all data sets without compression for one with it";
            Measurement::new(name, rounded(none / by.max(1.0)), "ratio", detail)
        };
        vec![
            Measurement::new("sas_data_sets", sets.len() as f64, "files", "SAS data sets"),
            bytes("sas_none_bytes", none, "without compression"),
            bytes("sas_char_bytes", char, "with COMPRESS=CHAR"),
            bytes("sas_binary_bytes", binary, "with COMPRESS=BINARY"),
            ratio("sas_char_ratio", char),
            ratio("sas_binary_ratio", binary),
        ]
    }
}

fn measurement(name: &str, value: Estimate, unit: &str, detail: String) -> Measurement {
    let figure = Measurement::new(name, value.value, unit, detail);
    if value.is_exact() {
        return figure;
    }
    figure.within(value.low, value.high)
}

impl Duplicates {
    /// Bytes of blocks beyond the first of each, as a share of all bytes.
    pub fn share(&self) -> Estimate {
        let bytes = self.distinct.scanned_bytes.max(1) as f64;
        self.distinct
            .bytes
            .falling(|distinct| (1.0 - distinct / bytes).max(0.0))
    }

    /// Blocks beyond the first of each.
    pub fn deduped(&self) -> Estimate {
        let scanned = self.distinct.scanned as f64;
        self.distinct
            .blocks
            .falling(|distinct| (scanned - distinct).max(0.0))
    }

    /// Bytes for one that is left after deduplication and compression of chunks: by the place of the method in
    /// [`METHODS`], and whether as storage gives out space.
    pub fn reduction(&self, method: usize, stored: bool) -> Option<f64> {
        let kept = 2 * method + usize::from(stored);
        let share = self.distinct.shares?.get(kept).copied()?;
        let scanned = self.distinct.scanned_bytes as f64;
        let left = self.distinct.bytes.value.min(scanned) * share;
        (left > 0.0).then(|| scanned / left)
    }

    /// How blocks were counted.
    pub fn basis(&self) -> String {
        match self.distinct.one_in {
            1 => "all blocks counted".to_owned(),
            one_in => format!("one of {one_in} different blocks counted, by its hash"),
        }
    }

    fn measurements(&self, all: &Squeezed) -> Vec<Measurement> {
        let kib = self.block_bytes >> 10;
        let basis = self.basis();
        let mut list = Vec::new();
        if self.distinct.scanned > 0 {
            let detail =
                format!("blocks of {kib} KiB at multiples of it that were there before; {basis}");
            let share = self.share().rising(rounded);
            let name = format!("duplicates_{kib}k_share");
            list.push(measurement(&name, share, "share", detail));
            for (name, value, what) in [
                (
                    "scanned",
                    Estimate::exact(self.distinct.scanned as f64),
                    "looked at",
                ),
                (
                    "sampled",
                    Estimate::exact(self.distinct.sampled as f64),
                    "whose hashes were kept",
                ),
                ("deduped", self.deduped(), "that were there before"),
            ] {
                let name = format!("{name}_{kib}k_blocks");
                let detail = format!("blocks of {kib} KiB {what}; {basis}");
                list.push(measurement(&name, value, "blocks", detail));
            }
        }
        for kind in kinds()
            .iter()
            .filter(|kind| kind.block_bytes == CHUNK_BYTES)
        {
            let method = METHODS.iter().position(|method| *method == kind.method);
            let Some(value) = method.and_then(|method| self.reduction(method, kind.stored)) else {
                continue;
            };
            if all.share(&kind.name).is_none() {
                continue;
            }
            let name = format!("reduction_{kib}k_{}", kind.name);
            let detail = format!(
                "bytes for one that is left after duplicate blocks of {kib} KiB are gone: {}; {basis}",
                kind.detail()
            );
            list.push(Measurement::new(&name, rounded(value), "ratio", detail));
        }
        list
    }
}

const _: () = assert!(KEPT == 2 * METHODS.len());
