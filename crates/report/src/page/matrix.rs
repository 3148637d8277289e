//! The figure of a factorial series: a pair of bars for each cell, as the RHEL paper draws them.

use results::matrix::Analysis;
use results::matrix::tables::of_cells;
use results::table::{Cell, Unit};
use serde::Serialize;

use crate::table::shown;

/// A cell with its bars.
#[derive(Debug, Serialize)]
pub(super) struct Bars {
    name: String,
    runs: usize,
    wall: Option<Bar>,
    system: Option<Bar>,
}

/// A sum of times over the jobs: the mean of the repeats, the smallest and the largest.
#[derive(Debug, Serialize)]
struct Bar {
    /// Length, percent of the longest.
    width: f64,
    /// Where the smallest is, and how far the largest is from it, percent; absent with one run.
    range: Option<(f64, f64)>,
    text: String,
}

/// The cells, the least sum of wall times first. System time is on the scale of wall time: it is a part of it.
pub(super) fn bars(analysis: &Analysis) -> Vec<Bars> {
    let cells = of_cells(analysis);
    let all = cells.iter().flat_map(|cell| [cell.wall_s, cell.system_s]);
    let longest = all.flatten().map(|(_, _, high)| high).fold(0.0, f64::max);
    let percent = |seconds: f64| {
        if longest > 0.0 {
            100.0 * seconds / longest
        } else {
            0.0
        }
    };
    cells
        .into_iter()
        .map(|cell| {
            let bar = |(mean, low, high): (f64, f64, f64)| Bar {
                width: percent(mean),
                range: (cell.runs > 1).then(|| (percent(low), percent(high - low))),
                text: format!("{} s", shown(&Cell::Number(mean), Unit::Seconds)),
            };
            Bars {
                wall: cell.wall_s.map(bar),
                system: cell.system_s.map(bar),
                runs: cell.runs,
                name: cell.levels.join(", "),
            }
        })
        .collect()
}
