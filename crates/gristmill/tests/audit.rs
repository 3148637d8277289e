//! `gristmill audit` as an administrator meets it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const FILES: [(&str, &str); 9] = [
    (
        "etc/os-release",
        "ID=\"rhel\"\nVERSION_ID=\"9.4\"\nPRETTY_NAME=\"RHEL 9.4\"\n",
    ),
    ("proc/sys/kernel/osrelease", "5.14.0-427.el9.x86_64\n"),
    ("proc/sys/kernel/hostname", "grid1\n"),
    ("proc/meminfo", "MemTotal: 131000000 kB\n"),
    (
        "proc/self/mountinfo",
        "21 1 253:0 / / rw - xfs /dev/sda1 rw\n\
         40 21 0:51 / /sas rw - nfs nas1:/sas rw,vers=3,hard,nolock,proto=tcp,local_lock=all\n",
    ),
    ("sys/class/bdi/0:51/read_ahead_kb", "15360\n"),
    ("etc/fstab", "nas1:/sas /sas nfs vers=3,hard,nolock 0 0\n"),
    ("proc/sys/vm/swappiness", "10\n"),
    ("proc/sys/vm/max_map_count", "262144\n"),
];

fn node() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        write(folder.path(), path, text);
    }
    folder
}

fn write(base: &Path, path: &str, text: &str) {
    let path = base.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn audit(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .arg("audit")
        .args(arguments)
        .output()
        .unwrap()
}

/// Exit code and what was printed.
fn run(arguments: &[&str]) -> (i32, String) {
    let output = audit(arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text + &talk)
}

fn json(node: &Path, arguments: &[&str]) -> Value {
    let root = node.to_str().unwrap();
    let all = [&["--root", root, "--json"], arguments].concat();
    serde_json::from_slice(&audit(&all).stdout).unwrap()
}

fn result(json: &Value, id: &str) -> String {
    let findings = json["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["id"] == id).unwrap();
    found["result"].as_str().unwrap().to_owned()
}

#[test]
fn the_worst_comes_first_with_what_to_do() {
    let node = node();
    let (code, text) = run(&["--root", node.path().to_str().unwrap()]);
    assert_eq!(code, 1, "{text}");
    let first = text.lines().find(|line| line.starts_with("FAIL")).unwrap();
    assert!(first.starts_with("FAIL  critical  NFS-112"), "{text}");
    assert!(
        text.contains("/sas: is all; expected local_lock=none"),
        "{text}"
    );
    assert!(
        text.contains("Do: /etc/fstab: remove nolock / local_lock="),
        "{text}"
    );
    assert!(
        text.contains("RHEL 9.4, kernel 5.14.0-427.el9.x86_64"),
        "{text}"
    );
}

#[test]
fn json_is_the_same_every_time_and_keeps_its_contract() {
    let node = node();
    let root = ["--root", node.path().to_str().unwrap(), "--json"];
    assert_eq!(audit(&root).stdout, audit(&root).stdout);
    let json = json(node.path(), &[]);
    assert_eq!(json["schema"], "gristmill-audit/1");
    assert_eq!(json["host"], "grid1");
    assert_eq!(
        json["facts"]["mount[/sas].local_lock"]["running"]["value"],
        "all"
    );
    let from = &json["facts"]["mount[/sas].options"]["persisted"][0]["from"];
    assert_eq!(from, "/etc/fstab:1");
    for key in [
        "id",
        "result",
        "severity",
        "title",
        "expected",
        "running",
        "persisted",
        "evidence",
        "why",
        "fix",
        "source",
    ] {
        for finding in json["findings"].as_array().unwrap() {
            assert!(finding.get(key).is_some(), "{key} of {finding}");
        }
    }
    assert_eq!(result(&json, "NFS-101"), "pass");
    assert_eq!(result(&json, "VM-105"), "pass");
}

#[test]
fn exit_codes_say_what_was_found() {
    let node = node();
    let root = node.path().to_str().unwrap();
    write(
        node.path(),
        "etc/fstab",
        "nas1:/sas /sas nfs vers=3,hard,nconnect=8 0 0\n",
    );
    let mounts = "40 1 0:51 / /sas rw - nfs nas1:/sas rw,vers=3,hard,proto=tcp,local_lock=none\n";
    write(node.path(), "proc/self/mountinfo", mounts);
    assert_eq!(run(&["--root", root]).0, 0);
    assert_eq!(
        run(&["--root", root, "--strict"]).0,
        4,
        "connections are not known"
    );
    assert_eq!(run(&["--root", "/nowhere"]).0, 3);
    assert_eq!(run(&["--root", root, "--role", "nobody"]).0, 2);
    assert_eq!(run(&["--root", root, "--role", "saswork=work"]).0, 2);
    assert_eq!(run(&["--role", "saswork=/nowhere"]).0, 2);
    assert_eq!(run(&["--root", root, "--vendor", "isilom"]).0, 2);
    assert_eq!(run(&["--root", root, "--vendor", "Isilon"]).0, 0);
    assert_eq!(run(&["--root", root, "--fail-on", "never"]).0, 2);
    write(node.path(), "proc/sys/vm/swappiness", "60\n");
    assert_eq!(
        run(&["--root", root]).0,
        0,
        "medium does not fail by default"
    );
    assert_eq!(run(&["--root", root, "--fail-on", "medium"]).0, 1);
}

#[test]
fn a_rule_is_explained_with_the_sentence_of_its_paper() {
    let (code, text) = run(&["explain", "nfs-001"]);
    assert_eq!(code, 0);
    assert!(text.contains("should be set to 0"), "{text}");
    assert!(text.contains("A Survey of Shared File Systems"), "{text}");
    let (_, text) = run(&["explain", "FS-007"]);
    assert!(text.contains("the audit asks for the opposite"), "{text}");
    let (code, text) = run(&["explain", "NFS-999"]);
    assert_eq!(code, 2);
    assert!(text.contains("NFS-112"), "{text}");
    let (code, text) = run(&["explain", "nope"]);
    assert_eq!(code, 2);
    assert!(
        text.contains("docs/reference/rules.md lists them"),
        "{text}"
    );
    let (_, text) = run(&["explain", "nfs-001", "--json"]);
    let rule: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&rule["id"], &rule["severity"]),
        (&"NFS-001".into(), &"high".into())
    );
    let quote = rule["sources"][0]["quote"].as_str().unwrap();
    assert!(quote.contains("should be set to 0"), "{quote}");
}

#[test]
fn roles_and_overrides_change_what_is_judged() {
    let node = node();
    let waiver = node.path().join("waive.toml");
    fs::write(
        &waiver,
        "[[override]]\nrule = \"NFS-112\"\nsubject = \"/sas\"\nreason = \"one node\"\n\
         owner = \"grid\"\nexpires = \"2999-01-01\"\n",
    )
    .unwrap();
    let waived = json(node.path(), &["--overrides", waiver.to_str().unwrap()]);
    assert_eq!(result(&waived, "NFS-112"), "waived");
    let shared = json(node.path(), &["--role", "sasdata-shared-write=/sas"]);
    assert_eq!(result(&shared, "NFS-112"), "fail");
    let host = json(node.path(), &["--role", "kvm-host"]);
    assert_eq!(result(&host, "CLD-002"), "not_applicable");
}

#[test]
fn nodes_are_compared() {
    let node = node();
    let save = |name: &str, json: &Value| {
        let path = node.path().join(name);
        fs::write(&path, json.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let first = save("a.json", &json(node.path(), &[]));
    write(node.path(), "proc/sys/kernel/hostname", "grid2\n");
    let same = save("b.json", &json(node.path(), &[]));
    assert_eq!(run(&["--compare", &first, &same]).0, 0);
    write(node.path(), "proc/sys/vm/swappiness", "60\n");
    let other = save("c.json", &json(node.path(), &[]));
    let (code, text) = run(&["--compare", &first, &other]);
    assert_eq!(code, 1);
    assert!(
        text.contains("VM-105") && text.contains("sysctl.vm.swappiness"),
        "{text}"
    );
    assert!(text.contains("60: grid2"), "{text}");
    // Of nodes that differ the rules about several nodes say so.
    assert!(
        text.contains("FAIL     high      OPS-004  All nodes have the same findings: 1 differ\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "pass     medium    OPS-005  All nodes have the same release and kernel: 2 nodes agree"
        ),
        "{text}"
    );
    write(
        node.path(),
        "proc/sys/kernel/osrelease",
        "5.14.0-503.el9.x86_64\n",
    );
    let kernel = save("d.json", &json(node.path(), &[]));
    let compared = run(&["--compare", &other, &kernel, "--json"]).1;
    let compared: Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["rules"][1]["id"], "OPS-005");
    assert_eq!(compared["rules"][1]["result"], "fail");
}

#[test]
fn fixes_are_files_and_nothing_else() {
    let node = node();
    let out = tempfile::tempdir().unwrap();
    let before = fs::read_to_string(node.path().join("etc/fstab")).unwrap();
    run(&[
        "--root",
        node.path().to_str().unwrap(),
        "--fix",
        out.path().to_str().unwrap(),
    ]);
    let patch = fs::read_to_string(out.path().join("fstab.patch")).unwrap();
    assert!(
        patch.contains("-nas1:/sas /sas nfs vers=3,hard,nolock 0 0"),
        "{patch}"
    );
    assert!(out.path().join("README").exists());
    // A second call would go over what was edited meanwhile.
    let again = run(&[
        "--root",
        node.path().to_str().unwrap(),
        "--fix",
        out.path().to_str().unwrap(),
    ]);
    assert_eq!(again.0, 3);
    assert_eq!(
        fs::read_to_string(node.path().join("etc/fstab")).unwrap(),
        before
    );
}

#[test]
fn this_host_is_captured_and_read_again() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("capture.tar.gz");
    let (code, text) = run(&["--collect", file.to_str().unwrap()]);
    assert_eq!(code, 0, "{text}");
    let unpacked = Command::new("tar")
        .args([
            "xzf",
            file.to_str().unwrap(),
            "-C",
            out.path().to_str().unwrap(),
        ])
        .status()
        .unwrap();
    assert!(unpacked.success());
    let live: Value = serde_json::from_slice(&audit(&["--json"]).stdout).unwrap();
    let captured = json(out.path(), &[]);
    // What changes by itself between two looks is left out.
    let steady = |json: &Value| -> Vec<String> {
        let facts = json["facts"].as_object().unwrap().iter();
        let moves = [
            "memory.", "mount[", "process[", "dmesg.", "cpu.", "service[",
        ];
        facts
            .filter(|(key, _)| !moves.iter().any(|start| key.starts_with(start)))
            .filter_map(|(key, fact)| Some(format!("{key}={}", fact.pointer("/running/value")?)))
            .collect()
    };
    assert_eq!(steady(&captured), steady(&live));
}
