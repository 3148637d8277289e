//! The procedures, one file each, behind the engine's [`Procedure`] trait. [`all`] is the registry.

mod append;
mod by;
mod columns;
mod contents;
mod copy;
mod datasets;
mod delete;
mod diagnostics;
mod distribution;
mod effects;
mod figures;
mod format;
mod freq;
mod glm;
mod levels;
mod linear;
mod logistic;
mod means;
mod observations;
mod options;
mod print;
mod reg;
mod shown;
mod sort;
mod sql;
mod table;
mod target;

use engine::procedure::Procedure;

/// Every procedure there is.
pub fn all() -> Vec<Box<dyn Procedure>> {
    vec![
        Box::new(append::Append),
        Box::new(contents::Contents),
        Box::new(copy::Copy),
        Box::new(datasets::Datasets),
        Box::new(delete::Delete),
        Box::new(format::Formats),
        Box::new(freq::Freq),
        Box::new(glm::Glm),
        Box::new(logistic::Logistic("LOGISTIC")),
        Box::new(logistic::Logistic("HPLOGISTIC")),
        Box::new(means::Means("MEANS")),
        Box::new(means::Means("SUMMARY")),
        Box::new(options::SystemOptions),
        Box::new(print::Print),
        Box::new(reg::Reg),
        Box::new(sort::Sort),
        Box::new(sql::Sql),
    ]
}
