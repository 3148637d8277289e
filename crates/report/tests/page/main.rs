//! The page of a run: what is in it, and how it behaves in a real browser.
//!
//! Where there is no Chromium the tests that need one say so and pass, but not in CI, which installs it.

#![expect(
    clippy::print_stderr,
    reason = "measured times are shown with --nocapture"
)]

mod behaviour;
#[expect(dead_code, reason = "only the example takes pictures")]
mod browser;
mod comparison;
mod content;
mod synthetic;

use std::fs;

use browser::Browser;
use report::page::{self, Run};

/// A browser, if there is one.
fn browser() -> Option<Browser> {
    if let Some(program) = browser::find() {
        return Some(Browser::start(&program));
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "CI has no Chromium: .ci/run must install it"
    );
    eprintln!("SKIPPED: no Chromium on the path (set GRISTMILL_BROWSER)");
    None
}

/// Opens the page of `run` in a window of `width` by `height`, hands it over, and wants no complaint.
fn check(run: &Run, size: (u32, u32), scheme: &str, look: impl FnOnce(&mut Browser)) {
    check_page(&page::run(run), size, scheme, look);
}

/// The same of any page.
fn check_page(
    text: &str,
    (width, height): (u32, u32),
    scheme: &str,
    look: impl FnOnce(&mut Browser),
) {
    let Some(mut browser) = browser() else { return };
    let directory = tempfile::tempdir().expect("a directory for the page");
    let file = directory.path().join("report.html");
    fs::write(&file, text).expect("the page is written");
    browser.prefer(scheme);
    browser.resize(width, height, 1.0);
    browser.open(&file);
    look(&mut browser);
    assert_eq!(browser.complaints, Vec::<String>::new());
}
