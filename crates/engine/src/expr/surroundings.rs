//! What functions know of the world, and what they remember from one call to the next.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::meter::Meter;
use lang::Macros;

use super::function::random::Random;
use super::function::special::Queue;
use super::pattern::Patterns;
use super::routine::Requests;
use crate::format::user::Formats;

/// One for each step; the default has no clock and no formats of the user's.
#[derive(Clone, Default)]
pub struct Surroundings {
    meter: Option<Arc<dyn Meter>>,
    /// Formats made by PROC FORMAT.
    pub formats: Arc<Formats>,
    /// Macro variables as SYMGET sees them.
    pub macros: Option<Box<Macros>>,
    /// Streams of random numbers.
    pub random: Random,
    /// What CALL routines asked for.
    pub requests: Requests,
    /// LAG and DIF by their place in the program.
    pub queues: BTreeMap<usize, Queue>,
    /// Regular expressions of PRX functions.
    pub patterns: Patterns,
    /// What they may take together, bytes.
    pub memory: u64,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").finish_non_exhaustive()
    }
}

/// Surroundings are no part of what evaluation finds.
impl PartialEq for Surroundings {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Surroundings {}

impl Surroundings {
    /// The surroundings of a step of a session.
    pub fn new(meter: Arc<dyn Meter>, formats: Arc<Formats>) -> Self {
        Self {
            meter: Some(meter),
            formats,
            ..Self::default()
        }
    }

    /// Local time, as a datetime value.
    pub fn now(&self) -> f64 {
        self.meter
            .as_ref()
            .map_or(0.0, |meter| meter.wall().sas_datetime)
    }

    /// A number that differs from call to call, for streams without a seed.
    pub fn entropy(&self) -> u64 {
        self.now().to_bits()
            ^ self.meter.as_ref().map_or(0, |meter| {
                u64::try_from(meter.usage().real.as_nanos()).unwrap_or(0)
            })
    }

    /// Waits.
    pub fn sleep(&self, time: Duration) {
        if let Some(meter) = &self.meter {
            meter.sleep(time);
        }
    }
}
