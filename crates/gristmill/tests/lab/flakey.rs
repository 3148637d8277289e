//! A device that keeps wrong bytes.

use super::probe::probe;
use super::{dir, mount};

#[test]
#[ignore = "needs a lab: lab/test flakey"]
fn wrong_bytes_are_found_where_there_are_some() {
    // This also brings what the file system needs for itself into memory, so that only data are spoiled later.
    let found = probe(&dir(), &["--only", "corruption"]);
    found.is("corruption_wrong_bytes", 0.0);
    found.is("corruption_wrong_operated_cold_bytes", 0.0);
    assert_eq!(found.code, Some(0));
    mount("spoiled");
    let found = probe(&dir(), &["--only", "corruption"]);
    assert!(found.known("corruption_wrong_bytes") > 0.0);
    assert_eq!(found.code, Some(1), "wrong data are wrong");
}
