//! Changing what a data set says of itself, in place: MODIFY of PROC DATASETS.

use sas7bdat::{Metadata, Reader, amend};

use super::files::{FileSink, open_to_change};
use crate::failure::{Failure, Outcome};
use crate::library::Member;
use crate::session::World;

/// Opens `member` for change, lets `change` edit label and variables, and writes what is new. Kinds
/// and lengths stay as they are.
pub fn change(
    world: &mut World,
    member: &Member,
    change: impl FnOnce(&mut World, &mut Metadata) -> Outcome<()>,
) -> Outcome<()> {
    let member = &member.clone().located(world.store.as_ref())?;
    let (name, path) = (member.full_name(), member.path());
    let store = |error| Failure::store(&name, &error);
    let format = |error| Failure::format(&name, &path, error);
    let mut data = FileSink(open_to_change(world, member)?);
    let mut metadata = Reader::open(&mut data).map_err(format)?.metadata().clone();
    // An index is dated: it may not look older than its data set.
    let modified = if metadata.indexes.is_empty() {
        world.meter.wall().sas_datetime
    } else {
        metadata.modified
    };
    change(world, &mut metadata)?;
    let Metadata {
        label,
        variables,
        indexes,
        ..
    } = &metadata;
    amend(&mut data, label, variables, indexes, modified).map_err(format)?;
    data.0.close().map_err(store)
}
