//! Times of access: whether reading moves them, and what that costs.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ::io::cache;
use rustix::fs::{AtFlags, CWD, OFlags, StatxFlags, statx};

use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "atime",
    title: "Whether reading changes times of access",
    shows: "whether the first read of a file whose time of access is two days old moves that time, how many of \
            four further reads do, and what reading small files costs with and without it (O_NOATIME)",
    why: "where every read is also a change of metadata, reads cost writes, and on file systems that are shared, \
          coordination; a server whose reads change files makes NFS clients forget what they have read",
    papers: &[
        Said {
            paper: papers::SURVEY,
            says: "noatime improved all benchmarks and is recommended where nothing needs times of access",
        },
        Said {
            paper: papers::PURE,
            says: "the file systems were mounted with noatime and nodiratime",
        },
    ],
    needs: "",
    run,
};

/// Reads after the first.
const FURTHER: u32 = 4;

/// Files for the cost.
const FILES: u32 = 200;
const FILES_GENTLE: u32 = 20;

/// Rounds at the most.
const ROUNDS: u32 = 15;

/// Clocks of file systems are coarse.
const BETWEEN: Duration = Duration::from_millis(30);

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    let path = ground.path("read");
    let failing = |source| failed("read and look at", &path, source);
    fs::write(&path, [1; 4096]).map_err(failing)?;
    let (first, further) = moves(&path).map_err(failing)?;
    let detail = "whether reading a file whose time of access is two days old moved that time";
    report.answer("first_read_moves", first, detail);
    let detail = format!(
        "of {FURTHER} reads after that, each from storage, those that moved the time of access"
    );
    report.figure("further_reads_move", f64::from(further), "reads", detail);
    report.says(match (first, further) {
        (false, 0) => "reading does not move times of access here, as with noatime".to_owned(),
        (true, 0) => "the first read of a day moves the time of access and further ones do not, as with \
                      relatime".to_owned(),
        (true, FURTHER) => "every read moves the time of access, as with strictatime: a change of metadata for \
                            each read; noatime avoids it"
            .to_owned(),
        (first, further) => format!(
            "the first read {} the time of access, and {further} of {FURTHER} further ones do: none of noatime, \
             relatime and strictatime alone does that, so that something in between keeps times for a while",
            if first { "moves" } else { "does not move" }
        ),
    });
    cost(ground, report)
}

/// Whether the first read moves the time of access, and how many of the further ones.
fn moves(path: &Path) -> io::Result<(bool, u32)> {
    const DAY: Duration = Duration::from_hours(24);
    let now = SystemTime::now();
    let times = FileTimes::new()
        .set_accessed(now - 2 * DAY)
        .set_modified(now - 3 * DAY);
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_times(times)?;
    drop(file);
    let mut before = accessed(path)?;
    let mut read = || {
        thread::sleep(BETWEEN);
        // Reads that memory serves never reach a server.
        cache::evict(path)?;
        File::open(path)?.read_at(&mut [0; 4096], 0)?;
        let after = accessed(path)?;
        let moved = after != before;
        before = after;
        io::Result::Ok(moved)
    };
    let first = read()?;
    let mut further = 0;
    for _ in 0..FURTHER {
        further += u32::from(read()?);
    }
    Ok((first, further))
}

/// The time of access as the server has it, not as it was some seconds ago.
fn accessed(path: &Path) -> io::Result<(i64, u32)> {
    let about = statx(CWD, path, AtFlags::STATX_FORCE_SYNC, StatxFlags::ATIME)?;
    Ok((about.stx_atime.tv_sec, about.stx_atime.tv_nsec))
}

/// What reading small files costs whose times of access are old, with and without moving them.
fn cost(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    let files = if ground.options.gentle {
        FILES_GENTLE
    } else {
        FILES
    };
    let paths: Vec<_> = (0..files)
        .map(|number| ground.path(&format!("s{number}")))
        .collect();
    for path in &paths {
        fs::write(path, [1; 512]).map_err(|source| failed("write", path, source))?;
    }
    let (mut moving, mut still) = (Sample::new(), Sample::new());
    ground.rounds(ground.options.time, ROUNDS, |round| {
        // What comes first may pay for both.
        let mut ways = [
            (&mut moving, OFlags::empty()),
            (&mut still, OFlags::NOATIME),
        ];
        if round.is_multiple_of(2) {
            ways.reverse();
        }
        for (sample, flags) in ways {
            let mut time = Duration::ZERO;
            for path in &paths {
                ground.check()?;
                time += one(path, flags).map_err(|source| failed("read", path, source))?;
            }
            sample.push_us(time / files);
        }
        Ok(())
    })?;
    let detail = "opening, reading and closing a small file whose time of access is old";
    report.sample("read_us", &moving, "us", detail);
    report.sample("read_noatime_us", &still, "us", "the same with O_NOATIME");
    match moving.apart(&still) {
        Some(ratio) => report.says(format!(
            "reading a small file takes {} times as long as without moving its time of access, in the program that \
             reads; what is written later is not in it",
            short(ratio)
        )),
        None => report.not_apart("reading with and without moving times of access", &moving),
    }
    Ok(())
}

fn one(path: &Path, flags: OFlags) -> io::Result<Duration> {
    let old = SystemTime::now() - Duration::from_hours(48);
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_times(FileTimes::new().set_accessed(old))?;
    drop(file);
    let begin = Instant::now();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0))
        .open(path)?;
    file.read_at(&mut [0; 512], 0)?;
    drop(file);
    Ok(begin.elapsed())
}
