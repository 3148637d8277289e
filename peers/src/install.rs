//! Installs the peers, each by its ordinary package manager; what is there already is left alone.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::places::{installed, own};

const JARS: [(&str, &str); 3] = [
    ("parso-2.0.14.jar", "com.epam:parso:2.0.14"),
    ("slf4j-api-1.7.36.jar", "org.slf4j:slf4j-api:1.7.36"),
    ("slf4j-nop-1.7.36.jar", "org.slf4j:slf4j-nop:1.7.36"),
];
const MAVEN_COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// A peer to install, what does it, and what to do where that fails.
type Step = (&'static str, fn() -> Result<()>, &'static str);

const STEPS: [Step; 4] = [
    (
        "pandas, pyreadstat, polars_readstat",
        python,
        "needs Python 3.11 or later with venv (Debian: apt-get install python3-venv) and PyPI",
    ),
    (
        "Parso",
        parso,
        "needs a JDK and Maven (Debian: apt-get install default-jdk-headless maven)",
    ),
    ("sas7bdat crate", crate_reader, "needs crates.io"),
    (
        "ReadStat",
        readstat,
        "needs a C compiler and the library (Debian: apt-get install gcc libreadstat-dev)",
    ),
];

/// Installs all; one that fails does not keep the others from it.
pub(crate) fn run() -> Result<()> {
    let mut missing = Vec::new();
    for (name, install, needs) in STEPS {
        eprintln!("{name}:");
        match install() {
            Ok(()) => eprintln!("  ready"),
            Err(error) => {
                eprintln!("  not installed: {error:#}; {needs}");
                missing.push(name);
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    bail!("not installed: {}", missing.join("; "))
}

/// Refuses to go on with packages of an earlier list: figures would be of other versions, or none.
pub(crate) fn check_python() -> Result<()> {
    let folder = installed("python");
    if folder.exists() && !python_is_current()? {
        bail!(
            "the Python packages in {} are not those of peers/requirements.txt: run `cargo xtask peers \
             install`",
            folder.display()
        );
    }
    Ok(())
}

fn python_is_current() -> Result<bool> {
    let wanted = fs::read_to_string(own("requirements.txt"))?;
    let done = fs::read_to_string(installed("python").join("requirements.txt"));
    Ok(done.is_ok_and(|done| done == wanted))
}

fn python() -> Result<()> {
    if python_is_current()? {
        return Ok(());
    }
    let folder = installed("python");
    let wanted = fs::read_to_string(own("requirements.txt"))?;
    let done = folder.join("requirements.txt");
    let folder_text = text(&folder)?;
    call("python3", &["-m", "venv", folder_text])?;
    let list = own("requirements.txt");
    let pip = folder.join("bin/pip");
    call(text(&pip)?, &["install", "--quiet", "-r", text(&list)?])?;
    fs::write(done, wanted)?;
    Ok(())
}

fn parso() -> Result<()> {
    let folder = installed("java");
    fs::create_dir_all(&folder)?;
    for (jar, artifact) in JARS {
        if !folder.join(jar).exists() {
            let artifact = format!("-Dartifact={artifact}");
            let output = format!("-DoutputDirectory={}", folder.display());
            call("mvn", &["-q", "-B", MAVEN_COPY, &artifact, &output])?;
        }
    }
    let (class, source) = (folder.join("Dump.class"), own("programs/Dump.java"));
    if is_newer(&class, &source) {
        return Ok(());
    }
    let path = format!("{}/*", folder.display());
    call(
        "javac",
        &["-cp", &path, "-d", text(&folder)?, text(&source)?],
    )
}

fn crate_reader() -> Result<()> {
    let (manifest, target) = (own("crate-reader/Cargo.toml"), installed("crate-reader"));
    let arguments = [
        "build",
        "--quiet",
        "--locked",
        "--release",
        "--manifest-path",
        text(&manifest)?,
        "--target-dir",
        text(&target)?,
    ];
    call("cargo", &arguments)
}

fn readstat() -> Result<()> {
    let (program, source) = (installed("bin/readstat"), own("programs/readstat.c"));
    if is_newer(&program, &source) {
        return Ok(());
    }
    fs::create_dir_all(installed("bin"))?;
    let arguments = ["-O2", "-o", text(&program)?, text(&source)?, "-lreadstat"];
    if call("cc", &arguments).is_ok() {
        return Ok(());
    }
    // Only an administrator can install the library; others are told what is missing.
    let is_root = Command::new("id").arg("-u").output()?.stdout == b"0\n";
    if !is_root {
        bail!("the library is missing, and only root can install it");
    }
    call("apt-get", &["install", "-y", "libreadstat-dev"])?;
    call("cc", &arguments)
}

fn is_newer(made: &Path, source: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    time(made).is_some_and(|made| time(source).is_some_and(|source| made >= source))
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path is not UTF-8")
}

fn call(program: &str, arguments: &[&str]) -> Result<()> {
    eprintln!("  $ {program} {}", arguments.join(" "));
    let status = Command::new(program)
        .args(arguments)
        // Meant for our own build, not for a peer's.
        .env_remove("CARGO_TARGET_DIR")
        .stdout(std::process::Stdio::null())
        .status()
        .with_context(|| format!("{program} cannot be started"))?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}
