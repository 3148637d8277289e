//! The engine's programs beside plain loops, DuckDB and Python's models.

mod page;
mod steps;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::data::Input;
use super::groups::{Contestant, Group, other, work};
use super::memory::Touched;
use super::{Measured, Options, gristmill, measure};
use crate::places::{installed, own};
pub(super) use page::INTRODUCTION;

/// Bytes of a row: 40 numbers and texts of 2, 8, 12 and 18.
const ROW_BYTES: u64 = 360;
/// Bytes of a row of the joined tables.
const JOINED_BYTES: u64 = 24;
/// Rows of the short table of a join.
const SHORT_ROWS: u64 = 100_000;
/// Contestants that a bar is given for, by name.
const LOOP: &str = "row loop";
const DUCKDB: &str = "DuckDB";
const DD: &str = "dd";

/// Programs that must reach the same.
struct Kind {
    title: &'static str,
    bars: Vec<Bar>,
    groups: Vec<Group>,
}

/// How much faster than a contestant ours must be.
struct Bar {
    contestant: &'static str,
    least: f64,
    /// By the clock: what threads, and programs that use several, are measured by.
    by_wall: bool,
}

impl Bar {
    const fn cpu(contestant: &'static str, least: f64) -> Self {
        Self {
            contestant,
            least,
            by_wall: false,
        }
    }
}

struct Places {
    folder: PathBuf,
    rows: u64,
    join_rows: u64,
    gristmill: String,
    python: String,
}

impl Places {
    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn table(&self) -> String {
        format!("table{}", self.rows)
    }

    /// A data set that a recipe describes.
    fn made(&self, recipe: &str, rows: u64, name: &str, seed: &str) -> Input {
        let rows = rows.to_string();
        let mut command = vec![self.gristmill.as_str(), "data", "gen", "--recipe", recipe];
        command.extend(["--rows", &rows, "--seed", seed, "--bufsize", "128k", "{}"]);
        Input::Made {
            path: self.folder.join(format!("{name}.sas7bdat")),
            command: other(&command),
        }
    }

    fn recipe(name: &str) -> String {
        own(&format!("programs/engine/{name}.toml"))
            .display()
            .to_string()
    }

    fn table_input(&self) -> Input {
        self.made(&Self::recipe("table"), self.rows, &self.table(), "1")
    }

    /// The same rows in DuckDB's own form, uncompressed.
    fn database(&self, name: &str) -> Input {
        let script = own("programs/duck.py").display().to_string();
        let source = self.file(&format!("{name}.sas7bdat"));
        Input::Made {
            path: self.folder.join(format!("{name}.duckdb")),
            command: other(&[&self.python, &script, "import", &source, "{}"]),
        }
    }

    fn contestant(&self, name: &'static str, command: Vec<String>, removes: &str) -> Contestant {
        Contestant {
            name,
            command,
            bytes: self.rows * ROW_BYTES,
            rows: None,
            counts: true,
            removes: (!removes.is_empty()).then(|| self.folder.join(removes)),
        }
    }

    /// Ours; the log, which holds the result, is what it prints.
    fn ours(&self, program: &str, input: &str, options: &[&str], removes: &str) -> Contestant {
        let program = own(&format!("programs/engine/{program}.sas"));
        let program = program.display().to_string();
        let folder = self.folder.display().to_string();
        let (libname, symbol) = (format!("d={folder}"), format!("in={input}"));
        let mut command = vec![self.gristmill.as_str(), "exec", &program];
        command.extend(["--libname", &libname, "--work", &folder, "--set", &symbol]);
        command.extend(["--log", "/dev/stdout", "--print", "/dev/null"]);
        for option in ["BUFSIZE=128k", "UBUFSIZE=128k"].iter().chain(options) {
            command.extend(["--option", option]);
        }
        self.contestant("ours", other(&command), removes)
    }

    fn duckdb(&self, program: &str, databases: &[&str], megabytes: &str) -> Contestant {
        let script = own("programs/duck.py").display().to_string();
        let query = own(&format!("programs/engine/{program}.sql"));
        let (query, out) = (query.display().to_string(), self.file("out.duckdb"));
        let databases: Vec<String> = databases
            .iter()
            .map(|name| self.file(&format!("{name}.duckdb")))
            .collect();
        let mut command = vec![self.python.as_str(), &script, "query", &query, &out];
        command.push(megabytes);
        command.extend(databases.iter().map(String::as_str));
        self.contestant(DUCKDB, other(&command), "out.duckdb")
    }
}

/// Measures all and writes the page.
pub(super) fn run(options: &Options, folder: &Path, commit: &str) -> Result<()> {
    let places = Places {
        folder: folder.to_owned(),
        rows: options.rows,
        join_rows: options.join_rows.unwrap_or(options.rows),
        gristmill: gristmill(),
        python: installed("python/bin/python").display().to_string(),
    };
    let mut texts = Vec::new();
    for mut kind in kinds(&places) {
        kind.groups
            .retain(|group| format!("{}: {}", kind.title, group.title).contains(&options.only));
        if kind.groups.is_empty() {
            continue;
        }
        let text = measured(&mut kind, options.rotations)?;
        println!("{text}");
        texts.push(text);
    }
    for (title, measure) in steps::ALL {
        if title.contains(&options.only) {
            let text = measure(&places.gristmill, folder, options.rotations)?;
            println!("{text}");
            texts.push(text);
        }
    }
    if options.only.is_empty() {
        super::page::write(options, commit, &texts)?;
    }
    Ok(())
}

/// The table of a kind; contestants that are not installed are named as skipped.
fn measured(kind: &mut Kind, rotations: usize) -> Result<String> {
    let mut skipped = Vec::new();
    let mut all = Vec::new();
    for group in &mut kind.groups {
        eprintln!("{}: {}", kind.title, group.title);
        group.contestants.retain(|contestant| {
            let is_there = Path::new(&contestant.command[0]).exists();
            if !is_there {
                skipped.push(contestant.name);
            }
            is_there
        });
        if !skipped.is_empty() {
            // What only they read cannot be made either.
            group.files.retain(Input::maker_exists);
        }
        let measured = measure(group, rotations, Touched::Times(2))?;
        same_result(&group.title, &measured)?;
        all.push((group.title.clone(), measured));
    }
    Ok(page::kind(kind, &all, &skipped))
}

/// All that print a result must have found the same.
fn same_result(title: &str, measured: &[Measured]) -> Result<()> {
    let results = measured
        .iter()
        .flat_map(|one| one.samples.iter().map(|sample| (one.name, sample.result)));
    let results: Vec<(&str, f64)> = results
        .filter_map(|(name, result)| Some((name, result?)))
        .collect();
    let Some((first, rest)) = results.split_first() else {
        return Ok(());
    };
    for one in rest {
        // The engine prints twelve characters.
        if (one.1 - first.1).abs() > 1e-8 * first.1.abs() {
            bail!(
                "{title}: {} and {} found {} and {}",
                first.0,
                one.0,
                first.1,
                one.1
            );
        }
    }
    Ok(())
}

fn kinds(places: &Places) -> Vec<Kind> {
    let beside_loop = |title, name: &str, removes: [&str; 2]| Kind {
        title,
        bars: vec![Bar::cpu(LOOP, 0.5)],
        groups: (1..=5)
            .map(|index| program(places, &format!("{name}{index}"), removes))
            .collect(),
    };
    let written = ["out.sas7bdat", "out.loop"];
    let copies = beside_loop("Copy", "copy", written);
    let mut filters = beside_loop("Filter, four computed columns, write", "filter", written);
    filters.bars.push(Bar::cpu(DUCKDB, 3.0));
    for group in &mut filters.groups {
        group.files.push(places.database(&places.table()));
        let table = places.table();
        let duckdb = places.duckdb(&group.title, &[&table], "4000");
        group.contestants.push(duckdb);
    }
    let cold = |title, name: &str, writes| Kind {
        title,
        bars: vec![Bar {
            by_wall: true,
            ..Bar::cpu(DD, 0.95)
        }],
        groups: (1..=5)
            .map(|index| from_device(places, &format!("{name}{index}"), writes))
            .collect(),
    };
    vec![
        beside_loop("Scan: WHERE and the sum of products", "scan", ["", ""]),
        filters,
        copies,
        beside_loop("MEANS of 10 columns by 2 classes", "means", ["", ""]),
        cold("Cold: scan, beside dd", "scan", false),
        cold("Cold: filter and write, beside dd", "filter", true),
        cold("Cold: copy, beside dd", "copy", true),
        cold("Cold: MEANS, beside dd", "means", false),
        binary(places),
        regression(places),
        logistic(places),
        join(places, "join_hash", "SQL, hash join", ("short", SHORT_ROWS)),
        join(
            places,
            "join_merge",
            "SQL, sort-merge join",
            ("right", places.join_rows),
        ),
    ]
}

fn group(title: &str, files: Vec<Input>, contestants: Vec<Contestant>) -> Group {
    Group {
        title: title.to_owned(),
        // The bars are those of the kind.
        least: 0.0,
        least_wall: None,
        files,
        cold: false,
        contestants,
    }
}

/// A program over the table, beside its loop.
fn program(places: &Places, name: &str, [ours, others]: [&str; 2]) -> Group {
    let table = places.table();
    let input = places.file(&format!("{table}.sas7bdat"));
    let output = places.file("out.loop");
    let loop_ = work(&["loop", name, &input, &output]);
    let contestants = vec![
        places.ours(name, &table, &["CPUCOUNT=1"], ours),
        places.contestant(LOOP, loop_, others),
    ];
    group(name, vec![places.table_input()], contestants)
}

/// A program over the table from a cold cache, beside dd that reads the same file and, if the program
/// writes, copies as much of it as the program's output has.
fn from_device(places: &Places, name: &str, writes: bool) -> Group {
    let table = places.table();
    let input = places.file(&format!("{table}.sas7bdat"));
    let mut files = vec![places.table_input()];
    let ours = |removes| places.ours(name, &table, &["CPUCOUNT=1"], removes);
    let contestants = if writes {
        let output = places.file("out.sas7bdat");
        let pages = places.folder.join(format!("{name}-{}.pages", places.rows));
        let program = ours("").command.join(" ");
        let count =
            format!("{program} > /dev/null && echo $(($(stat -c %s {output}) >> 17)) > {{}}");
        files.push(Input::Made {
            path: pages.clone(),
            command: other(&["/bin/sh", "-c", &count]),
        });
        let (pages, copy) = (pages.display(), places.file("out.dd"));
        let script = format!(
            "n=$(cat {pages}); dd if={input} of={copy} bs=128k count=$n && \
             dd if={input} of=/dev/null bs=128k skip=$n"
        );
        let dd = other(&["/bin/sh", "-c", &script]);
        vec![ours("out.sas7bdat"), places.contestant(DD, dd, "out.dd")]
    } else {
        let from = format!("if={input}");
        let dd = other(&["/bin/dd", &from, "of=/dev/null", "bs=128k"]);
        vec![ours(""), places.contestant(DD, dd, "")]
    };
    Group {
        cold: true,
        ..group(name, files, contestants)
    }
}

/// Rows of the bank recipe, which can be compressed, beside the encoder with the rows in memory.
fn binary(places: &Places) -> Kind {
    const BANK_BYTES: u64 = 1312;
    /// Rows come in slabs.
    const SLAB_ROWS: u64 = 4096;
    let slabs = (places.rows * ROW_BYTES / 4).div_ceil(SLAB_ROWS * BANK_BYTES);
    let (rows, bytes) = (slabs * SLAB_ROWS, slabs * SLAB_ROWS * BANK_BYTES);
    let name = format!("bank{rows}");
    let path = places.folder.join(format!("{name}.rows"));
    let flat = path.display().to_string();
    let encoder = work(&["encode", &flat, &BANK_BYTES.to_string(), "binary"]);
    let recipe = "bank";
    let files = vec![
        places.made(recipe, rows, &name, "1"),
        Input::Rows {
            path,
            recipe,
            bytes,
        },
    ];
    let mut contestants = vec![
        places.ours("binary", &name, &["CPUCOUNT=1"], "out.sas7bdat"),
        places.contestant("encoder", encoder, ""),
    ];
    for contestant in &mut contestants {
        contestant.bytes = bytes;
    }
    Kind {
        title: "Read and write COMPRESS=BINARY",
        bars: vec![Bar::cpu("encoder", 0.6)],
        groups: vec![group("binary", files, contestants)],
    }
}

fn regression(places: &Places) -> Kind {
    let table = places.table();
    let script = own("programs/fit.py").display().to_string();
    let input = places.file(&format!("{table}.sas7bdat"));
    let fits = |name, library| {
        let command = other(&[&places.python, &script, library, &input]);
        places.contestant(name, command, "")
    };
    let contestants = vec![
        places.ours("reg", &table, &["CPUCOUNT=1"], ""),
        fits("scikit-learn", "sklearn"),
        fits("statsmodels", "statsmodels"),
    ];
    Kind {
        title: "REG with 30 regressors",
        bars: vec![Bar::cpu("scikit-learn", 5.0), Bar::cpu("statsmodels", 5.0)],
        groups: vec![group("reg", vec![places.table_input()], contestants)],
    }
}

fn logistic(places: &Places) -> Kind {
    let table = places.table();
    let on = |name, cpucount| Contestant {
        name,
        ..places.ours("hplogistic", &table, &[cpucount], "")
    };
    let contestants = vec![
        on("ours, CPUCOUNT=2", "CPUCOUNT=2"),
        on("CPUCOUNT=1", "CPUCOUNT=1"),
    ];
    Kind {
        title: "HPLOGISTIC with 8 effects on two threads",
        bars: vec![Bar {
            by_wall: true,
            ..Bar::cpu("CPUCOUNT=1", 1.8)
        }],
        groups: vec![group("hplogistic", vec![places.table_input()], contestants)],
    }
}

/// A join of the long table with another one, within 256 MB.
fn join(places: &Places, name: &str, title: &'static str, second: (&str, u64)) -> Kind {
    let rows = places.join_rows;
    let long = format!("long{rows}");
    let (kind, second_rows) = second;
    let other_side = format!("{kind}{long}");
    let recipe = Places::recipe(if kind == "short" { kind } else { "long" });
    let files = vec![
        places.made(&Places::recipe("long"), rows, &long, "1"),
        places.made(&recipe, second_rows, &other_side, "2"),
        places.database(&long),
        places.database(&other_side),
    ];
    let options = ["CPUCOUNT=1", "MEMSIZE=256M"];
    let mut contestants = vec![
        places.ours(name, &long, &options, "out.sas7bdat"),
        places.duckdb(name, &[&long, &other_side], "256"),
    ];
    for contestant in &mut contestants {
        contestant.bytes = (rows + second_rows) * JOINED_BYTES;
    }
    Kind {
        title,
        bars: vec![Bar::cpu(DUCKDB, 0.5)],
        groups: vec![group(name, files, contestants)],
    }
}
