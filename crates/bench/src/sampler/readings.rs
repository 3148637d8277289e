//! Totals at one moment: the kernel's, the jobs', the launcher's own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ::io::live::LiveCounts;
use ::io::process;
use host::block_devices::{self, BlockDevice};
use host::cores;
use host::memory::{self, MemoryUse};
use host::network::{self, Interface};
use host::processors::{self, ProcessorTimes};
use host::served::ServedMount;
use host::{file_systems, pressure};

use super::board::Board;
use super::observe::Observers;
use super::servers::Servers;

/// Threads of the kernel are looked at no more often than this, but at marks.
const KERNEL_THREADS_EVERY: Duration = Duration::from_secs(10);

/// Nor more often than this times as long as looking takes.
const KERNEL_THREADS_SHARE: u32 = 2000;

/// Totals at one moment. What nothing tells is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Readings {
    /// Since the run began, by the monotonic clock.
    pub at: Duration,
    /// Since the Unix epoch, by the wall clock.
    pub unix: Duration,
    /// Time of the processors that this process may use, and the jobs that it starts.
    pub processors: Option<ProcessorTimes>,
    /// How many of them a quota lets them have, if not all.
    pub quota: Option<f64>,
    /// Memory.
    pub memory: Option<MemoryUse>,
    /// Whole block devices that were ever used.
    pub devices: BTreeMap<String, BlockDevice>,
    /// Mounts from servers (NFS, CIFS).
    pub mounts: BTreeMap<String, ServedMount>,
    /// Interfaces that were ever used, with the speed of their links, MB/s.
    pub network: BTreeMap<String, (Interface, Option<f64>)>,
    /// Seconds stalled by resource.
    pub pressure_s: BTreeMap<String, f64>,
    /// Jobs running.
    pub running: u64,
    /// What all jobs did by channel.
    pub channels: Option<LiveCounts>,
    /// CPU time of all jobs.
    pub jobs_cpu: Duration,
    /// CPU time of this process and the commands it observes.
    pub own_cpu: Duration,
    /// CPU time of the kernel's threads, if they were looked at.
    pub kernel_threads_s: Option<f64>,
    /// The same when they were last looked at before.
    pub kernel_threads_before_s: Option<f64>,
    /// Series that others measured.
    pub observed: BTreeMap<String, f64>,
}

/// A file of the kernel's that is read again and again; absent if it cannot be opened.
#[derive(Debug, Default)]
pub(super) struct Source {
    file: Option<File>,
    text: Vec<u8>,
}

impl Source {
    pub(super) fn open(path: &str) -> Self {
        Self {
            file: File::open(path).ok(),
            text: Vec::new(),
        }
    }

    /// What it says now.
    pub(super) fn read(&mut self) -> Option<std::borrow::Cow<'_, str>> {
        let file = self.file.as_ref()?;
        let mut length = 0;
        loop {
            if self.text.len() < length + 4096 {
                self.text.resize(length + 16_384, 0);
            }
            match file.read_at(&mut self.text[length..], length as u64).ok()? {
                0 => return Some(String::from_utf8_lossy(&self.text[..length])),
                count => length += count,
            }
        }
    }
}

/// Reads everything.
#[derive(Debug)]
pub struct Reader {
    stat: Source,
    meminfo: Source,
    diskstats: Source,
    net_dev: Source,
    servers: Servers,
    pressure: [(&'static str, Source); 3],
    whole: BTreeMap<String, bool>,
    links: BTreeMap<String, Option<f64>>,
    kernel_threads: KernelThreads,
    may_use: BTreeSet<usize>,
    quota: Option<f64>,
    observers: Observers,
    /// Whether the machine is looked at, or only what the jobs do.
    machine: bool,
}

impl Reader {
    /// Opens the kernel's files. Without `machine` only the jobs are looked at: another node is the same machine,
    /// and counts it.
    pub fn open((servers, machine): (Servers, bool), observers: Observers) -> Self {
        let open = |wanted: bool, path: &str| {
            if wanted {
                Source::open(path)
            } else {
                Source::default()
            }
        };
        Self {
            stat: open(machine, "/proc/stat"),
            meminfo: open(machine, "/proc/meminfo"),
            diskstats: open(machine, "/proc/diskstats"),
            net_dev: open(machine, "/proc/net/dev"),
            servers,
            pressure: ["cpu", "io", "memory"]
                .map(|name| (name, open(machine, &format!("/proc/pressure/{name}")))),
            machine,
            whole: BTreeMap::new(),
            links: BTreeMap::new(),
            kernel_threads: KernelThreads::default(),
            may_use: cores::affinity().into_iter().collect(),
            quota: cores::quota(),
            observers,
        }
    }

    /// Time of the processors that may be used.
    fn processors(&mut self) -> Option<ProcessorTimes> {
        let may_use = &self.may_use;
        let text = self.stat.read()?;
        processors::parse(&text, |number| may_use.contains(&number))
    }

    /// The part of what the kernel's threads use that falls on these processors: they run on all of them.
    fn own_share(&mut self) -> f64 {
        let text = self.stat.read();
        let online = text.map_or(0, |text| processors::online(&text));
        (self.may_use.len() as f64 / online.max(1) as f64).min(1.0)
    }

    /// The totals now. At a mark everything is read, also what is costly.
    pub(super) fn read(&mut self, began: Instant, board: &Board, at_a_mark: bool) -> Readings {
        let kernel_threads_before_s = self.kernel_threads.total_s;
        let kernel_threads_s = if self.machine {
            self.kernel_threads.look(at_a_mark)
        } else {
            None
        };
        let share = kernel_threads_s.map_or(1.0, |_| self.own_share());
        let (running, jobs_cpu) = board.running();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Readings {
            at: began.elapsed(),
            unix: now.unwrap_or_default(),
            processors: self.processors(),
            quota: self.quota,
            memory: self.meminfo.read().and_then(|text| memory::parse(&text)),
            devices: self.devices(),
            mounts: self.servers.read(),
            network: self.network(),
            pressure_s: self.pressures(),
            running,
            channels: board.counts(),
            jobs_cpu,
            own_cpu: process::own_cpu() + self.observers.cpu(),
            kernel_threads_s: kernel_threads_s.map(|total| total * share),
            kernel_threads_before_s: kernel_threads_before_s.map(|total| total * share),
            observed: self.observers.values(),
        }
    }

    fn devices(&mut self) -> BTreeMap<String, BlockDevice> {
        let Some(text) = self.diskstats.read() else {
            return BTreeMap::new();
        };
        let mut devices = block_devices::parse(&text);
        devices.retain(|name, device| {
            let is_whole = || file_systems::is_whole_device(name);
            !device.is_unused() && *self.whole.entry(name.clone()).or_insert_with(is_whole)
        });
        devices
    }

    fn network(&mut self) -> BTreeMap<String, (Interface, Option<f64>)> {
        let Some(text) = self.net_dev.read() else {
            return BTreeMap::new();
        };
        let used = network::parse(&text).into_iter();
        used.filter(|(_, interface)| interface.received_bytes + interface.sent_bytes > 0)
            .map(|(name, interface)| {
                let speed = || network::link_mb_per_s(&name);
                let link = *self.links.entry(name.clone()).or_insert_with(speed);
                (name, (interface, link))
            })
            .collect()
    }

    fn pressures(&mut self) -> BTreeMap<String, f64> {
        let mut seconds = BTreeMap::new();
        for (name, source) in &mut self.pressure {
            let Some(text) = source.read() else { continue };
            let found = pressure::parse(&text);
            let kinds = [("some", found.some_s), ("full", found.full_s)];
            for (kind, value) in kinds {
                // That all tasks wait for a processor cannot be: the kernel says 0.
                if let Some(value) = value.filter(|_| (*name, kind) != ("cpu", "full")) {
                    seconds.insert(format!("{name}_{kind}"), value);
                }
            }
        }
        seconds
    }
}

/// CPU time of the kernel's threads. They come and go; what one had used is kept.
#[derive(Debug, Default)]
struct KernelThreads {
    /// Threads and the CPU time last seen; `None` for other processes.
    seen: BTreeMap<u32, Option<f64>>,
    total_s: Option<f64>,
    next: Option<Instant>,
}

impl KernelThreads {
    /// Their time so far, if it is time to look.
    fn look(&mut self, at_a_mark: bool) -> Option<f64> {
        let began = Instant::now();
        if !at_a_mark && self.next.is_some_and(|next| began < next) {
            return None;
        }
        let mut total = self.total_s.unwrap_or(0.0);
        // Numbers that are not there any more may be given to others.
        let mut there = BTreeMap::new();
        for process in fs::read_dir("/proc").ok()? {
            let name = process.ok()?.file_name();
            let Ok(process_id) = name.to_string_lossy().parse::<u32>() else {
                continue;
            };
            let before = self.seen.get(&process_id).copied();
            if before == Some(None) {
                there.insert(process_id, None);
                continue;
            }
            let path: PathBuf = ["/proc", &process_id.to_string(), "stat"].iter().collect();
            let Ok(text) = fs::read(path) else { continue };
            let Some(found) = processors::parse_process(&String::from_utf8_lossy(&text)) else {
                continue;
            };
            let cpu_s = found.of_kernel.then_some(found.cpu_s);
            there.insert(process_id, cpu_s);
            let before = before.flatten();
            if let Some(cpu_s) = cpu_s {
                // A number may have been given to another thread meanwhile.
                total += cpu_s - before.filter(|before| *before <= cpu_s).unwrap_or(0.0);
            }
        }
        self.seen = there;
        // Where none is seen, as in a container, they are not known.
        self.total_s = self.seen.values().any(Option::is_some).then_some(total);
        let pause = (began.elapsed() * KERNEL_THREADS_SHARE).max(KERNEL_THREADS_EVERY);
        self.next = Some(Instant::now() + pause);
        self.total_s
    }
}

/// Whether kthreadd is, as it is outside containers.
#[cfg(test)]
pub(super) fn kernel_threads_are_seen() -> bool {
    let text = fs::read_to_string("/proc/2/stat").unwrap_or_default();
    processors::parse_process(&text).is_some_and(|found| found.of_kernel)
}

#[cfg(test)]
mod tests {
    use ::io::live::LiveMemory;

    use super::*;

    #[test]
    fn this_host_can_be_read() {
        let board = Board::new(LiveMemory::create(1).unwrap());
        let mut reader = Reader::open((Servers::default(), true), Observers::default());
        let began = Instant::now();
        let first = reader.read(began, &board, false);
        let second = reader.read(began, &board, false);
        let (early, late) = (first.processors.unwrap(), second.processors.unwrap());
        assert!(late.user_s >= early.user_s && late.idle_s >= early.idle_s);
        assert!(second.memory.unwrap().total_bytes > 0);
        assert_eq!(second.channels, None);
        assert_eq!(first.kernel_threads_s.is_some(), kernel_threads_are_seen());
        assert!(second.kernel_threads_s.is_none() || !kernel_threads_are_seen());
        assert!(reader.read(began, &board, true).kernel_threads_s >= first.kernel_threads_s);
    }
}
