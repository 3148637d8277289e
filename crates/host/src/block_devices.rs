//! Traffic of block devices (/proc/diskstats).

use std::collections::BTreeMap;

use crate::fields::{number, numbers};

/// Sectors of /proc/diskstats have this size whatever the device's is.
const SECTOR_BYTES: u64 = 512;

/// Totals of a device since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockDevice {
    /// Its number, major and minor.
    pub number: (u64, u64),
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time of all reads, ms.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time of all writes, ms.
    pub write_ms: u64,
    /// Time with at least one request outstanding, ms.
    pub busy_ms: u64,
    /// Requests outstanding, added up over time, ms.
    pub queue_ms: u64,
}

impl BlockDevice {
    /// True if nothing was ever asked of it.
    pub const fn is_unused(&self) -> bool {
        self.reads == 0 && self.writes == 0
    }
}

/// Devices and partitions by name.
pub fn parse(diskstats: &str) -> BTreeMap<String, BlockDevice> {
    diskstats.lines().filter_map(device).collect()
}

fn device(line: &str) -> Option<(String, BlockDevice)> {
    let mut fields = line.split_ascii_whitespace();
    let number = (number(fields.next()?)?, number(fields.next()?)?);
    let name = fields.next()?;
    let counts = numbers(line, 3);
    let count = |place: usize| counts.get(place).copied();
    let device = BlockDevice {
        number,
        reads: count(0)?,
        read_bytes: count(2)?.saturating_mul(SECTOR_BYTES),
        read_ms: count(3)?,
        writes: count(4)?,
        write_bytes: count(6)?.saturating_mul(SECTOR_BYTES),
        write_ms: count(7)?,
        busy_ms: count(9)?,
        queue_ms: count(10)?,
    };
    Some((name.to_owned(), device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stand_where_the_kernel_says() {
        let devices = parse(include_str!("captured/diskstats"));
        let vda = devices["vda"];
        assert_eq!(vda.number, (254, 0));
        assert_eq!(
            (vda.reads, vda.read_bytes),
            (8_258_716, 3_308_069_594 * 512)
        );
        assert_eq!(
            (vda.writes, vda.write_bytes),
            (1_285_791, 4_456_024_040 * 512)
        );
        assert_eq!((vda.read_ms, vda.write_ms), (15_729_250, 16_061_639));
        assert_eq!((vda.busy_ms, vda.queue_ms), (2_108_596, 32_226_764));
        assert!(devices["loop0"].is_unused());
        assert_eq!(devices["sda1"].writes, 74);
    }

    #[test]
    fn lines_cut_short_are_left_out() {
        assert!(parse("8 0 sda 1 2 3\n\nx y z\n8\n").is_empty());
        let huge = "8 0 sda 1 2 99999999999999999 4 5 6 7 8 9 10 11\n";
        assert_eq!(parse(huge)["sda"].read_bytes, u64::MAX);
    }
}
