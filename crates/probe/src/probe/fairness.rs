//! Many streams at once: whether each gets its share.

use std::fs::File;
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
            says: "the times of single jobs are printed beside their sum",
        },
    ],
    needs: "a file system that shows whether files have left the page cache, for reads",
    run,
};

/// Streams for each process that is allowed.
const STREAMS: u32 = 2;

/// Processes that are done sooner have hardly been at work together.
const SHORT: Duration = Duration::from_millis(250);

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
    let mut found = Shares::default();
    ground.rounds(ground.options.time, ROUNDS, |_| {
        let all = together(ground, &mut agents, each, &|_| true)?;
        let ends = all
            .iter()
            .map(|moved| Duration::from_nanos(moved.elapsed_ns));
        found.longest = ends.fold(found.longest, Duration::max);
        found.written.extend(evenness(&all));
        if ground.hidden_cache.is_some() {
            return Ok(());
        }
        for stream in 0..streams {
            ground.evict(&name(stream))?;
        }
        let all = together(ground, &mut agents, each, &|_| false)?;
        found.read.extend(evenness(&all));
        ground.evict(&name(0))?;
        let one = together(ground, &mut agents[..1], each, &|_| false)?;
        found.alone.extend(one.first().map(Moved::mb_per_s));
        ground.evict(&name(0))?;
        let all = together(ground, &mut agents, each, &|stream| stream > 0)?;
        found.beside.extend(all.first().map(Moved::mb_per_s));
        Ok(())
    })?;
    if let Some(why) = &ground.hidden_cache {
        report.absent("read_slow_over_fast", why.clone());
    }
    found.tell(report, streams, each);
    Ok(())
}

/// What was found.
#[derive(Debug, Default)]
struct Shares {
    /// Slowest over fastest who write.
    written: Sample,
    /// Slowest over fastest who read.
    read: Sample,
    /// Rates of a reader.
    alone: Sample,
    /// Rates of a reader while others write.
    beside: Sample,
    /// The longest that a process wrote.
    longest: Duration,
}

impl Shares {
    fn tell(&self, report: &mut Report, streams: u32, each: u64) {
        let writers = streams - 1;
        for (sample, verb, how) in [
            (&self.written, "write", "and flush them"),
            (&self.read, "read", "from storage"),
        ] {
            let detail = format!(
                "slowest over fastest of {streams} processes that {verb} {each} bytes each {how}"
            );
            report.sample(&format!("{verb}_slow_over_fast"), sample, "ratio", &detail);
            if let Some(summary) = sample.summary() {
                report.says(format!(
                    "of {streams} processes that {verb} together the slowest has {} % of the rate of the fastest \
                     ({} % in the worst round)",
                    short(100.0 * summary.median),
                    short(100.0 * summary.min)
                ));
            }
        }
        let detail = "rate of a reader that is alone";
        report.sample("reader_alone_mb_per_s", &self.alone, "MB/s", detail);
        let detail = format!("rate of a reader while others write: {writers}");
        report.sample(
            "reader_beside_writers_mb_per_s",
            &self.beside,
            "MB/s",
            &detail,
        );
        if self.longest < SHORT {
            report.says(format!(
                "no process wrote for longer than {} s: they were at work together for too short a time to say \
                 much (--size makes files larger)",
                short(self.longest.as_secs_f64())
            ));
        }
        if let Some(ratio) = self.beside.apart(&self.alone) {
            report.says(format!(
                "a reader keeps {} % of its rate while others write ({writers}): they share storage or processors",
                short(100.0 * ratio)
            ));
        }
    }
}

fn name(stream: u32) -> String {
    format!("shared{stream}")
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
