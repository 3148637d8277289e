//! How runs on growing numbers of nodes compare: whether run times hold, how far throughput follows the ideal line,
//! and from how many nodes on it does not (the question of the Isilon paper's Table 2).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::run::JobResult;
use crate::statistics::summarize;
use crate::subject::{ON_OTHERS, Subject};
use crate::thresholds::{Measure, Thresholds};

/// Throughput follows the ideal line as long as it is this share of it.
const FOLLOWS_SHARE: f64 = 0.9;

/// Throughput does not grow any more if more nodes bring no more than this factor.
const SAME_FACTOR: f64 = 1.05;

/// What runs on growing numbers of nodes show.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Growth {
    /// By nodes, at least two.
    pub points: Vec<Point>,
    /// Mean run times may be so many times those of the fewest nodes and still hold.
    pub limit: f64,
    /// The largest number of nodes at which, and at all smaller ones, run times hold; absent where they are not
    /// known.
    pub holds_to: Option<u32>,
    /// Where throughput leaves the ideal line; absent if it follows it to the last.
    pub knee: Option<Knee>,
    /// What it comes to, a sentence each.
    pub statements: Vec<String>,
}

/// The runs on one number of nodes; figures are means over them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Nodes.
    pub nodes: u32,
    /// Runs, by name.
    pub runs: Vec<String>,
    /// Mean elapsed time of the jobs, seconds.
    pub real_mean_s: Option<f64>,
    /// That of the longest job, seconds.
    pub real_max_s: Option<f64>,
    /// Mean elapsed time over that on the fewest nodes.
    pub growth: Option<f64>,
    /// Throughput of all channels and nodes, flush included, MB/s (10^6).
    pub mb_per_s: Option<f64>,
    /// What as many times the nodes would move if each moved what it does on the fewest, MB/s.
    pub ideal_mb_per_s: Option<f64>,
}

/// Where throughput leaves the ideal line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knee {
    /// The most that all nodes reach together over what a node moves on the fewest: so many nodes can be fed.
    pub nodes: f64,
    /// Throughput there, MB/s (10^6).
    pub mb_per_s: f64,
    /// Throughput still rose at the last: the knee may lie further up.
    pub at_least: bool,
}

impl Point {
    /// Throughput over that of the ideal line.
    pub fn of_ideal(&self) -> Option<f64> {
        Some(self.mb_per_s? / self.ideal_mb_per_s.filter(|ideal| *ideal > 0.0)?)
    }
}

/// What follows from the number of nodes; and which of them began.
const OF_NODES: [&str; 4] = ["batches side by side", "copies", "cores", "node"];

/// Whether this of a run's configuration follows from the number of its nodes.
pub(crate) fn follows_from_nodes(name: &str) -> bool {
    OF_NODES.contains(&name) || name.ends_with(ON_OTHERS)
}

/// What these runs show; `None` unless they are of one suite at one scale and of one configuration, on at least two
/// numbers of nodes.
pub fn growth(runs: &[Subject]) -> Option<Growth> {
    let first = runs.first()?;
    if !runs.iter().all(|run| of_one_load(run, first)) || !apart(runs).is_empty() {
        return None;
    }
    let mut by_nodes: BTreeMap<u32, Vec<&Subject>> = BTreeMap::new();
    for run in runs {
        by_nodes.entry(run.nodes?).or_default().push(run);
    }
    let mut points: Vec<Point> = by_nodes
        .into_iter()
        .map(|(nodes, runs)| point(nodes, &runs))
        .collect();
    if points.len() < 2 {
        return None;
    }
    let base = points[0].clone();
    for point in &mut points {
        let base_s = base.real_mean_s.filter(|seconds| *seconds > 0.0);
        point.growth = point.real_mean_s.zip(base_s).map(|(own, base)| own / base);
        let times = f64::from(point.nodes) / f64::from(base.nodes);
        point.ideal_mb_per_s = base.mb_per_s.map(|rate| rate * times);
    }
    let limit = limit();
    let holds = |point: &&Point| point.growth.is_some_and(|growth| growth <= limit);
    let holds_to = points.iter().take_while(holds).last().map(|one| one.nodes);
    let knee = knee(&points);
    let statements = statements(&points, limit, holds_to, knee.as_ref());
    Some(Growth {
        points,
        limit,
        holds_to,
        knee,
        statements,
    })
}

/// Why runs on several numbers of nodes show no growth although they are of one suite at one scale: they are of several
/// systems or configurations. `None` where that does not keep them from showing it.
pub fn unlike(runs: &[Subject]) -> Option<String> {
    let first = runs.first()?;
    let nodes: BTreeSet<u32> = runs.iter().filter_map(|run| run.nodes).collect();
    let of_one_load = runs.iter().all(|run| of_one_load(run, first));
    let apart = apart(runs);
    if nodes.len() < 2 || !of_one_load || apart.is_empty() {
        return None;
    }
    Some(format!(
        "what more nodes do is not shown: the runs differ in {} too, so that a difference may be that one's",
        apart.join(", ")
    ))
}

fn of_one_load(run: &Subject, other: &Subject) -> bool {
    run.suite == other.suite && run.scale == other.scale
}

/// In what runs differ that does not follow from the number of nodes.
fn apart(runs: &[Subject]) -> Vec<&str> {
    let Some((first, others)) = runs.split_first() else {
        return Vec::new();
    };
    let mut found: Vec<&str> = Vec::new();
    if others.iter().any(|run| run.system != first.system) {
        found.push("storage");
    }
    let names: BTreeSet<&str> = runs
        .iter()
        .flat_map(|run| run.configuration.keys().map(String::as_str))
        .collect();
    let of_configuration = names.into_iter().filter(|name| {
        let value = |run: &Subject| run.configuration.get(*name).cloned();
        !follows_from_nodes(name) && others.iter().any(|run| value(run) != value(first))
    });
    found.extend(of_configuration);
    found
}

/// What the published requirements allow.
fn limit() -> f64 {
    let all = Thresholds::published().requirements.into_iter();
    let mut of_growth = all.filter(|one| one.measure == Measure::Growth);
    let limit = of_growth.find_map(|one| one.at_most);
    limit.expect("the built-in requirements have a limit of growth")
}

fn point(nodes: u32, runs: &[&Subject]) -> Point {
    let failed = |run: &&Subject| run.jobs.iter().any(JobResult::has_failed);
    let mean = |figure: &dyn Fn(&Subject) -> Option<f64>| {
        let whole = runs.iter().filter(|run| !failed(run));
        let figures: Option<Vec<f64>> = whole.map(|run| figure(run)).collect();
        Some(summarize(&figures?)?.mean)
    };
    Point {
        nodes,
        runs: runs.iter().map(|run| run.name.clone()).collect(),
        real_mean_s: mean(&|run| run.figures.real_mean_s),
        real_max_s: mean(&|run| run.figures.real_max_s),
        growth: None,
        mb_per_s: mean(&|run| run.figures.mb_per_s),
        ideal_mb_per_s: None,
    }
}

/// The knee, if the last point is off the ideal line.
fn knee(points: &[Point]) -> Option<Knee> {
    let (first, last) = (points.first()?, points.last()?);
    last.of_ideal().filter(|share| *share < FOLLOWS_SHARE)?;
    let rates: Vec<f64> = points.iter().filter_map(|one| one.mb_per_s).collect();
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let before = rates.iter().rev().nth(1)?;
    let of_node = first.mb_per_s? / f64::from(first.nodes);
    Some(Knee {
        nodes: highest / of_node,
        mb_per_s: highest,
        at_least: last.mb_per_s? > before * SAME_FACTOR,
    })
}

fn statements(
    points: &[Point],
    limit: f64,
    holds_to: Option<u32>,
    knee: Option<&Knee>,
) -> Vec<String> {
    let mut said = vec![times(points, limit, holds_to)];
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return said;
    };
    let share = last.of_ideal().map(|share| share * 100.0);
    said.push(match (share, knee) {
        (None, _) => "how throughput grows is not known: a run has no such figure".to_owned(),
        (Some(share), None) => format!(
            "throughput grows with the nodes: {} of them reach {share:.0} % of the ideal line",
            last.nodes
        ),
        (Some(share), Some(knee)) => {
            let which = if knee.at_least { " or more" } else { "" };
            format!(
                "all nodes together reach {:.0} MB/s{which}, which feeds {:.1} nodes{which} at the {:.0} MB/s that \
                 each moves on {}; {} nodes reach {share:.0} % of the ideal line",
                knee.mb_per_s,
                knee.nodes,
                knee.mb_per_s / knee.nodes,
                counted(first.nodes),
                last.nodes
            )
        }
    });
    said
}

fn counted(nodes: u32) -> String {
    let word = if nodes == 1 { "node" } else { "nodes" };
    format!("{nodes} {word}")
}

fn times(points: &[Point], limit: f64, holds_to: Option<u32>) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return String::new();
    };
    let beyond = points
        .iter()
        .find(|one| one.growth.is_none_or(|growth| growth > limit));
    let base = counted(first.nodes);
    match (beyond, beyond.and_then(|one| one.growth), holds_to) {
        (None, _, _) => format!(
            "run times hold to {} nodes: their mean is at most {:.2} times that on {base}",
            last.nodes,
            points
                .iter()
                .filter_map(|one| one.growth)
                .fold(0.0, f64::max)
        ),
        (Some(beyond), Some(growth), Some(to)) if to > first.nodes => format!(
            "run times hold to {to} nodes; on {} their mean is {growth:.2} times that on {base} ({limit:.2} allowed)",
            beyond.nodes
        ),
        (Some(beyond), Some(growth), _) => format!(
            "run times do not hold: on {} nodes their mean is {growth:.2} times that on {base} ({limit:.2} allowed)",
            beyond.nodes
        ),
        (Some(_), None, _) => {
            "whether run times hold is not known: a run has no such figure".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;
    use crate::subject::Figures;

    fn run(nodes: u32, real_mean_s: f64, mb_per_s: f64) -> Subject {
        Subject {
            name: format!("on-{nodes}"),
            nodes: Some(nodes),
            figures: Figures {
                real_mean_s: Some(real_mean_s),
                real_max_s: Some(real_mean_s * 2.0),
                mb_per_s: Some(mb_per_s),
                ..Figures::default()
            },
            ..Subject::default()
        }
    }

    #[test]
    fn runs_with_failed_jobs_are_no_points_of_growth() {
        let mut failed = run(2, 10.0, 400.0);
        failed.jobs.push(JobResult {
            exit: Some(2),
            ..JobResult::default()
        });
        let base = run(1, 20.0, 200.0);
        assert_eq!(point(2, &[&failed]).real_mean_s, None);
        assert_eq!(point(1, &[&base]).real_mean_s, Some(20.0));
    }

    #[test]
    fn the_knee_is_what_all_reach_over_what_one_moves() {
        // A storage of 45 MB/s, nodes that ask for 10 each, in any order, one of them twice.
        let runs = [
            run(8, 178.0, 45.0),
            run(1, 100.0, 10.0),
            run(2, 100.0, 19.0),
            run(2, 104.0, 21.0),
            run(4, 101.0, 40.0),
            run(6, 133.0, 44.5),
        ];
        let found = growth(&runs).unwrap();
        assert_eq!(found.holds_to, Some(4));
        let knee = found.knee.unwrap();
        assert!((knee.nodes - 4.5).abs() < 1e-9 && !knee.at_least);
        assert_eq!(found.points[1].runs, ["on-2", "on-2"]);
        assert_eq!(found.points[1].growth, Some(1.02));
        insta::assert_snapshot!(found.statements.join("\n").replace("; 8", ";\n  8"), @r"
        run times hold to 4 nodes; on 6 their mean is 1.33 times that on 1 node (1.10 allowed)
        all nodes together reach 45 MB/s, which feeds 4.5 nodes at the 10 MB/s that each moves on 1 node;
          8 nodes reach 56 % of the ideal line
        ");
    }

    #[test]
    fn throughput_that_still_rises_has_a_knee_further_up() {
        let found = growth(&[run(1, 100.0, 10.0), run(4, 160.0, 25.0)]).unwrap();
        assert!(found.knee.unwrap().at_least);
        assert_eq!(found.holds_to, Some(1));
        let lines = found.statements.join("\n").replace("; 4", ";\n  4");
        insta::assert_snapshot!(lines.replace(" at the", "\n  at the"), @r"
        run times do not hold: on 4 nodes their mean is 1.60 times that on 1 node (1.10 allowed)
        all nodes together reach 25 MB/s or more, which feeds 2.5 nodes or more
          at the 10 MB/s that each moves on 1 node;
          4 nodes reach 62 % of the ideal line
        ");
    }

    #[test]
    fn a_figure_that_is_missing_is_said_to_be() {
        let mut second = run(2, 100.0, 20.0);
        second.figures = Figures::default();
        let found = growth(&[run(1, 100.0, 10.0), second]).unwrap();
        assert_eq!((found.holds_to, found.knee), (Some(1), None));
        insta::assert_snapshot!(found.statements.join("\n"), @r"
        whether run times hold is not known: a run has no such figure
        how throughput grows is not known: a run has no such figure
        ");
    }

    fn paper(name: &str) -> Subject {
        reference::find(name).unwrap()
    }

    /// 25:14 of the one storage and 13:22 of the other have no mean.
    #[test]
    fn runs_of_several_storages_are_no_points_of_one_curve() {
        let storages = ["isilon-f800", "isilon-f810", "isilon-f810-12"].map(paper);
        assert_eq!(growth(&storages), None);
        let found = growth(&storages[1..]).unwrap();
        assert_eq!(found.points[0].runs, ["paper:isilon-f810"]);
        assert_eq!(unlike(&storages[1..]), None);
        insta::assert_snapshot!(
            unlike(&storages).unwrap(),
            @"what more nodes do is not shown: the runs differ in storage too, so that a difference may be that one's"
        );
    }

    #[test]
    fn neither_are_runs_of_several_configurations() {
        let of = |nodes: u32, array: &str| {
            let configuration = [
                ("label array", array),
                ("cores", if nodes == 1 { "12" } else { "24" }),
                ("node", if nodes == 1 { "n1" } else { "n7" }),
            ];
            Subject {
                configuration: configuration
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into(),
                ..run(nodes, 100.0, 10.0 * f64::from(nodes))
            }
        };
        assert!(growth(&[of(1, "a"), of(2, "a")]).is_some());
        let runs = [of(1, "a"), of(1, "b"), of(2, "b")];
        assert_eq!(growth(&runs), None);
        assert!(unlike(&runs).unwrap().contains("differ in label array too"));
        // On one number of nodes nobody asks.
        assert_eq!(unlike(&runs[..2]), None);
    }

    #[test]
    fn what_is_not_alike_or_did_not_grow_shows_no_growth() {
        let mut other = run(2, 1.0, 1.0);
        other.scale = Some(0.5);
        assert_eq!(growth(&[run(1, 1.0, 1.0), other]), None);
        assert_eq!(growth(&[run(2, 1.0, 1.0), run(2, 1.0, 1.0)]), None);
        assert_eq!(growth(&[]), None);
    }

    #[test]
    fn the_isilon_papers_runs_hold_as_it_says() {
        let all = reference::documents()
            .iter()
            .flat_map(reference::Document::subjects);
        let runs: Vec<Subject> = all
            .filter(|one| one.name.starts_with("paper:isilon-f810") && one.suite == "multiuser")
            .collect();
        let found = growth(&runs).unwrap();
        assert_eq!(found.points.last().map(|one| one.nodes), Some(12));
        assert_eq!(found.holds_to, Some(12), "{found:?}");
    }
}
