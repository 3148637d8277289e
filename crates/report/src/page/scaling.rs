//! Run times and throughput over the number of nodes, beside what would be ideal.

use results::growth::{Growth, Point};
use serde::Serialize;

use super::number::short;

/// The drawing, in its own units.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 34.0;

/// Room above the highest figure.
const ABOVE: f64 = 1.08;

/// A figure over the nodes.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    id: &'static str,
    title: &'static str,
    about: String,
    unit: &'static str,
    /// What a reader who does not see the drawing hears.
    said: String,
    /// Ends of the axes: left, right, top, bottom.
    frame: [f64; 4],
    /// Places and labels.
    across: Vec<(f64, String)>,
    up: Vec<(f64, String)>,
    /// What would be ideal, as points of a line.
    ideal: String,
    /// What was measured.
    measured: String,
    dots: Vec<Dot>,
    /// The knee: its place and what stands there.
    knee: Option<(f64, String)>,
}

#[derive(Debug, Serialize)]
struct Dot {
    x: f64,
    y: f64,
    said: String,
}

/// Where nodes and figures are drawn.
struct Scale {
    nodes: f64,
    top: f64,
}

impl Scale {
    fn x(&self, nodes: f64) -> f64 {
        tenths(LEFT + nodes / self.nodes * (WIDTH - LEFT - RIGHT))
    }

    fn y(&self, value: f64) -> f64 {
        tenths(HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM))
    }
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Both figures, each if it was measured.
pub(super) fn figures(growth: &Growth) -> Vec<Figure> {
    let points = &growth.points;
    let allowed = format!(
        "Mean elapsed time of the jobs over that on the fewest nodes. Ideally it stays at 1, the dashed line; up to \
         {:.2} counts as holding.",
        growth.limit
    );
    let times = drawn(points, |one| one.growth, |_| Some(1.0), None);
    let rates = drawn(
        points,
        |one| one.mb_per_s,
        |one| one.ideal_mb_per_s,
        growth.knee.as_ref().map(|knee| knee.nodes),
    );
    let times = times.map(|figure| Figure {
        id: "growth-of-times",
        title: "Run times",
        about: allowed,
        unit: "",
        ..figure
    });
    let rates = rates.map(|figure| Figure {
        id: "growth-of-throughput",
        title: "Throughput",
        about: "All channels and nodes together, flush included. On the dashed line each node moves what it does on \
                the fewest."
            .to_owned(),
        unit: "MB/s",
        ..figure
    });
    times.into_iter().chain(rates).collect()
}

/// A figure without its words; `None` if fewer than two points have it.
fn drawn(
    points: &[Point],
    measured: impl Fn(&Point) -> Option<f64>,
    ideal: impl Fn(&Point) -> Option<f64>,
    knee: Option<f64>,
) -> Option<Figure> {
    let known: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|one| Some((f64::from(one.nodes), measured(one)?)))
        .collect();
    let wished: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|one| Some((f64::from(one.nodes), ideal(one)?)))
        .collect();
    let last = known.iter().skip(1).map(|(nodes, _)| *nodes).next_back()?;
    let values = || known.iter().chain(&wished).map(|(_, value)| *value);
    let highest = values().fold(0.0, f64::max);
    let (steps, top) = ticks(highest * ABOVE)?;
    let scale = Scale { nodes: last, top };
    let line = |points: &[(f64, f64)]| {
        let places = points
            .iter()
            .map(|(nodes, value)| format!("{},{}", scale.x(*nodes), scale.y(*value)));
        places.collect::<Vec<String>>().join(" ")
    };
    let words = |(nodes, value): &(f64, f64)| format!("{} on {nodes} nodes", short(*value));
    Some(Figure {
        id: "",
        title: "",
        about: String::new(),
        unit: "",
        said: known.iter().map(words).collect::<Vec<String>>().join(", "),
        frame: [LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM],
        across: points
            .iter()
            .map(|one| (scale.x(f64::from(one.nodes)), one.nodes.to_string()))
            .collect(),
        up: steps
            .into_iter()
            .map(|value| (scale.y(value), short(value)))
            .collect(),
        ideal: line(&wished),
        measured: line(&known),
        dots: known
            .iter()
            .map(|point| Dot {
                x: scale.x(point.0),
                y: scale.y(point.1),
                said: words(point),
            })
            .collect(),
        knee: knee
            .filter(|nodes| *nodes <= last)
            .map(|nodes| (scale.x(nodes), format!("{nodes:.1}"))),
    })
}

/// Round figures from 0 to above `highest`, and the last of them.
fn ticks(highest: f64) -> Option<(Vec<f64>, f64)> {
    if !highest.is_finite() || highest <= 0.0 {
        return None;
    }
    let rough = highest / 4.0;
    let power = 10f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    let step = factors
        .iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)?;
    let below = (0..)
        .map(|at| f64::from(at) * step)
        .take_while(|value| *value < highest);
    let mut steps: Vec<f64> = below.collect();
    let top = steps.len() as f64 * step;
    steps.push(top);
    Some((steps, top))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_round_figures() {
        let (steps, top) = ticks(43.0).unwrap();
        assert_eq!((steps, top), (vec![0.0, 20.0, 40.0, 60.0], 60.0));
        assert_eq!(ticks(1.08).map(|(_, top)| top), Some(1.5));
        assert_eq!(ticks(0.0), None);
    }
}
