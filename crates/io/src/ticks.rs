//! The cheapest clock that is right: the processor's time stamp counter where the kernel itself keeps
//! time by it, the monotonic clock elsewhere. Two looks cost a few nanoseconds instead of fifty, which
//! is what accounting every call needs.
//!
//! Ticks become time by the rate seen between the start of the books and now, so nothing has to be
//! calibrated first.

use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

/// Where the ticks come from, and how long they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
    start_ticks: u64,
    counter: bool,
}

/// True if the kernel trusts the counter: constant rate, the same on all processors.
fn counter_is_trusted() -> bool {
    static TRUSTED: OnceLock<bool> = OnceLock::new();
    *TRUSTED.get_or_init(|| {
        cfg!(target_arch = "x86_64")
            && fs::read_to_string(
                "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            )
            .is_ok_and(|source| source.trim() == "tsc")
    })
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    #[expect(unsafe_code, reason = "the instruction has no safe wrapper")]
    // SAFETY: reading the time stamp counter has no effect on memory; the kernel allows it to
    // programs wherever it keeps time by it.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    unreachable!("the counter is trusted on x86_64 only")
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self::with(counter_is_trusted())
    }

    fn with(counter_trusted: bool) -> Self {
        let clock = Self {
            start: Instant::now(),
            start_ticks: 0,
            counter: counter_trusted,
        };
        Self {
            start_ticks: clock.now(),
            ..clock
        }
    }

    /// Ticks since some time in the past.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        if self.counter {
            return counter();
        }
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Nanoseconds in a tick, by what passed since the start.
    pub(crate) fn ns_per_tick(&self) -> f64 {
        let ticks = self.now().saturating_sub(self.start_ticks);
        if !self.counter || ticks == 0 {
            return 1.0;
        }
        self.start.elapsed().as_nanos() as f64 / ticks as f64
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ticks_agree_with_the_monotonic_clock() {
        for clock in [Clock::start(), Clock::with(false)] {
            let (began, ticks) = (Instant::now(), clock.now());
            while began.elapsed() < Duration::from_millis(20) {}
            let (ticks, elapsed) = (clock.now() - ticks, began.elapsed());
            let ns = ticks as f64 * clock.ns_per_tick();
            let ratio = ns / elapsed.as_nanos() as f64;
            assert!((0.98..1.02).contains(&ratio), "{ratio}");
        }
    }
}
