//! Reading a SAS log beside programs that look at the same lines and know nothing of them.

use std::path::Path;

use super::beside;
use super::data::Input;
use super::groups::{Contestant, Group, other};

/// What stands above the figures.
pub(super) const INTRODUCTION: &str = "\
A log of a job with FULLSTIMER, in the page cache: source lines, NOTEs and blocks of steps, page headers within
blocks. Ours reads it into records of steps, on one thread. awk adds up the elapsed times of all blocks, which is
what a script would do; wc counts lines, which is what reading alone costs. Every contestant is a process of its own;
they take turns, each rotation begins with another one. CPU seconds are user and system time of the process (wait4). A
ratio above 1 means that ours is faster, by medians. The bar of the project is 200 MB per CPU second.";

/// Adds up what `real time` lines say, minutes and hours included.
const AWK: &str = "/^ +real time/ { n = split($3, t, \":\"); s = 0; for (i = 1; i <= n; i++) s = s * 60 + t[i]; \
                   sum += s; steps++ } END { print steps, sum }";

/// The only group: a log whose bytes are about those of so many rows of the other benchmarks.
pub(super) fn all(rows: u64, folder: &Path) -> Vec<Group> {
    let steps = rows / 3;
    let path = folder.join(format!("steps-{steps}.log"));
    let name = path.display().to_string();
    let program = beside("examples/read_logs");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let contestant = |name: &'static str, command: Vec<String>, counts: bool| Contestant {
        name,
        command,
        bytes: steps * BYTES,
        rows: None,
        counts,
        removes: None,
    };
    vec![Group {
        title: format!("Read a log of {steps} steps"),
        // awk looks for one figure, ours reads all: half its speed is far above the bar.
        least: 0.5,
        least_wall: None,
        files: vec![Input::Made {
            path,
            command: words(&[&program, "make", &steps.to_string(), "{}"]),
        }],
        cold: false,
        contestants: vec![
            contestant("ours", words(&[&program, "read", &name]), true),
            contestant("awk", other(&["awk", AWK, &name]), true),
            contestant("wc -l", other(&["wc", "-l", &name]), false),
        ],
    }]
}

/// Bytes of a step in the log that `read_logs make` writes, nearly.
const BYTES: u64 = 1064;
