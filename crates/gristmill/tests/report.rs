//! `gristmill report` and `compare` as a user meets them, on papers and on an old run directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn gristmill(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The run directory that the report's own tests read.
fn old_run() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    crates.join("report/tests/runs/large-sorts-schema-1.0")
}

/// A copy of it, to be changed.
fn copied(folder: &Path, name: &str) -> PathBuf {
    let run = folder.join(name);
    let copied = Command::new("cp")
        .arg("-r")
        .arg(old_run())
        .arg(&run)
        .status();
    assert!(copied.unwrap().success());
    run
}

fn old() -> String {
    old_run().display().to_string()
}

/// A printed line of JSON.
fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn old_runs_and_papers_are_reported() {
    let run = gristmill(&["report", &old()]);
    assert_eq!(run.status.code(), Some(4), "{}", text(&run.stderr));
    assert!(text(&run.stdout).starts_with("Verdict: inconclusive"));
    for paper in [
        "paper:isilon",
        "paper:pure",
        "paper:rhel",
        "paper:survey",
        "paper:isilon-f810",
    ] {
        let shown = gristmill(&["report", paper]);
        assert_eq!(
            shown.status.code(),
            Some(0),
            "{paper}: {}",
            text(&shown.stderr)
        );
    }
    let unknown = gristmill(&["report", "paper:nobody"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("paper:pure-fa420"));
}

#[test]
fn json_has_the_result_and_every_table() {
    let found = json(&gristmill(&["report", "--json", &old()]));
    assert_eq!(found["verdict"]["result"], "inconclusive");
    assert_eq!(
        found["verdict"]["requirements"][0]["id"],
        "throughput-per-core"
    );
    assert_eq!(found["jobs"][0]["name"], "sort_1");
    let tables = found["tables"].as_array().unwrap();
    assert!(tables.iter().any(|table| table["id"] == "job-runtimes"));
    let compared = json(&gristmill(&[
        "compare",
        "--json",
        "paper:pure-spinning",
        "paper:pure-fa420",
    ]));
    let ratio = compared["aggregate"][1]["ratios"][0]["ratio"]
        .as_f64()
        .unwrap();
    assert!(ratio > 0.98 && ratio < 1.0, "{ratio}");
}

#[test]
fn csv_goes_to_a_directory_or_one_table_to_standard_output() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("csv").display().to_string();
    let all = gristmill(&["report", "paper:isilon", "--csv", &folder]);
    assert_eq!(all.status.code(), Some(0), "{}", text(&all.stderr));
    let sizes = fs::read_to_string(directory.path().join("csv/sizes.csv")).unwrap();
    assert_eq!(sizes.lines().count(), 1 + 28 + 2);
    let misspelt = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(["report", "paper:isilon-f810", "--csv", "job-runtime"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert_eq!(misspelt.status.code(), Some(2));
    let told = text(&misspelt.stderr);
    assert!(
        told.contains("no table job-runtime and no directory")
            && told.contains("tables are job-runtimes, "),
        "{told}"
    );
    assert!(!directory.path().join("job-runtime").exists());
    let one = gristmill(&["report", "paper:isilon-f810", "--csv", "job-runtimes"]);
    assert!(
        text(&one.stdout).contains("bank2_1,2968"),
        "{}",
        text(&one.stdout)
    );
}

#[test]
fn thresholds_of_a_file_replace_the_published_ones() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ours.toml");
    let file = path.display().to_string();
    let ours = "title = 'Ours'\n\n[[requirements]]\nid = 'cpu'\nmeasure = 'cpu-real'\nlevel = 'required'\n\
                at_least = 1.2\nunit = ''\ntitle = 'CPU/real'\nsource = 'us'\ndate = '2026'\n";
    fs::write(&path, ours).unwrap();
    let shown = gristmill(&["report", "paper:pure-fa420", "--thresholds", &file]);
    assert!(
        text(&shown.stdout).contains("Verdict: fail: CPU/real: 1.155"),
        "{}",
        text(&shown.stdout)
    );
    fs::write(&path, ours.replace("at_least", "at_laest")).unwrap();
    let wrong = gristmill(&["report", &old(), "--thresholds", &file]);
    assert_eq!(wrong.status.code(), Some(3));
    assert!(
        text(&wrong.stderr).contains("at_laest"),
        "{}",
        text(&wrong.stderr)
    );
}

#[test]
fn sides_are_runs_papers_or_repeats() {
    let copies = tempfile::tempdir().unwrap();
    let copy = |name: &str| copied(copies.path(), name).display().to_string();
    let (second, third) = (copy("second"), copy("third"));
    let repeats = format!("{second},{third}");
    let found = gristmill(&["compare", &old(), &repeats, "paper:isilon-f810"]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let shown = text(&found.stdout);
    assert!(
        shown.contains("measured 2 times") && shown.contains("no difference beyond noise"),
        "{shown}"
    );
    assert!(shown.contains("not two storages"), "{shown}");
    let missing = gristmill(&["compare", "nowhere", &old()]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(text(&missing.stderr).contains("failed to read the run nowhere"));
    assert_eq!(gristmill(&["compare", &old()]).status.code(), Some(2));
    // A run is no repeat of itself.
    for sides in [
        [format!("{second}/"), repeats.clone()],
        [format!("{repeats},{third}/../second"), old()],
    ] {
        let output = gristmill(&["compare", &sides[0], &sides[1]]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        assert!(text(&output.stderr).contains("are the same; name it once"));
    }
}

#[test]
fn a_page_goes_over_no_other_file() {
    let copies = tempfile::tempdir().unwrap();
    let file = copies.path().join("kept.json");
    fs::write(&file, "{}").unwrap();
    let flags = ["report", &old(), "--html", &file.display().to_string()];
    let refused = gristmill(&flags);
    assert_eq!(refused.status.code(), Some(3));
    assert!(text(&refused.stderr).contains("what is there is no page"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
    let page = copies.path().join("page.html");
    for _ in 0..2 {
        let flags = ["report", &old(), "--html", &page.display().to_string()];
        assert!(text(&gristmill(&flags).stderr).contains("Report: "));
    }
}

#[test]
fn a_bundle_holds_the_run_and_no_names_if_so_wanted() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.tar.gz");
    let bundle = file.display().to_string();
    let packed = gristmill(&["report", &old(), "--bundle", &bundle, "--anonymise"]);
    assert_eq!(packed.status.code(), Some(0), "{}", text(&packed.stderr));
    assert!(
        text(&packed.stderr).contains("replaced host1 by host1"),
        "{}",
        text(&packed.stderr)
    );
    let unpacked = Command::new("tar")
        .arg("xzf")
        .arg(&file)
        .current_dir(directory.path())
        .status();
    assert!(unpacked.unwrap().success());
    let run = directory
        .path()
        .join("large-sorts-20261121T114425Z-16817")
        .display()
        .to_string();
    assert_eq!(
        gristmill(&["report", &run]).stdout,
        gristmill(&["report", &old()]).stdout
    );
    let refused = gristmill(&["report", &old(), "--bundle", "x.tar.zst"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("bundles are .tar.gz"));
}

/// A copy of the old run, limited by its output, whose node was audited: read-ahead of a mount of the run, of
/// another, and a setting of the host.
fn audited(folder: &Path, name: &str, read_ahead: u32) -> String {
    let run = copied(folder, name);
    // A job that waited for its output long enough to have been limited by it.
    let steps = run.join("jobs/sort_1/steps.jsonl");
    let step = fs::read_to_string(&steps).unwrap();
    let mut step: serde_json::Value = serde_json::from_str(&step).unwrap();
    step["channels"]["output"]["blocked_s"] = 0.03.into();
    fs::write(&steps, format!("{step}\n")).unwrap();
    let result = if read_ahead < 2048 { "fail" } else { "pass" };
    let ahead = |subject: &str, result: &str, directories: &[&str]| {
        serde_json::json!({
            "id": "NFS-101", "subject": subject, "directories": directories, "result": result,
            "severity": "high", "title": "NFS: read ahead 15 MiB", "bottleneck": ["reads", "writes", "metadata"],
            "expected": "at least 15360", "running": read_ahead.to_string(),
            "evidence": ["nas02:/ifs/sas", "/proc/self/mountinfo:7"], "why": "Because.",
        })
    };
    let mut swap = ahead("", "fail", &[]);
    for (key, value) in [("id", "VM-105"), ("title", "Swap little")] {
        swap[key] = value.into();
    }
    for key in ["subject", "directories"] {
        swap.as_object_mut().unwrap().remove(key);
    }
    let findings = [
        ahead("/srv/sas", result, &["data", "output"]),
        ahead("/srv/others", "fail", &[]),
        swap,
    ];
    let audit = serde_json::json!({
        "schema": "gristmill-run-audit/1", "node": "host1", "took_s": 0.4,
        "counts": {"fail": 3, "not_applicable": 200}, "findings": findings,
    });
    fs::create_dir(run.join("audits")).unwrap();
    fs::write(run.join("audits/host1.json"), audit.to_string()).unwrap();
    run.display().to_string()
}

#[test]
fn an_audit_is_reported_and_compared_and_tells_no_names() {
    let directory = tempfile::tempdir().unwrap();
    let before = audited(directory.path(), "before", 128);
    let after = audited(directory.path(), "after", 15_360);
    let shown = text(&gristmill(&["report", &before]).stdout);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in [
        "Audit of host1 before the run (0.4 s): 3 fail, 200 are not for this host",
        "fail high NFS-101 NFS: read ahead 15 MiB data, output (/srv/sas): 128",
        "does not use: fail NFS-101 (/srv/others)",
        "failing rules of the audit that bear on ",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    let found = json(&gristmill(&["report", "--json", &before]));
    assert_eq!(found["audits"][0]["findings"].as_array().unwrap().len(), 3);
    let tables = found["tables"].as_array().unwrap();
    assert!(tables.iter().any(|table| table["id"] == "audit"));
    let compared = gristmill(&["compare", &before, &after]);
    let compared = text(&compared.stdout);
    assert!(
        compared.contains("the audits of the nodes differ in NFS-101\n"),
        "{compared}"
    );
    assert!(
        compared.contains("NFS-101  high      data, output  fail (128)  pass (15360)"),
        "{compared}"
    );
    let bundle = directory.path().join("a.tar.gz").display().to_string();
    let packed = gristmill(&["report", &before, "--bundle", &bundle, "--anonymise"]);
    assert_eq!(packed.status.code(), Some(0), "{}", text(&packed.stderr));
    let unpacked = Command::new("tar").args(["xzOf", &bundle]).output();
    let unpacked = text(&unpacked.unwrap().stdout);
    assert!(unpacked.contains("gristmill-run-audit/1"));
    for name in ["nas02", "/srv", "/ifs/sas"] {
        assert!(!unpacked.contains(name), "{name}");
    }
}

/// A copy of the old run that tells names wherever a run can: in its plan, its node's record, an audit, a mark, a
/// log and its page.
fn telling(folder: &Path) -> String {
    let run = copied(folder, "telling");
    let read = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    let mut plan: serde_json::Value = serde_json::from_str(&read("run.json")).unwrap();
    plan["node"] = "gridnode1.corp.acme.example".into();
    plan["sas"] = "/opt/acme/sas9/sas".into();
    plan["directories"]["data"] = "/mnt/acme/ann's bench".into();
    plan["directories"]["output"] = "/home/bobby/out".into();
    fs::write(run.join("run.json"), plan.to_string()).unwrap();
    let node = serde_json::json!({
        "node": "gridnode1.corp.acme.example", "boot_id": "0c0ffee0-1111",
        "file_systems": {"data": {
            "mount_point": "/mnt/acme", "kind": "nfs4", "source": "filer07.corp.acme.example:/vol/acme",
        }},
    });
    fs::create_dir(run.join("nodes")).unwrap();
    let named = |ending: &str| run.join(format!("nodes/gridnode1.corp.acme.example.{ending}"));
    fs::write(named("json"), node.to_string()).unwrap();
    fs::write(named("jsonl"), "").unwrap();
    let audit = serde_json::json!({
        "schema": "gristmill-run-audit/1", "node": "gridnode1.corp.acme.example", "took_s": 0.4,
        "counts": {"fail": 1}, "findings": [{
            "id": "NFS-101", "subject": "/mnt/acme", "directories": ["data"], "result": "fail", "severity": "high",
            "title": "NFS", "bottleneck": [], "expected": "x", "why": "Because.",
            "running": "rw,clientaddr=10.20.30.40,addr=10.20.30.41",
        }],
    });
    fs::create_dir(run.join("audits")).unwrap();
    fs::write(
        run.join("audits/gridnode1.corp.acme.example.json"),
        audit.to_string(),
    )
    .unwrap();
    let mark =
        r#"{"unix_s":1795261467.0,"at_s":1.6,"event":"mark","detail":"FILER07 failed over"}"#;
    fs::write(run.join("events.jsonl"), read("events.jsonl") + mark + "\n").unwrap();
    let log = read("jobs/sort_1/job.log") + "gridnode1 10.20.30.41 /mnt/acme/ann's bench/x bobby\n";
    fs::write(run.join("jobs/sort_1/job.log"), log).unwrap();
    let run = run.display().to_string();
    let page = format!("{run}/report.html");
    let written = gristmill(&["report", &run, "--html", &page]);
    assert!(Path::new(&page).exists(), "{}", text(&written.stderr));
    run
}

#[test]
fn a_bundle_without_names_has_none_anywhere() {
    let directory = tempfile::tempdir().unwrap();
    let run = telling(directory.path());
    let bundle = directory.path().join("a.tar.gz").display().to_string();
    let unpacked = |more: &[&str]| {
        let packed = gristmill(&[&["report", &run, "--bundle", &bundle], more].concat());
        assert_eq!(packed.status.code(), Some(0), "{}", text(&packed.stderr));
        let names = Command::new("tar").args(["tzf", &bundle]).output().unwrap();
        let contents = Command::new("tar")
            .args(["xzOf", &bundle])
            .output()
            .unwrap();
        text(&[names.stdout, contents.stdout].concat()).to_lowercase()
    };
    let secrets = [
        "gridnode1",
        "filer07",
        "corp.acme",
        "10.20.30.4",
        "0c0ffee0",
        "bobby",
        "/opt/acme",
        "/mnt/acme",
        "&#x2f;mnt&#x2f;acme",
        "/vol/acme",
        "&#x2f;vol&#x2f;acme",
        "ann's bench",
        "ann&#x27;s bench",
    ];
    let with = unpacked(&[]);
    for secret in secrets {
        assert!(with.contains(secret), "the test is to look for {secret}");
    }
    let without = unpacked(&["--anonymise"]);
    for secret in secrets {
        let told = without.find(secret).map(|at| {
            let around = without.char_indices().map(|(place, _)| place);
            let near: Vec<usize> = around.filter(|place| place.abs_diff(at) < 60).collect();
            &without[near[0]..near[near.len() - 1]]
        });
        assert_eq!(told, None, "{secret}");
    }
    assert!(without.contains("host1") && without.contains("report.html"));
}

#[test]
fn a_user_called_as_records_call_things_does_not_break_them() {
    let directory = tempfile::tempdir().unwrap();
    let bundle = directory.path().join("a.tar.gz");
    let packed = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(["report", &old(), "--anonymise", "--bundle"])
        .arg(&bundle)
        .env("USER", "suite")
        .output()
        .unwrap();
    let told = text(&packed.stderr);
    assert!(
        told.contains("the user's name suite is not replaced"),
        "{told}"
    );
    let unpacked = Command::new("tar")
        .arg("xzf")
        .arg(&bundle)
        .current_dir(directory.path())
        .status();
    assert!(unpacked.unwrap().success());
    let run = directory.path().join("large-sorts-20261121T114425Z-16817");
    let shown = gristmill(&["report", &run.display().to_string()]);
    assert_eq!(shown.stdout, gristmill(&["report", &old()]).stdout);
}

/// A copy of the old run on a host of this name, with a mount of this source, audited and with a page.
fn on(folder: &Path, host: &str, source: &str) -> String {
    let run = PathBuf::from(audited(folder, &format!("on-{host}-{source}"), 128));
    let read = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    let mut plan: serde_json::Value = serde_json::from_str(&read("run.json")).unwrap();
    plan["node"] = host.into();
    plan["nodes"] = serde_json::json!([host]);
    fs::write(run.join("run.json"), plan.to_string()).unwrap();
    let system = serde_json::json!({"mount_point": "/mnt/x", "kind": "9p", "source": source});
    let node =
        serde_json::json!({"node": host, "file_systems": {"data": &system, "work": &system}});
    fs::create_dir(run.join("nodes")).unwrap();
    fs::write(run.join(format!("nodes/{host}.json")), node.to_string()).unwrap();
    let sample = serde_json::json!({
        "unix_s": 1.0, "at_s": 1.0, "interval_s": 1.0, "running": 1,
        "channels": {"input": {"read_bytes": 7, "write_bytes": 0, "metadata_operations": 1, "blocked_s": 0.5,
            "latency_us": []}},
    });
    fs::write(
        run.join(format!("nodes/{host}.jsonl")),
        format!("{sample}\n"),
    )
    .unwrap();
    let audit = read("audits/host1.json").replace("\"host1\"", &format!("{host:?}"));
    fs::remove_file(run.join("audits/host1.json")).unwrap();
    fs::write(run.join(format!("audits/{host}.json")), audit).unwrap();
    let run = run.display().to_string();
    gristmill(&["report", &run, "--html", &format!("{run}/report.html")]);
    run
}

#[test]
fn a_host_or_a_source_called_as_records_call_things_does_not_break_them() {
    for (host, source) in [
        ("input", "work"),
        ("sas", "data"),
        ("vm", "work"),
        ("reads", "initialization"),
        ("zeus", "pool"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let run = on(directory.path(), host, source);
        let bundle = directory.path().join("a.tar.gz").display().to_string();
        let packed = gristmill(&["report", &run, "--bundle", &bundle, "--anonymise"]);
        let told = text(&packed.stderr);
        assert_eq!(packed.status.code(), Some(0), "{told}");
        let is_kept = host != "zeus";
        for name in [host, source] {
            let kept = format!("the name {name} is replaced only where a field");
            assert_eq!(told.contains(&kept), is_kept, "{told}");
        }
        assert_eq!(told.contains("left out report.html: "), is_kept, "{told}");
        let mut unpack = Command::new("tar");
        unpack.args(["xzf", &bundle]).current_dir(directory.path());
        assert!(unpack.status().unwrap().success());
        let without = directory.path().join("large-sorts-20261121T114425Z-16817");
        let without = without.display().to_string();
        assert!(Path::new(&without).join("jobs/sort_1/program.sas").exists());
        assert!(Path::new(&without).join("nodes/host1.jsonl").exists());
        let node = fs::read_to_string(format!("{without}/nodes/host1.json")).unwrap();
        assert!(
            node.contains("\"source1\"") && node.contains("\"node\":\"host1\""),
            "{node}"
        );
        let figures = |run: &str| {
            let mut all = json(&gristmill(&["report", "--json", run]));
            let jobs = all["jobs"].as_array_mut().unwrap();
            assert!(
                jobs.iter()
                    .all(|job| job["node"] == *host || job["node"] == "host1")
            );
            for job in jobs {
                job["node"] = "".into();
            }
            [&all["jobs"], &all["aggregate"], &all["channels"]].map(Clone::clone)
        };
        assert_eq!(figures(&without), figures(&run));
        let shown = text(&gristmill(&["report", "--json", &without]).stdout);
        for own in ["VM-105", "NFS-101", "Swap little", "read ahead"] {
            assert!(shown.contains(own), "{own}");
        }
        let logs = json(&gristmill(&["logs", "--json", &format!("{without}/jobs")]));
        let logs = logs["logs"].as_array().unwrap();
        assert_eq!(logs.len(), 2);
        assert!(logs.iter().all(|log| log["complete"] == true), "{logs:?}");
    }
}

#[test]
fn a_mark_before_anything_happened_has_its_time() {
    let copies = tempfile::tempdir().unwrap();
    let run = copied(copies.path(), "early");
    fs::remove_file(run.join("events.jsonl")).unwrap();
    let run = results::run::RunDirectory::open(&run);
    let started = run.plan().unwrap().started_unix_s;
    for later in [2.5, 4.0] {
        let at_s = run.mark(started + later, "failover").unwrap();
        assert!((at_s - later).abs() < 1e-3, "{at_s}");
    }
}
