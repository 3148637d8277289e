//! Making a data set: written as `name.sas7bdat.lck`, header rewritten at close, renamed over the
//! old file. Until the rename the old data set is whole; a step that stops leaves it in place.

use std::path::PathBuf;
use std::sync::Arc;

use base::store::{Access, Channel, Creation, LockKind, StoreError, StoreFile};
use sas7bdat::{Compression, Encoding, IndexInfo, Layout, Variable, WriteOptions, Writer};

use super::files::FileSink;
use super::hash::RowHasher;
use crate::accounting::DatasetUse;
use crate::failure::{Failure, Outcome};
use crate::index::build;
use crate::index::definition::Definition;
use crate::library::Member;
use crate::options::FileLocks;
use crate::pace::Toll;
use crate::session::World;

/// What a new data set is made with, beyond its variables.
#[derive(Debug, Clone)]
pub struct OutputPlan {
    /// COMPRESS= of the data set; otherwise the library's or the session's.
    pub compress: Option<Compression>,
    /// BUFSIZE= of the data set.
    pub bufsize: Option<u64>,
    /// LABEL=.
    pub label: String,
    /// `DATASTEP`, `SORT`: the creator recorded in the file.
    pub creator: &'static str,
    /// Encoding of the texts in the rows.
    pub encoding: Encoding,
    /// INDEX=.
    pub indexes: Vec<Definition>,
}

/// A data set being written.
pub struct Output {
    member: Member,
    channel: Channel,
    lock_path: PathBuf,
    /// Files whose locks are held until the rename: the data set that is being replaced, a `.lck`
    /// file that was taken over.
    held: Vec<Box<dyn StoreFile>>,
    writer: Writer<FileSink>,
    variables: u64,
    rows: u64,
    hash: Option<RowHasher>,
    toll: Option<Arc<Toll>>,
    compression: Compression,
    page_bytes: u64,
    row_bytes: u64,
    indexes: Vec<IndexInfo>,
}

impl Output {
    /// Creates the file that will become `member`.
    pub fn create(
        world: &mut World,
        member: Member,
        variables: &[Variable],
        plan: OutputPlan,
    ) -> Outcome<Self> {
        let name = member.full_name();
        deny_read_only(&member)?;
        let channel = member.library.write_channel();
        let lock_path = member.lock_path();
        let mut held = Vec::new();
        held.extend(lock_replaced(world, &member, channel)?);
        let indexes: Result<Vec<IndexInfo>, String> = plan
            .indexes
            .iter()
            .map(|one| one.resolve(variables, &name))
            .collect();
        let indexes = indexes.map_err(|message| Failure::world(format!("{message}.")))?;
        let compression = compression(world, &member, variables, &plan);
        let layout = Layout::new(variables, compression);
        let bufsize = plan.bufsize.or(member.library.bufsize);
        let page_bytes = world.options.page_bytes(bufsize, layout.row_bytes);
        let aligned_header = aligned_header(world, &member, page_bytes)?;
        let file = create_locked(world, &member, channel, &mut held)?;
        let wall = world.meter.wall();
        let options = WriteOptions {
            name: member.name.clone(),
            label: plan.label,
            page_bytes: u32::try_from(page_bytes).unwrap_or(u32::MAX),
            aligned_header,
            compression,
            created: wall.sas_datetime,
            utc_offset: wall.utc_offset,
            page_mask: world.draw(),
            creator: plan.creator.to_owned(),
            encoding: plan.encoding,
            ..WriteOptions::default()
        };
        let row_bytes = u64::from(Layout::new(variables, Compression::None).row_bytes);
        let (file, toll) = world.tolled(file);
        if let Some(toll) = &toll {
            toll.writes(row_bytes);
        }
        let file = world.writing_behind(file);
        let writer = Writer::create(FileSink(file), variables, options);
        let writer = writer.map_err(|error| {
            let started = Progress {
                rows: 0,
                variables: variables.len() as u64,
            };
            give_up(world, &member, started);
            Failure::format(&name, &lock_path, error)
        })?;
        Ok(Self {
            member,
            channel,
            lock_path,
            held,
            writer,
            variables: variables.len() as u64,
            rows: 0,
            hash: world
                .row_hashes
                .of_outputs()
                .then(|| RowHasher::new(variables, &layout)),
            toll,
            compression,
            page_bytes,
            row_bytes,
            indexes,
        })
    }

    /// Where variables lie in the rows to write.
    pub fn layout(&self) -> &Layout {
        self.writer.layout()
    }

    #[inline]
    fn count(&mut self) {
        self.rows += 1;
        if let Some(toll) = &self.toll {
            toll.row();
        }
    }

    /// Adds a row in [`Self::layout`].
    #[inline]
    pub fn write_row(&mut self, row: &[u8]) -> Outcome<()> {
        self.count();
        if let Some(hash) = &mut self.hash {
            hash.add(row);
        }
        self.writer
            .write_row(row)
            .map_err(|error| Failure::format(&self.member.full_name(), &self.lock_path, error))
    }

    /// Adds a row that `fill` writes, all bytes of its variables, in [`Self::layout`].
    #[inline]
    pub fn write_row_with(&mut self, fill: impl FnOnce(&mut [u8])) -> Outcome<()> {
        self.count();
        let hash = &mut self.hash;
        let written = self.writer.write_row_with(|row| {
            fill(row);
            if let Some(hash) = hash {
                hash.add(row);
            }
        });
        written.map_err(|error| Failure::format(&self.member.full_name(), &self.lock_path, error))
    }

    /// Completes the file and puts it in the place of the old one. On failure the old one stays.
    pub fn finish(self, world: &mut World) -> Outcome<u64> {
        self.finish_noting(world, |name, rows, variables| {
            Some(format!(
                "The data set {name} has {rows} observations and {variables} variables."
            ))
        })
    }

    /// [`Self::finish`] with a note of the caller's, made from name, rows and variables.
    pub fn finish_noting(
        self,
        world: &mut World,
        note: impl FnOnce(&str, u64, u64) -> Option<String>,
    ) -> Outcome<u64> {
        let (member, progress) = (self.member.clone(), self.progress());
        let note = note(&member.full_name(), progress.rows, progress.variables);
        let finished = self.complete(world, note);
        if finished.is_err() {
            give_up(world, &member, progress);
        }
        finished
    }

    fn complete(self, world: &mut World, note: Option<String>) -> Outcome<u64> {
        let name = self.member.full_name();
        let failure = |error: StoreError| Failure::store(&name, &error);
        let (channel, lock_path, path) = (self.channel, self.lock_path, self.member.path());
        let (FileSink(file), written) = self
            .writer
            .finish()
            .map_err(|error| Failure::format(&name, &lock_path, error))?;
        // WORK ends with the session: nothing of it needs to reach a disk.
        if !self.member.library.work {
            if world.sync_outputs {
                file.sync().map_err(failure)?;
            } else {
                file.settle().map_err(failure)?;
            }
        }
        // Closing drops the lock, so it comes after the rename: nobody may take the file for an
        // orphan in between.
        let rename = || world.store.rename(channel, &lock_path, &path);
        let renamed = world.temporaries.finish_file(&lock_path, rename);
        renamed.map_err(failure)?;
        // Those of the data set that was replaced.
        build::remove(world, &self.member)?;
        world.locks.replaced(path, channel, file).map_err(failure)?;
        for file in self.held {
            file.close().map_err(failure)?;
        }
        // An uncompressed page holds whole rows and one bit a row for deletion marks.
        let per_page = ((self.page_bytes - 40) * 8 / (self.row_bytes * 8 + 1)).max(1);
        let sizes = Sizes {
            compression: self.compression,
            pages: written.pages,
            uncompressed_pages: self.rows.div_ceil(per_page).max(1),
        };
        if let Some(note) = note {
            world.note(&note);
        }
        note_compressed(world, &name, self.rows, &sizes);
        world.outputs.push(DatasetUse {
            name,
            observations: self.rows,
            variables: self.variables,
            rows: self.hash.as_ref().map(RowHasher::hash),
        });
        world.last_dataset = Some((self.member.library.libref.clone(), self.member.name.clone()));
        if !self.indexes.is_empty() {
            build::rebuild(world, &self.member, &self.indexes)?;
            if world.options.informative {
                build::note(world, &self.indexes);
            }
        }
        Ok(self.rows)
    }

    /// Gives the file up and leaves the old data set as it was.
    pub fn discard(self, world: &mut World) {
        let progress = self.progress();
        drop(self.writer);
        give_up(world, &self.member, progress);
    }

    /// Gives it up without a word: the caller says why there is none.
    pub fn withhold(self, world: &mut World) {
        drop(self.writer);
        let channel = self.member.library.write_channel();
        abandon(world, channel, &self.member.lock_path());
    }

    const fn progress(&self) -> Progress {
        Progress {
            rows: self.rows,
            variables: self.variables,
        }
    }
}

/// Whether the header is as large as a page, so that pages begin where ALIGNSASIOFILES or OFFSET= want
/// them to.
fn aligned_header(world: &World, member: &Member, page_bytes: u64) -> Outcome<bool> {
    /// Where pages begin behind a header that is not as large as one.
    const UNALIGNED_HEADER_BYTES: u64 = 8192;
    let Some(offset) = member.library.offset else {
        return Ok(world.options.alignsasiofiles);
    };
    if page_bytes.is_multiple_of(offset) {
        return Ok(true);
    }
    if UNALIGNED_HEADER_BYTES.is_multiple_of(offset) && !world.options.alignsasiofiles {
        return Ok(false);
    }
    Err(Failure::world(format!(
        "Pages of {} cannot begin at multiples of OFFSET={offset}: they have {page_bytes} bytes. Give a \
         BUFSIZE= that is a multiple of it.",
        member.full_name()
    )))
}

/// COMPRESS= in force, unless compressed rows would only be larger.
fn compression(
    world: &mut World,
    member: &Member,
    variables: &[Variable],
    plan: &OutputPlan,
) -> Compression {
    let asked = plan
        .compress
        .or(member.library.compress)
        .unwrap_or(world.options.compress);
    let effective = asked.effective(variables);
    if asked != effective {
        world.note(&format!(
            "Compression was disabled for data set {} because compression overhead would increase \
             the size of the data set.",
            member.full_name()
        ));
    }
    effective
}

/// How far an unfinished data set had come.
#[derive(Clone, Copy)]
struct Progress {
    rows: u64,
    variables: u64,
}

/// Removes an unfinished file and says that the old data set stays, or that none was made.
fn give_up(world: &mut World, member: &Member, progress: Progress) {
    let (name, channel) = (member.full_name(), member.library.write_channel());
    abandon(world, channel, &member.lock_path());
    // When the file system cannot even tell, nothing is claimed of an old data set.
    let old = world.store.stat(channel, &member.path());
    let text = if matches!(old, Ok(Some(_))) {
        format!("The data set {name} was not replaced because this step was stopped.")
    } else {
        let Progress { rows, variables } = progress;
        format!(
            "The data set {name} may be incomplete.  When this step was stopped there were {rows} \
             observations and {variables} variables."
        )
    };
    world.aftermath.push(text);
}

fn note_compressed(world: &mut World, name: &str, rows: u64, size: &Sizes) {
    if size.compression == Compression::None || rows == 0 {
        return;
    }
    let (pages, plain) = (size.pages, size.uncompressed_pages);
    let change = (pages as f64 - plain as f64) / plain as f64 * 100.0;
    let direction = if change < 0.0 {
        "decreased"
    } else {
        "increased"
    };
    world.note(&format!(
        "Compressing data set {name} {direction} size by {:.2} percent. \n\
         Compressed is {pages} pages; un-compressed would require {plain} pages.",
        change.abs()
    ));
}

/// What the compression note tells.
struct Sizes {
    compression: Compression,
    pages: u64,
    uncompressed_pages: u64,
}

/// Removes an unfinished file.
fn abandon(world: &World, channel: Channel, lock_path: &std::path::Path) {
    // It may not be removable (a vanished directory); the session's end tries again.
    let remove = || world.store.remove(channel, lock_path);
    let _ = world.temporaries.finish_file(lock_path, remove);
}

/// Refuses to change a data set of a library that is only to be read.
pub(crate) fn deny_read_only(member: &Member) -> Outcome<()> {
    if !member.library.read_only {
        return Ok(());
    }
    Err(Failure::world(format!(
        "Write access to member {}.DATA is denied: the library was assigned with ACCESS=READONLY.",
        member.full_name()
    )))
}

/// How locks are taken on `member`, `None` for no lock at all.
pub(crate) fn locking(world: &World, member: &Member) -> Option<FileLocks> {
    let locks = member.library.filelocks.unwrap_or(world.options.filelocks);
    (!member.library.work && locks != FileLocks::None).then_some(locks)
}

/// A lock that was refused or failed: an error, or with CONTINUE a warning.
fn allow(
    world: &mut World,
    member: &Member,
    locked: Result<(), StoreError>,
    locks: FileLocks,
) -> Outcome<()> {
    let name = member.full_name();
    match locked {
        Ok(()) => Ok(()),
        Err(error) if locks == FileLocks::Continue => {
            world
                .log
                .warning(&format!("{name}.DATA is replaced without a lock: {error}."));
            Ok(())
        }
        Err(error) => Err(Failure::store(&name, &error)),
    }
}

/// Locks the data set that is about to be replaced, if there is one.
fn lock_replaced(
    world: &mut World,
    member: &Member,
    channel: Channel,
) -> Outcome<Option<Box<dyn StoreFile>>> {
    let Some(locks) = locking(world, member) else {
        return Ok(None);
    };
    let name = member.full_name();
    let old = match world.open_data(channel, &member.path(), Access::Update) {
        Ok(old) => old,
        Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::store(&name, &error)),
    };
    allow(world, member, old.lock(LockKind::Exclusive), locks)?;
    Ok(Some(old))
}

/// Creates the `.lck` file. One that is there already belongs to a job at work (its lock is held)
/// or was left by one that was killed (it is not, and the file is taken over).
fn create_locked(
    world: &mut World,
    member: &Member,
    channel: Channel,
    held: &mut Vec<Box<dyn StoreFile>>,
) -> Outcome<Box<dyn StoreFile>> {
    let failure = |error: StoreError| Failure::store(&member.full_name(), &error);
    let path = member.lock_path();
    let (store, temporaries) = (world.store.clone(), world.temporaries.clone());
    let create = |how| temporaries.create_file(channel, &path, how, &*store);
    let Some(locks) = locking(world, member) else {
        return create(Creation::Replace).map_err(failure);
    };
    match create(Creation::New) {
        Ok(file) => {
            let locked = file.lock(LockKind::Exclusive);
            match &locked {
                // Another process took it for an orphan's: it is theirs now.
                Err(error) if error.is_locked() => temporaries.forget_file(&path),
                Err(_) => abandon(world, channel, &path),
                Ok(()) => {}
            }
            allow(world, member, locked, locks)?;
            Ok(file)
        }
        Err(error) if error.source.kind() == std::io::ErrorKind::AlreadyExists => {
            let left = store
                .open(channel, &path, Access::Update)
                .map_err(failure)?;
            allow(world, member, left.lock(LockKind::Exclusive), locks)?;
            held.push(left);
            create(Creation::Replace).map_err(failure)
        }
        Err(error) => Err(failure(error)),
    }
}
