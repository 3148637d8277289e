//! `gristmill data gen`: a data set from a recipe and a seed, in flat memory.

use std::path::Path;

use anyhow::Result;
use base::rowhash::RowHash;
use base::store::null::NullStore;
use base::store::{Channel, Creation, Store};
use base::units::{Bytes, Rate};
use recipe::Generator;
use serde_json::json;

use super::args::GenArgs;
use super::files::NewDataSet;
use super::progress::Progress;
use super::recipes;
use super::value::counted;
use crate::exit::Exit;
use crate::ui;

/// Runs the verb.
pub fn run(args: &GenArgs) -> Result<Exit> {
    let recipe = recipes::find(&args.recipe)?;
    let generator = Generator::new(&recipe, args.seed);
    let row_bytes = u64::from(generator.layout().row_bytes);
    let rows = args
        .rows
        .or(args.size.map(|size| size.div_ceil(row_bytes)))
        .unwrap_or(0);
    let mut data_set = match &args.out {
        Some(path) if !args.null => {
            NewDataSet::create(path, generator.variables(), args.shape, args.seed)?
        }
        _ => {
            let file = NullStore.create(Channel::Output, Path::new("null"), Creation::New)?;
            NewDataSet::thrown_away(file, generator.variables(), args.shape, args.seed)?
        }
    };
    let name = args.out.as_deref().filter(|_| !args.null);
    let name = name.map_or_else(|| "null".to_owned(), |path| path.display().to_string());
    let mut progress = Progress::new(name.clone(), rows * row_bytes);
    // The hash would be most of what the null sink measures.
    let mut hash = (!args.null).then(RowHash::default);
    data_set.generate(&generator, rows, hash.as_mut(), |bytes| {
        progress.advance(bytes);
    })?;
    let written = data_set.finish()?;
    let elapsed = progress.elapsed();
    drop(progress);
    if args.json {
        let mut result = json!({
            "file": name,
            "recipe": args.recipe,
            "seed": args.seed,
            "rows": written.rows,
            "row_bytes": row_bytes,
            "bytes": written.bytes,
            "pages": written.pages,
            "page_bytes": args.shape.bufsize,
            "real_s": elapsed.as_secs_f64(),
        });
        if let Some(hash) = hash {
            result["row_hash"] = json!(format!("{:016x}", hash.sum));
        }
        ui::data(&result.to_string());
        return Ok(Exit::Good);
    }
    let rate = Rate::of(Bytes(written.rows * row_bytes), elapsed);
    let rate = rate.map_or_else(String::new, |rate| format!(", rows at {rate}"));
    ui::data(&format!(
        "{name}: {} of {row_bytes} bytes, {} in {}{rate}",
        counted(written.rows, "row"),
        Bytes(written.bytes),
        counted(written.pages, "page")
    ));
    Ok(Exit::Good)
}
