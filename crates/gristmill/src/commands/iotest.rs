//! `gristmill iotest`: what directories move when one stream for each core reads and writes large files.

mod nodes;
mod text;

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use base::units::parse_size;
use clap::{Args, ValueEnum};
use probe::iotest::{self, Among, Content, Options, Outcome, Phase, Place, iotest};
use serde_json::json;

use super::memory;
use super::room::Room;
use super::run::stop_on_signals;
use crate::cli::NodesArgs;
use crate::exit::{Exit, usage};
use crate::paths::each_once;
use crate::ui;

pub use nodes::{agent, nodes_of};

/// Arguments of `iotest`.
#[derive(Debug, Args)]
pub struct IotestArgs {
    /// Directories to load, all at the same time: say those of SASDATA, SASWORK and UTILLOC together to see
    /// what they share
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Streams in each directory [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub streams: Option<u32>,
    /// Physical cores that rates are divided by [default: those of the host that may be used]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: Option<u32>,
    /// Time of each phase; a phase that has nothing left to read ends before
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86400))]
    pub seconds: u32,
    /// Phases, in their order; read, mixed (three blocks read for one written) and copy read what write wrote
    #[arg(long, value_name = "PHASE,…", value_delimiter = ',', default_values = ["write", "read", "mixed", "copy"])]
    pub phases: Vec<PhaseArg>,
    /// Bytes of an operation: 64k, 128k, 256k are what SAS uses; a multiple of 4k, up to 16M
    #[arg(long, value_name = "BYTES", default_value = "128k", value_parser = block)]
    pub block: usize,
    /// Bytes of a file at the most [default: what the time allows and four fifths of the free space]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub size: Option<u64>,
    /// What is written: random bytes, rows as SAS keeps them, or zeros, which some storage does not store
    #[arg(long, value_enum, default_value_t = DataArg::Random)]
    pub data: DataArg,
    /// Read from the page cache: nothing is evicted, files are read again until the time is over, and the
    /// rates are those of memory
    #[arg(long)]
    pub warm: bool,
    /// Cores of a node of a grid: prints how many nodes the storage feeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub node_cores: Option<u32>,
    /// Nodes of the storage: prints how many nodes of the grid each of them feeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub storage_nodes: Option<u32>,
    /// Print the lines that SAS's own script `rhel_iotest.sh` ends with
    #[arg(long, conflicts_with_all = ["json", "node_cores", "storage_nodes"])]
    pub sas_style: bool,
    /// All nodes do the same at the same time
    #[command(flatten)]
    pub on: NodesArgs,
    /// On the nodes on which another launcher (mpirun, …) starts this same command once each; see run --launched
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["slurm", "nodes"])]
    pub launched: Option<String>,
    /// How many processes the launcher starts, where it does not say so
    #[arg(long, value_name = "N", requires = "launched")]
    pub processes: Option<usize>,
    /// A directory that all nodes see, through which they are told what to do [default: the first DIR]
    #[arg(long, value_name = "DIR")]
    pub meet: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `--phases`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PhaseArg {
    /// New files.
    Write,
    /// These files.
    Read,
    /// Three blocks read for one written.
    Mixed,
    /// One block written for each that is read.
    Copy,
}

/// `--data`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DataArg {
    /// Incompressible.
    Random,
    /// Rows of numbers, codes and names.
    Sas,
    /// Zeros.
    Zeros,
}

/// What figures are divided by.
struct Host {
    cores: u32,
    basis: String,
    node_cores: Option<u32>,
    storage_nodes: Option<u32>,
    /// What the system calls its cores.
    names: BTreeSet<String>,
}

/// Runs the verb.
pub fn run(args: &IotestArgs) -> Result<Exit> {
    let stop = stop_on_signals()?;
    phases(args)?;
    each_once(args.directories.iter().map(PathBuf::as_path))?;
    if args.on.slurm || args.launched.is_some() {
        return nodes::run(args, &stop);
    }
    let host = host(args);
    let rooms = args
        .directories
        .iter()
        .map(|directory| Room::make(directory, "iotest"));
    let rooms: Vec<Room> = rooms.collect::<Result<_>>()?;
    let places = rooms.iter().map(place).collect();
    let options = options(args, &host, places, (Among::ALONE, new_run()))?;
    let mut last = None;
    let found = iotest(&options, &stop, &mut |phase, rate| {
        if last.replace(phase) != Some(phase) {
            ui::say(phase.name());
        }
        ui::say(&format!("  {rate:.0} MB/s"));
    });
    match found {
        Err(iotest::Error::Interrupted) => Ok(Exit::Interrupted),
        other => Ok(tell(args, &other?, &host)),
    }
}

/// Says what was found.
fn tell(args: &IotestArgs, outcome: &Outcome, host: &Host) -> Exit {
    if args.json {
        let all = json!({
            "measurements": text::measurements(outcome, host),
            "table": outcome,
        });
        ui::data(&all.to_string());
    } else if args.sas_style {
        ui::data(text::sas_style(outcome, host).trim_end());
    } else {
        ui::data(text::table(outcome, host).trim_end());
    }
    let in_memory = in_memory(&args.directories);
    if let Some(directory) = in_memory {
        ui::say(&format!(
            "{} lies in memory: its rates are those of no storage",
            directory.display()
        ));
    }
    match answer(outcome) {
        Exit::Good if in_memory.is_some() => Exit::NoAnswer,
        exit => exit,
    }
}

/// A directory on a file system that keeps files in memory.
fn in_memory(directories: &[PathBuf]) -> Option<&PathBuf> {
    directories.iter().find(|directory| {
        let mount = host::file_systems::live(directory);
        mount.is_some_and(|(mount, _)| host::file_systems::is_in_memory(&mount.kind))
    })
}

/// Data that came back wrong are the worst; rates that may be those of memory are none.
fn answer(outcome: &Outcome) -> Exit {
    if outcome.wrong_blocks() > 0 {
        Exit::No
    } else if outcome
        .phases
        .iter()
        .any(|phase| phase.may_be_cached(outcome))
    {
        Exit::NoAnswer
    } else {
        Exit::Good
    }
}

fn host(args: &IotestArgs) -> Host {
    let found = host::cores::live();
    Host {
        cores: args.cores.unwrap_or(found.physical),
        basis: args
            .cores
            .map_or(found.basis, |_| "as --cores says".to_owned()),
        node_cores: args.node_cores,
        storage_nodes: args.storage_nodes,
        names: found.names,
    }
}

/// The phases, each once and in their order.
fn phases(args: &IotestArgs) -> Result<Vec<Phase>> {
    let phases: Vec<Phase> = args.phases.iter().map(|phase| phase_of(*phase)).collect();
    let mut wanted = Phase::ALL.iter().filter(|phase| phases.contains(phase));
    if !phases.iter().eq(wanted.by_ref()) || phases.first() != Some(&Phase::Write) {
        usage!(
            "--phases begins with write, and has each phase once, in the order write, read, mixed, copy"
        );
    }
    Ok(phases)
}

/// A number that no other run has: by chance, so that nobody must have kept those before.
fn new_run() -> u64 {
    RandomState::new().hash_one((std::process::id(), SystemTime::now()))
}

fn options(
    args: &IotestArgs,
    host: &Host,
    places: Vec<Place>,
    (among, run): (Among, u64),
) -> Result<Options> {
    let folders = places.iter().map(|place| &*place.folder);
    Ok(Options {
        memory_bytes: memory::caching(folders)?,
        places,
        among,
        run,
        streams: args.streams.unwrap_or(host.cores) as usize,
        phases: phases(args)?,
        time: Duration::from_secs(args.seconds.into()),
        block_bytes: args.block,
        file_bytes_max: args.size,
        content: match args.data {
            DataArg::Random => Content::Random,
            DataArg::Sas => Content::Sas,
            DataArg::Zeros => Content::Zeros,
        },
        warm: args.warm,
    })
}

fn place(room: &Room) -> Place {
    Place {
        directory: room.directory.clone(),
        folder: room.folder.clone(),
    }
}

const fn phase_of(phase: PhaseArg) -> Phase {
    match phase {
        PhaseArg::Write => Phase::Write,
        PhaseArg::Read => Phase::Read,
        PhaseArg::Mixed => Phase::Mixed,
        PhaseArg::Copy => Phase::Copy,
    }
}

fn block(text: &str) -> Result<usize, String> {
    let bytes = size(text)?;
    let fits = bytes.is_multiple_of(4096) && (4096..=16 << 20).contains(&bytes);
    match usize::try_from(bytes) {
        Ok(bytes) if fits => Ok(bytes),
        _ => Err("needs a multiple of 4k, up to 16M".to_owned()),
    }
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text).ok_or("needs a size, as in 128k, 8G")?;
    Ok(bytes.0)
}
