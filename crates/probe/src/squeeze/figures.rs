//! What was found out, as figures.

use results::measurement::Measurement;
use serde::Serialize;

use super::blocks::{Blocks, Shares};
use super::{BLOCK_BYTES, Source, Sums};

/// What was found out about some files.
#[derive(Debug, Clone, PartialEq)]
pub struct Squeezed {
    /// File by file.
    pub files: Vec<FileFigures>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of them that were compressed.
    pub compressed_bytes: u64,
    /// What compression leaves of each byte of all files; none if they are empty.
    pub shares: Option<Shares>,
    /// For each size of blocks; none if it was not looked for duplicates.
    pub duplicates: Vec<Duplicates>,
}

/// What was found out about a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileFigures {
    /// Its name.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// What the file system says that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<u64>,
    /// Bytes that were compressed.
    pub compressed_bytes: u64,
    /// Bytes for one that deflate leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deflate_ratio: Option<f64>,
    /// As storage gives out space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deflate_stored_ratio: Option<f64>,
    /// Bytes for one that LZ4 leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lz4_ratio: Option<f64>,
    /// As storage gives out space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lz4_stored_ratio: Option<f64>,
}

/// Blocks of one size that are there more than once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duplicates {
    /// Size of blocks.
    pub block_bytes: usize,
    /// Bytes of different blocks.
    pub distinct_bytes: f64,
    /// One in so many different blocks was kept; 1 = all.
    pub one_in: u64,
    /// What compression leaves of each byte of different blocks.
    pub shares: Option<Shares>,
}

/// Figures are printed to six digits behind the point; what threads add in another order differs far behind.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn ratio(share: f64) -> Option<f64> {
    (share > 0.0).then(|| rounded(1.0 / share))
}

impl Sums {
    fn shares(&self) -> Option<Shares> {
        let of = |left: u64| left as f64 / self.bytes as f64;
        (self.bytes > 0).then(|| Shares {
            deflate: of(self.deflate),
            deflate_stored: of(self.deflate_stored),
            lz4: of(self.lz4),
            lz4_stored: of(self.lz4_stored),
        })
    }
}

impl FileFigures {
    fn new(source: &Source<'_>, sums: &Sums) -> Self {
        let shares = sums.shares();
        let of = |share: fn(&Shares) -> f64| shares.as_ref().and_then(|all| ratio(share(all)));
        Self {
            file: source.name.clone(),
            bytes: source.bytes,
            allocated_bytes: source.allocated_bytes,
            compressed_bytes: sums.bytes,
            deflate_ratio: of(|shares| shares.deflate),
            deflate_stored_ratio: of(|shares| shares.deflate_stored),
            lz4_ratio: of(|shares| shares.lz4),
            lz4_stored_ratio: of(|shares| shares.lz4_stored),
        }
    }
}

impl Squeezed {
    pub(super) fn new(sources: &[Source<'_>], sums: &[Sums], blocks: &[Blocks]) -> Self {
        let bytes = sources.iter().map(|source| source.bytes).sum();
        let mut shares = Shares::default();
        for (source, sums) in sources.iter().zip(sums) {
            if let Some(own) = sums.shares() {
                shares.add(own, source.bytes as f64);
            }
        }
        let duplicates = BLOCK_BYTES.iter().zip(blocks).map(|(size, blocks)| {
            let distinct = blocks.distinct();
            Duplicates {
                block_bytes: *size,
                distinct_bytes: distinct.bytes.min(bytes as f64),
                one_in: distinct.one_in,
                shares: distinct.shares,
            }
        });
        Self {
            files: sources
                .iter()
                .zip(sums)
                .map(|(source, sums)| FileFigures::new(source, sums))
                .collect(),
            bytes,
            compressed_bytes: sums.iter().map(|sums| sums.bytes).sum(),
            shares: (bytes > 0).then(|| shares.divided(bytes as f64)),
            duplicates: duplicates.collect(),
        }
    }

    /// Where figures of compression come from.
    pub fn basis(&self) -> String {
        if self.compressed_bytes == self.bytes {
            return "all bytes".to_owned();
        }
        let percent = 100.0 * self.compressed_bytes as f64 / self.bytes.max(1) as f64;
        format!(
            "a sample of {} of {} bytes ({percent:.2} %), spread evenly over each file",
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
        let basis = self.basis();
        for (name, share, what) in KINDS {
            let value = self.shares.as_ref().and_then(|all| ratio(share(all)));
            let detail = format!("bytes for one that is left: {what}; {basis}");
            list.extend(value.map(|value| Measurement::new(name, value, "ratio", detail)));
        }
        for duplicates in &self.duplicates {
            list.extend(duplicates.measurements(self.bytes));
        }
        list
    }
}

/// Name, figure and explanation of a kind of compression.
type Kind = (&'static str, fn(&Shares) -> f64, &'static str);

const KINDS: [Kind; 4] = [
    (
        "deflate_ratio",
        |shares| shares.deflate,
        "deflate, level 6, of chunks of 128 KiB",
    ),
    (
        "deflate_stored_ratio",
        |shares| shares.deflate_stored,
        "deflate, each chunk of 128 KiB in units of 8 KiB and no less than an eighth",
    ),
    ("lz4_ratio", |shares| shares.lz4, "LZ4 of chunks of 128 KiB"),
    (
        "lz4_stored_ratio",
        |shares| shares.lz4_stored,
        "LZ4, each chunk of 128 KiB in units of 8 KiB and no less than an eighth",
    ),
];

impl Duplicates {
    /// Bytes of blocks beyond the first of each, as a share of all bytes.
    pub fn share(&self, bytes: u64) -> f64 {
        (1.0 - self.distinct_bytes / bytes.max(1) as f64).max(0.0)
    }

    /// Bytes for one that is left after deduplication and a kind of compression.
    pub fn reduction(&self, bytes: u64, kind: fn(&Shares) -> f64) -> Option<f64> {
        let left = self.distinct_bytes * kind(self.shares.as_ref()?);
        (left > 0.0).then(|| bytes as f64 / left)
    }

    fn measurements(&self, bytes: u64) -> Vec<Measurement> {
        let kib = self.block_bytes >> 10;
        let basis = match self.one_in {
            1 => "all blocks counted".to_owned(),
            one_in => format!("one of {one_in} different blocks counted, by its hash"),
        };
        let mut list = Vec::new();
        if bytes > 0 {
            let detail =
                format!("blocks of {kib} KiB at multiples of it that were there before; {basis}");
            let (name, value) = (
                format!("duplicates_{kib}k_share"),
                rounded(self.share(bytes)),
            );
            list.push(Measurement::new(&name, value, "share", detail));
        }
        for (name, kind, what) in KINDS {
            let name = format!("reduction_{kib}k_{name}");
            let Some(value) = self.reduction(bytes, kind) else {
                continue;
            };
            let detail = format!(
                "bytes for one that is left after duplicate blocks of {kib} KiB are gone: {what}; {basis}"
            );
            list.push(Measurement::new(&name, rounded(value), "ratio", detail));
        }
        list
    }
}
