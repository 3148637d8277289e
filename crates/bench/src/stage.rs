//! Putting a suite's input data in place: in parallel, resumable, each file known by recipe, seed,
//! rows and the hash of its rows.

pub(crate) mod csv;
mod index_file;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use base::rowhash::RowHash;
use base::units::Bytes;
use recipe::{Generator, Recipe};
use results::run::{FileSize, RunPlan};
use sas7bdat::{Compression, Sink, WriteOptions, Writer};
use serde::{Deserialize, Serialize};

use crate::marker::{self, Holds, InUse};
use crate::plan::{Plan, PlannedDataset};
use crate::suite::expand::rounded;
use crate::suite::text::Format;

pub use index_file::IndexFile;

/// What is staged for a batch, beside the data. Each batch has one of its own, so that nodes may stage at the
/// same time.
fn manifest_name(lane: u32) -> String {
    match lane {
        0 | 1 => "stage.json".to_owned(),
        later => format!("stage-{later}.json"),
    }
}

/// Bytes of a block in `st_blocks`.
const BLOCK_BYTES: u64 = 512;

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
    /// COMPRESS=.
    #[serde(default)]
    pub compression: Compressed,
    /// Simple indexes.
    #[serde(default)]
    pub indexes: Vec<String>,
    /// Length of the file, bytes.
    pub file_bytes: u64,
    /// The file of the indexes; absent without indexes, and of data that an earlier version staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_file: Option<IndexFile>,
}

/// How rows of a staged data set are compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compressed {
    /// Not at all.
    #[default]
    No,
    /// COMPRESS=CHAR.
    Char,
    /// COMPRESS=BINARY.
    Binary,
}

/// Makes the simple indexes of a data set in a folder: `(folder, data set, indexes)`.
pub type MakeIndexes<'a> = dyn Fn(&Path, &str, &[String]) -> io::Result<()> + Sync + 'a;

/// What the shape of staged files depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) page_bytes: u64,
    pub(crate) aligned: bool,
    pub(crate) compression: Compressed,
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
    /// Absent where the node that leads a run on several holds it.
    _in_use: Option<InUse>,
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
        Ok(Self {
            _in_use: Some(in_use),
            ..Self::join(directory)?
        })
    }

    /// Opens a folder that another node of the same run has in use.
    pub fn join(directory: &Path) -> io::Result<Self> {
        let mut manifest = BTreeMap::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let rest = name.strip_prefix("stage");
            let is_manifest = rest.is_some_and(|rest| rest.strip_suffix(".json").is_some());
            if is_manifest {
                let known = read_manifest(&entry.path())?;
                // Those of other batches are from versions that had one manifest.
                let own = known.into_iter();
                manifest.extend(own.filter(|(key, _)| manifest_name(lane_of(key)) == name));
            }
        }
        Ok(Self {
            directory: directory.to_owned(),
            _in_use: None,
            manifest: Mutex::new(manifest),
        })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the data of a batch are: each of those side by side has all of its own.
    pub fn of_lane(&self, lane: u32) -> PathBuf {
        self.directory.join(folder(lane))
    }

    /// The file of staged data.
    pub fn path(&self, dataset: &PlannedDataset) -> PathBuf {
        self.directory.join(inside(dataset, dataset.lane))
    }

    /// The file of its indexes.
    pub fn index_path(&self, dataset: &PlannedDataset) -> PathBuf {
        self.path(dataset).with_extension("sas7bndx")
    }

    /// What is known of a staged data set of a batch.
    pub fn staged(&self, lane: u32, name: &str) -> Option<Staged> {
        self.lock().get(&key(lane, name)).cloned()
    }

    /// Sizes of what is staged, as far as they are known without looking into the files.
    pub fn sizes(&self, plan: &Plan) -> io::Result<Vec<FileSize>> {
        let each = plan.datasets.iter().filter_map(|dataset| {
            let staged = self.staged(dataset.lane, &dataset.name)?;
            Some((dataset, staged))
        });
        each.map(|(dataset, staged)| {
            let of = |compression| (staged.compression == compression).then_some(staged.file_bytes);
            let file = fs::metadata(self.path(dataset))?;
            Ok(FileSize {
                name: key(dataset.lane, &dataset.name),
                plain_bytes: of(Compressed::No),
                binary_bytes: of(Compressed::Binary),
                allocated_bytes: Some(file.blocks() * BLOCK_BYTES),
                hardware_bytes: None,
            })
        })
        .collect()
    }

    /// The record of a run with the sizes of its files: compression decides them, and whether caches can hold them.
    pub(crate) fn in_record(&self, plan: &Plan, record: RunPlan) -> io::Result<RunPlan> {
        // Other nodes may have batches of their own, which are like those that are seen here.
        let (mut rows, mut files) = (0, 0);
        for dataset in &plan.datasets {
            if let Some(staged) = self.staged(dataset.lane, &dataset.name) {
                rows += dataset.bytes().0;
                files += staged.file_bytes;
            }
        }
        let sizes = self.sizes(plan)?;
        if rows == 0 {
            return Ok(RunPlan { sizes, ..record });
        }
        let staged = rounded(plan.input_bytes().0 as f64 * (files as f64 / rows as f64));
        Ok(RunPlan {
            sizes,
            staged_bytes: Some(staged),
            qualifying: staged >= 3 * record.memory_bytes,
            ..record
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Staged>> {
        self.manifest
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// True if the file that the plan wants is there, as far as its length and record tell.
    fn is_in_place(&self, plan: &Plan, dataset: &PlannedDataset) -> bool {
        let Some(known) = self.staged(dataset.lane, &dataset.name) else {
            return false;
        };
        let shape = Shape {
            page_bytes: known.page_bytes,
            aligned: known.aligned,
            compression: known.compression,
        };
        let length = |path: PathBuf| fs::metadata(path).ok().map(|found| found.len());
        let indexes = known.index_file.as_ref();
        let index_bytes = length(self.index_path(dataset)).filter(|_| !dataset.indexes.is_empty());
        known.recipe_hash == recipe_hash(&dataset.recipe.1)
            && (known.seed, known.rows) == (dataset.seed, dataset.rows)
            && (known.indexes == dataset.indexes && shape == shape_of(plan, dataset))
            && length(self.path(dataset)) == Some(known.file_bytes)
            && index_bytes == indexes.map(|file| file.bytes)
            && indexes.is_some() != dataset.indexes.is_empty()
    }

    /// Stages what is missing with `threads` threads. `progress` is counted up by bytes of rows
    /// made; `stop` ends it early with [`io::ErrorKind::Interrupted`].
    pub fn fill(
        &self,
        plan: &Plan,
        threads: usize,
        make_indexes: &MakeIndexes<'_>,
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
                        let made = self.make(plan, dataset, make_indexes, progress, stop);
                        if let Err(error) = made {
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
        make_indexes: &MakeIndexes<'_>,
        progress: &AtomicU64,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        let path = self.path(dataset);
        let folder = self.of_lane(dataset.lane);
        let beside = folder.join(format!("{}.lck", file_name(dataset)));
        let key = key(dataset.lane, &dataset.name);
        self.forget(&key)?;
        fs::create_dir_all(&folder)?;
        let made = write(plan, dataset, &beside, progress, stop)
            .and_then(|staged| fs::rename(&beside, &path).map(|()| staged))
            .and_then(|staged| self.index(dataset, make_indexes, staged));
        match made {
            Ok(staged) => self.remember(&key, staged),
            Err(error) => {
                // What was left behind is of no use; the first error is what counts.
                let _ = fs::remove_file(&beside);
                let message = format!("failed to stage {}: {error}", path.display());
                Err(io::Error::new(error.kind(), message))
            }
        }
    }

    /// Makes the indexes, which are described in the data set and so change it.
    fn index(
        &self,
        dataset: &PlannedDataset,
        make_indexes: &MakeIndexes<'_>,
        staged: Staged,
    ) -> io::Result<Staged> {
        // That of a data set which was here before says nothing of this one.
        let folder = self.of_lane(dataset.lane);
        let _ = fs::remove_file(self.index_path(dataset));
        if dataset.indexes.is_empty() {
            return Ok(staged);
        }
        make_indexes(&folder, &dataset.name, &dataset.indexes)?;
        Ok(Staged {
            indexes: dataset.indexes.clone(),
            file_bytes: fs::metadata(self.path(dataset))?.len(),
            index_file: Some(IndexFile::of(&self.index_path(dataset))?),
            ..staged
        })
    }

    /// The data set was found damaged: the next run stages it anew.
    pub(crate) fn condemn(&self, dataset: &PlannedDataset) -> io::Result<()> {
        self.forget(&key(dataset.lane, &dataset.name))
    }

    /// What is about to be made anew is not known until it is whole.
    fn forget(&self, key: &str) -> io::Result<()> {
        let mut manifest = self.lock();
        if manifest.remove(key).is_none() {
            return Ok(());
        }
        self.write_manifest(&manifest, lane_of(key))
    }

    fn remember(&self, key: &str, staged: Staged) -> io::Result<()> {
        let mut manifest = self.lock();
        manifest.insert(key.to_owned(), staged);
        self.write_manifest(&manifest, lane_of(key))
    }

    fn write_manifest(&self, manifest: &BTreeMap<String, Staged>, lane: u32) -> io::Result<()> {
        let of_lane = manifest.iter().filter(|(key, _)| lane_of(key) == lane);
        let of_lane: BTreeMap<_, _> = of_lane.collect();
        let bytes = serde_json::to_vec_pretty(&of_lane).map_err(io::Error::other)?;
        let path = self.directory.join(manifest_name(lane));
        let beside = path.with_extension("json.new");
        fs::write(&beside, bytes)?;
        fs::rename(beside, path)
    }
}

fn read_manifest(path: &Path) -> io::Result<BTreeMap<String, Staged>> {
    serde_json::from_slice(&fs::read(path)?).map_err(|error| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "{}: {error}; remove the folder with `gristmill clean`",
                path.display()
            ),
        )
    })
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

/// The manifest's name of a data set.
fn key(lane: u32, name: &str) -> String {
    match lane {
        0 | 1 => name.to_owned(),
        later => format!("lane{later}/{name}"),
    }
}

/// The batch of a key.
fn lane_of(key: &str) -> u32 {
    let lane = key
        .strip_prefix("lane")
        .and_then(|rest| rest.split_once('/'));
    lane.and_then(|(lane, _)| lane.parse().ok()).unwrap_or(1)
}

/// The folder of a batch within the stage.
fn folder(lane: u32) -> PathBuf {
    match lane {
        0 | 1 => PathBuf::new(),
        later => PathBuf::from(format!("lane{later}")),
    }
}

/// The file of a data set of a batch within the stage.
pub(crate) fn inside(dataset: &PlannedDataset, lane: u32) -> PathBuf {
    folder(lane).join(file_name(dataset))
}

fn file_name(dataset: &PlannedDataset) -> String {
    match dataset.format {
        Format::Sas7bdat => format!("{}.sas7bdat", dataset.name),
        Format::Csv => format!("{}.csv", dataset.name),
    }
}

/// Page size, alignment and compression that the plan's options ask for. Data are staged compressed
/// only for a variant of the suite: an option of a run is about what its jobs write.
fn shape_of(plan: &Plan, dataset: &PlannedDataset) -> Shape {
    let option = |name: &str| plan.options.get(name).map(String::as_str);
    let compression = compressed(plan.variant.as_deref(), &plan.options);
    let aligned = !plan.options.contains_key("NOALIGNSASIOFILES");
    shape(dataset, option("BUFSIZE"), aligned, compression)
}

/// What a variant's options make of staged data sets.
pub(crate) fn compressed(variant: Option<&str>, options: &BTreeMap<String, String>) -> Compressed {
    let compress = options.get("COMPRESS").filter(|_| variant.is_some());
    match compress.map(|value| value.to_ascii_uppercase()).as_deref() {
        Some("BINARY") => Compressed::Binary,
        Some("CHAR" | "YES" | "ON") => Compressed::Char,
        _ => Compressed::No,
    }
}

/// The shape of a data set with these options.
pub(crate) fn shape(
    dataset: &PlannedDataset,
    bufsize: Option<&str>,
    aligned: bool,
    compression: Compressed,
) -> Shape {
    let bufsize = bufsize.and_then(base::units::parse_size);
    Shape {
        page_bytes: dataset.bufsize.or(bufsize).map_or(65_536, |size| size.0),
        aligned,
        compression,
    }
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
    let shape = shape_of(plan, dataset);
    let file = File::create(path)?;
    let on_progress = |bytes: u64| {
        progress.fetch_add(bytes, Ordering::Relaxed);
        !stop.load(Ordering::Relaxed)
    };
    let (hash, file_bytes) = match dataset.format {
        Format::Sas7bdat => {
            let written = write_data_set(dataset, &generator, shape, FileSink(file), on_progress)?;
            written.sink.0.sync_all()?;
            (written.hash, written.bytes)
        }
        Format::Csv => csv::write(&generator, dataset.rows, file, on_progress)?,
    };
    Ok(Staged {
        recipe: recipe_name.clone(),
        recipe_hash: recipe_hash(text),
        seed: dataset.seed,
        rows: dataset.rows,
        row_hash: format!("{:016x}", hash.sum),
        page_bytes: shape.page_bytes,
        aligned: shape.aligned,
        compression: shape.compression,
        indexes: Vec::new(),
        file_bytes,
        index_file: None,
    })
}

/// A data set that was written.
pub(crate) struct WrittenSet<K> {
    /// Where it was written to.
    pub(crate) sink: K,
    /// The hash of its rows.
    hash: RowHash,
    /// Its length.
    pub(crate) bytes: u64,
}

/// Writes the rows of a data set.
pub(crate) fn write_data_set<K: Sink>(
    dataset: &PlannedDataset,
    generator: &Generator,
    shape: Shape,
    sink: K,
    on_progress: impl FnMut(u64) -> bool,
) -> io::Result<WrittenSet<K>> {
    let options = WriteOptions {
        name: dataset.name.to_ascii_uppercase(),
        page_bytes: u32::try_from(shape.page_bytes).map_err(io::Error::other)?,
        aligned_header: shape.aligned,
        compression: match shape.compression {
            Compressed::No => Compression::None,
            Compressed::Char => Compression::Char,
            Compressed::Binary => Compression::Binary,
        },
        created: CREATED,
        page_mask: u32::try_from(dataset.seed & 0xFFFF_FFFF).map_err(io::Error::other)?,
        ..WriteOptions::default()
    };
    let mut writer =
        Writer::create(sink, generator.variables(), options).map_err(io::Error::other)?;
    let mut hash = RowHash::default();
    let rows = dataset.rows;
    let whole = recipe::write_rows(generator, rows, &mut writer, Some(&mut hash), on_progress)
        .map_err(plain)?;
    if !whole {
        return Err(io::Error::from(io::ErrorKind::Interrupted));
    }
    let (sink, written) = writer.finish().map_err(plain)?;
    let bytes = written.bytes;
    Ok(WrittenSet { sink, hash, bytes })
}

/// The operating system's error inside the codec's, so that a full disk stays recognisable.
fn plain(error: sas7bdat::Error) -> io::Error {
    match error {
        sas7bdat::Error::Io { source, .. } => source,
        other => io::Error::other(other),
    }
}

struct FileSink(File);

impl Sink for FileSink {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }
}
