//! Sizes of a suite's data sets beside the published ones: uncompressed, with COMPRESS=BINARY, and that on an
//! array that compresses by hardware.
//!
//! Data sets are made in memory, of as many rows as give some megabytes of compressed pages. What does not
//! grow with the rows (header and descriptions) is measured apart, and the rest is multiplied up to the rows
//! at scale 1.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use probe::squeeze::{Effort, Options, Source, squeeze};
use recipe::{Generator, Recipe};
use sas7bdat::Sink;
use serde::Serialize;

use super::expand::{Choice, datasets, rounded};
use super::text::{Dataset, Format};
use super::validate::parameters;
use super::{Suite, Wrong};
use crate::plan::PlannedDataset;
use crate::stage::{Compressed, shape, write_data_set};

/// Compressed bytes that a sample has, unless the data set is smaller: 256 pages, so that a page more or less
/// is little.
const SAMPLE_BYTES: u64 = 32 << 20;
/// Bytes of rows that are compressed first, to find out how many rows that takes.
const PILOT_BYTES: u64 = 4 << 20;
/// How far the ratio and the array's figure may be off, where a suite does not say.
const WITHIN: [f64; 2] = [0.05, 0.2];

/// A data set beside its published sizes. Sizes are those at scale 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Size {
    /// Its name.
    pub name: String,
    /// Rows at scale 1.
    pub rows: u64,
    /// Rows that were made.
    pub measured_rows: u64,
    /// Bytes that do not grow with the rows: header and descriptions.
    pub fixed_bytes: u64,
    /// Bytes uncompressed.
    pub plain_bytes: u64,
    /// Bytes with COMPRESS=BINARY.
    pub binary_bytes: u64,
    /// What deflate leaves of these: chunks of 128 KiB in units of 8 KiB, no less than an eighth.
    pub stored_bytes: u64,
    /// Published: uncompressed, COMPRESS=BINARY, that on an array that compresses.
    pub published_bytes: [u64; 3],
    /// How far the ratio and the array's figure may be off.
    pub within: [f64; 2],
}

impl Size {
    /// Size with COMPRESS=BINARY for one uncompressed.
    pub fn ratio(&self) -> f64 {
        self.binary_bytes as f64 / self.plain_bytes as f64
    }

    /// The same, published.
    pub fn published_ratio(&self) -> f64 {
        self.published_bytes[1] as f64 / self.published_bytes[0] as f64
    }

    /// How far the ratio and the array's figure are off the published ones; 0.1 is a tenth too large.
    pub fn off(&self) -> [f64; 2] {
        [
            self.ratio() / self.published_ratio() - 1.0,
            self.stored_bytes as f64 / self.published_bytes[2] as f64 - 1.0,
        ]
    }

    /// Whether both are near enough.
    pub fn holds(&self) -> bool {
        let each = self.off().into_iter().zip(self.within);
        each.into_iter().all(|(off, within)| off.abs() <= within)
    }
}

/// Measures every data set of a suite that has published sizes. `scale`: of so many of the rows, instead of a
/// sample.
pub fn measure(suite: &Suite, scale: Option<f64>, threads: usize) -> io::Result<Vec<Size>> {
    let sets = published_sets(suite);
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, io::Result<Size>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(set) = sets.get(place) else { break };
                    let size = one(suite, set, scale);
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.push((place, size));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, size)| size).collect()
}

/// The data sets with published sizes at scale 1, by name.
fn published_sets(suite: &Suite) -> Vec<PlannedDataset> {
    let choice = Choice {
        scale: 1.0,
        time_scale: 1.0,
        parameters: parameters(&suite.text, 1, false),
        memory: base::units::Bytes::gib(1),
        seed: 1,
        mix: BTreeMap::new(),
        variant: None,
    };
    let expanded = datasets(suite, &choice);
    let mut sets: Vec<PlannedDataset> = expanded.datasets;
    sets.extend(expanded.unread);
    sets.retain(|set| suite.text.datasets[set.entry].published.is_some());
    sets.sort_by(|left, right| left.name.cmp(&right.name));
    sets
}

/// A data set in memory.
#[derive(Default)]
struct Kept(Vec<u8>);

impl Sink for Kept {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let end = start + bytes.len();
        if self.0.len() < end {
            self.0.resize(end, 0);
        }
        self.0[start..end].copy_from_slice(bytes);
        Ok(())
    }
}

/// A data set of which nothing but the length is wanted.
struct Dropped;

impl Sink for Dropped {
    fn write_at(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// Lengths of a data set of some rows.
#[derive(Clone, Copy)]
struct Lengths {
    plain: u64,
    binary: u64,
    stored: u64,
}

fn one(suite: &Suite, set: &PlannedDataset, scale: Option<f64>) -> io::Result<Size> {
    let entry = &suite.text.datasets[set.entry];
    let recipe = Recipe::parse(&set.recipe.0, &set.recipe.1).map_err(io::Error::other)?;
    let generator = Generator::new(&recipe, set.seed);
    let made = |rows: u64| lengths(suite, &generator, &of_rows(set, rows));
    let measured_rows = match scale {
        _ if set.fixed => set.rows,
        Some(scale) => rounded(set.rows as f64 * scale).clamp(1, set.rows),
        None => {
            let pilot = (PILOT_BYTES / set.row_bytes).clamp(1, set.rows);
            let bytes = made(pilot)?.binary.saturating_sub(made(0)?.binary).max(1);
            let rows = SAMPLE_BYTES as f64 / bytes as f64 * pilot as f64;
            rounded(rows).clamp(pilot, set.rows)
        }
    };
    let (none, some) = (made(0)?, made(measured_rows)?);
    let whole = |of: fn(&Lengths) -> u64| {
        let (fixed, measured) = (of(&none) as f64, of(&some) as f64);
        let grown = (measured - fixed) * (set.rows as f64 / measured_rows as f64);
        rounded(fixed + grown)
    };
    Ok(Size {
        name: set.name.clone(),
        rows: set.rows,
        measured_rows,
        fixed_bytes: none.plain,
        plain_bytes: whole(|lengths| lengths.plain),
        binary_bytes: whole(|lengths| lengths.binary),
        stored_bytes: whole(|lengths| lengths.stored),
        published_bytes: published(entry).map_err(|wrong| io::Error::other(wrong.message))?,
        within: entry.published_within.unwrap_or(WITHIN),
    })
}

fn of_rows(set: &PlannedDataset, rows: u64) -> PlannedDataset {
    PlannedDataset {
        rows,
        ..set.clone()
    }
}

fn lengths(suite: &Suite, generator: &Generator, set: &PlannedDataset) -> io::Result<Lengths> {
    let options = &suite.text.options;
    let option = |name: &str| options.iter().find(|(known, _)| known.get_ref() == name);
    let bufsize = option("BUFSIZE").map(|(_, value)| value.as_str());
    let aligned = option("NOALIGNSASIOFILES").is_none();
    let shape = |compression| shape(set, bufsize, aligned, compression);
    let plain = write_data_set(set, generator, shape(Compressed::No), Dropped, |_| true)?;
    let kept = Kept::default();
    let binary = write_data_set(set, generator, shape(Compressed::Binary), kept, |_| true)?;
    let content = binary.sink.0;
    let source = Source {
        name: set.name.clone(),
        bytes: content.len() as u64,
        allocated_bytes: None,
        is_data_set: false,
        content: &content,
    };
    let options = Options {
        effort: Effort::Array,
        duplicates: false,
        ..Options::WHOLE
    };
    let squeezed = squeeze(&[source], &options, &|_| {});
    let share = squeezed.share("deflate_stored_ratio");
    let share = share.map_or(1.0, |share| share.value);
    Ok(Lengths {
        plain: plain.bytes,
        binary: binary.bytes,
        stored: rounded(binary.bytes as f64 * share),
    })
}

/// What files shrink to under these options, as a part of their rows; published sizes tell. Files without them are
/// taken to keep theirs.
pub(crate) fn compressed_to(suite: &Suite, compressed: Compressed, sets: &[PlannedDataset]) -> f64 {
    if compressed == Compressed::No {
        return 1.0;
    }
    let (mut rows, mut stored) = (0.0, 0.0);
    for set in sets {
        let bytes = set.bytes().0 as f64;
        let ratio = match published(&suite.text.datasets[set.entry]) {
            Ok([plain, compressed, _]) if plain > 0 && set.format == Format::Sas7bdat => {
                compressed as f64 / plain as f64
            }
            _ => 1.0,
        };
        rows += bytes;
        stored += bytes * ratio;
    }
    if rows > 0.0 { stored / rows } else { 1.0 }
}

/// The published sizes in bytes; zeros where there are none.
pub(super) fn published(entry: &Dataset) -> Result<[u64; 3], Wrong> {
    let mut bytes = [0; 3];
    for (text, bytes) in entry.published.iter().flatten().zip(&mut bytes) {
        *bytes = size(text.get_ref()).ok_or_else(|| {
            let message = format!(
                "{:?} is not a size; write 544K, 4.6M or 22G",
                text.get_ref()
            );
            Wrong::new(text.span(), message)
        })?;
    }
    Ok(bytes)
}

/// A size as it is printed, `4.6M`: binary multiples, which need not be whole bytes.
fn size(text: &str) -> Option<u64> {
    let unit = text.chars().last()?;
    let shift = ["K", "M", "G", "T"]
        .iter()
        .position(|known| unit.to_string() == *known)?;
    let number: f64 = text[..text.len() - 1].parse().ok()?;
    let bytes = number * 1024f64.powi(i32::try_from(shift).ok()? + 1);
    (1.0..1e18).contains(&bytes).then(|| rounded(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::builtin;

    #[test]
    fn sizes_are_read_as_the_paper_prints_them() {
        assert_eq!(size("544K"), Some(544 << 10));
        assert_eq!(size("4.6M"), Some(4_823_450));
        assert_eq!(size("185G"), Some(185 << 30));
        for text in ["", "G", "22", "-1G", "x G", "inf G", "1e30G"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    /// The fixed part must not grow with the rows.
    #[test]
    fn what_does_not_grow_is_not_multiplied() {
        let suite = builtin("multiuser").unwrap();
        let sets = published_sets(&suite);
        assert_eq!(sets.len(), 28);
        let wide = sets.iter().find(|set| set.name == "ranrw_wide_1").unwrap();
        let wide = one(&suite, wide, Some(0.0002)).unwrap();
        assert_eq!((wide.rows, wide.measured_rows), (5_000_000, 1000));
        // Header and descriptions of 1,360 variables.
        assert!(wide.fixed_bytes >= 2 * 131_072, "{wide:?}");
        // 12 rows of 10,880 bytes fit a page.
        let rows = wide.plain_bytes - wide.fixed_bytes;
        let pages = rows as f64 / 131_072.0 / (5_000_000.0 / 12.0);
        assert!((pages - 1.0).abs() < 0.02, "{pages}");
        // A file whose size does not fit is told.
        let off = Size {
            stored_bytes: wide.stored_bytes * 2,
            ..wide
        };
        assert!(!off.holds());
    }
}
