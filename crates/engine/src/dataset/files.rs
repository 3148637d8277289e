//! A store's file as the format codec's source and sink.

use std::io;

use base::store::{Access, LockKind, StoreFile};

use super::output::{deny_read_only, locking};
use crate::failure::{Failure, Outcome};
use crate::library::Member;
use crate::options::FileLocks;
use crate::session::World;

/// Reads a data set's file for the codec.
pub struct FileSource(pub Box<dyn StoreFile>);

impl sas7bdat::Source for FileSource {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.0.read_at(offset, buffer)?)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.size()?)
    }
}

/// Writes a data set's file for the codec, and reads it where a data set is changed in place.
pub struct FileSink(pub Box<dyn StoreFile>);

impl sas7bdat::Sink for FileSink {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        Ok(self.0.write_at(offset, bytes)?)
    }

    fn rewrite_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        Ok(self.0.rewrite_at(offset, bytes)?)
    }
}

impl sas7bdat::Source for FileSink {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.0.read_at(offset, buffer)?)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.size()?)
    }
}

/// Deletes a data set, which must be there, or gives it another name: nobody may use it meanwhile, and
/// a lock of the session ends.
pub fn moving(
    world: &mut World,
    member: &Member,
    act: impl FnOnce(&World) -> base::store::Result<()>,
) -> Outcome<()> {
    deny_read_only(member)?;
    let file = match locking(world, member) {
        Some(_) => Some(open_to_change(world, member)?),
        None => None,
    };
    let failure = |error| Failure::store(&member.full_name(), &error);
    act(world).map_err(failure)?;
    world.locks.release(&member.path());
    file.map_or(Ok(()), StoreFile::close).map_err(failure)
}

/// Opens a data set, which must be there, to change it in place; nobody else may use it meanwhile.
pub fn open_to_change(world: &mut World, member: &Member) -> Outcome<Box<dyn StoreFile>> {
    deny_read_only(member)?;
    let name = member.full_name();
    let failure = |error| Failure::store(&name, &error);
    let channel = member.library.write_channel();
    let file = world.open_data(channel, &member.path(), Access::Update);
    let file = file.map_err(failure)?;
    if let Some(locks) = locking(world, member) {
        match file.lock(LockKind::Exclusive) {
            Err(error) if locks == FileLocks::Continue => {
                let text = format!("{name}.DATA is changed without a lock: {error}.");
                world.log.warning(&text);
            }
            locked => locked.map_err(failure)?,
        }
    }
    Ok(file)
}
