//! A file system that hides its physical side.

use std::path::Path;

use super::dir;
use super::probe::{probe, with_peer};
use super::run::run;

#[test]
#[ignore = "needs a lab: lab/test fuse"]
fn local_locks_do_not_exclude_and_that_is_wrong() {
    let found = with_peer(&["--only", "locks"]);
    found.is("locks_exclude", 1.0);
    found.is("locks_exclude_peer", 0.0);
    assert_eq!(found.code, Some(1), "locks that do not exclude are wrong");
    let wrong = found.json["experiments"][0]["wrong"].as_array().unwrap();
    assert!(wrong[0].as_str().unwrap().contains("LOCKS DO NOT EXCLUDE"));
}

#[test]
#[ignore = "needs a lab: lab/test fuse"]
fn what_fuse_hides_is_absent() {
    let found = probe(&dir(), &["--only", "retention,pages"]);
    let absent = found.absent();
    for name in ["retention_close_read_again_share", "pages_read_mb_per_s"] {
        assert!(
            absent.iter().any(|(absent, _)| *absent == name),
            "{name}: {absent:?}"
        );
        assert_eq!(found.value(name), None);
    }
    // Its own pages are shown all the same.
    assert!(found.value("retention_close_kept_share").is_some());
    assert!(
        absent.iter().any(|(_, why)| why.contains("fuse")),
        "{absent:?}"
    );
}

#[test]
#[ignore = "needs a lab: lab/test fuse"]
fn what_fuse_hides_is_not_measured_and_never_0() {
    let folder = dir();
    let run = run(&folder, true);
    let result = run.result();
    assert_eq!(result.aggregate.physical_read_share, None);
    assert_eq!(result.aggregate.physical_read_basis, None);
    let record = run.record();
    for (name, file_system) in &record.file_systems {
        assert!(file_system.kind.starts_with("fuse"), "{name}");
        assert_eq!(Path::new(&file_system.mount_point), folder, "{name}");
        assert!(file_system.hidden.is_some() && file_system.devices.is_empty());
        let what = format!(
            "physical reads and writes of {name} at {}",
            folder.display()
        );
        let told = |texts: &[String]| texts.iter().any(|text| text.starts_with(&what));
        assert!(
            told(&record.not_measured) && told(&result.not_measured),
            "{what}"
        );
    }
    assert_eq!(record.file_systems.len(), 4);
    assert!(run.samples().iter().all(|sample| sample.mounts.is_empty()));
    let table = String::from_utf8_lossy(&run.output.stdout);
    let line = table
        .lines()
        .find(|line| line.starts_with("Read from devices"));
    let value = line.and_then(|line| line.split_whitespace().nth(6));
    assert_eq!(value, Some("-"), "{table}");
}
