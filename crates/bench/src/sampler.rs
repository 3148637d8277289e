//! What this node does over time: a sample a second, from the start of staging to the end of the run,
//! in a thread of its own.
//!
//! [`readings`] takes the kernel's and the jobs' totals, [`servers`] those of mounts that count for themselves,
//! [`difference`] makes a sample of two of them, [`board`] is where the launcher says what runs.

pub mod board;
pub mod difference;
pub mod observe;
pub mod readings;
pub mod servers;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use results::node::{FileSystemRecord, NodeRecord};

use self::board::Board;
use self::readings::Reader;

/// Time between two samples.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long a mark is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the launcher wants of the sampler.
#[derive(Debug, Default)]
struct Wishes {
    marks_wanted: u64,
    marks_made: u64,
    ended: bool,
}

#[derive(Debug, Default)]
struct Control {
    wishes: Mutex<Wishes>,
    changed: Condvar,
}

impl Control {
    fn locked(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sampler at work; it ends when it is dropped.
#[derive(Debug)]
pub struct Sampler {
    control: Arc<Control>,
    thread: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl Sampler {
    /// Starts to write samples to `path`; times count from `began`.
    pub fn start(
        path: &Path,
        began: Instant,
        board: Arc<Board>,
        reader: Reader,
    ) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let control = Arc::new(Control::default());
        let (lines, taken) = mpsc::channel();
        let writer = thread::Builder::new().name("samples".to_owned());
        let work = Work {
            lines,
            writer: writer.spawn(move || write(&file, &taken))?,
            began,
            board,
            reader,
        };
        let theirs = control.clone();
        let thread = thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(move || work.until_ended(&theirs))?;
        Ok(Self {
            control,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Ends the present interval now, so that no sample reaches over this moment: what belongs to a
    /// phase of the run can be told from what came before and after.
    pub fn mark(&self) {
        let mut wishes = self.control.locked();
        wishes.marks_wanted += 1;
        let mark = wishes.marks_wanted;
        self.control.changed.notify_all();
        let waits = |wishes: &mut Wishes| wishes.marks_made < mark && !wishes.ended;
        // A node too busy to take a sample does not hold up the run.
        let waited = self
            .control
            .changed
            .wait_timeout_while(wishes, PATIENCE, waits);
        drop(waited);
    }

    /// Takes a last sample and ends; an error says why samples are missing.
    pub fn finish(&self) -> io::Result<()> {
        self.control.locked().ended = true;
        self.control.changed.notify_all();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = thread.take().map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| {
            ended.unwrap_or_else(|_| Err(io::Error::other("the sampler ended early")))
        })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // Whoever wants to know whether samples are missing has called `finish`.
        let _ = self.finish();
    }
}

struct Work {
    /// Takes lines to a thread that writes them: a sampler that waited for the file system under test would miss what
    /// it does meanwhile.
    lines: Sender<Vec<u8>>,
    writer: JoinHandle<io::Result<()>>,
    began: Instant,
    board: Arc<Board>,
    reader: Reader,
}

impl Work {
    fn until_ended(mut self, control: &Control) -> io::Result<()> {
        let mut before = self.reader.read(self.began, &self.board, true);
        let mut due = Instant::now() + INTERVAL;
        loop {
            let mut wishes = control.locked();
            while Instant::now() < due && wishes.marks_made == wishes.marks_wanted && !wishes.ended
            {
                let left = due.saturating_duration_since(Instant::now());
                let waited = control.changed.wait_timeout(wishes, left);
                wishes = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            let (marked, ended) = (wishes.marks_wanted, wishes.ended);
            let at_a_mark = wishes.marks_made < marked || ended;
            drop(wishes);
            let now = self.reader.read(self.began, &self.board, at_a_mark);
            self.add(&before, &now);
            before = now;
            control.locked().marks_made = marked;
            control.changed.notify_all();
            if ended {
                drop(self.lines);
                let written = self.writer.join();
                return written
                    .unwrap_or_else(|_| Err(io::Error::other("the writer of samples died")));
            }
            // Samples that could not be taken in time are not made up for.
            while due <= Instant::now() {
                due += INTERVAL;
            }
        }
    }

    fn add(&mut self, before: &readings::Readings, now: &readings::Readings) {
        let sample = difference::sample(before, now);
        let mut line = serde_json::to_vec(&sample).expect("samples have only plain keys");
        line.push(b'\n');
        // A writer that is gone has an error to tell at the end.
        let _ = self.lines.send(line);
        self.board.show(sample, now);
    }
}

/// Writes lines until no more come; an error is the first one, and later lines are tried all the same.
fn write(mut file: &File, lines: &Receiver<Vec<u8>>) -> io::Result<()> {
    let mut failure = None;
    for line in lines {
        let length = file.metadata().map(|found| found.len());
        if let Err(error) = file.write_all(&line) {
            // Half a line would spoil the file for its readers.
            if let Ok(length) = length {
                let _ = file.set_len(length);
            }
            failure.get_or_insert(error);
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Options of mounts that tell addresses and users, of which settings are independent.
const TELLING_OPTIONS: [&str; 8] = [
    "addr=",
    "clientaddr=",
    "domain=",
    "mountaddr=",
    "name=",
    "secret=",
    "user=",
    "username=",
];

/// Neither telling nor a path: layers of an overlay are others in every container.
fn is_setting(option: &str) -> bool {
    let telling = TELLING_OPTIONS
        .iter()
        .any(|telling| option.starts_with(telling));
    !telling && !option.contains('/')
}

/// What a node is, as far as its samples need it to be understood.
pub fn describe(node: &str, directories: &[(&str, &Path)], observed: Vec<String>) -> NodeRecord {
    let mut record = NodeRecord {
        node: node.to_owned(),
        kernel: rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned(),
        processors: thread::available_parallelism()
            .ok()
            .and_then(|count| u32::try_from(count.get()).ok()),
        observed,
        ..NodeRecord::default()
    };
    for (name, directory) in directories {
        let Some((mount, physical)) = host::file_systems::live(directory) else {
            record.not_measured.push(format!(
                "physical reads and writes of {name}: its file system was not found"
            ));
            continue;
        };
        let mut found = FileSystemRecord {
            mount_point: mount.point.display().to_string(),
            kind: mount.kind,
            source: mount.source,
            options: mount
                .options
                .into_iter()
                .filter(|option| is_setting(option))
                .collect(),
            ..FileSystemRecord::default()
        };
        match physical {
            host::file_systems::Physical::Devices { own, below } => {
                found.members = if own.len() > 1 {
                    own.clone()
                } else {
                    Vec::new()
                };
                found.devices = own.into_iter().chain(below).collect();
            }
            host::file_systems::Physical::Mount => found.counts_itself = true,
            host::file_systems::Physical::Hidden(why) => {
                let text = format!(
                    "physical reads and writes of {name} at {}",
                    found.mount_point
                );
                record.not_measured.push(format!("{text}: {why}"));
                found.hidden = Some(why);
            }
        }
        record.file_systems.insert((*name).to_owned(), found);
    }
    let devices = record.own_devices().unwrap_or_default().join(", ");
    if !devices.is_empty() && !record.served_mounts().is_empty() {
        record.not_measured.push(format!(
            "traffic of other programs on {devices}: the kernel counts what jobs moved there together with what they \
             moved on mounts of servers"
        ));
    }
    record
}

#[cfg(test)]
mod tests {
    use ::io::live::LiveMemory;
    use results::run::RunDirectory;

    use super::observe::Observers;
    use super::*;

    #[test]
    fn marks_end_an_interval_and_samples_follow_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let run = RunDirectory::open(directory.path());
        let path = run.samples_path("n");
        let board = Arc::new(Board::new(LiveMemory::create(1).unwrap()));
        let began = Instant::now();
        let reader = Reader::open((servers::Servers::default(), true), Observers::default());
        let sampler = Sampler::start(&path, began, board.clone(), reader).unwrap();
        sampler.mark();
        let marked = began.elapsed().as_secs_f64();
        sampler.mark();
        sampler.finish().unwrap();
        let samples = run.samples("n").unwrap();
        assert_eq!(samples.len(), 3);
        assert!(samples[0].at_s <= marked && marked <= samples[1].at_s);
        for pair in samples.windows(2) {
            let gap = pair[1].at_s - pair[1].interval_s - pair[0].at_s;
            assert!(gap.abs() < 1e-6, "{gap}");
        }
        let cpu = samples[1].cpu.as_ref().unwrap();
        let seen = readings::kernel_threads_are_seen();
        assert_eq!(cpu.kernel_threads_s.is_some(), seen);
        assert_eq!(board.shown(0).unwrap().number, 3);
        assert_eq!(board.shown(3), None);
    }

    #[test]
    fn options_of_mounts_tell_no_addresses_users_or_paths() {
        let options = [
            "rw",
            "vers=4.2",
            "rsize=1048576",
            "addr=10.0.0.1",
            "clientaddr=10.0.0.2",
            "username=ann",
            "lowerdir=/var/x",
        ];
        let kept: Vec<&str> = options.into_iter().filter(|one| is_setting(one)).collect();
        assert_eq!(kept, ["rw", "vers=4.2", "rsize=1048576"]);
    }

    #[test]
    fn a_node_tells_its_file_systems() {
        let directory = tempfile::tempdir().unwrap();
        let nowhere = directory.path().join("none");
        let named: [(&str, &Path); 2] = [("data", directory.path()), ("work", &nowhere)];
        let node = describe("n", &named, Vec::new());
        let data = &node.file_systems["data"];
        assert!(!data.kind.is_empty() && !data.mount_point.is_empty());
        let access = |option: &String| option == "rw" || option == "ro";
        assert!(data.options.iter().any(access), "{data}");
        assert!(
            node.not_measured
                .iter()
                .any(|text| text.contains("of work"))
        );
    }
}
