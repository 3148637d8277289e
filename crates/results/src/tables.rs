//! Tables of runs and reference runs alike, in the forms of the published ones.
//!
//! Each function gives one table, or none if nothing it shows was measured. What is absent in one of
//! several runs is an absent cell.

mod audits;
mod channels;
mod growth;
mod jobs;
pub mod logs;
mod nodes;
mod papers;
mod timeline;

use crate::reference;
use crate::run::{RunPlan, RunResult};
use crate::sample::Sample;
use crate::subject::Subject;
use crate::table::Table;

pub use audits::audits;
pub use channels::{calibration, channels, totals};
pub use growth::growth;
pub(crate) use jobs::time_unit;
pub use jobs::{drift, failed_operations, job_details, job_runtimes};
pub use nodes::nodes;
pub use papers::{
    StorageWay, aggregate, contradictions, cpu_real, published_sizes, published_trade_off,
    scalability, sizes, slowest, trade_off, wall_and_system,
};
pub use timeline::{throughput, throughput_rows};

/// All tables of one run, in the order in which they are read.
pub fn of_run(plan: &RunPlan, result: &RunResult, samples: &[(String, Vec<Sample>)]) -> Vec<Table> {
    let subject = Subject::of_run(plan, result);
    let one = std::slice::from_ref(&subject);
    let always = [
        totals(plan, result),
        channels(one),
        nodes(result),
        job_details(result),
        failed_operations(result),
        drift(result),
        job_runtimes(one),
    ];
    let shown = [
        scalability(one),
        slowest(one),
        aggregate(one),
        cpu_real(one),
        wall_and_system(one),
        sizes(&plan.sizes),
        calibration(one),
        throughput(samples),
        audits(result),
    ];
    always.into_iter().chain(shown).flatten().collect()
}

/// All tables of several runs or reference runs side by side.
pub fn of_several(subjects: &[Subject]) -> Vec<Table> {
    let tables = [
        job_runtimes(subjects),
        aggregate(subjects),
        cpu_real(subjects),
        wall_and_system(subjects),
        scalability(subjects),
        slowest(subjects),
        channels(subjects),
        calibration(subjects),
    ];
    tables.into_iter().flatten().collect()
}

/// All tables of a paper, each in its own form.
pub fn of_paper(document: &reference::Document) -> Vec<Table> {
    let subjects: Vec<Subject> = document.subjects();
    let mut tables = of_several(&subjects);
    tables.extend(document.sizes.as_ref().map(published_sizes));
    tables.extend(document.trade_off.as_ref().map(published_trade_off));
    tables.extend(contradictions(&document.id));
    tables
}
