//! `gristmill data squeeze`: what SAS, and storage that compresses and deduplicates, would save.

mod paths;
mod text;

use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use anyhow::Result;
use probe::squeeze::{Effort, Options, Sampled, Source, bytes_to_read, squeeze};
use serde_json::json;

use super::args::SqueezeArgs;
use super::progress::Progress;
use crate::exit::Exit;
use crate::ui;
use paths::{Found, find};

/// Runs the verb.
pub fn run(args: &SqueezeArgs) -> Result<Exit> {
    let Found { files, skipped } = find(&args.paths)?;
    for (path, why) in &skipped {
        ui::say(&format!("warning: {} is left out: {why}", path.display()));
    }
    let sources: Vec<Source<'_>> = files
        .iter()
        .map(|file| Source {
            name: file.path.display().to_string(),
            bytes: file.bytes,
            allocated_bytes: Some(file.allocated_bytes),
            is_data_set: file.is_data_set,
            content: &file.path,
        })
        .collect();
    let options = options(args);
    let name = match &sources[..] {
        [one] => one.name.clone(),
        all => format!("{} files", all.len()),
    };
    let progress = Mutex::new(Progress::new(name, bytes_to_read(&sources, &options)));
    let found = squeeze(&sources, &options, &|bytes| {
        // A bar that cannot be drawn is no reason to stop.
        if let Ok(mut progress) = progress.lock() {
            progress.advance(bytes);
        }
    });
    drop(progress);
    for file in &found.files {
        if let Some(why) = &file.error {
            ui::say(&format!("error: {}: {why}", file.file));
        }
        if let Some(why) = &file.sas_error {
            ui::say(&format!("warning: {}: {why}", file.file));
        }
    }
    if args.json {
        let skipped: Vec<_> = skipped
            .iter()
            .map(|(path, why)| json!({ "file": path, "why": why }))
            .collect();
        let all = json!({
            "measurements": found.measurements(),
            "table": found.files,
            "skipped": skipped,
        });
        ui::data(&all.to_string());
    } else {
        ui::data(text::of(&found, &options).trim_end());
    }
    let is_whole = skipped.is_empty() && found.files.iter().all(|file| file.error.is_none());
    Ok(if is_whole { Exit::Good } else { Exit::No })
}

fn options(args: &SqueezeArgs) -> Options {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    Options {
        threads: args.threads.map_or(processors, usize::from),
        sampled: args.sample.0,
        effort: if args.no_compression {
            Effort::Nothing
        } else {
            Effort::Full
        },
        seed: args.seed,
        duplicates: !args.no_duplicates,
        rewrite: !args.no_sas,
        memory_bytes: args.memory,
    }
}

/// A file to look at.
struct File {
    path: PathBuf,
    bytes: u64,
    allocated_bytes: u64,
    is_data_set: bool,
}

/// `--sample`: a share, bytes or all.
pub fn parse_sample(text: &str) -> Result<Sampled, String> {
    if text.eq_ignore_ascii_case("all") {
        return Ok(Sampled::All);
    }
    if let Some(percent) = text.strip_suffix('%') {
        let share = percent
            .trim()
            .parse()
            .ok()
            .map(|percent: f64| percent / 100.0);
        return match share {
            Some(share) if share > 0.0 && share <= 1.0 => Ok(Sampled::Share(share)),
            _ => Err("needs a share such as 5%, above 0 and up to 100%".to_owned()),
        };
    }
    match base::units::parse_size(text) {
        Some(bytes) if bytes.0 > 0 => Ok(Sampled::Bytes(bytes.0)),
        _ => Err("needs a share such as 5%, bytes such as 256M, or all".to_owned()),
    }
}
