//! What stays of a file when memory is short: a process reads it in a group with little memory, and then takes
//! most of that memory for itself.

use super::memory_group::MemoryGroup;
use crate::probe::Error;
use crate::probe::agent::{Agent, Answer, Request};
use crate::probe::figures::{Report, Sample, short};
use crate::probe::ground::Ground;

/// The file is no smaller: a group has a few MB for other things, too.
const FILE_BYTES_LEAST: u64 = 16 << 20;

/// Memory of the group beyond the file.
const BEYOND_BYTES: u64 = 24 << 20;

/// What of it the process leaves: it needs some for itself.
const LEFT_BYTES: u64 = 4 << 20;

/// The file.
const FILE: &str = "pressed";

/// Rounds.
const ROUNDS: u32 = 3;

pub(super) fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    const NAME: &str = "pressure_kept_share";
    if !ground.options.pressure {
        report.absent(NAME, "needs --pressure, and the right to make a cgroup");
        return Ok(());
    }
    if let Some(why) = &ground.hidden_cache {
        report.absent(NAME, why.clone());
        return Ok(());
    }
    let file_bytes = (ground.options.bytes / 4).max(FILE_BYTES_LEAST);
    ground.create(FILE, file_bytes)?;
    // All of the file fits, and then little more than a quarter of it beside what the process takes.
    let limit = BEYOND_BYTES + file_bytes;
    let taken = file_bytes / 4 * 3 + BEYOND_BYTES - LEFT_BYTES;
    let (mut before, mut after, mut again) =
        (Sample::default(), Sample::default(), Sample::default());
    for _ in 0..ROUNDS {
        let pressed = match round(ground, limit, taken)? {
            Ok(pressed) => pressed,
            Err(why) => {
                report.absent(NAME, why);
                return Ok(());
            }
        };
        before.extend(pressed.before);
        after.extend(pressed.after);
        again.extend(pressed.again);
    }
    let detail = "share of a file in memory after a process of a small group read it";
    report.sample("pressure_before_kept_share", &before, "share", detail);
    let detail = format!(
        "the same after it took {taken} of the {limit} bytes of memory that the group may have"
    );
    report.sample(NAME, &after, "share", &detail);
    let detail = "share of it that was read from storage when the process read it again";
    report.sample("pressure_read_again_share", &again, "share", detail);
    if let Some((before, after)) = before.median().zip(after.median()) {
        let mut text = format!(
            "of a file of {} MB, {} % were in memory after it was read in a group of {} MB, and {} % after a \
             process there took {} MB",
            short(file_bytes as f64 / 1e6),
            short(100.0 * before),
            short(limit as f64 / 1e6),
            short(100.0 * after),
            short(taken as f64 / 1e6),
        );
        if after < before {
            text.push_str(": what jobs take for themselves is taken from the page cache");
        }
        report.says(text);
    }
    Ok(())
}

/// Shares of a round.
#[derive(Debug, Default)]
struct Pressed {
    before: Option<f64>,
    after: Option<f64>,
    again: Option<f64>,
}

/// A round; else why there is none.
fn round(ground: &Ground<'_>, limit: u64, taken: u64) -> Result<Result<Pressed, String>, Error> {
    ground.check()?;
    // Pages belong to the group that brought them in.
    ground.evict(FILE)?;
    let group = match MemoryGroup::make(limit) {
        Ok(group) => group,
        Err(why) => return Ok(Err(why)),
    };
    let mut agent = ground.agent()?;
    let joined = agent.process_id().map(|id| group.take(id));
    if let Some(Err(error)) = joined {
        return Ok(Err(format!(
            "no process may be moved into a group: {error}"
        )));
    }
    let file = || ground.name(FILE);
    let pace = ground.options.pace;
    agent.order(&Request::Read { file: file(), pace })?;
    let share = |agent: &mut Agent<'_>| -> Result<Option<f64>, Error> {
        Ok(match agent.ask(&Request::Pages { file: file() })? {
            Answer::Pages {
                cached: Some((cached, all)),
            } => Some(cached as f64 / all.max(1) as f64),
            _ => None,
        })
    };
    let before = share(&mut agent)?;
    agent.order(&Request::Take { bytes: taken })?;
    let after = share(&mut agent)?;
    let again = match agent.ask(&Request::Read { file: file(), pace })? {
        Answer::Moved(moved) => moved
            .physical_bytes
            .map(|physical| physical as f64 / moved.bytes.max(1) as f64),
        _ => None,
    };
    // The group can go when nobody is in it.
    drop(agent);
    drop(group);
    Ok(Ok(Pressed {
        before,
        after,
        again,
    }))
}
