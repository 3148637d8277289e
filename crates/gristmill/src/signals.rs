//! Which signals end a command.

use std::fs;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// SIGINT, SIGTERM, and SIGHUP unless whoever started the command told it not to listen to that one, as `nohup` does.
pub fn ending() -> Vec<i32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut all = vec![SIGINT, SIGTERM];
    all.extend((!is_ignored(&status, SIGHUP)).then_some(SIGHUP));
    all
}

/// Whether a process ignores a signal, by its file `status` in /proc.
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_told_by_their_bits() {
        let status = "Name:\tx\nSigIgn:\t0000000000000001\n";
        assert!(is_ignored(status, SIGHUP));
        assert!(!is_ignored(status, SIGINT));
        assert!(!is_ignored("SigIgn:\t0000000000004002\n", SIGHUP));
        assert!(!is_ignored("", SIGHUP));
    }
}
