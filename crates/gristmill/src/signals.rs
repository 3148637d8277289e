//! Which signals end a command, and which must not.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

/// A file that may not grow further (`ulimit -f`) is an error of the call that writes it, not the end of the command,
/// which has WORK to remove. Programs that are started are as they were.
pub fn survive_file_limits() -> io::Result<()> {
    let nobody_asks = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, nobody_asks).map(|_| ())
}

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
