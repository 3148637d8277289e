//! Sizes of operations, and whether they begin where blocks of the file system begin.

use std::fs::{self, File};

use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::stream::{Moved, Moving};
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "pages",
    title: "Page sizes and alignment",
    shows: "rates of writing a file (flush included) and of reading it from storage in operations of 64 KiB to \
            1 MiB, which begin at multiples of their size or 8 KiB behind them, and how many requests reach the \
            device or the server",
    why: "BUFSIZE is the size of every operation on a data set, and ALIGNSASIOFILES decides whether pages begin at \
          multiples of it or behind a header of 8 KiB; storage that splits operations at its own blocks makes \
          two of one",
    papers: &[
        Said {
            paper: papers::SURVEY,
            says: "BUFSIZE=128k and ALIGNSASIOFILES were used; many shared file systems do not put unaligned \
                   requests together, which may make much higher numbers of requests",
        },
        Said {
            paper: papers::ISILON,
            says: "SAS reads and writes storage in blocks of 128 or 256 KiB",
        },
    ],
    needs: "a file system that shows whether files have left the page cache, for reads",
    run,
};

/// Sizes of operations, KiB.
const BLOCKS_KIB: [usize; 5] = [64, 128, 256, 512, 1024];

/// What SAS is set to in the papers.
const USUAL_KIB: usize = 128;

/// Bytes of a header before the first page.
const HEAD_BYTES: u64 = 8 << 10;

/// Rounds at the most.
const ROUNDS: u32 = 20;

/// How operations go.
#[derive(Debug, Default)]
struct Way {
    block_kib: usize,
    head_bytes: u64,
    write: Sample,
    read: Sample,
    /// For each MiB.
    requests: Sample,
}

impl Way {
    fn suffix(&self) -> String {
        let aligned = if self.head_bytes == 0 {
            "aligned"
        } else {
            "offset"
        };
        format!("{}k_{aligned}", self.block_kib)
    }

    fn text(&self) -> String {
        match self.head_bytes {
            0 => format!("operations of {} KiB at multiples of it", self.block_kib),
            _ => format!(
                "operations of {} KiB behind a header of 8 KiB",
                self.block_kib
            ),
        }
    }
}

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    // Many small rounds say more than few large ones.
    let bytes = (ground.options.bytes / 8).max(1 << 20);
    let mut ways: Vec<Way> = BLOCKS_KIB
        .iter()
        .flat_map(|block_kib| {
            [0, HEAD_BYTES].map(|head_bytes| Way {
                block_kib: *block_kib,
                head_bytes,
                ..Way::default()
            })
        })
        .collect();
    ground.rounds(ground.options.time, ROUNDS, |_| {
        for way in &mut ways {
            go(ground, way, bytes)?;
        }
        // What changes over time must not always meet the same.
        ways.reverse();
        Ok(())
    })?;
    ways.sort_by_key(|way| (way.block_kib, way.head_bytes));
    for way in &ways {
        let (suffix, text) = (way.suffix(), way.text());
        report.sample(
            &format!("write_{suffix}_mb_per_s"),
            &way.write,
            "MB/s",
            &text,
        );
        report.sample(&format!("read_{suffix}_mb_per_s"), &way.read, "MB/s", &text);
        let name = format!("read_{suffix}_requests_per_mib");
        report.sample(
            &name,
            &way.requests,
            "1/MiB",
            "requests, those of others too",
        );
    }
    if let Some(why) = &ground.hidden_cache {
        report.absent("read_mb_per_s", why.clone());
    } else if ground.side.requests().is_none() {
        report.absent("read_requests_per_mib", ground.side.basis());
    }
    interpret(report, &ways);
    Ok(())
}

/// Writes a file anew, and reads it from storage.
fn go(ground: &Ground<'_>, way: &mut Way, bytes: u64) -> Result<(), Error> {
    const FILE: &str = "paged";
    let path = ground.path(FILE);
    let moving = Moving {
        block_bytes: way.block_kib << 10,
        head_bytes: way.head_bytes,
        ..ground.moving()
    };
    let written = moving.create(&path, bytes);
    let written = written.map_err(|source| failed("write", &path, source))?;
    ground.check()?;
    way.write.push(written.mb_per_s());
    if ground.hidden_cache.is_none() {
        ground.evict(FILE)?;
        let before = ground.side.requests();
        let read = File::open(&path).and_then(|file| moving.read(&file));
        let read: Moved = read.map_err(|source| failed("read", &path, source))?;
        ground.check()?;
        way.read.push(read.mb_per_s());
        let requests = before.zip(ground.side.requests());
        let requests = requests.map(|(before, after)| after.saturating_sub(before) as f64);
        let mib = read.bytes as f64 / f64::from(1 << 20);
        way.requests.extend(requests.map(|requests| requests / mib));
    }
    // Blocks of a file that is there already need not be found anew.
    fs::remove_file(&path).map_err(|source| failed("remove", &path, source))
}

fn interpret(report: &mut Report, ways: &[Way]) {
    let mut found = false;
    for (verb, of) in [
        ("written", (|way| &way.write) as fn(&Way) -> &Sample),
        ("read", |way| &way.read),
    ] {
        for pair in ways.chunks_exact(2) {
            let [aligned, offset] = pair else { continue };
            if let Some(ratio) = of(offset).apart(of(aligned)) {
                found = true;
                report.says(format!(
                    "pages of {} KiB behind a header of 8 KiB are {verb} with {} times the rate of aligned ones",
                    aligned.block_kib,
                    short(ratio)
                ));
            }
        }
        let aligned = || ways.iter().filter(|way| way.head_bytes == 0);
        let Some(usual) = aligned().find(|way| way.block_kib == USUAL_KIB) else {
            continue;
        };
        for way in aligned().filter(|way| way.block_kib != USUAL_KIB) {
            if let Some(ratio) = of(way).apart(of(usual)) {
                found = true;
                report.says(format!(
                    "pages of {} KiB are {verb} with {} times the rate of pages of {USUAL_KIB} KiB",
                    way.block_kib,
                    short(ratio)
                ));
            }
        }
    }
    if let (false, Some(way)) = (found, ways.first()) {
        report.not_apart("pages of all sizes, aligned and not", &way.write);
    }
    for pair in ways.chunks_exact(2) {
        let [aligned, offset] = pair else { continue };
        if let Some(ratio) = offset
            .requests
            .apart(&aligned.requests)
            .filter(|ratio| *ratio > 1.1)
        {
            report.says(format!(
                "pages of {} KiB behind a header of 8 KiB take {} times the requests of aligned ones",
                aligned.block_kib,
                short(ratio)
            ));
        }
    }
}
