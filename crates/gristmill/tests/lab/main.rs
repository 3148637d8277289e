//! Real file systems and machines that may be spoiled: `lab/run` brings them up, and `lab/test` starts the tests of
//! the module that is named after a lab there. They look at counts, orders and bounds: how long things take on
//! machines that are emulated says nothing.

mod audit;
mod cifs;
mod clusters;
mod drive;
mod flakey;
mod fuse;
mod gluster;
mod local;
mod locks_on_nfs;
mod lvm;
mod matrix;
mod matrix_machine;
mod nfs;
mod probe;
mod run;
mod systems;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The mounted directory.
fn dir() -> PathBuf {
    named("GRISTMILL_LAB_DIR")
}

/// The same, through the mount of another client.
fn peer() -> PathBuf {
    named("GRISTMILL_LAB_PEER")
}

fn named(variable: &str) -> PathBuf {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    folder.unwrap_or_else(|| panic!("{variable} names nothing; start this by lab/test"))
}

/// Mounts anew with other options.
fn mount(options: &str) {
    ask_lab(&["mount", options], &[]);
}

/// Has the script of the lab do something else.
fn ask_lab(arguments: &[&str], environment: &[(&str, &str)]) {
    let command = std::env::var("GRISTMILL_LAB_MOUNT").expect("started by lab/test");
    let mut words = command.split_whitespace();
    let script = words.next().unwrap();
    // It ends in `mount`, or `mount DIR`.
    let [verb, rest @ ..] = arguments else {
        panic!("no arguments")
    };
    let given: Vec<&str> = words.skip(1).collect();
    let output = Command::new(script)
        .arg(verb)
        .args(given)
        .args(rest)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

/// The program: that of the tests, or another one, such as a release build.
fn program() -> PathBuf {
    let named = std::env::var_os("GRISTMILL_LAB_PROGRAM").map(PathBuf::from);
    let named = named.filter(|path| !path.as_os_str().is_empty());
    named.unwrap_or_else(|| env!("CARGO_BIN_EXE_gristmill").into())
}

/// Runs a line of shell as an administrator types it.
fn shell(line: &str) -> String {
    let output = Command::new("bash").args(["-c", line]).output().unwrap();
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let said = said.concat();
    assert!(output.status.success(), "{line}: {said}");
    said
}

fn gristmill(arguments: &[&str], folder: &Path) -> Output {
    Command::new(program())
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// Removes what runs staged or left in a mounted directory, which others use after this.
fn clean(mounted: &Path) {
    let cleaned = gristmill(&["clean", "--yes", &mounted.display().to_string()], mounted);
    assert!(cleaned.status.success());
}

/// For whoever reads what a lab found.
#[expect(clippy::print_stdout, reason = "the log of a lab keeps what was found")]
fn say(text: &str) {
    println!("\n{text}");
}
