//! Where the launcher says which jobs run, and the sampler what they did last.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::io::live::{LiveCounts, LiveMemory};
use ::io::process;
use results::sample::Sample;

use super::readings::Readings;

/// Between launcher and sampler.
#[derive(Debug)]
pub struct Board {
    live: LiveMemory,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Process and CPU time, as last seen, of each job that runs.
    running: BTreeMap<String, (u32, Duration)>,
    /// CPU time of jobs that have ended.
    ended_cpu: Duration,
    shown: Option<Shown>,
}

/// The last sample, and what it adds up to.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Samples so far.
    pub number: u64,
    /// The last one.
    pub sample: Sample,
    /// What all jobs have done so far by channel, as far as they let be seen.
    pub totals: Option<LiveCounts>,
}

impl Board {
    /// A board for jobs that count in `live`.
    pub fn new(live: LiveMemory) -> Self {
        Self {
            live,
            state: Mutex::default(),
        }
    }

    /// Memory in which the jobs count.
    pub const fn live(&self) -> &LiveMemory {
        &self.live
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A job's process was started.
    pub fn launched(&self, job: &str, process_id: u32) {
        let started = (process_id, Duration::ZERO);
        self.state().running.insert(job.to_owned(), started);
    }

    /// It has ended, after so much CPU time.
    pub fn ended(&self, job: &str, cpu: Duration) {
        let mut state = self.state();
        let seen = state
            .running
            .remove(job)
            .map_or(Duration::ZERO, |job| job.1);
        // Both clocks tell the same time, but one of them in other units: it never goes back.
        state.ended_cpu += cpu.max(seen);
    }

    /// Jobs that run now, and the CPU time of all jobs so far.
    pub fn running(&self) -> (u64, Duration) {
        let mut state = self.state();
        let mut cpu = state.ended_cpu;
        for (process_id, seen) in state.running.values_mut() {
            // A process that was just collected has no clock any more; its end is told soon.
            if let Some(now) = process::cpu_of(*process_id) {
                *seen = now.max(*seen);
            }
            cpu += *seen;
        }
        (state.running.len() as u64, cpu)
    }

    /// What all jobs have done so far by channel; `None` if no job lets it be seen.
    pub fn counts(&self) -> Option<LiveCounts> {
        let slots = 0..self.live.slots();
        slots
            .filter_map(|slot| self.live.counts(slot))
            .reduce(|mut total, job| {
                for (total, channel) in total.iter_mut().zip(&job) {
                    total.add(channel);
                }
                total
            })
    }

    pub(super) fn show(&self, sample: Sample, now: &Readings) {
        let mut state = self.state();
        let number = state.shown.as_ref().map_or(0, |shown| shown.number) + 1;
        state.shown = Some(Shown {
            number,
            sample,
            totals: now.channels,
        });
    }

    /// The last sample, if there is one later than number `after`.
    pub fn shown(&self, after: u64) -> Option<Shown> {
        let state = self.state();
        let shown = state.shown.as_ref().filter(|shown| shown.number > after);
        shown.cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_of_jobs_never_goes_back() {
        let board = Board::new(LiveMemory::create(1).unwrap());
        // This process stands for a job.
        board.launched("a", std::process::id());
        let (running, first) = board.running();
        assert_eq!(running, 1);
        assert!(first > Duration::ZERO);
        board.ended("a", Duration::from_nanos(1));
        assert_eq!(board.running().0, 0);
        assert!(board.running().1 >= first);
        // No process has this id.
        board.launched("b", 0x7FFF_FFF0);
        assert!(board.running().1 >= first);
        board.ended("b", Duration::from_secs(3));
        assert!(board.running().1 >= first + Duration::from_secs(3));
    }
}
