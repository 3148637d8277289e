//! Pressure stall information (/proc/pressure): how long tasks waited for a resource.

use crate::fields::number;

/// Seconds stalled since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pressure {
    /// At least one task waited.
    pub some_s: Option<f64>,
    /// All tasks that were not idle waited.
    pub full_s: Option<f64>,
}

/// A file of /proc/pressure.
pub fn parse(text: &str) -> Pressure {
    let total = |which: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(which))?;
        let mut fields = line.split_ascii_whitespace();
        let microseconds = fields.find_map(|field| field.strip_prefix("total="))?;
        Some(number(microseconds)? as f64 / 1e6)
    };
    Pressure {
        some_s: total("some "),
        full_s: total("full "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_in_microseconds() {
        let text = "some avg10=0.23 avg60=1.35 avg300=1.31 total=851806114\n\
                    full avg10=0.20 avg60=1.27 avg300=1.23 total=524774874\n";
        let pressure = parse(text);
        assert_eq!(pressure.some_s, Some(851.806_114));
        assert_eq!(pressure.full_s, Some(524.774_874));
    }

    #[test]
    fn an_older_kernel_has_no_full_line_for_processors() {
        let pressure = parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
        assert_eq!((pressure.some_s, pressure.full_s), (Some(7e-6), None));
        assert_eq!(parse("some total=x\nfull"), Pressure::default());
    }
}
