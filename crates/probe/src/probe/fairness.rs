//! Many streams at once: whether each gets its share.

use std::fs::{self, File};
use std::time::Duration;

use super::agent::{Agent, Answer, Request};
use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::stream::Moved;
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "fairness",
    title: "Whether many streams share evenly",
    shows: "the slowest over the fastest of many processes that write, and then read, a file each at the same \
            time; and what is left of a reader's rate while the others write",
    why: "users wait for the slowest of their steps: storage that serves some streams late makes some jobs long, \
          whatever the sum of all streams is",
    papers: &[
        Said {
            paper: papers::SURVEY,
            says: "one or two sorts for each core run at the same time and bring the bandwidth to its limit",
        },
        Said {
            paper: papers::ISILON,
            says: "jobs of many users overlap; single jobs are compared, not only sums",
        },
    ],
    needs: "a file system that shows whether files have left the page cache, for reads",
    run,
};

/// Streams for each process that is allowed.
const STREAMS: u32 = 2;

/// Rounds at the most.
const ROUNDS: u32 = 7;

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    let streams = (ground.options.processes * STREAMS).max(2);
    let each = (2 * ground.options.bytes / u64::from(streams)).max(1 << 20) >> 20 << 20;
    let mut agents = Vec::new();
    for stream in 0..streams {
        // Agents make no files.
        let path = ground.path(&name(stream));
        File::create_new(&path).map_err(|source| failed("make", &path, source))?;
        agents.push(ground.agent()?);
    }
    let (mut written, mut read) = (Sample::new(), Sample::new());
    let (mut alone, mut beside) = (Sample::new(), Sample::new());
    let readable = ground.hidden_cache.is_none();
    ground.rounds(ground.options.time, ROUNDS, |_| {
        written.extend(evenness(&together(ground, &mut agents, each, &|_| true)?));
        if !readable {
            return Ok(());
        }
        for stream in 0..streams {
            ground.evict(&name(stream))?;
        }
        read.extend(evenness(&together(ground, &mut agents, each, &|_| false)?));
        ground.evict(&name(0))?;
        let one = together(ground, &mut agents[..1], each, &|_| false)?;
        alone.extend(one.first().map(Moved::mb_per_s));
        ground.evict(&name(0))?;
        let all = together(ground, &mut agents, each, &|stream| stream > 0)?;
        beside.extend(all.first().map(Moved::mb_per_s));
        Ok(())
    })?;
    let detail = format!(
        "slowest over fastest of {streams} processes that write {each} bytes each and flush them"
    );
    report.sample("write_slow_over_fast", &written, "ratio", &detail);
    if let Some(why) = &ground.hidden_cache {
        report.absent("read_slow_over_fast", why.clone());
    }
    let detail = format!(
        "slowest over fastest of {streams} processes that read {each} bytes each from storage"
    );
    report.sample("read_slow_over_fast", &read, "ratio", &detail);
    let detail = "rate of a reader that is alone";
    report.sample("reader_alone_mb_per_s", &alone, "MB/s", detail);
    let detail = format!("rate of a reader while {} processes write", streams - 1);
    report.sample("reader_beside_writers_mb_per_s", &beside, "MB/s", &detail);
    for (sample, verb) in [(&written, "write"), (&read, "read")] {
        if let Some(summary) = sample.summary() {
            report.says(format!(
                "of {streams} processes that {verb} together the slowest has {} % of the rate of the fastest \
                 ({} % in the worst round)",
                short(100.0 * summary.median),
                short(100.0 * summary.min)
            ));
        }
    }
    if let Some(ratio) = beside.apart(&alone) {
        report.says(format!(
            "a reader keeps {} % of its rate while {} processes write: they share storage or processors",
            short(100.0 * ratio),
            streams - 1
        ));
    }
    remove(ground, streams)
}

fn name(stream: u32) -> String {
    format!("shared{stream}")
}

/// Space for who comes next; the folder goes anyhow.
fn remove(ground: &Ground<'_>, streams: u32) -> Result<(), Error> {
    for stream in 0..streams {
        let path = ground.path(&name(stream));
        fs::remove_file(&path).map_err(|source| failed("remove", &path, source))?;
    }
    Ok(())
}

/// All at the same time; who writes is told by the number of the stream.
fn together(
    ground: &Ground<'_>,
    agents: &mut [Agent<'_>],
    bytes: u64,
    writes: &dyn Fn(usize) -> bool,
) -> Result<Vec<Moved>, Error> {
    let time = ground.options.time;
    let pace = ground.options.pace.map(|pace| pace / agents.len() as u64);
    for (stream, agent) in agents.iter_mut().enumerate() {
        agent.tell(&Request::Stream {
            file: ground.name(&format!("shared{stream}")),
            write: writes(stream),
            bytes,
            ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            pace,
        })?;
    }
    let mut moved = Vec::new();
    for agent in agents {
        if let Answer::Moved(one) = agent.hear(time + Duration::from_mins(1))?.1 {
            moved.push(one);
        }
    }
    Ok(moved)
}

/// The slowest rate over the fastest.
fn evenness(moved: &[Moved]) -> Option<f64> {
    let rates: Vec<f64> = moved.iter().map(Moved::mb_per_s).collect();
    let slowest = rates.iter().copied().reduce(f64::min)?;
    let fastest = rates.iter().copied().reduce(f64::max)?;
    (fastest > 0.0).then(|| slowest / fastest)
}
