//! The procedures, one file each, behind the engine's [`Procedure`] trait. [`all`] is the registry.

mod contents;
mod datasets;
mod format;
mod print;
mod sort;
mod target;

use engine::procedure::Procedure;

/// Every procedure there is.
pub fn all() -> Vec<Box<dyn Procedure>> {
    vec![
        Box::new(contents::Contents),
        Box::new(datasets::Datasets),
        Box::new(format::Formats),
        Box::new(print::Print),
        Box::new(sort::Sort),
    ]
}
