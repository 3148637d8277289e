//! From the flags of `--pace` to what the engine is asked for.

use std::fs;

use anyhow::{Context, Result, anyhow};
use engine::pace::{By, Request, Table};
use results::run::PacingRecord;

use crate::cli::{PaceArgs, PaceBy};

/// What is asked of the engine; `None` for no pace. The table is read even then: a mistake in it is not
/// left for later.
pub fn request(args: &PaceArgs) -> Result<Option<Request>> {
    let table = match &args.pace_table {
        None => Table::built_in(),
        Some(file) => {
            let text = fs::read_to_string(file)
                .with_context(|| format!("failed to read the pace table {}", file.display()))?;
            Table::read(&text).map_err(|message| {
                anyhow!(
                    "failed to read the pace table {}: {message}",
                    file.display()
                )
            })?
        }
    };
    let by = match args.pace_by {
        PaceBy::Busy => By::Busy,
        PaceBy::Sleep => By::Sleep,
    };
    Ok(args.pace.factor.map(|factor| Request { table, factor, by }))
}

/// The pace of a run.
pub fn of_run(args: &PaceArgs) -> Result<Option<bench::run::Pace>> {
    let Some(request) = request(args)? else {
        return Ok(None);
    };
    // Jobs run in directories of their own.
    let file = args.pace_table.as_ref().map(std::path::absolute);
    let file = file.transpose().context("failed to find the pace table")?;
    Ok(Some(bench::run::Pace {
        asked: args.pace.asked.clone(),
        record: PacingRecord {
            factor: request.factor,
            by: request.by.name().to_owned(),
            table: request.table.title,
            table_date: request.table.date,
            file,
        },
    }))
}
