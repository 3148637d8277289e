//! Files of `/sys/devices/system/cpu/cpu0/cpuidle/state*`: names, depths and whether they are off.

use super::{Found, after, base, found};
use crate::facts::{Key, Value};

/// Reads one.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let state = after(path, "cpuidle").filter(|_| !text.trim().is_empty());
    let fact = state.map(|state| found(Key::of("idle", state, base(path)), Value::of(text), 1));
    fact.into_iter().collect()
}
