//! The page of runs over one another.

use report::page::{self, Run};
use results::compare::{Side, compare};
use results::subject::Subject;
use results::table::{Cell, Column, Table, Unit};
use serde_json::json;

use crate::behaviour::CONTRAST;
use crate::{check_page, synthetic};

/// A side of runs that took `factors` times as long as the made-up one.
fn side(label: &str, factors: &[f64]) -> Side {
    let slower = |factor: &f64| {
        let Run {
            plan, mut result, ..
        } = synthetic::run(12, 60);
        for job in &mut result.jobs {
            job.real_s = job.real_s.map(|real| real * factor);
        }
        Subject::of_run(&plan, &result)
    };
    Side {
        label: label.to_owned(),
        runs: factors.iter().map(slower).collect(),
    }
}

#[test]
fn ratios_have_their_place_and_their_finding() {
    let sides = [
        side("before", &[1.0, 1.01, 0.99]),
        side("</style><script>after", &[1.3, 1.31, 1.29]),
    ];
    let comparison = compare(&sides);
    let text = page::comparison(&comparison, &comparison.tables());
    assert_eq!(text.matches("<script").count(), 0);
    assert!(text.contains("more: worse"));
    for (size, scheme) in [((1280, 900), "light"), ((390, 844), "dark")] {
        check_page(&text, size, scheme, |browser| {
            assert_eq!(browser.run(CONTRAST), json!([]), "{scheme}");
            let over =
                "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.run(over), json!(0));
            // Every job took 1.3 times as long: right of the middle, within its interval.
            let places = "[...document.querySelectorAll('#jobs-of-1 .ratio')].every(track => {
                const [dot, bar] = [track.querySelector('b'),
                    track.querySelector('i')].map(e => e.getBoundingClientRect());
                const all = track.getBoundingClientRect(), x = (dot.left + dot.right) / 2;
                return x > (all.left + all.right) / 2 && bar.left <= x && x <= bar.right; })";
            assert_eq!(browser.run(places), json!(true));
        });
    }
}

/// Whether anything is wider than its place.
const WIDER: &str = "[document.documentElement, ...document.querySelectorAll('h1, h2, .scroll')]
    .filter(one => one.scrollWidth > one.clientWidth).map(one => one.tagName + ' ' + one.textContent.slice(0, 40))";

/// As long as a file system allows a name to be, without a place to break at.
#[test]
fn long_names_push_nothing_out_of_view() {
    let long = "nightly_run_of_the_grid_".repeat(8);
    let comparison = compare(&[side("before", &[1.0, 1.01]), side(&long, &[1.3, 1.31])]);
    let text = page::comparison(&comparison, &comparison.tables());
    check_page(&text, (1280, 900), "light", |browser| {
        assert_eq!(browser.run(WIDER), json!([]));
    });
    let columns = ["Log", "Platform"].map(|title| (title, Unit::Text));
    let mut table = Table::new("log-files", "Logs", &columns);
    for title in ["in steps", "CPU", "read", "written"] {
        table.columns.push(Column::new(title, Unit::Stimer));
    }
    let mut cells = vec![Cell::text(format!("{long}.log")), Cell::text("Linux")];
    cells.extend([5000.0, 400.0, 30.0, 2.0].map(Cell::Number));
    table.row(cells);
    let text = page::of_tables("logs", &["1 log".to_owned()], &[table]);
    check_page(&text, (1280, 900), "light", |browser| {
        assert_eq!(browser.run(WIDER), json!([]));
    });
}

/// A run on so many nodes, of storage that gives 45 MB/s and nodes that ask for 10 each.
fn on(nodes: u32) -> Side {
    let mut side = side(&format!("{nodes} nodes"), &[1.0, 1.02]);
    let asked = f64::from(nodes) * 10.0;
    for run in &mut side.runs {
        run.nodes = Some(nodes);
        run.figures.mb_per_s = Some(asked.min(45.0));
        run.figures.real_mean_s = Some(100.0 * (asked / 45.0).max(1.0));
    }
    side
}

#[test]
fn growth_is_drawn_beside_the_ideal_line() {
    let comparison = compare(&[1, 2, 4, 8, 12].map(on));
    let text = page::comparison(&comparison, &comparison.tables());
    for (size, scheme) in [((1280, 900), "light"), ((390, 844), "dark")] {
        check_page(&text, size, scheme, |browser| {
            assert_eq!(browser.run(CONTRAST), json!([]), "{scheme}");
            let over =
                "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.run(over), json!(0));
            // Throughput lies on the ideal line to four nodes, and below it from eight on.
            let on_the_line = "(() => {
                const points = name => document.querySelector('#growth-of-throughput .' + name)
                    .getAttribute('points').split(' ').map(point => point.split(',').map(Number));
                const ideal = points('ideal');
                return points('measured').map(([x, y], at) => [x === ideal[at][0], y <= ideal[at][1]]); })()";
            let wanted = [true, true, true, false, false].map(|follows| (true, follows));
            assert_eq!(browser.run(on_the_line), json!(wanted));
            // The knee stands where 4.5 nodes would, between four and eight.
            let knee = "(() => {
                const place = (name, what) => Number(document.querySelector('#growth-of-throughput ' + name)
                    .getAttribute(what));
                const dots = [...document.querySelectorAll('#growth-of-throughput circle')]
                    .map(dot => dot.cx.baseVal.value);
                const at = place('line.knee', 'x1');
                return Math.abs((at - dots[2]) / (dots[3] - dots[2]) - 0.125) < 0.02; })()";
            assert_eq!(browser.run(knee), json!(true));
        });
    }
}
