//! Pictures of a run's page as people see it: on a telephone, on a screen, on paper, light and dark.
//!
//! `cargo run -p gristmill-report --example pictures -- OUT [RUN]`; without a run directory one of a
//! thousand jobs is made up.

#![expect(clippy::print_stdout, reason = "a tool for whoever looks at the page")]

#[path = "../tests/page/browser.rs"]
mod browser;
#[path = "../tests/page/synthetic.rs"]
mod synthetic;

use std::fs;
use std::path::{Path, PathBuf};

use browser::{Browser, decoded};
use report::page::{self, Run};
use results::assemble::assemble;
use results::run::RunDirectory;

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let out = arguments.next().expect("where to put the pictures");
    let run = match arguments.next() {
        Some(path) => {
            let directory = RunDirectory::open(&path);
            let result = assemble(&directory).expect("a run directory");
            Run::read(&directory, result).expect("a run directory")
        }
        None => synthetic::run(1_000, 10_000),
    };
    fs::create_dir_all(&out).expect("a directory for the pictures");
    let out = fs::canonicalize(out).expect("it is there");
    let text = page::run(&run);
    let file = out.join("report.html");
    fs::write(&file, &text).expect("the page is written");
    println!("{}: {} bytes", file.display(), text.len());
    let mut browser = Browser::start(&browser::find().expect("Chromium is installed"));
    for (name, width, height, density, scheme) in [
        ("wide-light", 1280, 900, 1.0, "light"),
        ("wide-dark", 1280, 900, 1.0, "dark"),
        ("phone-light", 390, 844, 2.0, "light"),
        ("phone-dark", 390, 844, 2.0, "dark"),
    ] {
        browser.prefer(scheme);
        browser.resize(width, height, density);
        browser.open(&file);
        write(&out.join(format!("{name}.png")), &browser.picture());
    }
    browser.prefer("light");
    browser.resize(1280, 900, 1.0);
    browser.open(&file);
    let place = "(() => { const e = document.querySelector('#gantt .u-over'); \
                 (document.querySelector('#throughput') ?? e).scrollIntoView({behavior: 'instant'}); \
                 const r = e.getBoundingClientRect(); return [r.left + r.width * 0.09, r.top + r.height * 0.046]; })()";
    let (x, y) = serde_json::from_value(browser.run(place)).expect("a place");
    browser.mouse("mouseMoved", x, y);
    write(&out.join("hover.png"), &browser.view());
    write(&out.join("print.pdf"), &browser.print());
    for complaint in &browser.complaints {
        println!("{complaint}");
    }
}

fn write(path: &Path, base64: &str) {
    fs::write(path, decoded(base64)).expect("the picture is written");
    println!("{}", path.display());
}
