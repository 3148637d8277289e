//! What several sources tell together: cores, virtualisation, cloud, release, what is below a
//! mount, roles of paths.

mod gpfs;
mod idle;
mod layout;
mod machine;
mod paths;

pub(crate) use layout::whole;
pub(crate) use paths::is_of_kernel;

use super::Facts;
use super::collect::Given;

/// Adds what follows from what was read.
pub(crate) fn derive(facts: &mut Facts, given: &Given) {
    machine::derive(facts, given);
    idle::derive(facts);
    layout::derive(facts);
    gpfs::derive(facts);
    paths::derive(facts, given);
    // Thousands of processes say nothing about storage.
    let kinds: Vec<String> = facts
        .subjects("process")
        .into_iter()
        .filter(|process| facts.of("process", process, "kind").is_some())
        .map(str::to_owned)
        .collect();
    facts.forget(|key| {
        key.class == "process"
            && key
                .subject
                .as_ref()
                .is_some_and(|process| !kinds.contains(process))
    });
}
