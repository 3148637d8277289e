//! `gristmill exec`: one program in the built-in engine, in this process.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, bail};
use base::store::Store;
use engine::accounting::RowHashes;
use engine::failure::FailureLine;
use engine::library::{Libraries, Library, check_libref};
use engine::options::Options;
use engine::session::{self, Observer, Setup, Symbols, Temporaries};
use io::account::{AccountedStore, Accounts};
use io::live::LiveSlot;
use io::process::{ProcessMeter, keep_freed_memory};
use io::real::RealStore;
use io::written::{Change, WitnessedStore};
use serde::Serialize;
use signal_hook::iterator::Signals;

use super::record::{file_change, step_record};
use crate::cli::{ExecArgs, HashedRows, VERSION};
use crate::exit::Exit;
use crate::paths::is_same;
use crate::{signals, ui};

/// Runs the verb.
pub fn run(args: &ExecArgs) -> Result<Exit> {
    let meter = ProcessMeter::start();
    keep_freed_memory();
    check_outputs(args)?;
    let text = fs::read_to_string(&args.program)
        .with_context(|| format!("failed to read the program {}", args.program.display()))?;
    let accounts = Arc::new(accounts(args)?);
    let real = RealStore {
        direct: args.direct,
        advise_sequential: args.advise_sequential,
    };
    let lost = Arc::new(AtomicBool::new(false));
    let store = AccountedStore::new(real, accounts.clone());
    let store = witnessed(store, args.written.as_deref(), &lost)?;
    let temporaries = Arc::new(Temporaries::default());
    clean_up_on_signals(store.clone(), temporaries.clone())?;
    let work = args.work.clone().unwrap_or_else(std::env::temp_dir);
    let setup = Setup {
        store,
        meter: Arc::new(meter),
        pace: super::pace::request(&args.pace)?,
        log: writer(args.log.as_deref(), || Box::new(std::io::stderr()))?,
        header: header(),
        listing: writer(args.print.as_deref(), || Box::new(std::io::stdout()))?,
        procedures: procs::all(),
        options: options(args)?,
        libraries: libraries(args)?,
        symbols: symbols(args),
        util: args.util.clone().unwrap_or_else(|| work.clone()),
        work,
        host: host_name(),
        process_id: std::process::id(),
        seed: seed(),
        row_hashes: hashed(args.row_hashes),
        sync_outputs: args.fsync,
        temporaries,
        include: Box::new(|path| {
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
        }),
        observer: observer(args.steps.as_deref(), accounts.clone(), &lost)?,
    };
    let ended = session::run(setup, &args.program.display().to_string(), &text);
    accounts.show_end();
    match ended {
        Ok(ended) => {
            let unwritten = [
                ("log", &ended.log_failure),
                ("listing", &ended.listing_failure),
            ];
            for (what, failure) in unwritten {
                if let Some(error) = failure {
                    lost.store(true, Ordering::Relaxed);
                    ui::say(&format!("ERROR: failed to write the {what}: {error}"));
                }
            }
            if lost.load(Ordering::Relaxed) {
                return Ok(Exit::CouldNotRun);
            }
            Ok(Exit::Sas(ended.exit_code()))
        }
        Err(failure) => {
            for line in failure.lines {
                match line {
                    FailureLine::World(text) => ui::say(&format!("ERROR: {text}")),
                    FailureLine::Detail(text) => ui::say(&text),
                    FailureLine::Program(found) => ui::say(&format!("ERROR: {}", found.message)),
                }
            }
            Ok(Exit::CouldNotRun)
        }
    }
}

const fn hashed(rows: HashedRows) -> RowHashes {
    match rows {
        HashedRows::None => RowHashes::None,
        HashedRows::Inputs => RowHashes::Inputs,
        HashedRows::All => RowHashes::All,
    }
}

/// The store, whose permanent files are witnessed in `path` if there is one.
fn witnessed(
    store: AccountedStore<RealStore>,
    path: Option<&Path>,
    lost: &Arc<AtomicBool>,
) -> Result<Arc<dyn Store>> {
    let Some(path) = path else {
        return Ok(Arc::new(store));
    };
    let lines = Lines::create(path, lost)?;
    let observer = move |file: &Path, change: &Change<'_>| lines.add(&file_change(file, change));
    Ok(Arc::new(WitnessedStore::new(store, Box::new(observer))))
}

/// What the log begins with: who wrote it, and the platform in the form in which SAS names it, so that readers of logs
/// know what a block of the block counts is.
fn header() -> Vec<String> {
    let system = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let machine = match text(system.machine()) {
        machine if machine == "x86_64" => "X64".to_owned(),
        machine => machine.to_ascii_uppercase(),
    };
    let release = text(system.release());
    vec![
        format!("Gristmill {VERSION}: its own engine for programs in the SAS language, not SAS."),
        format!("This session is executing on the Linux {release} (LIN {machine}) platform."),
    ]
}

/// The books, shown to the launcher if it wants to see them.
fn accounts(args: &ExecArgs) -> Result<Accounts> {
    let Some(path) = &args.live else {
        return Ok(Accounts::default());
    };
    let slot = LiveSlot::open(path, args.live_slot)
        .with_context(|| format!("failed to open the counters at {}", path.display()))?;
    Ok(Accounts::shown_in(slot))
}

/// What is written goes neither over the program nor over another output.
fn check_outputs(args: &ExecArgs) -> Result<()> {
    let outputs = [&args.log, &args.print, &args.steps, &args.written];
    let mut files = vec![args.program.as_path()];
    for path in outputs.into_iter().flatten() {
        // Devices and pipes keep nothing.
        let is_other = |about: fs::Metadata| !about.is_file();
        if fs::metadata(path).is_ok_and(is_other) {
            continue;
        }
        if let Some(same) = files.iter().find(|file| is_same(file, path)) {
            bail!(
                "failed to write {}: it is {}, which is used as well; name another file",
                path.display(),
                same.display()
            );
        }
        files.push(path);
    }
    Ok(())
}

fn writer(
    path: Option<&Path>,
    otherwise: impl FnOnce() -> Box<dyn Write + Send>,
) -> Result<Box<dyn Write + Send>> {
    let Some(path) = path else {
        return Ok(otherwise());
    };
    let file =
        File::create(path).with_context(|| format!("failed to create {}", path.display()))?;
    Ok(Box::new(BufWriter::new(file)))
}

/// Processors this process may run on.
fn processors() -> u32 {
    thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(1))
}

fn options(args: &ExecArgs) -> Result<Options> {
    let mut options = Options::new(processors());
    for (name, value) in &args.option {
        options
            .set(name, value.as_deref())
            .map_err(|message| anyhow!("failed to set --option {name}: {message}"))?;
    }
    Ok(options)
}

fn libraries(args: &ExecArgs) -> Result<Libraries> {
    let mut libraries = Libraries::default();
    let mut seen = BTreeSet::new();
    for (libref, directory) in &args.libname {
        if !seen.insert(libref.to_ascii_uppercase()) {
            bail!("failed to assign --libname {libref}: it is given twice; give it once");
        }
        check_libref(libref, directory)
            .map_err(|message| anyhow!("failed to assign --libname {libref}: {message}"))?;
        if !directory.is_dir() {
            return Err(anyhow!(
                "failed to assign --libname {libref}: {} is not a directory",
                directory.display()
            ));
        }
        libraries.assign(Library::permanent(libref, directory.clone()));
    }
    Ok(libraries)
}

fn symbols(args: &ExecArgs) -> Symbols {
    let mut symbols = Symbols::new();
    symbols.insert("SYSJOBID".into(), std::process::id().to_string());
    for (name, value) in &args.set {
        symbols.insert(name.to_ascii_uppercase(), value.clone().unwrap_or_default());
    }
    symbols
}

/// Host name as it appears in the names of WORK directories: up to the first dot.
pub fn host_name() -> String {
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let short: String = name.split('.').next().unwrap_or_default().to_owned();
    if short.is_empty() {
        "localhost".to_owned()
    } else {
        short
    }
}

/// Different for every process: page masks and serial numbers need not be reproducible here.
fn seed() -> u64 {
    let since_1970 = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::from(std::process::id()) << 32
        ^ u64::from(since_1970.subsec_nanos())
        ^ since_1970.as_secs()
}

/// Writes a line per step, or nothing but still settles the accounts at every step.
fn observer(
    path: Option<&Path>,
    accounts: Arc<Accounts>,
    lost: &Arc<AtomicBool>,
) -> Result<Observer> {
    let Some(path) = path else {
        return Ok(Box::new(|_| ()));
    };
    let lines = Lines::create(path, lost)?;
    Ok(Box::new(move |step| {
        lines.add(&step_record(step, &accounts.take()));
    }))
}

/// A file of records, a line each.
struct Lines {
    path: PathBuf,
    /// And its length; nothing any more once a line was lost: what follows a gap would look whole.
    file: Mutex<Option<(File, u64)>>,
    /// Set when something could not be written: the program goes on, but the exit code says so.
    lost: Arc<AtomicBool>,
}

impl Lines {
    fn create(path: &Path, lost: &Arc<AtomicBool>) -> Result<Self> {
        let file =
            File::create(path).with_context(|| format!("failed to create {}", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(Some((file, 0))),
            lost: lost.clone(),
        })
    }

    fn add(&self, record: &impl Serialize) {
        let mut line = serde_json::to_vec(record).expect("records have only plain keys");
        line.push(b'\n');
        let mut open = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((file, length)) = &mut *open else {
            return;
        };
        let Err(error) = file.write_all(&line) else {
            *length += line.len() as u64;
            return;
        };
        // Half a line would spoil the file for its readers; a device keeps none.
        let _ = file.set_len(*length);
        *open = None;
        if !self.lost.swap(true, Ordering::Relaxed) {
            let path = self.path.display();
            ui::say(&format!("ERROR: failed to write {path}: {error}"));
        }
    }
}

/// On a signal that ends commands: removes WORK, utility and unfinished files, then exits as a
/// shell reports a signal, 128 + its number.
fn clean_up_on_signals(store: Arc<dyn Store>, temporaries: Arc<Temporaries>) -> Result<()> {
    let mut signals = Signals::new(signals::ending()).context("failed to handle signals")?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            temporaries.remove_all_for_good(store.as_ref());
            #[expect(clippy::exit, reason = "the main thread is in the middle of a step")]
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}
