//! The nodes of a run on several, side by side.

use crate::run::RunResult;
use crate::table::{Cell, Table, Unit};

/// What each node did, how evenly, and how well they began together.
pub fn nodes(result: &RunResult) -> Option<Table> {
    let mut table = Table::new(
        "nodes",
        "Nodes",
        &[
            ("Node", Unit::Text),
            ("Jobs", Unit::Count),
            ("Ended well", Unit::Count),
            ("Mean", Unit::Seconds),
            ("Longest", Unit::Seconds),
            ("MB/s", Unit::MegabytesPerSecond),
            ("Began late", Unit::Microseconds),
            ("Clock ahead", Unit::Microseconds),
            ("known to", Unit::Microseconds),
            ("Read back by", Unit::Text),
        ],
    );
    let microseconds = |seconds: Option<f64>| Cell::from(seconds.map(|seconds| seconds * 1e6));
    for node in &result.nodes {
        table.row(vec![
            Cell::text(&node.node),
            Some(u64::from(node.jobs)).into(),
            Some(u64::from(node.done)).into(),
            node.real_mean_s.into(),
            node.real_max_s.into(),
            node.mb_per_s.into(),
            microseconds(node.start_late_s),
            microseconds(node.clock_offset_s),
            microseconds(node.clock_uncertainty_s),
            match &*node.verified_by {
                [] => Cell::Absent,
                nodes => Cell::text(nodes.join(", ")),
            },
        ]);
    }
    let rates: Option<Vec<f64>> = result.nodes.iter().map(|node| node.mb_per_s).collect();
    let rates = rates.filter(|rates| rates.len() > 1);
    if let Some(rates) = rates {
        let lowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = rates.iter().copied().fold(0.0, f64::max);
        if highest > 0.0 {
            table.note(format!(
                "the slowest node moved {:.0} % of what the fastest moved a second",
                lowest / highest * 100.0
            ));
        }
    }
    table.note(
        "MB/s (10^6 bytes) that the jobs of the node read and wrote from its first launch to its last end; all times \
         are on the first node's clock",
    );
    (!table.rows.is_empty()).then_some(table)
}
