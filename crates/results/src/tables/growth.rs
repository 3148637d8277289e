//! Runs on growing numbers of nodes, beside the ideal line.

use crate::growth::Growth;
use crate::table::{Cell, Table, Unit};

/// Run times and throughput by nodes, over those on the fewest.
pub fn growth(growth: &Growth) -> Table {
    let mut table = Table::new(
        "growth",
        "Growth with the nodes",
        &[
            ("Nodes", Unit::Count),
            ("Runs", Unit::Count),
            ("Mean", Unit::Seconds),
            ("Longest", Unit::Seconds),
            ("Mean over the first", Unit::Ratio),
            ("MB/s", Unit::MegabytesPerSecond),
            ("Ideal MB/s", Unit::MegabytesPerSecond),
            ("Of the ideal", Unit::Percent),
        ],
    );
    for point in &growth.points {
        table.row(vec![
            Some(u64::from(point.nodes)).into(),
            Some(point.runs.len() as u64).into(),
            point.real_mean_s.into(),
            point.real_max_s.into(),
            point.growth.into(),
            point.mb_per_s.into(),
            point.ideal_mb_per_s.into(),
            Cell::from(point.of_ideal().map(|share| share * 100.0)),
        ]);
    }
    table.note(
        "MB/s (10^6 bytes) of all channels and nodes over the whole run, flush included; ideal is what as many times \
         the nodes would move if each moved what it does in the first line",
    );
    table
}
