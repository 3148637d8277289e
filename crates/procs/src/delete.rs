//! PROC DELETE: data sets by name.

use engine::failure::Outcome;
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::ProcStep;
use lang::cursor::Cursor;

use crate::datasets::delete;
use crate::target::unknown;

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

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
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
        if let Some(statement) = step.statements.first() {
            let cursor = Cursor::new(&statement.tokens, &statement.span);
            return Err(unknown(&cursor, "DELETE", "statement"));
        }
        for dataset in datasets {
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
