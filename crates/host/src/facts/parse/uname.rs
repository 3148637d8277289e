//! `uname -a`, and `/proc/version` or `/proc/sys/kernel/osrelease` where it is missing.

use super::{Found, base, found};
use crate::facts::Key;

/// Reads either: `Linux host 4.18.0-80.el8.x86_64 #1 SMP … x86_64 x86_64 x86_64 GNU/Linux`.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let line = text.lines().next().unwrap_or_default();
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (("osrelease", [kernel]) | (_, ["Linux", _, kernel, ..])) = (base(path), fields.as_slice())
    else {
        return Vec::new();
    };
    let known = ["x86_64", "aarch64", "ppc64le", "s390x"];
    let architecture = known.iter().find(|name| fields.contains(name));
    let architecture = architecture
        .or_else(|| known.iter().find(|name| kernel.ends_with(**name)))
        .map(|name| found(Key::plain("os", "architecture"), *name, 1));
    let mut facts = vec![found(Key::plain("os", "kernel"), *kernel, 1)];
    facts.extend(architecture);
    facts
}
