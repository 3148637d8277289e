//! The same test on several nodes at the same time: one leads, and has every node carry one phase after the other out,
//! by Slurm or by the processes of another launcher. What a node found is in a file of its own after each phase.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use bench::grid::clocks::Clock;
use bench::grid::files::read_shared;
use bench::grid::lead::Launcher;
use bench::grid::slurm::as_text;
use bench::marker::{self, Holds};
use clap::Parser;
use probe::iotest::{self as test, Among, OfHost, Phase, Place, on_one_clock, together};
use serde::{Deserialize, Serialize};

use super::{Host, IotestArgs, host, new_run, options, phases, tell};
use crate::cli::{Cli, Verb};
use crate::commands::exec::host_name;
use crate::commands::nodes::{self, Met};
use crate::commands::room::Room;
use crate::exit::Exit;
use crate::ui;

/// What tells one start of a machine from all others.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The phase in which what the test made is removed.
const CLEAN: &str = "clean";

/// What every node reads: `order.json` of the folder of the test.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    /// The nodes by rank.
    nodes: Vec<String>,
    /// What the folders in the directories are called, before the rank.
    name: String,
    /// The command, and where it was given.
    words: Vec<String>,
    from: PathBuf,
    /// Tells what this run writes from what others wrote; every process of a node makes and checks blocks by it.
    run: u64,
}

/// Leads, or does what it is told.
pub(super) fn run(args: &IotestArgs, stop: &AtomicBool) -> Result<Exit> {
    let meeting = args.meet.as_ref().unwrap_or(&args.directories[0]);
    // Whoever cannot tell the others says so before they wait.
    words()?;
    if let Some(count) = args.on.nodes {
        return nodes::submit(&args.on, count, meeting, stop);
    }
    if let Some(name) = &args.launched {
        nodes::refuse_bound(args.cores)?;
        return match nodes::meet((name, args.processes), meeting, stop)? {
            Met::Followed(exit) => Ok(exit),
            Met::Leads(processes) => lead(args, meeting, (&processes.nodes, &processes), stop),
        };
    }
    let (names, allocation) = nodes::allocation()?;
    lead(args, meeting, (&names, &allocation), stop)
}

/// This command, as others are told it.
fn words() -> Result<Vec<String>> {
    let text = |word: OsString| Ok(as_text(&word)?.to_owned());
    let words = env::args_os().map(text).collect::<io::Result<_>>();
    words.context("failed to write the command down for the nodes")
}

fn lead(
    args: &IotestArgs,
    meeting: &Path,
    (names, launcher): (&[String], &dyn Launcher),
    stop: &AtomicBool,
) -> Result<Exit> {
    let room = Room::make(meeting, "iotest")?;
    let folder =
        std::path::absolute(&room.folder).context("failed to find the folder of the test")?;
    let name = folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let order = Order {
        nodes: names.to_vec(),
        name,
        words: words()?,
        from: env::current_dir().context("failed to find the current directory")?,
        run: new_run(),
    };
    let text = serde_json::to_string(&order).context("failed to write down the order")?;
    fs::write(folder.join("order.json"), text)
        .with_context(|| format!("failed to write the order to {}", folder.display()))?;
    let told = Told {
        folder: &folder,
        names,
        launcher,
        stop,
    };
    let clocks = told.clocks();
    let found = told.phases(&phases(args)?);
    let cleaned = told.start(CLEAN);
    let mut hosts = match found {
        Ok(hosts) => hosts,
        Err(_) if stop.load(Ordering::Relaxed) => return Ok(Exit::Interrupted),
        Err(error) => return Err(error),
    };
    cleaned?;
    if let Some(clocks) = &clocks {
        let ahead_s: Vec<f64> = clocks.iter().map(|clock| clock.offset_s).collect();
        let off_s = clocks.iter().map(|clock| clock.uncertainty_s);
        on_one_clock(&mut hosts, &ahead_s, off_s.fold(0.0, f64::max));
    }
    let Some(all) = together(&hosts) else {
        bail!("there are no nodes");
    };
    let own = &hosts[0];
    let machines = if all.machines < hosts.len() {
        format!(", which are {} machines", all.machines)
    } else {
        String::new()
    };
    let count = hosts.len();
    let of_all = Host {
        cores: all.cores,
        basis: format!(
            "of {count} nodes{machines}; {}: {}",
            own.host, own.cores_basis
        ),
        node_cores: args.node_cores.or(Some(own.cores)),
        storage_nodes: args.storage_nodes,
        names: BTreeSet::new(),
    };
    Ok(tell(args, &all.outcome, &of_all))
}

/// Nodes that do what they are told.
struct Told<'a> {
    folder: &'a Path,
    names: &'a [String],
    launcher: &'a dyn Launcher,
    stop: &'a AtomicBool,
}

impl Told<'_> {
    /// The nodes' clocks, if all of them answered.
    fn clocks(&self) -> Option<Vec<Clock>> {
        let run = self.folder.display().to_string();
        let words = ["--iotest", "--run", &run, "--clock"].map(str::to_owned);
        let why = match self.launcher.clocks(self.names, &words) {
            Ok(clocks) => match clocks.into_iter().collect() {
                Some(all) => return Some(all),
                None => "some gave no answer".to_owned(),
            },
            Err(error) => error.to_string(),
        };
        ui::say(&format!("the clocks of the nodes are not compared: {why}"));
        None
    }

    /// Carries phases out on all nodes; what each found.
    fn phases(&self, phases: &[Phase]) -> Result<Vec<OfHost>> {
        let mut hosts = Vec::new();
        for phase in phases {
            ui::say(&format!("{} on {} nodes", phase.name(), self.names.len()));
            self.start(phase.name())?;
            hosts = (0..self.names.len())
                .map(|rank| self.found(rank, phase.name()))
                .collect::<Result<Vec<OfHost>>>()?;
        }
        Ok(hosts)
    }

    fn start(&self, phase: &str) -> Result<()> {
        let run = self.folder.display().to_string();
        let words = ["--iotest", "--run", &run, "--phase", phase];
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let unfinished = || {
            let open =
                (0..names.len()).filter(|rank| phase != CLEAN && self.found(*rank, phase).is_err());
            open.map(|rank| names[rank].to_owned()).collect()
        };
        self.launcher
            .start(&names, &words, &unfinished, self.stop)
            .with_context(|| format!("failed to start the phase {phase}"))
    }

    /// What a node found in all phases to this one.
    fn found(&self, rank: usize, phase: &str) -> Result<OfHost> {
        let name = &self.names[rank];
        let text = read_shared(self.folder, &file(rank, phase), 0)
            .with_context(|| format!("failed to read what {name} found"))?;
        let Some(text) = text else {
            bail!("{name} did not end the phase {phase}");
        };
        let found: OfHost = serde_json::from_str(&text)
            .with_context(|| format!("failed to read what {name} found"))?;
        Ok(OfHost {
            host: name.clone(),
            ..found
        })
    }
}

/// A name of its own for each phase: clients of network file systems keep what a name led to.
fn file(rank: usize, phase: &str) -> String {
    format!("{phase}.{rank}.json")
}

/// The nodes of a test, by rank.
pub fn nodes_of(folder: &Path) -> Result<Vec<String>> {
    Ok(order_in(folder)?.nodes)
}

fn order_in(folder: &Path) -> Result<Order> {
    let text = fs::read_to_string(folder.join("order.json"))
        .with_context(|| format!("failed to read the order in {}", folder.display()))?;
    serde_json::from_str(&text).context("failed to read the order")
}

/// One node's part of a phase, as launchers start it.
pub fn agent(
    folder: &Path,
    phase: &str,
    rank: impl FnOnce(&[String]) -> Result<usize>,
    stop: &AtomicBool,
) -> Result<Exit> {
    let order = order_in(folder)?;
    let rank = rank(&order.nodes)?;
    env::set_current_dir(&order.from)
        .with_context(|| format!("failed to go to {}", order.from.display()))?;
    let Verb::Iotest(args) = Cli::parse_from(&order.words).verb else {
        bail!("the order in {} is of something else", folder.display());
    };
    let places: Vec<Place> = args
        .directories
        .iter()
        .map(|directory| place(directory, &order.name, rank))
        .collect();
    if phase == CLEAN {
        return clean(&places);
    }
    let Some(phase) = Phase::named(phase) else {
        bail!("--phase {phase}: a test has write, read, mixed, copy and clean");
    };
    carry_out((&args, &order, folder), (phase, rank), places, stop)
}

fn place(directory: &Path, name: &str, rank: usize) -> Place {
    Place {
        directory: directory.to_owned(),
        folder: directory.join(format!("{name}-{rank}")),
    }
}

fn carry_out(
    (args, order, folder): (&IotestArgs, &Order, &Path),
    (phase, rank): (Phase, usize),
    places: Vec<Place>,
    stop: &AtomicBool,
) -> Result<Exit> {
    // In use as long as the phase lasts.
    let mut in_use = Vec::new();
    for place in &places {
        let made = marker::make(&place.folder, Holds::Test);
        in_use.push(made.with_context(|| format!("failed to make {}", place.folder.display()))?);
    }
    let own = host(args);
    let among = Among {
        rank,
        hosts: order.nodes.len(),
    };
    let options = options(args, &own, places, (among, order.run))?;
    let before = phases(args)?
        .into_iter()
        .take_while(|one| *one != phase)
        .last();
    let mut found = match before {
        None => {
            let boot_id = fs::read_to_string(BOOT_ID)
                .ok()
                .map(|id| id.trim().to_owned());
            let cores = (own.cores, own.basis, own.names);
            OfHost::new(
                (host_name(), boot_id),
                cores,
                &options,
                test::prepare(&options)?,
            )
        }
        Some(before) => {
            let text = fs::read_to_string(folder.join(file(rank, before.name())))
                .context("failed to read what the phase before found")?;
            serde_json::from_str(&text).context("failed to read what the phase before found")?
        }
    };
    let next = (&*found.outcome.phases, phase);
    let done = match test::one_phase(&options, &found.prepared, next, stop, &mut |_, _| {}) {
        Err(test::Error::Interrupted) => return Ok(Exit::Interrupted),
        other => other?,
    };
    found.outcome.phases.push(done);
    let text = serde_json::to_string(&found).context("failed to write down what was found")?;
    let (beside, path) = (
        folder.join(format!("new.{rank}")),
        folder.join(file(rank, phase.name())),
    );
    fs::write(&beside, text)
        .and_then(|()| fs::rename(&beside, &path))
        .with_context(|| format!("failed to write {}", path.display()))?;
    Ok(Exit::Good)
}

/// Removes what the test made here.
fn clean(places: &[Place]) -> Result<Exit> {
    for place in places {
        if marker::read(&place.folder) == Some(Holds::Test) {
            fs::remove_dir_all(&place.folder)
                .with_context(|| format!("failed to remove {}", place.folder.display()))?;
        }
    }
    Ok(Exit::Good)
}
