//! How far a run's figures can be trusted: what else happened, what measuring cost, what was not
//! measured.

use serde::Serialize;

use super::Run;
use super::number::{figure, percent};

/// A statement about the run itself.
#[derive(Debug, Serialize)]
pub(super) struct Statement {
    text: String,
    /// Beyond its limit: the run shows nothing.
    exceeded: bool,
}

fn plain(text: String) -> Statement {
    Statement {
        text,
        exceeded: false,
    }
}

/// All statements, those that matter most first.
pub(super) fn all(run: &Run) -> Vec<Statement> {
    let all = &run.result.aggregate;
    let mut statements: Vec<Statement> = run
        .result
        .disturbance
        .iter()
        .map(|one| Statement {
            text: one.statement.clone(),
            exceeded: one.exceeded,
        })
        .collect();
    statements.sort_by_key(|statement| !statement.exceeded);
    let cost = all.launcher_cpu_s.zip(all.launcher_cpu_share);
    statements.extend(cost.map(|(cpu, share)| {
        plain(format!(
            "Launcher and sampler took {} s of processor time, {} of one core",
            figure(cpu),
            percent(share)
        ))
    }));
    let absent = run.nodes.iter().flat_map(|node| &node.not_measured);
    statements.extend(absent.map(|text| plain(format!("Not measured: {text}"))));
    statements
}
