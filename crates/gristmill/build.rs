//! Hands the commit and the target triple to the program, for `--version`.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/logs/HEAD");
    println!("cargo:rerun-if-env-changed=GRISTMILL_COMMIT");
    let commit = std::env::var("GRISTMILL_COMMIT")
        .ok()
        .or_else(commit_of_checkout);
    println!(
        "cargo:rustc-env=GRISTMILL_COMMIT={}",
        commit.unwrap_or_else(|| "unknown".into())
    );
    let target = std::env::var("TARGET").unwrap_or_else(|_| "unknown".into());
    println!("cargo:rustc-env=GRISTMILL_TARGET={target}");
}

fn commit_of_checkout() -> Option<String> {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
