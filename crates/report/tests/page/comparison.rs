//! The page of runs over one another.

use report::page::{self, Run};
use results::compare::{Side, compare};
use results::subject::Subject;
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
