//! Adding rows to a data set in place: PROC APPEND. The rows that are there are not read; until the
//! end the data set is the one it was.

use std::sync::Arc;

use base::store::{Access, Channel};
use sas7bdat::{Encoding, IndexInfo, Layout, Variable, Writer};

use super::files::{FileSink, open_to_change};
use super::hash::RowHasher;
use crate::accounting::DatasetUse;
use crate::failure::{Failure, Outcome};
use crate::index::build;
use crate::library::Member;
use crate::pace::Toll;
use crate::session::World;

/// A data set that gets more rows.
pub struct Extension {
    member: Member,
    channel: Channel,
    writer: Writer<FileSink>,
    variables: Vec<Variable>,
    encoding: Encoding,
    /// Bytes of the file before.
    bytes: u64,
    added: u64,
    indexes: Vec<IndexInfo>,
    hash: Option<RowHasher>,
    toll: Option<Arc<Toll>>,
}

impl Extension {
    /// Opens a data set, which must be there, to add rows.
    pub fn open(world: &mut World, member: Member) -> Outcome<Self> {
        let member = member.located(world.store.as_ref())?;
        let name = member.full_name();
        let channel = member.library.write_channel();
        let path = member.path();
        let store = |error| Failure::store(&name, &error);
        let file = open_to_change(world, &member)?;
        let bytes = file.size().map_err(store)?;
        let format = |error| match error {
            sas7bdat::Error::NotExtensible { detail } => Failure::world(format!(
                "File {name}.DATA cannot be updated because {detail}. Copy it with a DATA step first."
            )),
            other => Failure::format(&name, &path, other),
        };
        let (file, toll) = world.tolled(file);
        let file = FileSink(world.writing_behind(file));
        let wall = world.meter.wall();
        let (writer, metadata) = Writer::append(file, wall.sas_datetime).map_err(format)?;
        if let Some(unique) = metadata.indexes.iter().find(|one| one.unique) {
            return Err(Failure::world(format!(
                "Adding rows to {name}.DATA, whose index {} is unique, is not implemented yet: delete \
                 the index first.",
                unique.name
            )));
        }
        let row_bytes = metadata.layout.row_bytes;
        if let Some(toll) = &toll {
            toll.writes(u64::from(row_bytes));
        }
        Ok(Self {
            channel,
            bytes,
            added: 0,
            indexes: metadata.indexes,
            hash: world
                .row_hashes
                .of_outputs()
                .then(|| RowHasher::new(&metadata.variables, &metadata.layout)),
            toll,
            variables: metadata.variables,
            encoding: metadata.encoding,
            writer,
            member,
        })
    }

    /// Its variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Encoding of its texts.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Where variables lie in the rows to add.
    pub fn layout(&self) -> &Layout {
        self.writer.layout()
    }

    /// Adds a row in [`Self::layout`].
    pub fn write_row(&mut self, row: &[u8]) -> Outcome<()> {
        self.added += 1;
        if let Some(toll) = &self.toll {
            toll.row();
        }
        if let Some(hash) = &mut self.hash {
            hash.add(row);
        }
        let written = self.writer.write_row(row);
        written
            .map_err(|error| Failure::format(&self.member.full_name(), &self.member.path(), error))
    }

    /// Completes the data set; returns how many rows it has now.
    pub fn finish(self, world: &mut World) -> Outcome<u64> {
        let (name, path) = (self.member.full_name(), self.member.path());
        let store = |error| Failure::store(&name, &error);
        let (FileSink(file), written) = self
            .writer
            .finish()
            .map_err(|error| Failure::format(&name, &path, error))?;
        if !self.member.library.work {
            if world.sync_outputs {
                file.sync().map_err(store)?;
            } else {
                file.settle().map_err(store)?;
            }
        }
        file.close().map_err(store)?;
        world.note(&format!("{} observations added.", self.added));
        world.note(&format!(
            "The data set {name} has {} observations and {} variables.",
            written.rows,
            self.variables.len()
        ));
        world.outputs.push(DatasetUse {
            name,
            observations: self.added,
            variables: self.variables.len() as u64,
            rows: self.hash.as_ref().map(RowHasher::hash),
        });
        world.last_dataset = Some((self.member.library.libref.clone(), self.member.name.clone()));
        if !self.indexes.is_empty() {
            build::rebuild(world, &self.member, &self.indexes)?;
        }
        Ok(written.rows)
    }

    /// Gives the new rows up.
    pub fn discard(self, world: &mut World) {
        let (path, bytes) = (self.member.path(), self.bytes);
        drop(self.writer);
        // What is behind the end does no harm; the space is given back if that is possible.
        if let Ok(file) = world.open_data(self.channel, &path, Access::Update) {
            let _ = file.truncate(bytes).and_then(|()| file.close());
        }
    }
}
