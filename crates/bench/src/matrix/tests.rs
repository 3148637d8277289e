//! Plans as texts: what they say, what is wrong with them, which cells and which order they make.

use std::collections::BTreeSet;

use super::design::{self, Cell};
use super::filesystem::FileSystem;
use super::plan::{Changes, Matrix, parse};
use crate::suite::Error;

const PLAN: &str = r#"name = "small"
title = "A small series"
suite = "large-sorts"
design = "full"
repeats = 3
seed = 5

[volumes.input]
image = "1G"
holds = ["data", "output"]

[volumes.scratch]
devices = ["/dev/sdb", "/dev/sdc"]
holds = ["work", "util"]
mount = "noatime"

[[factors]]
name = "file system"
kind = "file-system"
levels = ["ext4", "xfs"]

[[factors]]
name = "barriers"
kind = "mount"
levels = [{ name = "on", value = "" }, { name = "off", by = { ext4 = "barrier=0" } }]

[[factors]]
name = "stripes"
kind = "lvm-stripes"
levels = [2, 1, 3]

[[factors]]
name = "locks"
kind = "sas-option"
setting = "filelocks"
levels = ["FAIL", "NONE"]
"#;

fn plan(text: &str) -> Matrix {
    parse("small.toml", text, &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn wrong(change: (&str, &str)) -> String {
    let text = PLAN.replace(change.0, change.1);
    assert_ne!(text, PLAN, "{} is not there", change.0);
    match parse("small.toml", &text, &Changes::default()) {
        Err(error @ Error::Mistakes(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn levels(cell: &Cell) -> Vec<&str> {
    let names = ["file system", "barriers", "stripes", "locks"];
    names
        .iter()
        .map(|name| cell.levels[*name].as_str())
        .collect()
}

#[test]
fn a_full_design_has_every_level_with_every_other() {
    let cells = design::cells(&plan(PLAN));
    let different: BTreeSet<Vec<&str>> = cells.iter().map(levels).collect();
    assert_eq!((cells.len(), different.len()), (24, 24));
    assert_eq!(levels(&cells[0]), ["ext4", "on", "2", "FAIL"]);
    let scratch = &cells[0].volumes["scratch"];
    assert_eq!(scratch.file_system, Some(FileSystem::Ext4));
    assert_eq!((scratch.mount.as_str(), scratch.stripes), ("noatime", 2));
    assert_eq!(cells[0].options["FILELOCKS"], "FAIL");
    let off = cells
        .iter()
        .find(|cell| levels(cell) == ["ext4", "off", "1", "NONE"])
        .unwrap();
    assert_eq!(off.volumes["scratch"].mount, "noatime,barrier=0");
    assert_eq!(off.volumes["input"].mount, "barrier=0");
    assert_eq!(
        (off.volumes["scratch"].stripes, &off.contradiction),
        (1, &None)
    );
}

#[test]
fn a_cell_that_contradicts_itself_stays_and_says_why() {
    let cells = design::cells(&plan(PLAN));
    let why = |wanted: [&str; 4]| {
        let cell = cells.iter().find(|cell| levels(cell) == wanted).unwrap();
        cell.contradiction.clone().unwrap()
    };
    assert_eq!(
        why(["xfs", "off", "2", "FAIL"]),
        "the plan has no off of barriers for xfs"
    );
    let stripes = why(["ext4", "on", "3", "FAIL"]);
    assert_eq!(
        stripes,
        "3 stripes need as many devices, the volume scratch has 2"
    );
}

#[test]
fn one_at_a_time_begins_with_the_first_levels() {
    let cells = design::cells(&plan(&PLAN.replace("full", "one-at-a-time")));
    let all: Vec<Vec<&str>> = cells.iter().map(levels).collect();
    assert_eq!(
        all,
        [
            ["ext4", "on", "2", "FAIL"],
            ["xfs", "on", "2", "FAIL"],
            ["ext4", "off", "2", "FAIL"],
            ["ext4", "on", "1", "FAIL"],
            ["ext4", "on", "3", "FAIL"],
            ["ext4", "on", "2", "NONE"],
        ]
    );
}

#[test]
fn a_list_has_its_cells_and_first_levels_elsewhere() {
    let list =
        "\n[[cells]]\nstripes = \"1\"\n\n[[cells]]\n\"file system\" = \"xfs\"\nlocks = \"NONE\"\n";
    let text = PLAN.replace("full", "list") + list;
    let cells = design::cells(&plan(&text));
    let all: Vec<Vec<&str>> = cells.iter().map(levels).collect();
    assert_eq!(
        all,
        [["ext4", "on", "1", "FAIL"], ["xfs", "on", "2", "NONE"]]
    );
    let changes = Changes {
        only: vec![("file system".to_owned(), vec!["ext4".to_owned()])],
        ..Changes::default()
    };
    let fewer = parse("small.toml", &text, &changes).unwrap();
    assert_eq!(design::cells(&fewer).len(), 1, "a cell goes with its level");
}

#[test]
fn each_block_holds_every_cell_once_in_an_order_of_its_own_that_the_seed_gives() {
    let order = design::order(24, 3, 5);
    assert_eq!(order, design::order(24, 3, 5));
    assert_ne!(order, design::order(24, 3, 6));
    assert_eq!(
        order[..48],
        design::order(24, 2, 5),
        "more repeats continue a series"
    );
    let mut blocks = Vec::new();
    for block in order.chunks(24) {
        assert!(block.iter().all(|(number, _)| *number == block[0].0));
        let cells: Vec<usize> = block.iter().map(|(_, cell)| *cell).collect();
        let different: BTreeSet<usize> = cells.iter().copied().collect();
        assert_eq!(different, (0..24).collect());
        assert_ne!(cells, (0..24).collect::<Vec<_>>());
        blocks.push(cells);
    }
    assert_ne!(blocks[0], blocks[1]);
}

/// No place in a block is a cell's own: over many seeds each cell comes first about as often as any other.
#[test]
fn every_cell_comes_first_equally_often() {
    const SEEDS: u64 = 4000;
    let mut first = [0_i32; 4];
    for seed in 0..SEEDS {
        first[design::order(4, 1, seed)[0].1] += 1;
    }
    // 1000 each, with a standard deviation of 27.
    assert!(
        first.iter().all(|count| (count - 1000).abs() < 140),
        "{first:?}"
    );
}

#[test]
fn mistakes_name_line_and_column() {
    let changes = [
        ("repeats = 3", "repeats = 0"),
        ("\"large-sorts\"", "\"no-such-suite\""),
        ("seed = 5", "sead = 5"),
        ("seed = 5", "arguments = [\"--data=/x\"]"),
        ("image = \"1G\"", "image = \"one\""),
        ("image = \"1G\"", "image = \"1G\"\ndirectory = \"/data\""),
        (
            "holds = [\"work\", \"util\"]",
            "holds = [\"work\", \"data\"]",
        ),
        ("\"xfs\"]", "\"xfs\", \"zfs\"]"),
        ("kind = \"mount\"", "kind = \"mounts\""),
        ("setting = \"filelocks\"\n", ""),
        ("\"filelocks\"", "\"filelox\""),
        ("levels = [2, 1, 3]", "levels = [2, 1, 2]"),
        ("levels = [2, 1, 3]", "levels = [2, 0]"),
        ("{ name = \"on\", value = \"\" }", "{ name = \"on\" }"),
        (
            "{ name = \"on\", value = \"\" }",
            "{ name = \"on\", valu = \"\" }",
        ),
        (
            "kind = \"file-system\"",
            "kind = \"file-system\"\nvolumes = [\"input\", \"x\"]",
        ),
        ("/dev/sdc", "/dev/sdb"),
        ("\"full\"", "\"list\""),
    ];
    let found: Vec<String> = changes.into_iter().map(wrong).collect();
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn what_the_command_line_changes_must_fit_the_plan() {
    let wrong = |changes: Changes| parse("small.toml", PLAN, &changes).unwrap_err().to_string();
    let only = |factor: &str, level: &str| Changes {
        only: vec![(factor.to_owned(), vec![level.to_owned()])],
        ..Changes::default()
    };
    assert!(wrong(only("thp", "never")).contains("there is no factor thp"));
    assert!(wrong(only("locks", "SOME")).contains("the factor has no such level"));
    let device = |volume: &str| Changes {
        devices: vec![(volume.to_owned(), "/dev/sdx".to_owned())],
        ..Changes::default()
    };
    assert!(wrong(device("other")).contains("there is no [volumes.other]"));
    let twice = Changes {
        devices: vec![("input".to_owned(), "/dev/sdb".to_owned())],
        ..Changes::default()
    };
    assert!(wrong(twice).contains("/dev/sdb is named twice"));
    let scale = Changes {
        scale: Some(0.0),
        ..Changes::default()
    };
    assert!(wrong(scale).contains("scale is a number above 0"));
    let own = Changes {
        arguments: vec!["--data=/x".to_owned()],
        ..Changes::default()
    };
    assert!(wrong(own).contains("--data is given by the series itself"));
    let changed = parse("small.toml", PLAN, &device("input")).unwrap();
    let record = design::record(&changed, &design::cells(&changed), &[].into(), "test");
    assert_eq!(record.volumes["input"], "the device /dev/sdx");
}
