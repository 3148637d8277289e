//! Clock and resource usage behind a trait, so that the engine's accounting can be tested with
//! staged figures and a run never reads a clock it was not given.

use std::time::Duration;

/// What the process has used so far. Every field is a running total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Monotonic clock since an arbitrary start.
    pub real: Duration,
    /// User CPU time of all threads.
    pub user: Duration,
    /// System CPU time of all threads.
    pub system: Duration,
    /// Major page faults (`ru_majflt`), SAS's "Page Faults".
    pub page_faults: u64,
    /// Minor page faults (`ru_minflt`), SAS's "Page Reclaims".
    pub page_reclaims: u64,
    /// `ru_nswap`.
    pub page_swaps: u64,
    /// `ru_nvcsw`.
    pub voluntary_switches: u64,
    /// `ru_nivcsw`.
    pub involuntary_switches: u64,
    /// 512-byte blocks read from a device (`ru_inblock`).
    pub block_input: u64,
    /// 512-byte blocks written towards a device (`ru_oublock`).
    pub block_output: u64,
    /// Time waited because the program asked to ([`Meter::sleep`]).
    pub slept: Duration,
}

/// Local wall-clock time, for time stamps in logs and file headers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WallClock {
    /// Seconds since 1960-01-01 00:00 local time, SAS's datetime value.
    pub sas_datetime: f64,
    /// Seconds that local time is ahead of UTC.
    pub utc_offset: f64,
}

/// Where time and usage come from.
pub trait Meter: Send + Sync {
    /// Totals of this process up to now.
    fn usage(&self) -> Usage;
    /// Peak of resident memory, bytes (`VmHWM`). Apart from the totals, since it costs more to ask for
    /// than a small step takes.
    fn memory_peak_bytes(&self) -> u64;
    /// Starts the peak of resident memory again at its present value, where the system can.
    fn reset_memory_peak(&self) {}
    /// Local time now.
    fn wall(&self) -> WallClock;
    /// Waits, where time passes.
    fn sleep(&self, time: Duration) {
        let _ = time;
    }
    /// CPU time of this process up to now, as finely as it is known.
    fn cpu(&self) -> Duration {
        let usage = self.usage();
        usage.user + usage.system
    }
    /// Spends CPU time, all of it together on so many threads at once; returns how long that took.
    fn burn(&self, cpu: Duration, threads: usize) -> Duration {
        let _ = (cpu, threads);
        Duration::ZERO
    }
    /// Waits in place of computing, which is not [`Usage::slept`]; returns how long that took.
    fn idle(&self, time: Duration) -> Duration {
        let _ = time;
        Duration::ZERO
    }
}

/// A meter that always answers the same: for tests, and for bytes that must not depend on the clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedMeter {
    /// The answer to [`Meter::usage`].
    pub usage: Usage,
    /// The answer to [`Meter::memory_peak_bytes`].
    pub memory_peak_bytes: u64,
    /// The answer to [`Meter::wall`].
    pub wall: WallClock,
}

impl Meter for FixedMeter {
    fn usage(&self) -> Usage {
        self.usage
    }

    fn memory_peak_bytes(&self) -> u64 {
        self.memory_peak_bytes
    }

    fn wall(&self) -> WallClock {
        self.wall
    }
}
