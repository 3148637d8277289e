//! Making the index file of a data set: for each new index one pass over the rows, a sort of keys and
//! places, and the tree from the leaves up. Trees that are there already are copied.

use base::store::{Channel, Creation, Store};
use sas7bdat::btree::{IndexWriter, KeyPart, ROW_ID_BYTES, RowId, encode_number, encode_text};
use sas7bdat::{IndexInfo, Kind, Metadata, Reader, WriteOptions, amend};

use super::route::IndexFile;
use crate::dataset::files::{FileSink, open_to_change};
use crate::expr::Slot;
use crate::failure::{Failure, Outcome};
use crate::library::Member;
use crate::session::World;
use crate::sort::{Expected, KeyField, SortKey, SortPlan, Sorter};

/// Page sizes that index files come with (`IBUFSIZE=0` takes the smallest that will do).
const PAGE_BYTES: [u32; 4] = [4096, 8192, 16_384, 31_744];

/// Gives `member` the indexes `wanted` and no others: an index file is made anew, or removed where
/// there are none.
pub fn rebuild(world: &mut World, member: &Member, wanted: &[IndexInfo]) -> Outcome<()> {
    make(world, member, wanted, false)
}

/// As [`rebuild`], for a data set whose rows are those that its indexes were made for: the trees that
/// are there are copied, and rows are read for new indexes only.
pub fn change(world: &mut World, member: &Member, wanted: &[IndexInfo]) -> Outcome<()> {
    make(world, member, wanted, true)
}

fn make(world: &mut World, member: &Member, wanted: &[IndexInfo], keep: bool) -> Outcome<()> {
    let (name, path) = (member.full_name(), member.path());
    let store = |error| Failure::store(&name, &error);
    let format = |error| Failure::format(&name, &path, error);
    let file = open_to_change(world, member)?;
    let (file, toll) = world.tolled(file);
    let mut data = FileSink(file);
    let metadata = Reader::open(&mut data).map_err(format)?.metadata().clone();
    if let Some(toll) = toll {
        toll.reads(&metadata);
    }
    // Both files get the same time, however long the index takes: an older index does not match.
    let modified = world.meter.wall().sas_datetime.max(metadata.modified);
    if wanted.is_empty() {
        remove(world, member)?;
    } else {
        let index = Making {
            member,
            metadata: &metadata,
            wanted,
            created: modified,
        };
        let keep = keep && wanted.iter().any(|one| metadata.indexes.contains(one));
        let kept = keep && index.complete(world, &mut data, true)?;
        if keep && !kept {
            world.note(&format!(
                "The index file of {name}.DATA cannot be used: its indexes are all made from the rows."
            ));
        }
        if !kept {
            index.complete(world, &mut data, false)?;
        }
        world.indexed.insert(path.clone());
    }
    amend(
        &mut data,
        &metadata.label,
        &metadata.variables,
        wanted,
        modified,
    )
    .map_err(format)?;
    data.0.close().map_err(store)
}

/// Removes the index file of a data set that is gone or was replaced.
pub fn remove(world: &mut World, member: &Member) -> Outcome<()> {
    if !has_file(world, member)? {
        return Ok(());
    }
    world.indexed.remove(&member.path());
    let removed = world
        .store
        .remove(member.library.write_channel(), &member.index_path());
    removed.map_err(|error| Failure::store(&member.full_name(), &error))
}

/// The index file follows its data set to another name.
pub fn rename(world: &mut World, old: &Member, new: &Member) -> Outcome<()> {
    let channel = old.library.write_channel();
    let renamed = world
        .store
        .rename(channel, &old.index_path(), &new.index_path());
    renamed.map_err(|error| Failure::store(&old.full_name(), &error))?;
    if world.indexed.remove(&old.path()) {
        world.indexed.insert(new.path());
    }
    Ok(())
}

/// Whether there is an index file beside the data set. WORK is the session's own: what it has not
/// made is not there.
pub fn has_file(world: &World, member: &Member) -> Outcome<bool> {
    if member.library.work {
        return Ok(world.indexed.contains(&member.path()));
    }
    let found = stat(world.store.as_ref(), member.library.write_channel(), member);
    found.map_err(|error| Failure::store(&member.full_name(), &error))
}

/// Says which indexes were made.
pub fn note(world: &mut World, made: &[IndexInfo]) {
    for one in made {
        let kind = if one.columns.len() == 1 {
            "Simple"
        } else {
            "Composite"
        };
        world.note(&format!("{kind} index {} has been defined.", one.name));
    }
}

fn stat(store: &dyn Store, channel: Channel, member: &Member) -> base::store::Result<bool> {
    Ok(store.stat(channel, &member.index_path())?.is_some())
}

fn lock_path(member: &Member) -> std::path::PathBuf {
    let mut path = member.index_path().into_os_string();
    path.push(".lck");
    path.into()
}

/// The parts of a key.
fn parts(metadata: &Metadata, info: &IndexInfo) -> Vec<KeyPart> {
    let part = |column: &usize| {
        let variable = &metadata.variables[*column];
        KeyPart {
            column: u16::try_from(column + 1).unwrap_or(u16::MAX),
            length: u16::try_from(variable.length).unwrap_or(u16::MAX),
            numeric: variable.kind == Kind::Numeric,
        }
    };
    info.columns.iter().map(part).collect()
}

/// Page size of an index file: the directory holds 21 keys of each index.
fn page_bytes(world: &World, all: &[Vec<KeyPart>]) -> u32 {
    let asked = u32::try_from(world.options.ibufsize).unwrap_or(0);
    let key = |parts: &Vec<KeyPart>| parts.iter().map(|part| u32::from(part.length)).sum::<u32>();
    let directory = 200 + all.iter().map(|parts| 21 * key(parts) + 400).sum::<u32>();
    let longest = all.iter().map(key).max().unwrap_or(0);
    let needed = directory.max(4 * (longest + 16));
    let fits = |size: &&u32| **size >= needed;
    let least = PAGE_BYTES
        .iter()
        .find(fits)
        .copied()
        .unwrap_or(PAGE_BYTES[3]);
    asked.next_multiple_of(1024).max(least).min(PAGE_BYTES[3])
}

/// An index file to be made.
struct Making<'a> {
    member: &'a Member,
    metadata: &'a Metadata,
    wanted: &'a [IndexInfo],
    /// The time it gets.
    created: f64,
}

impl Making<'_> {
    /// Makes the file and puts it in its place; false, and nothing done, if it was to take trees of
    /// the old file and that does not agree with the data set.
    fn complete(&self, world: &mut World, data: &mut FileSink, keep: bool) -> Outcome<bool> {
        let Self {
            member, metadata, ..
        } = *self;
        let mut old = None;
        if keep {
            match IndexFile::open(&world.store, 0, member, metadata) {
                Ok(file) => old = Some(file),
                Err(_) => return Ok(false),
            }
        }
        let made = self.write(world, data, old.as_mut());
        let closed = old.map_or(Ok(()), IndexFile::close);
        let (channel, path) = (member.library.write_channel(), lock_path(member));
        match made.and_then(|kept| closed.map(|()| kept)) {
            Ok(true) => {}
            other => {
                let remove = || world.store.remove(channel, &path);
                let _ = world.temporaries.finish_file(&path, remove);
                return other;
            }
        }
        let rename = || world.store.rename(channel, &path, &member.index_path());
        let renamed = world.temporaries.finish_file(&path, rename);
        renamed.map_err(|error| Failure::store(&member.full_name(), &error))?;
        Ok(true)
    }

    /// Writes the file; false if `old` does not agree with the data set.
    fn write(
        &self,
        world: &mut World,
        data: &mut FileSink,
        mut old: Option<&mut IndexFile>,
    ) -> Outcome<bool> {
        let Self {
            member,
            metadata,
            wanted,
            created,
        } = *self;
        let (name, channel) = (member.full_name(), member.library.write_channel());
        let path = lock_path(member);
        let all: Vec<Vec<KeyPart>> = wanted.iter().map(|info| parts(metadata, info)).collect();
        let options = WriteOptions {
            name: member.name.clone(),
            page_bytes: page_bytes(world, &all),
            created,
            utc_offset: metadata.utc_offset,
            page_mask: world.draw(),
            encoding: metadata.encoding,
            ..WriteOptions::default()
        };
        let temporaries = &world.temporaries;
        let file = temporaries.create_file(channel, &path, Creation::Replace, &*world.store);
        let file = file.map_err(|error| Failure::store(&name, &error))?;
        let file = FileSink(world.writing_behind(file));
        let format = |error| Failure::format(&name, &path, error);
        // The descriptions of the indexes will count too.
        let blocks = metadata.blocks + wanted.len() as u64;
        let mut writer = IndexWriter::create(file, &options, blocks).map_err(format)?;
        for (info, parts) in wanted.iter().zip(all) {
            writer
                .begin(parts.clone(), info.unique, metadata.rows)
                .map_err(format)?;
            match &mut old {
                Some(old) if metadata.indexes.contains(info) => {
                    if !copied(old, info, &parts, metadata.rows, &mut writer, format)? {
                        return Ok(false);
                    }
                }
                _ => self.fill(world, data, info, &parts, &mut writer)?,
            }
            writer.end().map_err(format)?;
        }
        let FileSink(file) = writer.finish().map_err(format)?;
        if world.sync_outputs && !member.library.work {
            file.sync().map_err(|error| Failure::store(&name, &error))?;
        }
        file.close()
            .map_err(|error| Failure::store(&name, &error))?;
        Ok(true)
    }

    /// Puts the keys of all rows into the tree that was begun.
    fn fill(
        &self,
        world: &mut World,
        data: &mut FileSink,
        info: &IndexInfo,
        parts: &[KeyPart],
        writer: &mut IndexWriter<FileSink>,
    ) -> Outcome<()> {
        let (name, path) = (self.member.full_name(), lock_path(self.member));
        let format = |error| Failure::format(&name, &path, error);
        let sorter = keys(world, self.member, data, parts, self.metadata.rows)?;
        let mut duplicate = false;
        let sorted = sorter.finish(world, |row, _| {
            let (key, place) = row.split_at(row.len() - ROW_ID_BYTES);
            let place = place.first_chunk().copied().map(RowId::from_bytes);
            let place = place.expect("the row was split there");
            duplicate |= !writer.add(key, place).map_err(format)?;
            Ok(())
        });
        sorted?;
        if duplicate {
            return Err(Failure::world(format!(
                "Duplicate values not allowed on index {} for file {}.",
                info.name, self.member.name
            )));
        }
        Ok(())
    }
}

/// Copies a tree of the old file into the one that was begun; false if it is not one of these rows.
fn copied(
    old: &mut IndexFile,
    info: &IndexInfo,
    parts: &[KeyPart],
    rows: u64,
    writer: &mut IndexWriter<FileSink>,
    format: impl Fn(sas7bdat::Error) -> Failure + Copy,
) -> Outcome<bool> {
    let known = old.entry(info).filter(|entry| entry.parts == parts);
    let Some(entry) = known.cloned() else {
        return Ok(false);
    };
    let (mut last, mut count) = (None, 0);
    let whole = old.each(&entry, |key, place| {
        let ascends = last
            .as_ref()
            .is_none_or(|(before, at): &(Vec<u8>, RowId)| (before.as_slice(), *at) < (key, place));
        count += 1;
        if !ascends || count > rows || !writer.add(key, place).map_err(format)? {
            return Ok(false);
        }
        let (before, at) = last.get_or_insert_with(|| (Vec::new(), place));
        key.clone_into(before);
        *at = place;
        Ok(true)
    })?;
    Ok(whole && count == rows)
}

/// Reads the data set once and takes the keys in for sorting, places behind them.
fn keys(
    world: &mut World,
    member: &Member,
    data: &mut FileSink,
    parts: &[KeyPart],
    rows: u64,
) -> Outcome<Sorter> {
    let (name, path) = (member.full_name(), member.path());
    let format = |error| Failure::format(&name, &path, error);
    let key_bytes: u32 = parts.iter().map(|part| u32::from(part.length)).sum();
    let row_bytes = key_bytes + u32::try_from(ROW_ID_BYTES).unwrap_or(8);
    // Rows come in the order of their places, and those of equal keys stay in it.
    let key = Slot {
        kind: Kind::Character,
        offset: 0,
        length: key_bytes,
        big_endian: false,
    };
    let plan = SortPlan {
        key: SortKey::new(vec![KeyField {
            slot: key,
            descending: false,
        }]),
        row_bytes,
        memory_bytes: world.options.sort_memory(),
        block_bytes: world.options.ubufsize,
        threads: world.threads(),
        unique: false,
    };
    let mut reader = Reader::open(&mut *data).map_err(format)?;
    reader.keep_places();
    let mut sorter = Sorter::new(plan, Expected::Exactly(rows));
    let mut key = Vec::new();
    loop {
        if reader.next_row().map_err(format)?.is_none() {
            return Ok(sorter);
        }
        key.clear();
        encode(&reader, parts, reader.last_row(), &mut key);
        key.extend_from_slice(&reader.place().to_bytes());
        sorter.next_slot(world)?.copy_from_slice(&key);
        sorter.added();
    }
}

/// The key of a row.
pub(super) fn encode<S: sas7bdat::Source>(
    reader: &Reader<S>,
    parts: &[KeyPart],
    row: &[u8],
    key: &mut Vec<u8>,
) {
    for part in parts {
        let (column, length) = (usize::from(part.column) - 1, usize::from(part.length));
        if part.numeric {
            encode_number(reader.decode_numeric(column, row), length, key);
        } else {
            encode_text(reader.bytes(column, row), length, key);
        }
    }
}
