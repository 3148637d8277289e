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

/// Rows are made this many bytes at a time: what stays in a core's own cache.
const SLAB_BYTES: usize = 128 * 1024;

/// Runs the verb.
pub fn run(args: &GenArgs) -> Result<Exit> {
    let recipe = recipes::find(&args.recipe)?;
    let generator = Generator::new(&recipe, args.seed);
    let row_bytes = u64::from(generator.layout().row_bytes);
    let rows = args
        .rows
        .or(args.size.map(|size| size.div_ceil(row_bytes)))
        .unwrap_or(0);
    let data_set = match &args.out {
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
    let written = fill(data_set, &generator, rows, &mut progress, hash.as_mut())?;
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

fn fill(
    mut data_set: NewDataSet,
    generator: &Generator,
    rows: u64,
    progress: &mut Progress,
    mut hash: Option<&mut RowHash>,
) -> Result<sas7bdat::Written> {
    let row_bytes = generator.layout().row_bytes as usize;
    // Compressed rows have no padding at their end.
    let stored_bytes = data_set.layout().row_bytes as usize;
    let slab_rows = (SLAB_BYTES / row_bytes).max(1) as u64;
    let mut slab = vec![0; SLAB_BYTES.max(row_bytes) / row_bytes * row_bytes];
    let mut row = 0;
    while row < rows {
        let count = slab_rows.min(rows - row);
        let bytes = usize::try_from(count).expect("rows of one slab") * row_bytes;
        let slab = &mut slab[..bytes];
        generator.fill(row, slab);
        if let Some(hash) = &mut hash {
            slab.chunks_exact(row_bytes).for_each(|row| hash.add(row));
        }
        if stored_bytes == row_bytes {
            data_set.write_slab(slab)?;
        } else {
            for row in slab.chunks_exact(row_bytes) {
                data_set.write_row(&row[..stored_bytes])?;
            }
        }
        row += count;
        progress.advance(bytes as u64);
    }
    data_set.finish()
}
