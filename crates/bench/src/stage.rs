//! Putting a suite's input data in place: in parallel, resumable, each file known by recipe, seed,
//! rows and the hash of its rows.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use base::rowhash::RowHash;
use base::units::Bytes;
use recipe::{Generator, Recipe};
use sas7bdat::{Compression, WriteOptions, Writer};
use serde::{Deserialize, Serialize};

use crate::marker::{self, Holds, InUse};
use crate::plan::{Plan, PlannedDataset};

/// What is staged, beside the data.
const MANIFEST: &str = "stage.json";

/// Time stamp of generated files: 2020-01-01 00:00, a SAS datetime value. Bytes of a seed may not
/// depend on the clock.
const CREATED: f64 = 1_893_456_000.0;

/// A staged file as the manifest remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staged {
    /// Recipe name.
    pub recipe: String,
    /// XXH3 of the recipe's text, hexadecimal.
    pub recipe_hash: String,
    /// Seed.
    pub seed: u64,
    /// Rows.
    pub rows: u64,
    /// Sum of the rows' hashes, hexadecimal.
    pub row_hash: String,
    /// Page size, bytes.
    pub page_bytes: u64,
    /// Header as large as a page.
    pub aligned: bool,
    /// Length of the file, bytes.
    pub file_bytes: u64,
}

impl Staged {
    /// The hash and number of rows.
    pub fn rows(&self) -> RowHash {
        let sum = u64::from_str_radix(&self.row_hash, 16).unwrap_or_default();
        RowHash {
            sum,
            rows: self.rows,
        }
    }
}

/// A folder of staged data.
#[derive(Debug)]
pub struct Stage {
    directory: PathBuf,
    _in_use: InUse,
    manifest: Mutex<BTreeMap<String, Staged>>,
}

/// What staging did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Files that were in place already.
    pub kept: usize,
    /// Files made.
    pub made: usize,
    /// Bytes of the files made.
    pub bytes: Bytes,
}

impl Stage {
    /// Opens (or makes and marks) the folder.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let in_use = marker::make(directory, Holds::Data)?;
        let manifest = match fs::read(directory.join(MANIFEST)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                let path = directory.join(MANIFEST);
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!(
                        "{}: {error}; remove the folder with `gristmill clean`",
                        path.display()
                    ),
                )
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        Ok(Self {
            directory: directory.to_owned(),
            _in_use: in_use,
            manifest: Mutex::new(manifest),
        })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file of a data set.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.sas7bdat"))
    }

    /// What is known of a staged data set.
    pub fn staged(&self, name: &str) -> Option<Staged> {
        self.lock().get(name).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Staged>> {
        self.manifest
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// True if the file that the plan wants is there, as far as its length and record tell.
    fn is_in_place(&self, plan: &Plan, dataset: &PlannedDataset) -> bool {
        let Some(known) = self.staged(&dataset.name) else {
            return false;
        };
        let (page_bytes, aligned) = shape(plan);
        let length = fs::metadata(self.path(&dataset.name)).map(|found| found.len());
        known.recipe_hash == recipe_hash(&dataset.recipe.1)
            && (known.seed, known.rows) == (dataset.seed, dataset.rows)
            && (known.page_bytes, known.aligned) == (page_bytes, aligned)
            && length.is_ok_and(|length| length == known.file_bytes)
    }

    /// Stages what is missing with `threads` threads. `progress` is counted up by bytes of rows
    /// made; `stop` ends it early with [`io::ErrorKind::Interrupted`].
    pub fn fill(
        &self,
        plan: &Plan,
        threads: usize,
        progress: &AtomicU64,
        stop: &AtomicBool,
    ) -> io::Result<Done> {
        let missing: Vec<&PlannedDataset> = plan
            .datasets
            .iter()
            .filter(|set| !self.is_in_place(plan, set))
            .collect();
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<io::Error>> = Mutex::new(None);
        std::thread::scope(|scope| {
            for _ in 0..threads.clamp(1, missing.len().max(1)) {
                scope.spawn(|| {
                    while let Some(dataset) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if let Err(error) = self.make(plan, dataset, progress, stop) {
                            stop_others(&failed, error);
                            next.store(missing.len(), Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        if let Some(error) = failed
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
        {
            return Err(error);
        }
        let bytes = missing.iter().map(|set| set.bytes().0).sum();
        let made = missing.len();
        Ok(Done {
            kept: plan.datasets.len() - made,
            made,
            bytes: Bytes(bytes),
        })
    }

    /// Makes one file beside its place and renames it.
    fn make(
        &self,
        plan: &Plan,
        dataset: &PlannedDataset,
        progress: &AtomicU64,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        let path = self.path(&dataset.name);
        let beside = self
            .directory
            .join(format!("{}.sas7bdat.lck", dataset.name));
        let made = write(plan, dataset, &beside, progress, stop)
            .and_then(|staged| fs::rename(&beside, &path).map(|()| staged));
        match made {
            Ok(staged) => self.remember(&dataset.name, staged),
            Err(error) => {
                // What was left behind is of no use; the first error is what counts.
                let _ = fs::remove_file(&beside);
                let message = format!("failed to stage {}: {error}", path.display());
                Err(io::Error::new(error.kind(), message))
            }
        }
    }

    fn remember(&self, name: &str, staged: Staged) -> io::Result<()> {
        let mut manifest = self.lock();
        manifest.insert(name.to_owned(), staged);
        let bytes = serde_json::to_vec_pretty(&*manifest).map_err(io::Error::other)?;
        let beside = self.directory.join("stage.json.new");
        fs::write(&beside, bytes)?;
        fs::rename(beside, self.directory.join(MANIFEST))
    }
}

fn stop_others(failed: &Mutex<Option<io::Error>>, error: io::Error) {
    let mut failed = failed
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    failed.get_or_insert(error);
}

fn recipe_hash(text: &str) -> String {
    let mut hash = RowHash::default();
    hash.add(text.as_bytes());
    format!("{:016x}", hash.sum)
}

/// Page size and alignment that the plan's options ask for.
fn shape(plan: &Plan) -> (u64, bool) {
    let bufsize = plan
        .options
        .get("BUFSIZE")
        .and_then(|text| base::units::parse_size(text));
    let aligned = !plan.options.contains_key("NOALIGNSASIOFILES");
    (bufsize.map_or(65_536, |size| size.0), aligned)
}

fn write(
    plan: &Plan,
    dataset: &PlannedDataset,
    path: &Path,
    progress: &AtomicU64,
    stop: &AtomicBool,
) -> io::Result<Staged> {
    let (recipe_name, text) = &dataset.recipe;
    let recipe = Recipe::parse(recipe_name, text).map_err(io::Error::other)?;
    let generator = Generator::new(&recipe, dataset.seed);
    let (page_bytes, aligned) = shape(plan);
    let options = WriteOptions {
        name: dataset.name.to_ascii_uppercase(),
        page_bytes: u32::try_from(page_bytes).map_err(io::Error::other)?,
        aligned_header: aligned,
        compression: Compression::None,
        created: CREATED,
        page_mask: u32::try_from(dataset.seed & 0xFFFF_FFFF).map_err(io::Error::other)?,
        ..WriteOptions::default()
    };
    let sink = FileSink(File::create(path)?);
    let mut writer =
        Writer::create(sink, generator.variables(), options).map_err(io::Error::other)?;
    let mut hash = RowHash::default();
    let whole = recipe::write_rows(
        &generator,
        dataset.rows,
        &mut writer,
        Some(&mut hash),
        |bytes| {
            progress.fetch_add(bytes, Ordering::Relaxed);
            !stop.load(Ordering::Relaxed)
        },
    )
    .map_err(plain)?;
    if !whole {
        return Err(io::Error::from(io::ErrorKind::Interrupted));
    }
    let (FileSink(file), written) = writer.finish().map_err(plain)?;
    file.sync_all()?;
    Ok(Staged {
        recipe: recipe_name.clone(),
        recipe_hash: recipe_hash(text),
        seed: dataset.seed,
        rows: dataset.rows,
        row_hash: format!("{:016x}", hash.sum),
        page_bytes,
        aligned,
        file_bytes: written.bytes,
    })
}

/// The operating system's error inside the codec's, so that a full disk stays recognisable.
fn plain(error: sas7bdat::Error) -> io::Error {
    match error {
        sas7bdat::Error::Io { source, .. } => source,
        other => io::Error::other(other),
    }
}

struct FileSink(File);

impl sas7bdat::Sink for FileSink {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }
}
