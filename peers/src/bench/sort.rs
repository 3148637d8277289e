//! The external sort beside others that sort the same rows, and what comes with a job: its start, the
//! hashes of its rows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::data::Input;
use super::gristmill;
use super::groups::{Contestant, Group, other};
use crate::places::{installed, own};

/// Bytes of a row: 40 numbers and texts of 2, 8, 12 and 18.
const ROW_BYTES: u64 = 360;

/// The rows, as a recipe.
const RECIPE: &str = r#"title = "rows for the sort benchmark"
columns = [
    { name = "custid", kind = "random" },
    { name = "x", count = 39, kind = "random" },
    { name = "c1", kind = "character", length = 2 },
    { name = "c2", kind = "character", length = 8 },
    { name = "c3", kind = "character", length = 12 },
    { name = "c4", kind = "character", length = 18 },
]
"#;

/// What stands above the figures.
pub(super) const INTRODUCTION: &str = "\
Rows of 360 bytes (40 random doubles, texts of 2, 8, 12 and 18 bytes), sorted by the first
double with 768 MiB of memory on one thread. Every contestant is a process of its own; they take
turns, each rotation begins with another one. CPU seconds are user and system time of the
process and its children (wait4). DuckDB reads and writes its own database, GNU sort a CSV file
of the same rows; for them the input is in the page cache. Before every run that writes, most of the
free memory is touched once: the host of a virtual machine takes free pages back, and the first to
fill them pays. Beside dd the input is taken out of the page cache, which others fill then, and the output
is flushed at the end: dd copies the file once to where the utility file would be and once to where the
output would be, the same bytes in the same pattern.
Others' load is what all other processes kept busy meanwhile, in cores: with much of it, wall-
clock figures say little. A ratio above 1 means that ours is faster, by medians.";

struct Places {
    folder: PathBuf,
    rows: u64,
    gristmill: String,
}

impl Places {
    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn input(&self) -> String {
        self.file(&format!("sort{}.sas7bdat", self.rows))
    }

    fn contestant(&self, name: &'static str, command: Vec<String>, removes: &str) -> Contestant {
        Contestant {
            name,
            command,
            bytes: self.rows * ROW_BYTES,
            rows: None,
            counts: true,
            removes: Some(self.folder.join(removes)),
        }
    }

    /// Ours; `more` are further flags of `exec`.
    fn ours(&self, name: &'static str, cpucount: u32, more: &[&str]) -> Contestant {
        let cpucount = format!("CPUCOUNT={cpucount}");
        let folder = self.folder.display().to_string();
        let libname = format!("d={folder}");
        let (program, symbol) = (self.file("sort.sas"), format!("in=sort{}", self.rows));
        let mut command = vec![
            self.gristmill.as_str(),
            "exec",
            &program,
            "--libname",
            &libname,
        ];
        command.extend(["--work", &folder, "--set", &symbol, "--log", "/dev/null"]);
        for option in [
            "SORTSIZE=768M",
            "MEMSIZE=1G",
            "BUFSIZE=128k",
            "UBUFSIZE=128k",
            &cpucount,
        ] {
            command.extend(["--option", option]);
        }
        command.extend(more);
        self.contestant(name, other(&command), "sorted.sas7bdat")
    }
}

/// All groups, for so many rows.
pub(super) fn all(rows: u64, folder: &Path) -> Result<Vec<Group>> {
    let places = Places {
        folder: folder.to_owned(),
        rows,
        gristmill: gristmill(),
    };
    fs::create_dir_all(folder)?;
    fs::write(folder.join("sort.toml"), RECIPE)?;
    fs::write(
        folder.join("sort.sas"),
        "proc sort data=d.&in out=d.sorted; by custid; run;\n",
    )?;
    fs::write(folder.join("empty.sas"), "")?;
    Ok(vec![
        start(&places),
        hashes(&places),
        devices(&places),
        sorters(&places),
    ])
}

fn input(places: &Places) -> Input {
    let (recipe, rows) = (places.file("sort.toml"), places.rows.to_string());
    let gen_ = [
        places.gristmill.as_str(),
        "data",
        "gen",
        "--recipe",
        &recipe,
        "--rows",
        &rows,
    ];
    let mut command = other(&gen_);
    command.extend(other(&["--bufsize", "128k", "{}"]));
    Input::Made {
        path: PathBuf::from(places.input()),
        command,
    }
}

fn sorters(places: &Places) -> Group {
    let csv = places.file(&format!("sort{}.csv", places.rows));
    let database = places.file(&format!("sort{}.duckdb", places.rows));
    let python = installed("python/bin/python").display().to_string();
    let script = own("programs/duck.py").display().to_string();
    let out = places.file("sorted.duckdb");
    let (gnu_out, scratch) = (
        places.file("sorted.csv"),
        places.folder.display().to_string(),
    );
    let duckdb = other(&[&python, &script, "sort", &database, &out, "custid", "768"]);
    let gnu = [
        "env",
        "LC_ALL=C",
        "sort",
        "-S",
        "768M",
        "--parallel=1",
        "-t",
        ",",
        "-k",
        "1,1g",
        "-T",
        &scratch,
        "-o",
        &gnu_out,
        &csv,
    ];
    let files = vec![
        input(places),
        Input::Made {
            path: PathBuf::from(&csv),
            command: other(&[&places.gristmill, "data", "convert", &places.input(), "{}"]),
        },
        Input::Made {
            path: PathBuf::from(&database),
            command: other(&[&python, &script, "load", &csv, "{}"]),
        },
    ];
    Group {
        title: "Sort, SORTSIZE=768M, CPU seconds".to_owned(),
        least: 2.0,
        least_wall: None,
        cold: false,
        files,
        contestants: vec![
            places.ours("ours", 1, &[]),
            places.contestant("DuckDB", duckdb, "sorted.duckdb"),
            places.contestant("GNU sort", other(&gnu), "sorted.csv"),
        ],
    }
}

fn devices(places: &Places) -> Group {
    let (from, util, out) = (
        places.input(),
        places.file("copied.utl"),
        places.file("copied.sas7bdat"),
    );
    let script = format!(
        "dd if={from} of={util} bs=128k && dd if={util} of={out} bs=128k conv=fsync && rm {util}"
    );
    let dd = other(&["sh", "-c", &script]);
    Group {
        title: "Sort from a cold cache to the device, beside dd moving the same bytes".to_owned(),
        least: 0.0,
        least_wall: Some(0.8),
        cold: true,
        files: vec![input(places)],
        contestants: vec![
            places.ours("ours, CPUCOUNT=2", 2, &["--fsync"]),
            places.contestant("dd twice, fsync", dd, "copied.sas7bdat"),
        ],
    }
}

fn hashes(places: &Places) -> Group {
    Group {
        title: "Sort with and without row hashes".to_owned(),
        least: 1.0 / 1.03,
        least_wall: None,
        cold: false,
        files: vec![input(places)],
        contestants: vec![
            places.ours("with --row-hashes", 1, &["--row-hashes"]),
            places.ours("without", 1, &[]),
        ],
    }
}

/// A hundred programs one after the other: the bar is 5 ms each, 0.5 s together.
fn start(places: &Places) -> Group {
    let hundred = |command: &str| {
        let script = format!("for i in $(seq 100); do {command}; done");
        other(&["sh", "-c", &script])
    };
    let folder = places.folder.display().to_string();
    let (gristmill, program) = (&places.gristmill, places.file("empty.sas"));
    let empty = format!("{gristmill} exec {program} --work {folder} --log /dev/null");
    let limit = Contestant {
        bytes: 0,
        removes: None,
        ..places.contestant(
            "sleep 0.005, a hundred times",
            hundred("sleep 0.005"),
            "none",
        )
    };
    Group {
        title: "Execute an empty program, a hundred times".to_owned(),
        least: 0.0,
        least_wall: Some(1.0),
        cold: false,
        files: Vec::new(),
        contestants: vec![
            Contestant {
                bytes: 0,
                removes: None,
                ..places.contestant("ours", hundred(&empty), "none")
            },
            limit,
        ],
    }
}
