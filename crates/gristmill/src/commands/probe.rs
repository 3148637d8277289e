//! `gristmill probe`: small experiments on what a file system does with what analytics ask of it.

mod text;

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use base::units::parse_size;
use bench::marker::{self, Holds};
use clap::Args;
use probe::probe::{self as experiments, ALL, Experiment, Options, Peer, probe, serve};

use super::nodes;
use super::room::Room;
use super::run::stop_on_signals;
use crate::cli::NodesArgs;
use crate::exit::Exit;
use crate::ui;

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Directory to try; everything happens in one folder below it, which goes afterwards
    #[arg(value_name = "DIR", required_unless_present = "list")]
    pub directory: Option<PathBuf>,
    /// The same directory through another mount: shows what two clients see of each other
    #[arg(long, value_name = "DIR2")]
    pub peer: Option<PathBuf>,
    /// Command that runs on another host what it is given, as in 'ssh node2': its process takes part. This program and
    /// the directory (unless --peer says how it is called there) have the same paths there
    #[arg(long, value_name = "COMMAND", value_parser = words)]
    pub peer_by: Option<Words>,
    /// Only these experiments; --list names them
    #[arg(long, value_name = "ID,…", value_delimiter = ',', value_parser = experiment)]
    pub only: Vec<&'static Experiment>,
    /// List the experiments: what each shows, why it matters, what papers say, what it needs
    #[arg(long)]
    pub list: bool,
    /// For storage in use: few operations with pauses, one process, 8M files, 20 MB/s, unless said otherwise
    #[arg(long)]
    pub gentle: bool,
    /// Move data with so many MB/s (10^6) at the most; rates are then those of the moments in which it moved
    #[arg(long, value_name = "MB/s", value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: Option<u32>,
    /// Make a group of processes with little memory (cgroup; needs the right to), and see what of a file stays in
    /// the page cache when memory is short in it
    #[arg(long)]
    pub pressure: bool,
    /// Processes at the same time, at the most [default: one for each core, 4 to 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub processes: Option<u32>,
    /// Bytes of a file that is read and written; about twice as much is taken on the disk [default: 64M]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub size: Option<u64>,
    /// About the time of an experiment [default: 5, with --gentle 3]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: Option<u32>,
    /// From the first of several nodes, with the second as the other client
    #[command(flatten)]
    pub on: NodesArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `probe-peer`.
#[derive(Debug, Args)]
pub struct ProbePeerArgs {
    /// The folder of the experiments, which was made for them
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// Runs the verb.
pub fn run(args: &ProbeArgs) -> Result<Exit> {
    if args.list {
        ui::data(&text::list(&chosen(args), args.json)?);
        return Ok(Exit::Good);
    }
    let Some(directory) = &args.directory else {
        bail!("names no directory");
    };
    if args.on.slurm && (args.peer.is_some() || args.peer_by.is_some()) {
        bail!("--slurm: the other client is the second node; leave --peer and --peer-by out");
    }
    let on_this_host = |_: &&PathBuf| args.peer_by.is_none();
    if let Some(peer) = args
        .peer
        .as_ref()
        .filter(on_this_host)
        .filter(|peer| !peer.is_dir())
    {
        bail!("{} is not a directory", peer.display());
    }
    let program = env::current_exe().context("failed to find this program")?;
    let stop = stop_on_signals()?;
    if let Some(count) = args.on.nodes {
        return nodes::submit(&args.on, count, directory, &stop);
    }
    let by = peer_by(args)?;
    let room = Room::make(directory, "probe")?;
    let options = Options {
        peer: peer_of((args, by), directory, &room, &program)?,
        ..options(args, &room)
    };
    check_space(&options)?;
    let launch = |folder: &Path| {
        let mut command = Command::new(&program);
        command.arg("probe-peer").arg(folder);
        command
    };
    let found = probe(&options, &launch, &stop, &mut |experiment| {
        ui::say(&format!("{}: {}", experiment.id, experiment.title));
    });
    let outcome = match found {
        Err(experiments::Error::Interrupted) => return Ok(Exit::Interrupted),
        other => other?,
    };
    // What is said next is the answer, whatever becomes of the folder.
    drop(room);
    ui::data(&if args.json {
        text::json(&outcome)?
    } else {
        text::table(&outcome)
    });
    Ok(if outcome.is_wrong() {
        Exit::No
    } else if outcome.is_empty() {
        Exit::NoAnswer
    } else {
        Exit::Good
    })
}

/// Runs the process that takes part in the experiments of another one, and does what it is told over its
/// standard input.
pub fn peer(args: &ProbePeerArgs) -> Result<Exit> {
    // Another client may not see at once what was made for it; names that it never looked for, it asks for.
    const WAITED: Duration = Duration::from_secs(3);
    let begin = std::time::Instant::now();
    while marker::read(&args.folder) != Some(Holds::Test) {
        if begin.elapsed() > WAITED || !args.folder.parent().is_some_and(Path::is_dir) {
            bail!(
                "{} is not the folder of an experiment",
                args.folder.display()
            );
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    match serve(&args.folder, io::stdin().lock(), io::stdout()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Exit::Good),
    }
}

/// The experiments that were named, each once, in their order.
fn chosen(args: &ProbeArgs) -> Vec<&'static Experiment> {
    let is_named = |experiment: &&'static Experiment| {
        args.only.is_empty() || args.only.iter().any(|one| one.id == experiment.id)
    };
    ALL.into_iter().filter(is_named).collect()
}

fn options(args: &ProbeArgs, room: &Room) -> Options {
    /// Processes where nobody says how many.
    const PROCESSES: std::ops::RangeInclusive<u32> = 4..=8;
    let (gentle, rate) = (args.gentle, args.rate.or(args.gentle.then_some(20)));
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let processes = || {
        let cores = host::cores::live().physical;
        if gentle {
            1
        } else {
            cores.clamp(*PROCESSES.start(), *PROCESSES.end())
        }
    };
    Options {
        folder: room.folder.clone(),
        token: format!(
            "{}-{}",
            std::process::id(),
            now.unwrap_or_default().as_nanos()
        ),
        peer: None,
        only: chosen(args),
        gentle,
        pace: rate.map(|rate| u64::from(rate) * 1_000_000),
        pressure: args.pressure,
        processes: args.processes.unwrap_or_else(processes),
        bytes: args.size.unwrap_or(if gentle { 8 << 20 } else { 64 << 20 }),
        time: Duration::from_secs(args.seconds.unwrap_or(if gentle { 3 } else { 5 }).into()),
    }
}

/// What starts processes on another host, if there is one: of an allocation of Slurm the second node.
fn peer_by(args: &ProbeArgs) -> Result<Option<Vec<String>>> {
    if !args.on.slurm {
        return Ok(args.peer_by.clone().map(|words| words.0));
    }
    let (names, allocation) = nodes::allocation()?;
    let Some(second) = names.get(1) else {
        bail!("--slurm: the allocation has one node, and the other client needs another");
    };
    ui::say(&format!("The other client is {second}"));
    Ok(Some(allocation.words(&[second])))
}

/// The other client, if one is named.
fn peer_of(
    (args, by): (&ProbeArgs, Option<Vec<String>>),
    directory: &Path,
    room: &Room,
    program: &Path,
) -> Result<Option<Peer>> {
    let directory = match (&args.peer, &by) {
        (Some(peer), _) => peer.clone(),
        (None, Some(_)) => directory.to_owned(),
        (None, None) => return Ok(None),
    };
    let folder = experiments::beside(&directory, &room.folder);
    let Some(by) = by else {
        return Ok(Some(Peer {
            directory,
            folder,
            by: Vec::new(),
        }));
    };
    let folder = std::path::absolute(&folder)
        .with_context(|| format!("failed to find {}", folder.display()))?;
    for path in [program, &folder] {
        let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+=:@,".contains(letter);
        if !path.to_str().is_some_and(|path| path.chars().all(is_plain)) {
            bail!(
                "{} has letters that a shell on the other host may read in its own way: --peer-by needs paths \
                 without blanks and the like",
                path.display()
            );
        }
    }
    Ok(Some(Peer {
        directory,
        folder,
        by,
    }))
}

/// Refuses what would fill the disk.
fn check_space(options: &Options) -> Result<()> {
    let space = rustix::fs::statvfs(&options.folder).with_context(|| {
        format!(
            "failed to look at the space of {}",
            options.folder.display()
        )
    })?;
    let (free, needed) = (space.f_bavail * space.f_frsize, options.space_needed());
    // A tenth stays free.
    if free / 10 * 9 < needed {
        bail!("{free} bytes are free and {needed} are needed: --size makes files smaller");
    }
    Ok(())
}

fn experiment(text: &str) -> Result<&'static Experiment, String> {
    ALL.into_iter().find(|one| one.id == text).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|one| one.id).collect();
        format!("there are {}", known.join(", "))
    })
}

/// A command and its arguments.
#[derive(Debug, Clone)]
pub struct Words(Vec<String>);

fn words(text: &str) -> Result<Words, String> {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        return Err("needs a command, as in 'ssh node2'".to_owned());
    }
    Ok(Words(words))
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text).ok_or("needs a size, as in 64M, 1G")?.0;
    if !(1 << 20..=1 << 40).contains(&bytes) {
        return Err("needs a size from 1M to 1T".to_owned());
    }
    // Blocks of all sizes fill it.
    Ok(bytes >> 20 << 20)
}
