//! What the papers print against what follows from their own rows.

use crate::statistics::summarize;
use crate::subject::Figures;

use super::document::Document;
use super::{documents, find, jobs};

/// Two figures of a paper that should be the same and are not.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Discrepancy {
    /// Short name of the paper.
    pub document: String,
    /// Where in the paper.
    pub place: String,
    /// Of what.
    pub what: String,
    /// As printed there.
    pub printed: String,
    /// What follows from the rows, or stands elsewhere.
    pub found: String,
    /// How it was found.
    pub why: String,
}

/// All of them: those that arithmetic finds first, then those that reading found.
pub fn discrepancies() -> Vec<Discrepancy> {
    let mut found = Vec::new();
    for document in documents() {
        aggregates(document, &mut found);
        programs(document, &mut found);
        nodes(document, &mut found);
        totals(document, &mut found);
        trade_off(document, &mut found);
        deltas(document, &mut found);
        concurrency(document, &mut found);
        for contradiction in &document.contradictions {
            found.push(Discrepancy {
                document: document.id.clone(),
                place: contradiction.place.clone(),
                what: contradiction.what.clone(),
                printed: contradiction.printed.clone(),
                found: contradiction.other.clone(),
                why: contradiction.why.clone(),
            });
        }
    }
    found
}

/// `13:22`, `1:24:45`.
fn clock(seconds: f64) -> String {
    let whole = seconds.round();
    let (hours, rest) = ((whole / 3600.0).floor(), whole % 3600.0);
    let (minutes, seconds) = ((rest / 60.0).floor(), rest % 60.0);
    if hours > 0.0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// A printed time stands for the computed one, rounded or cut off to whole units.
fn stands_for(printed: f64, computed: f64, unit: f64) -> bool {
    let over = computed - printed;
    -0.5 * unit - 1e-9 <= over && over < unit
}

/// Sums, means, longest and deviations against the rows of the jobs.
fn aggregates(document: &Document, found: &mut Vec<Discrepancy>) {
    for printed in &document.printed {
        let jobs = jobs(document, &printed.run);
        if jobs.is_empty() {
            continue;
        }
        let (said, computed) = (printed.figures(), Figures::of_jobs(&jobs));
        let rows = [
            ("sum of run times", said.real_sum_s, computed.real_sum_s),
            ("mean run time", said.real_mean_s, computed.real_mean_s),
            ("longest run time", said.real_max_s, computed.real_max_s),
            (
                "standard deviation of run times",
                said.real_deviation_s,
                computed.real_deviation_s,
            ),
        ];
        for (what, said, computed) in rows {
            let Some((said, computed)) = said.zip(computed) else {
                continue;
            };
            if stands_for(said, computed, 1.0) {
                continue;
            }
            let place = document.jobs.as_ref().map_or("", |table| &table.place);
            found.push(Discrepancy {
                document: document.id.clone(),
                place: printed.place.clone(),
                what: format!("{what} of {}", printed.run),
                printed: clock(said),
                found: clock(computed),
                why: format!("computed from the {} rows of {place}", jobs.len()),
            });
        }
    }
}

/// Programs against the rows of the jobs.
fn programs(document: &Document, found: &mut Vec<Discrepancy>) {
    for run in &document.runs {
        let rows = jobs(document, &run.id).len() as u64;
        let Some(programs) = run
            .programs
            .filter(|programs| rows > 0 && *programs != rows)
        else {
            continue;
        };
        found.push(Discrepancy {
            document: document.id.clone(),
            place: document
                .jobs
                .as_ref()
                .map_or(String::new(), |table| table.place.clone()),
            what: format!("jobs of {}", run.id),
            printed: programs.to_string(),
            found: rows.to_string(),
            why: "counted".to_owned(),
        });
    }
}

/// Times by node: how many, and whether the longest of all jobs is as long as each of them.
fn nodes(document: &Document, found: &mut Vec<Discrepancy>) {
    let Some(table) = &document.slowest else {
        return;
    };
    for row in &table.rows {
        let times = row.seconds();
        let run = document.runs.iter().find(|run| run.id == row.run);
        let nodes = run.and_then(|run| run.nodes).unwrap_or_default();
        if times.len() != nodes as usize {
            found.push(Discrepancy {
                document: document.id.clone(),
                place: table.place.clone(),
                what: format!("nodes of {}", row.run),
                printed: nodes.to_string(),
                found: format!("{} times", times.len()),
                why: "one run time of the job for each node is announced".to_owned(),
            });
        }
        let longest = summarize(&times).map(|times| times.max);
        let said = document
            .printed
            .iter()
            .filter(|printed| printed.run == row.run);
        for printed in said {
            let Some((max, longest)) = printed.figures().real_max_s.zip(longest) else {
                continue;
            };
            // A time printed to the minute may have been half a minute less.
            if longest - 30.0 <= max {
                continue;
            }
            found.push(Discrepancy {
                document: document.id.clone(),
                place: printed.place.clone(),
                what: format!("longest run time of {}", row.run),
                printed: clock(max),
                found: format!("{} min", longest / 60.0),
                why: format!("{} took that long in {}", table.job, table.place),
            });
        }
    }
}

/// Totals of sizes and their ratio.
fn totals(document: &Document, found: &mut Vec<Discrepancy>) {
    let Some(sizes) = &document.sizes else { return };
    let gigabytes = |bytes: f64| bytes / f64::from(1u32 << 30);
    let sums = [0, 1, 2].map(|at| {
        sizes
            .files()
            .filter_map(|(_, bytes)| bytes[at])
            .sum::<f64>()
    });
    for (at, (text, said)) in sizes.totals.iter().zip(sizes.printed_totals()).enumerate() {
        let unit = if text.contains('.') { 0.1 } else { 1.0 };
        if said.is_some_and(|said| stands_for(gigabytes(said), gigabytes(sums[at]), unit)) {
            continue;
        }
        found.push(Discrepancy {
            document: document.id.clone(),
            place: sizes.place.clone(),
            what: format!("total of \"{}\"", sizes.columns[at]),
            printed: text.clone(),
            found: format!("{:.1} GB", gigabytes(sums[at])),
            why: format!("sum of the {} rows", sizes.rows.len()),
        });
    }
    let ratio = sums[1] / sums[2];
    if !stands_for(sizes.savings, ratio, 0.1) {
        found.push(Discrepancy {
            document: document.id.clone(),
            place: sizes.place.clone(),
            what: "storage savings ratio".to_owned(),
            printed: format!("{}:1", sizes.savings),
            found: format!("{ratio:.2}:1"),
            why: "sums of the rows, second column over third".to_owned(),
        });
    }
}

/// The job of the trade-off against its row among the run times.
fn trade_off(document: &Document, found: &mut Vec<Discrepancy>) {
    let Some(table) = &document.trade_off else {
        return;
    };
    for row in &table.rows {
        let Some(run) = &row.run else { continue };
        let jobs = jobs(document, run);
        let job = jobs.iter().find(|job| job.name == table.job);
        let Some((said, known)) = row.seconds()[2].zip(job.and_then(|job| job.real_s)) else {
            continue;
        };
        if !stands_for(said, known, 1.0) {
            found.push(Discrepancy {
                document: document.id.clone(),
                place: table.place.clone(),
                what: format!("run time of {} in {run}", table.job),
                printed: clock(said),
                found: clock(known),
                why: "its row among the run times".to_owned(),
            });
        }
    }
}

/// Printed differences against the difference of what is printed.
fn deltas(document: &Document, found: &mut Vec<Discrepancy>) {
    for delta in &document.deltas {
        let (Some(from), Some(to)) = (find(&delta.from), find(&delta.to)) else {
            continue;
        };
        let (from, to) = (from.figures, to.figures);
        let rows = [
            (
                "real time",
                delta.real_sum_min,
                60.0,
                to.real_sum_s,
                from.real_sum_s,
            ),
            (
                "memory",
                delta.memory_gb,
                1e9,
                to.memory_bytes,
                from.memory_bytes,
            ),
            (
                "user CPU time",
                delta.user_min,
                60.0,
                to.user_s,
                from.user_s,
            ),
            (
                "system CPU time",
                delta.system_min,
                60.0,
                to.system_s,
                from.system_s,
            ),
        ];
        for (what, said, unit, to, from) in rows {
            let Some((to, from)) = to.zip(from) else {
                continue;
            };
            let computed = (to - from) / unit;
            if (computed - said).abs() > 0.005 + 1e-9 {
                found.push(Discrepancy {
                    document: document.id.clone(),
                    place: delta.place.clone(),
                    what: format!("difference in {what}"),
                    printed: said.to_string(),
                    found: format!("{computed:.2}"),
                    why: "difference of the two rows".to_owned(),
                });
            }
        }
    }
}

/// Jobs at once against the sum of run times over the span.
fn concurrency(document: &Document, found: &mut Vec<Discrepancy>) {
    for printed in &document.printed {
        let Some(said) = printed.concurrency else {
            continue;
        };
        let figures = find(&printed.run)
            .map(|run| run.figures)
            .unwrap_or_default();
        let Some((sum, elapsed)) = figures.real_sum_s.zip(figures.elapsed_s) else {
            continue;
        };
        let computed = sum / elapsed;
        if (computed - said).abs() > 0.5 {
            found.push(Discrepancy {
                document: document.id.clone(),
                place: printed.place.clone(),
                what: format!("average of jobs at once of {}", printed.run),
                printed: said.to_string(),
                found: format!("{computed:.1}"),
                why: "sum of run times over the span of the workload".to_owned(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_times_are_rounded_or_cut_off() {
        assert!(stands_for(802.0, 802.21, 1.0) && stands_for(1018.0, 1017.76, 1.0));
        assert!(!stands_for(792.0, 802.21, 1.0) && !stands_for(803.0, 802.21, 1.0));
        assert_eq!(
            (clock(802.21), clock(49_978.0)),
            ("13:22".into(), "13:52:58".into())
        );
    }
}
