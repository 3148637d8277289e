//! Actions of Cloud Analytic Services: sums by name against those that awk makes of the same lines.

use results::log::reader::read;
use results::log::{LogStep, Summary};
use results::tables::logs as tables;

fn of(text: &str) -> (Summary, Vec<LogStep>) {
    let mut steps = Vec::new();
    let about = read(text.as_bytes(), &mut |step| steps.push(step)).unwrap();
    (about.expect("a log"), steps)
}

const LOG: &str = "\
NOTE: Executing action 'table.loadTable'.
NOTE: Action 'table.loadTable' used (Total process time):
NOTE:       real time               0.101875 seconds
NOTE:       cpu time                0.209969 seconds (206.10%)
NOTE:       data movement time      0.003940 seconds
NOTE:       total nodes             3 (48 cores)
NOTE:       total memory            2.46T
NOTE:       memory                  35.10M (0.00%)
NOTE:       bytes moved             0.50K
NOTE: The table A has been created in caslib X.
NOTE: Action 'table.loadTable' used (Total process time):
NOTE:       real time               1:01.500000 seconds
NOTE:       cpu time                2.000000 seconds (3.2%)
NOTE:       total nodes             4 (64 cores)
NOTE:       memory                  1.00K (0.00%)
WARNING: The table is large.
NOTE: PROCEDURE CAS used (Total process time):
      real time           62.00 seconds
      cpu time            0.10 seconds

";

#[test]
fn lines_of_an_action_are_its_accounting_and_no_notes() {
    let (about, steps) = of(LOG);
    let [action] = &about.actions[..] else {
        panic!("{:?}", about.actions);
    };
    assert_eq!((&*action.name, action.count), ("table.loadTable", 2));
    let near = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-9;
    assert!(near(action.real_s, 61.601_875) && near(action.real_max_s, 61.5));
    assert!(near(action.cpu_s, 2.209_969) && near(action.data_movement_s, 0.003_94));
    assert_eq!((action.nodes, action.cores), (Some(4), Some(64)));
    assert_eq!(
        (action.moved_bytes, action.memory_bytes),
        (Some(512), Some(36_805_018))
    );
    // "Executing action" and "The table A" alone are notes.
    assert_eq!((about.notes, about.warnings), (2, 1));
    assert_eq!(
        (steps.len(), &*steps[0].name, steps[0].notes),
        (1, "CAS", 2)
    );
    assert_eq!(steps[0].used.real_s, Some(62.0));
}

/// Name, actions, elapsed, longest, CPU and data movement time, by awk.
const RISK: [(&str, u64, [f64; 4]); 3] = [
    (
        "table.loadTable",
        7,
        [0.887_637, 0.174_509, 1.852_722, 0.023_210],
    ),
    (
        "riskResults.query",
        8,
        [9.974_285, 1.988_808, 66.747_852, 0.112_773],
    ),
    ("table.upload", 7, [1.024_053, 0.195_218, 2.105_680, 0.0]),
];

#[test]
fn real_logs_of_viya_give_the_sums_that_awk_gives() {
    let Some(folder) = super::folder() else {
        return;
    };
    let log = super::log(&folder.join("sgf2020_marketrisk.log")).expect("a log");
    assert!(log.steps.is_empty());
    let all: u64 = log.about.actions.iter().map(|action| action.count).sum();
    assert_eq!(all, 36);
    for (name, count, times) in RISK {
        let found = log.about.actions.iter().find(|action| action.name == name);
        let found = found.unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(found.count, count, "{name}");
        let of = [
            found.real_s,
            found.real_max_s,
            found.cpu_s,
            found.data_movement_s,
        ];
        for (found, wanted) in of.into_iter().zip(times) {
            assert!(
                (found.unwrap_or(0.0) - wanted).abs() < 1e-6,
                "{name}: {found:?} {wanted}"
            );
        }
        assert_eq!((found.nodes, found.cores), (Some(3), Some(48)));
    }
    let table = tables::actions(&[log], 3).unwrap();
    assert_eq!(table.rows.len(), 3);
}
