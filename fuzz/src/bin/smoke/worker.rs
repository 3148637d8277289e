//! The process that runs one target.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::panic;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fuzz::{Mutator, TARGETS, Target};

use crate::allocator::Counting;
use crate::arguments::Arguments;
use crate::artifacts;

/// An input may take this much memory, and some times its own size.
const MEMORY_BYTES: usize = 64 << 20;
const MEMORY_PER_BYTE: usize = 64;
/// An input may take this long: so many looks of the watchdog, so that a machine that stands still
/// does not count.
const LOOKS: u32 = 20;
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What threads of Rust have.
const STACK_BYTES: usize = 2 << 20;
/// Nothing is running.
const IDLE: u64 = u64::MAX;

struct Run {
    arguments: Arguments,
    target: &'static Target,
    mutator: Mutator,
    /// The iteration that is running.
    running: AtomicU64,
    /// What the last panic said, with its place in front.
    panicked: Mutex<(String, String)>,
}

/// Runs the target of the arguments; notes every iteration in `progress` before it begins.
pub(crate) fn run(arguments: Arguments, progress: &Path) -> ExitCode {
    let Some(target) = TARGETS
        .iter()
        .find(|target| arguments.targets.iter().any(|n| n == target.name))
    else {
        return ExitCode::from(2);
    };
    let mutator = Mutator::new(target, &crate::seeds(), arguments.seed);
    let run = Arc::new(Run {
        arguments,
        target,
        mutator,
        running: AtomicU64::new(IDLE),
        panicked: Mutex::default(),
    });
    let seen = Arc::clone(&run);
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let said = info.payload_as_str().unwrap_or("no message").to_owned();
        *seen.panicked.lock().unwrap_or_else(PoisonError::into_inner) = (place, said);
    }));
    let watched = Arc::clone(&run);
    thread::spawn(move || watched.watch());
    let path = progress.to_owned();
    let thread = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || run.all(&path));
    match thread.map(thread::JoinHandle::join) {
        Ok(Ok(Ok(true))) => ExitCode::SUCCESS,
        Ok(Ok(Ok(false))) => ExitCode::FAILURE,
        Ok(Ok(Err(error))) | Err(error) => {
            eprintln!("smoke: {error}");
            ExitCode::FAILURE
        }
        Ok(Err(_)) => {
            eprintln!("smoke: the driver itself panicked");
            ExitCode::FAILURE
        }
    }
}

impl Run {
    /// All iterations that there is time for; false if one failed.
    fn all(&self, progress: &Path) -> io::Result<bool> {
        let mut note = Note(File::create(progress)?);
        if let Some(path) = &self.arguments.input {
            return Ok(self.once(0, &fs::read(path)?, &mut HashSet::new()));
        }
        if let Some(iteration) = self.arguments.iteration {
            note.put(iteration)?;
            let input = self.mutator.input(iteration);
            return Ok(self.once(iteration, &input, &mut HashSet::new()));
        }
        let start = Instant::now();
        let mut places = HashSet::new();
        let (mut iteration, mut good) = (0, true);
        while start.elapsed().as_secs_f64() < self.arguments.seconds {
            note.put(iteration)?;
            let input = self.mutator.input(iteration);
            good &= self.once(iteration, &input, &mut places);
            iteration += 1;
            if !good && !self.arguments.keep_going {
                break;
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{:16} {:4} seeds {iteration:9} executions in {seconds:5.1} s, {:8.0}/s",
            self.target.name,
            self.mutator.seeds().len(),
            iteration as f64 / seconds
        );
        Ok(good)
    }

    /// Runs the target on an input; false if that failed. A panic is reported unless its place is
    /// among `places`.
    fn once(&self, iteration: u64, input: &[u8], places: &mut HashSet<String>) -> bool {
        let before = Counting::begin();
        self.running.store(iteration, Ordering::Release);
        let result = panic::catch_unwind(|| (self.target.run)(input));
        self.running.store(IDLE, Ordering::Release);
        let taken = Counting::peak().saturating_sub(before);
        let mut good = true;
        if result.is_err() {
            good = false;
            let (place, said) = self
                .panicked
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            if places.insert(place.clone()) {
                self.report(iteration, input, &format!("panic at {place}: {said}"));
            }
        }
        let allowed = MEMORY_BYTES + MEMORY_PER_BYTE * input.len();
        if taken > allowed {
            good = false;
            if places.insert("memory".to_owned()) {
                let what = format!("took {taken} bytes of memory; {allowed} are allowed");
                self.report(iteration, input, &what);
            }
        }
        good
    }

    fn report(&self, iteration: u64, input: &[u8], what: &str) {
        artifacts::report(self.target, &self.arguments, Some(iteration), input, what);
    }

    /// Ends the process when an input takes long.
    fn watch(&self) {
        let (mut last, mut looks) = (IDLE, 0);
        loop {
            thread::sleep(LOOK_EVERY);
            let running = self.running.load(Ordering::Acquire);
            if running == IDLE || running != last {
                (last, looks) = (running, 0);
                continue;
            }
            looks += 1;
            if looks >= LOOKS {
                self.too_long(running);
            }
        }
    }

    fn too_long(&self, iteration: u64) -> ! {
        let input = match &self.arguments.input {
            Some(path) => fs::read(path).unwrap_or_default(),
            None => self.mutator.input(iteration),
        };
        let seconds = (LOOK_EVERY * LOOKS).as_secs();
        self.report(iteration, &input, &format!("takes more than {seconds} s"));
        std::process::exit(1)
    }
}

/// Where the iteration is noted, for whoever finds the process dead.
struct Note(File);

impl Note {
    #[cfg(unix)]
    fn put(&mut self, iteration: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.0, &iteration.to_le_bytes(), 0)
    }

    #[cfg(not(unix))]
    fn put(&mut self, iteration: u64) -> io::Result<()> {
        use io::{Seek, Write};
        self.0.rewind()?;
        self.0.write_all(&iteration.to_le_bytes())
    }
}
