//! Pace: each step spends the CPU time that SAS spends on steps of its kind, while its rows move.
//!
//! Whoever reads or writes rows pays for them (`Toll`); what is owed beyond the CPU time that the step
//! has used is spent at once, so that the step's I/O comes as slowly as SAS's.

pub mod table;
mod toll;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::meter::Meter;

pub use self::table::Table;
pub(crate) use self::toll::{Toll, TolledFile};

use self::table::Cost;

/// Less than this is not worth a look at the clock.
const SLICE: Duration = Duration::from_millis(1);

/// Less than this is not worth a wait: who waits finds the caches cold, which costs as much as the rows of
/// several pages. At 100 MB/s it is 5 MB, no more than what read-ahead of a tuned host asks for at once.
const WAIT: Duration = Duration::from_millis(50);

/// How CPU time is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// By computing, as SAS would.
    Busy,
    /// By waiting, so that few cores stand in for many.
    Sleep,
}

impl By {
    /// The least that is spent at once, but for a step's rest.
    const fn least(self) -> Duration {
        match self {
            Self::Busy => SLICE,
            Self::Sleep => WAIT,
        }
    }

    /// The name on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Sleep => "sleep",
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What SAS spends.
    pub table: Table,
    /// Factor on that.
    pub factor: f64,
    /// How it is spent.
    pub by: By,
}

/// What pacing did in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct PaceUse {
    /// Kind of the table that the step was taken for.
    pub kind: String,
    /// Bytes of rows read and written.
    pub bytes: f64,
    /// Rows read and written.
    pub rows: f64,
    /// CPU time that the table says.
    pub owed: Duration,
    /// Elapsed time of that which the table says of a step that moves nothing.
    pub fixed: Duration,
    /// Elapsed time spent pacing.
    pub spent: Duration,
    /// CPU time that waiting stood in for.
    pub stood_in: Duration,
}

impl fmt::Display for PaceUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Pace of {}: {:.3} MB and {:.0} rows cost {:.3} CPU seconds; {:.3} seconds were spent pacing.",
            self.kind,
            self.bytes / 1e6,
            self.rows,
            self.owed.as_secs_f64(),
            self.spent.as_secs_f64()
        )
    }
}

/// The step in progress.
#[derive(Debug, Clone)]
struct Step {
    kind: String,
    cost: Cost,
    threads: usize,
    bytes: f64,
    rows: f64,
    /// CPU time of the process when the step began.
    began: Duration,
    owed: Duration,
    spent: Duration,
    stood_in: Duration,
    /// Nothing is to be paid before this much is owed.
    clear: Duration,
}

/// Keeps the pace of a session.
pub struct Pace {
    request: Request,
    meter: Arc<dyn Meter>,
    step: Mutex<Option<Step>>,
}

impl Pace {
    /// Nothing is paid outside of steps.
    pub fn new(request: Request, meter: Arc<dyn Meter>) -> Self {
        Self {
            request,
            meter,
            step: Mutex::new(None),
        }
    }

    fn step(&self) -> MutexGuard<'_, Option<Step>> {
        self.step.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A step begins; `name` is `DATA` or the procedure's. It may use up to `threads` threads.
    pub(crate) fn begin(&self, name: &str, threads: usize) {
        let (kind, cost) = self.request.table.kind(name);
        *self.step() = Some(Step {
            kind: kind.to_owned(),
            cost,
            threads: if cost.threads { threads.max(1) } else { 1 },
            bytes: 0.0,
            rows: 0.0,
            began: self.meter.cpu(),
            owed: self.seconds(cost.s_per_step),
            spent: Duration::ZERO,
            stood_in: Duration::ZERO,
            clear: Duration::ZERO,
        });
    }

    /// Threads that SAS would use in the step in progress, at most `threads`.
    pub(crate) fn threads(&self, threads: usize) -> usize {
        self.step()
            .as_ref()
            .map_or(threads, |step| step.threads.min(threads))
    }

    /// Rows were read or written. Returns once the step has spent what it owes; other threads of the step
    /// that come here meanwhile wait.
    pub(crate) fn pay(&self, bytes: f64, rows: f64) {
        let mut step = self.step();
        let Some(step) = step.as_mut() else { return };
        step.bytes += bytes;
        step.rows += rows;
        let cost = self.seconds(step.cost.of(bytes, rows));
        step.owed = step.owed.saturating_add(cost);
        let slice = self.request.by.least() * u32::try_from(step.threads).unwrap_or(u32::MAX);
        if step.owed >= step.clear.saturating_add(slice) {
            self.settle(step, slice);
        }
    }

    /// The step ends: pays the rest, and tells what was done.
    pub(crate) fn end(&self) -> Option<PaceUse> {
        let mut step = self.step().take()?;
        self.settle(&mut step, Duration::ZERO);
        // Who woke late did not compute meanwhile.
        let used = self.meter.cpu().saturating_sub(step.began);
        let stood_in = step.stood_in.min(step.owed.saturating_sub(used));
        let threads = u32::try_from(step.threads).unwrap_or(u32::MAX);
        Some(PaceUse {
            fixed: self.seconds(step.cost.s_per_step) / threads,
            kind: step.kind,
            bytes: step.bytes,
            rows: step.rows,
            owed: step.owed,
            spent: step.spent,
            stood_in,
        })
    }

    fn seconds(&self, seconds: f64) -> Duration {
        Duration::try_from_secs_f64(seconds * self.request.factor).unwrap_or(Duration::MAX / 4)
    }

    /// Spends what is owed beyond what was used, if it is at least `least`.
    fn settle(&self, step: &mut Step, least: Duration) {
        let used = self.meter.cpu().saturating_sub(step.began) + step.stood_in;
        let debt = step.owed.saturating_sub(used);
        step.clear = used;
        if debt.is_zero() || debt < least {
            return;
        }
        match self.request.by {
            By::Busy => step.spent += self.meter.burn(debt, step.threads),
            By::Sleep => {
                let threads = u32::try_from(step.threads).unwrap_or(u32::MAX);
                let idle = self.meter.idle(debt / threads);
                step.spent += idle;
                step.stood_in += idle * threads;
            }
        }
        step.clear = step.owed;
    }
}

#[cfg(test)]
mod tests;
