//! Opening data sets, and making files that appear only when they are whole.

use std::ffi::OsString;
use std::io::{Error as IoError, ErrorKind, Result as IoResult, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Error, Result, anyhow, bail};
use base::random::Stream;
use base::rowhash::RowHash;
use base::store::{Access, Channel, Creation, Store, StoreFile};
use base::units::Bytes;
use engine::dataset::files::{FileSink, FileSource};
use io::real::RealStore;
use sas7bdat::{Reader, Variable, WriteOptions, Writer, Written};
use signal_hook::iterator::Signals;

use super::args::ShapeArgs;
use crate::exit::usage;
use crate::signals;

/// 1 January 2020: files made from the same arguments have the same bytes whenever they are made.
const CREATED_SAS_SECONDS: f64 = 1_893_456_000.0;

/// A data set open for reading.
pub type DataSet = Reader<FileSource>;

/// Opens a file for reading.
pub fn open(path: &Path) -> Result<Box<dyn StoreFile>> {
    RealStore::default()
        .open(Channel::Input, path, Access::Read)
        .map_err(|error| anyhow!(error.source))
        .with_context(|| format!("failed to open {}", path.display()))
}

/// Opens a data set.
pub fn open_data_set(path: &Path) -> Result<DataSet> {
    let file = open(path)?;
    Reader::open(FileSource(file)).map_err(|error| failed(path, &error))
}

/// A failure of the format codec, with the file's name.
pub fn failed(path: &Path, error: &sas7bdat::Error) -> Error {
    anyhow!("{}: failed to {error}", path.display())
}

/// A file that is being made beside its final name.
///
/// Dropped unfinished, by a signal too, it is removed.
pub struct NewFile {
    path: PathBuf,
    unfinished: PathBuf,
    channel: Channel,
    finished: bool,
}

impl NewFile {
    /// Creates `path` + `suffix`; refuses if either is there, unless `force`.
    pub fn create(path: &Path, suffix: &str, force: bool) -> Result<(Self, Box<dyn StoreFile>)> {
        let mut unfinished = OsString::from(path);
        unfinished.push(suffix);
        let unfinished = PathBuf::from(unfinished);
        if path.exists() && !force {
            bail!("{} exists; --force replaces it", path.display());
        }
        let how = if force {
            Creation::Replace
        } else {
            Creation::New
        };
        let channel = Channel::Output;
        // Held until the file is there and known to be ours: a signal waits for that.
        let registered = Arc::new(Mutex::new(None));
        remove_on_signals(registered.clone())?;
        let mut registered = registered.lock().unwrap_or_else(PoisonError::into_inner);
        let file = RealStore::default().create(channel, &unfinished, how);
        let file = file.map_err(|error| match error.source.kind() {
            ErrorKind::AlreadyExists => anyhow!(
                "{} exists: another job may be writing it; if none is, --force replaces it",
                unfinished.display()
            ),
            _ => anyhow!(error.source).context(format!("failed to create {}", path.display())),
        })?;
        *registered = Some(unfinished.clone());
        let new = Self {
            path: path.to_owned(),
            unfinished,
            channel,
            finished: false,
        };
        Ok((new, file))
    }

    /// Closes the file and gives it its name.
    pub fn finish(mut self, file: Box<dyn StoreFile>) -> Result<()> {
        let done = file
            .close()
            .and_then(|()| RealStore::default().rename(self.channel, &self.unfinished, &self.path));
        done.map_err(|error| self.explain(Error::new(error)))?;
        self.finished = true;
        Ok(())
    }

    /// A failure to write, in words that say what to do.
    pub fn explain(&self, error: Error) -> Error {
        let kind = error
            .chain()
            .find_map(|cause| cause.downcast_ref::<IoError>())
            .map(IoError::kind);
        let full = match kind {
            Some(ErrorKind::StorageFull) => "the file system is full",
            Some(ErrorKind::QuotaExceeded) => "the disk quota is used up",
            Some(ErrorKind::FileTooLarge) => "the file system takes no file this large",
            _ => {
                return match error.downcast_ref::<sas7bdat::Error>() {
                    Some(error) => failed(&self.path, error),
                    None => error.context(format!("failed to write {}", self.path.display())),
                };
            }
        };
        let written = RealStore::default().stat(self.channel, &self.unfinished);
        let written = match written {
            Ok(Some(stat)) => format!(" after {}", Bytes(stat.bytes)),
            _ => String::new(),
        };
        anyhow!(
            "failed to write {}: {full}{written}; the unfinished file was removed; \
             free some space or ask for less",
            self.path.display()
        )
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.finished {
            // It may be gone already; there is nobody left to tell.
            let _ = RealStore::default().remove(self.channel, &self.unfinished);
        }
    }
}

/// On a signal that ends commands: removes the file and exits as a shell reports a signal.
fn remove_on_signals(unfinished: Arc<Mutex<Option<PathBuf>>>) -> Result<()> {
    let mut signals = Signals::new(signals::ending()).context("failed to handle signals")?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let path = unfinished.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(path) = path.as_ref() {
                let _ = RealStore::default().remove(Channel::Output, path);
            }
            #[expect(clippy::exit, reason = "the main thread is in the middle of a write")]
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// A store's file as a stream, in blocks.
pub struct Stored {
    file: Box<dyn StoreFile>,
    offset: u64,
}

impl Stored {
    /// Writes from the beginning.
    pub fn new(file: Box<dyn StoreFile>) -> Self {
        Self { file, offset: 0 }
    }

    /// Gives back the file.
    pub fn into_file(self) -> Box<dyn StoreFile> {
        self.file
    }
}

impl Write for Stored {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        self.file.write_at(self.offset, bytes)?;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> IoResult<()> {
        Ok(())
    }
}

/// A data set that is being made.
pub struct NewDataSet {
    new: Option<NewFile>,
    writer: Writer<FileSink>,
}

impl NewDataSet {
    /// Creates the data set `path`; its page mask follows from `seed`.
    pub fn create(
        path: &Path,
        variables: &[Variable],
        shape: ShapeArgs,
        seed: u64,
    ) -> Result<Self> {
        let options = write_options(&member_name(path)?, shape, seed);
        let (new, file) = NewFile::create(path, ".lck", shape.force)?;
        let writer = Writer::create(FileSink(file), variables, options)
            .map_err(|error| new.explain(Error::new(error)))?;
        Ok(Self {
            new: Some(new),
            writer,
        })
    }

    /// A data set that goes to `file` and has no name to get.
    pub fn thrown_away(
        file: Box<dyn StoreFile>,
        variables: &[Variable],
        shape: ShapeArgs,
        seed: u64,
    ) -> Result<Self> {
        let options = write_options("null", shape, seed);
        let writer = Writer::create(FileSink(file), variables, options)?;
        Ok(Self { new: None, writer })
    }

    /// Where the variables lie in the rows to write.
    pub fn layout(&self) -> &sas7bdat::Layout {
        self.writer.layout()
    }

    /// Fills it with the rows of a generator; `progress` is told the bytes of rows made.
    pub fn generate(
        &mut self,
        generator: &recipe::Generator,
        rows: u64,
        hash: Option<&mut RowHash>,
        mut progress: impl FnMut(u64),
    ) -> Result<()> {
        let written = recipe::write_rows(generator, rows, &mut self.writer, hash, |bytes| {
            progress(bytes);
            true
        });
        written.map_err(|error| explain(self.new.as_ref(), error))?;
        Ok(())
    }

    /// Adds a row.
    pub fn write_row(&mut self, row: &[u8]) -> Result<()> {
        let written = self.writer.write_row(row);
        written.map_err(|error| explain(self.new.as_ref(), error))
    }

    /// Adds rows that lie back to back.
    #[cfg(feature = "parquet")]
    pub fn write_slab(&mut self, rows: &[u8]) -> Result<()> {
        let written = self.writer.write_slab(rows);
        written.map_err(|error| explain(self.new.as_ref(), error))
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<Written> {
        let new = self.new;
        let finished = self.writer.finish();
        let (FileSink(file), written) = finished.map_err(|error| explain(new.as_ref(), error))?;
        match new {
            Some(new) => new.finish(file)?,
            None => file.close()?,
        }
        Ok(written)
    }
}

fn explain(new: Option<&NewFile>, error: sas7bdat::Error) -> Error {
    match new {
        Some(new) => new.explain(Error::new(error)),
        None => Error::new(error),
    }
}

/// The data set's name: that of the file.
fn member_name(path: &Path) -> Result<String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let extension = path.extension().and_then(|text| text.to_str());
    match (stem, extension) {
        (Some(stem), Some("sas7bdat")) if (1..=32).contains(&stem.len()) => Ok(stem.to_owned()),
        (Some(_), Some("sas7bdat")) => usage!(
            "{}: the name of a data set has at most 32 bytes",
            path.display()
        ),
        _ => usage!(
            "{}: a data set's file is named NAME.sas7bdat, with a small extension",
            path.display()
        ),
    }
}

fn write_options(name: &str, shape: ShapeArgs, seed: u64) -> WriteOptions {
    let [a, b, c, d, ..] = Stream::new(seed).child(u64::MAX).word(0).to_le_bytes();
    WriteOptions {
        name: name.to_owned(),
        page_bytes: shape.bufsize,
        aligned_header: !shape.noalign,
        compression: shape.compress.into(),
        created: CREATED_SAS_SECONDS,
        page_mask: u32::from_le_bytes([a, b, c, d]),
        ..WriteOptions::default()
    }
}
