//! Finding duplicate blocks beside hashing and reading alone.

use std::path::Path;

use super::data::{Input, ROW_BYTES};
use super::gristmill;
use super::groups::{Contestant, Group, other, work};

/// What stands above the figures.
pub(super) const INTRODUCTION: &str = "\
`gristmill data squeeze --no-compression` on one thread: blocks of 4, 8 and 128 KiB of a file of random bytes, all of
them different, which is the most that there is to remember. Once with memory for all of them, once with 16 MiB, so that
hashes are sampled. XXH3 alone hashes the same bytes in blocks of 4 KiB, read before into memory: that is the limit, and
keeps no table; its CPU seconds are those of hashing. dd reads the file in pieces of 1 MiB. The file is in the page
cache. Every contestant is a process of its own; they take turns, each rotation begins with another one. CPU seconds
are user and system time of the process (wait4). A ratio above 1 means that ours is faster, by medians. The bar of the
project is 1 GB per CPU second; the one below says how much of the limit is left beside reading and tables. Others'
load is what all other processes kept busy meanwhile, in cores.";

/// Both groups, for a file of about the bytes of so many rows.
pub(super) fn all(rows: u64, folder: &Path) -> Vec<Group> {
    let mib = (rows * ROW_BYTES).div_ceil(1 << 20);
    let path = folder.join(format!("random-{mib}"));
    let name = path.display().to_string();
    let file = Input::Made {
        path,
        command: other(&[
            "/usr/bin/dd",
            "if=/dev/urandom",
            "of={}",
            "bs=1M",
            "iflag=fullblock",
            &format!("count={mib}"),
        ]),
    };
    let contestant = |name: &'static str, command: Vec<String>, counts: bool| Contestant {
        name,
        command,
        bytes: mib << 20,
        rows: None,
        counts,
        removes: None,
    };
    let group = |title: &str, memory: &str| Group {
        title: format!("Find duplicates in {mib} MiB, {title}"),
        least: 0.2,
        least_wall: None,
        cold: false,
        files: vec![file.clone()],
        contestants: vec![
            contestant(
                "ours",
                other(&[
                    &gristmill(),
                    "data",
                    "squeeze",
                    "--no-compression",
                    "--no-sas",
                    "--threads",
                    "1",
                    "--memory",
                    memory,
                    &name,
                ]),
                true,
            ),
            contestant("XXH3 alone", work(&["hash", &name]), true),
            contestant(
                "dd",
                other(&["dd", &format!("if={name}"), "of=/dev/null", "bs=1M"]),
                false,
            ),
        ],
    };
    vec![
        group("all remembered", "1G"),
        group("hashes sampled", "16M"),
    ]
}
