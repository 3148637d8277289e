//! PROC DELETE: data sets by name.

use engine::failure::Outcome;
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{DatasetRef, ProcStep};
use lang::cursor::Cursor;

use crate::datasets::delete;
use crate::target::{no_statements, unknown};

/// PROC DELETE.
pub(crate) struct Delete;

impl Procedure for Delete {
    fn name(&self) -> &'static str {
        "DELETE"
    }

    fn support(&self) -> Support {
        Support {
            yes: "DATA=",
            no: "other member types",
        }
    }

    fn check(&self, step: &ProcStep, _: &mut World) -> Outcome<()> {
        datasets(step).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        for dataset in datasets(step)? {
            let member = world.libraries.resolve(&dataset)?;
            if !delete(world, &member, &dataset.span)? {
                let name = member.full_name();
                world
                    .log
                    .warning(&format!("File {name}.DATA does not exist."));
            }
        }
        Ok(())
    }
}

/// The data sets that are named.
fn datasets(step: &ProcStep) -> Outcome<Vec<DatasetRef>> {
    let mut cursor = Cursor::new(&step.options, &step.span);
    if !cursor.at_word("DATA") {
        return Err(unknown(&cursor, "DELETE", "option"));
    }
    cursor.next();
    cursor.expect_symbol("=")?;
    let mut datasets = Vec::new();
    while !cursor.is_at_end() {
        datasets.push(cursor.dataset_ref()?);
    }
    no_statements(step, "DELETE")?;
    Ok(datasets)
}
