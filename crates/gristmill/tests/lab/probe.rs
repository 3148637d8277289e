//! `gristmill probe` on the file system of a lab.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{dir, peer, program, say};

/// Experiments and how they ended.
pub(super) struct Found {
    pub(super) json: Value,
    pub(super) code: Option<i32>,
}

pub(super) fn probe(directory: &Path, more: &[&str]) -> Found {
    let output = Command::new(program())
        .arg("probe")
        .arg(directory)
        .args([
            "--json",
            "--processes",
            "2",
            "--size",
            "4M",
            "--seconds",
            "3",
        ])
        .args(more)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let json: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let left: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with("gristmill-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    say(&format!("{json:#}"));
    let code = output.status.code();
    Found { json, code }
}

pub(super) fn with_peer(more: &[&str]) -> Found {
    let peer = peer().display().to_string();
    let more: Vec<&str> = ["--peer", &peer].iter().chain(more).copied().collect();
    probe(&dir(), &more)
}

impl Found {
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        let mut all = self.json["measurements"].as_array().unwrap().iter();
        all.find(|one| one["name"] == name)?["value"].as_f64()
    }

    pub(super) fn known(&self, name: &str) -> f64 {
        self.value(name).unwrap_or_else(|| panic!("no {name}"))
    }

    pub(super) fn is(&self, name: &str, wanted: f64) {
        let value = self.known(name);
        assert!((value - wanted).abs() < 1e-9, "{name} is {value}");
    }

    pub(super) fn absent(&self) -> Vec<(&str, &str)> {
        let experiments = self.json["experiments"].as_array().unwrap();
        let absent = experiments
            .iter()
            .flat_map(|one| one["absent"].as_array().unwrap());
        absent
            .map(|one| (one["name"].as_str().unwrap(), one["why"].as_str().unwrap()))
            .collect()
    }
}
