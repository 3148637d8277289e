//! Quantities with their unit in the type. MB = 10^6 bytes, MiB = 2^20 bytes.

use std::fmt;
use std::time::Duration;

/// A number of bytes.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Kibibytes to bytes.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// Mebibytes to bytes.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// Gibibytes to bytes.
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// The number in megabytes (10^6 bytes).
    pub fn megabytes(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// Decimal units with three significant digits: `950 B`, `1.25 MB`, `12.3 GB`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["B", "kB", "MB", "GB", "TB", "PB"];
        if self.0 < 1000 {
            return write!(f, "{} B", self.0);
        }
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 999.5 && unit + 1 < units.len() {
            value /= 1000.0;
            unit += 1;
        }
        let decimals = match value {
            v if v < 9.995 => 2,
            v if v < 99.95 => 1,
            _ => 0,
        };
        write!(f, "{value:.decimals$} {}", units[unit])
    }
}

/// Bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Rate(pub f64);

impl Rate {
    /// `bytes` moved in `elapsed`; `None` when no time passed, since no rate was measured then.
    pub fn of(bytes: Bytes, elapsed: Duration) -> Option<Self> {
        let seconds = elapsed.as_secs_f64();
        (seconds > 0.0).then(|| Self(bytes.0 as f64 / seconds))
    }

    /// MB/s (10^6 bytes per second).
    pub fn megabytes_per_second(self) -> f64 {
        self.0 / 1e6
    }
}

/// `834 MB/s`, `1.25 GB/s`.
impl fmt::Display for Rate {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is never negative and far below 2^64 bytes per second"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", Bytes(self.0 as u64))
    }
}

/// Reads a size as SAS options and Gristmill's flags write it: `131072`, `128k`, `768M`, `1g`, `2t`
/// (binary multiples, as SAS defines them), `0ffx` (hexadecimal), `MAX`-style words excluded.
///
/// Returns `None` for anything else, including a product above 2^63.
pub fn parse_size(text: &str) -> Option<Bytes> {
    let text = text.trim();
    if let Some(hex) = text.strip_suffix(['x', 'X']) {
        return u64::from_str_radix(hex, 16).ok().map(Bytes);
    }
    let (digits, shift) = match text.chars().last()?.to_ascii_lowercase() {
        'k' => (&text[..text.len() - 1], 10),
        'm' => (&text[..text.len() - 1], 20),
        'g' => (&text[..text.len() - 1], 30),
        't' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let number: f64 = digits.parse().ok()?;
    let bytes = number * f64::from(1u32 << (shift / 2)) * f64::from(1u32 << (shift / 2));
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !plain || !(0.0..9.2e18).contains(&bytes) || bytes.fract() != 0.0 {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "range and fraction were checked above"
    )]
    Some(Bytes(bytes as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_sas_writes_them() {
        for (text, bytes) in [
            ("131072", 131_072),
            ("128k", 131_072),
            ("768M", 768 << 20),
            ("1g", 1 << 30),
            ("2T", 2 << 40),
            ("1.5k", 1536),
            ("0ffx", 255),
        ] {
            assert_eq!(parse_size(text), Some(Bytes(bytes)), "{text}");
        }
        for text in ["", "k", "-1k", "1e3", "12q", "0.3", "inf", "MAX"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    #[test]
    fn bytes_print_three_significant_digits() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_250_000, "1.25 MB"),
            (12_340_000_000, "12.3 GB"),
            (999_600, "1.00 MB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn no_time_means_no_rate() {
        assert_eq!(Rate::of(Bytes(5), Duration::ZERO), None);
        assert_eq!(
            Rate::of(Bytes(5_000_000), Duration::from_secs(2)),
            Some(Rate(2.5e6))
        );
    }
}
