//! Read-ahead: what reading files in order gains from it, by the number of streams.

use std::fs::{self, File};
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use rustix::fs::{Advice, fadvise};

use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::stream::{BLOCK_BYTES, Moving};
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "readahead",
    title: "Read-ahead, by the number of streams",
    shows: "rates of 1, 2, 4, … streams that each read a file from storage in order in blocks of 128 KiB: without \
            read-ahead, with the kernel's, with twice that, and with 1 and 4 MiB asked for ahead by the \
            program",
    why: "SAS asks for one page at a time and leaves it to the kernel to read ahead; what the kernel does is a \
          setting of the device or the mount, and too small for many storage systems",
    papers: &[
        Said {
            paper: papers::RED_HAT,
            says: "read-ahead of all LUNs and logical volumes is to be raised (blockdev --setra 4096, which is \
                   2 MiB): what profiles set is typically not large enough for SAS",
        },
        Said {
            paper: papers::PURE,
            says: "blockdev --setra 16384 (8 MiB) was set on the volumes",
        },
    ],
    needs: "a file system that shows whether files have left the page cache",
    run,
};

/// How it is read ahead, with names and what that is.
const WAYS: [(Way, &str, &str); 5] = [
    (Way::Advice(Advice::Random), "none", "no read-ahead"),
    (
        Way::Advice(Advice::Normal),
        "kernel",
        "the kernel's read-ahead",
    ),
    (
        Way::Advice(Advice::Sequential),
        "sequential",
        "the kernel's read-ahead for files said to be read in order",
    ),
    (
        Way::Ahead(1 << 20),
        "ahead_1m",
        "1 MiB asked for ahead by the program",
    ),
    (
        Way::Ahead(4 << 20),
        "ahead_4m",
        "4 MiB asked for ahead by the program",
    ),
];

/// The kernel's own among them.
const KERNEL: usize = 1;

/// Rounds at the most.
const ROUNDS: u32 = 20;

#[derive(Debug, Clone, Copy)]
enum Way {
    Advice(Advice),
    Ahead(u64),
}

/// Rates of so many streams, by way.
struct Rates {
    streams: u32,
    by_way: [Sample; 5],
}

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    if let Some(why) = &ground.hidden_cache {
        report.absent("", why.clone());
        return Ok(());
    }
    let most = ground.options.processes;
    // Many small rounds say more than few large ones.
    let each = ground.options.bytes / u64::from(most).max(8);
    let each = each.max(1 << 20) >> 20 << 20;
    for stream in 0..most {
        ground.create(&name(stream), each)?;
    }
    let set = kernel_kib(&ground.folder());
    match set {
        Some(kib) => report.figure(
            "setting_kib",
            kib,
            "KiB",
            "what the kernel reads ahead of a stream, as it is set",
        ),
        None => report.absent(
            "setting_kib",
            "the kernel shows no read-ahead of this file system (/sys/class/bdi)",
        ),
    }
    let powers = (0..u32::BITS).map(|power| 1 << power);
    let mut steps: Vec<Rates> = powers
        .take_while(|streams| *streams < most)
        .chain([most])
        .map(|streams| Rates {
            streams,
            by_way: [const { Sample::new() }; 5],
        })
        .collect();
    ground.rounds(ground.options.time, ROUNDS, |round| {
        for step in &mut steps {
            for turn in 0..WAYS.len() {
                // None always comes first.
                let way = (turn + round as usize) % WAYS.len();
                for stream in 0..step.streams {
                    ground.evict(&name(stream))?;
                }
                step.by_way[way].push(together(ground, step.streams, WAYS[way].0)?);
                ground.check()?;
            }
        }
        Ok(())
    })?;
    for step in &steps {
        for ((_, name, what), rates) in WAYS.iter().zip(&step.by_way) {
            let name = format!("{name}_mb_per_s_{}", step.streams);
            let detail = format!("{what}, streams together: {}", step.streams);
            report.sample(&name, rates, "MB/s", &detail);
        }
    }
    interpret(report, &steps, set);
    Ok(())
}

fn name(stream: u32) -> String {
    format!("stream{stream}")
}

/// What the kernel reads ahead, as its settings say.
fn kernel_kib(folder: &Path) -> Option<f64> {
    let device = fs::metadata(folder).ok()?.dev();
    let number = format!(
        "{}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device)
    );
    [
        format!("/sys/class/bdi/{number}/read_ahead_kb"),
        format!("/sys/dev/block/{number}/queue/read_ahead_kb"),
        // Of a partition: its disk.
        format!("/sys/dev/block/{number}/../queue/read_ahead_kb"),
    ]
    .iter()
    .find_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok())
}

/// MB/s of so many streams until the last has ended.
fn together(ground: &Ground<'_>, streams: u32, way: Way) -> Result<f64, Error> {
    let start = Barrier::new(streams as usize + 1);
    let pace = ground.options.pace.map(|pace| pace / u64::from(streams));
    let moving = Moving {
        pace,
        ..ground.moving()
    };
    let (read, elapsed) = thread::scope(|scope| {
        let all: Vec<_> = (0..streams)
            .map(|stream| {
                let (path, start) = (ground.path(&name(stream)), &start);
                scope.spawn(move || {
                    start.wait();
                    let done = File::open(&path).and_then(|file| read(&file, way, moving));
                    done.map_err(|source| failed("read", &path, source))
                })
            })
            .collect();
        start.wait();
        let begin = Instant::now();
        let mut read = Vec::new();
        for one in all {
            read.push(one.join().unwrap_or(Err(Error::Interrupted)));
        }
        (read, begin.elapsed())
    });
    let read = read
        .into_iter()
        .collect::<Result<Vec<(u64, u64)>, Error>>()?;
    let bytes: u64 = read.iter().map(|(bytes, _)| bytes).sum();
    if pace.is_none() {
        return Ok(bytes as f64 / 1e6 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE));
    }
    // Pauses do not count.
    let rates = read
        .iter()
        .map(|(bytes, busy_ns)| *bytes as f64 * 1e3 / (*busy_ns).max(1) as f64);
    Ok(rates.sum())
}

/// Reads a file in order; bytes, and time in calls.
fn read(file: &File, way: Way, moving: Moving<'_>) -> io::Result<(u64, u64)> {
    let window = match way {
        Way::Advice(advice) => {
            fadvise(file, 0, None, advice)?;
            let moved = moving.read(file)?;
            return Ok((moved.bytes, moved.busy_ns));
        }
        Way::Ahead(window) => window,
    };
    // The program alone reads ahead.
    fadvise(file, 0, None, Advice::Random)?;
    let length = file.metadata()?.len();
    let mut asked = 0;
    let moved = moving.read_with(&mut |block, at| {
        while asked < length && asked < at + window {
            let step = window.min(1 << 20);
            fadvise(file, asked, NonZeroU64::new(step), Advice::WillNeed)?;
            asked += step;
        }
        file.read_at(block, at)
    })?;
    Ok((moved.bytes, moved.busy_ns))
}

fn interpret(report: &mut Report, steps: &[Rates], set: Option<f64>) {
    let set = set.map_or_else(String::new, |kib| format!(" ({} KiB)", short(kib)));
    let mut gained = false;
    for step in steps {
        let kernel = &step.by_way[KERNEL];
        let streams = step.streams;
        if let Some(ratio) = kernel.apart(&step.by_way[0]) {
            report.says(format!(
                "streams {streams}: the kernel's read-ahead{set} gives {} times the rate of none in blocks of \
                 {} KiB",
                short(ratio),
                BLOCK_BYTES >> 10
            ));
        }
        let better = WAYS.iter().zip(&step.by_way).skip(KERNEL + 1);
        let better = better.filter_map(|((_, _, what), rates)| Some((rates.apart(kernel)?, *what)));
        let best = better.max_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((ratio, what)) = best.filter(|(ratio, _)| *ratio > 1.0) {
            gained = true;
            report.says(format!(
                "streams {streams}: {what} gives {} times the rate of the kernel's{set}: a larger setting of \
                 the device or the mount is worth a try",
                short(ratio)
            ));
        }
    }
    if let (false, Some(step)) = (gained, steps.first()) {
        let what = format!("the kernel's read-ahead{set}, and more of it");
        report.not_apart(&what, &step.by_way[KERNEL]);
    }
}
