//! Files that mend what failed, for a person to install. Nothing here touches a host.

mod fstab;
mod tuned;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Finding, Outcome};
use crate::facts::value::amount;
use crate::facts::{Facts, Key};

/// Where settings of sysctl go.
const SYSCTL: &str = "etc/sysctl.d/90-gristmill.conf";

/// Files by their paths below the root of the host; what cannot be a file is in `README`. `fstab`
/// is the text of /etc/fstab.
pub fn files(facts: &Facts, findings: &[Finding], fstab: Option<&str>) -> BTreeMap<String, String> {
    let mut plan = Plan::default();
    let wrong = findings.iter().filter(|finding| {
        matches!(
            finding.result,
            Outcome::Fail | Outcome::Conflict | Outcome::Warn
        )
    });
    for finding in wrong {
        plan.add(facts, finding);
    }
    let mut files = plan.files;
    if let Some((path, text)) = tuned::profile(facts, &plan.tuned) {
        plan.steps.push(format!(
            "tuned-adm profile {} && tuned-adm verify",
            tuned::NAME
        ));
        files.insert(path, text);
    }
    if let Some(patch) = fstab.and_then(|text| fstab::patch(text, &plan.fstab)) {
        let apply =
            "patch -d / -p1 < fstab.patch (first with --dry-run); findmnt --verify; remount";
        plan.steps.push(apply.to_owned());
        files.insert("fstab.patch".to_owned(), patch);
    }
    let readme = readme(&files, &plan.steps, &plan.by_hand);
    files.insert("README".to_owned(), readme);
    for text in files.values_mut() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    files
}

#[derive(Default)]
struct Plan {
    files: BTreeMap<String, String>,
    tuned: Vec<tuned::Wanted>,
    fstab: Vec<fstab::Change>,
    steps: Vec<String>,
    by_hand: Vec<String>,
    written: BTreeSet<(String, String)>,
}

impl Plan {
    fn add(&mut self, facts: &Facts, finding: &Finding) {
        let Some(fix) = &finding.fix else {
            return;
        };
        // What only may be wrong is written so that a person must say yes to it.
        let advice = finding.result == Outcome::Warn;
        let has_gaps = fix.text.contains("...") || fix.text.contains("…") || fix.text.contains('<');
        match fix.kind.as_str() {
            "sysctl" => {
                let text = raised(facts, &fix.text);
                self.lines(SYSCTL, finding, &text, advice);
                self.step("sysctl --system");
            }
            "tuned" if fix.text.starts_with('[') => {
                self.tuned.push(tuned::Wanted {
                    rule: finding.id.clone(),
                    text: fix.text.clone(),
                    advice,
                });
            }
            "modprobe" => {
                let path = fix.file.trim_start_matches('/').to_owned();
                self.lines(&path, finding, &fix.text, advice);
                self.step("dracut -f (or update-initramfs -u), then boot: parameters hold when a module is loaded");
            }
            "limits" => {
                self.lines(
                    "etc/security/limits.d/90-gristmill-sas.conf",
                    finding,
                    &fix.text,
                    advice,
                );
                self.step("limits hold for sessions that log in afterwards");
            }
            "udev" if !has_gaps => {
                self.lines(
                    "etc/udev/rules.d/99-gristmill.rules",
                    finding,
                    &fix.text,
                    advice,
                );
                self.step("udevadm control --reload-rules && udevadm trigger --type=devices --action=change");
            }
            "nfs_conf" => {
                self.lines("etc/nfs.conf.d/gristmill.conf", finding, &fix.text, advice);
                self.step("nfs.conf holds for file systems that are mounted afterwards, if nfs-utils has nfsrahead");
            }
            "multipath" if fix.text.starts_with("devices") => {
                self.lines(
                    "etc/multipath/conf.d/gristmill.conf",
                    finding,
                    &fix.text,
                    advice,
                );
                self.step("multipathd reconfigure");
            }
            "systemd" if !fix.file.contains('<') && fix.file.starts_with('/') => {
                let path = fix.file.trim_start_matches('/').to_owned();
                self.lines(&path, finding, &fix.text, advice);
                self.step("systemctl daemon-reload");
            }
            "fstab" if finding.subject.is_some() => {
                if let Some(change) = fstab::Change::of(finding) {
                    self.fstab.push(change);
                } else {
                    self.hand(finding);
                }
            }
            _ => self.hand(finding),
        }
    }

    /// Adds lines to a file, once, each with its rule before it.
    fn lines(&mut self, path: &str, finding: &Finding, text: &str, advice: bool) {
        if !self.written.insert((path.to_owned(), text.to_owned())) {
            return;
        }
        let file = self.files.entry(path.to_owned()).or_default();
        let advises = if advice {
            " (depends on this host: take the # away if it is right here)"
        } else {
            ""
        };
        let _ = writeln!(file, "# {}: {}{advises}", finding.id, finding.title);
        for line in text.trim().lines() {
            let _ = writeln!(file, "{}{line}", if advice { "#" } else { "" });
        }
    }

    fn step(&mut self, step: &str) {
        if !self.steps.iter().any(|known| known == step) {
            self.steps.push(step.to_owned());
        }
    }

    fn hand(&mut self, finding: &Finding) {
        let Some(fix) = &finding.fix else {
            return;
        };
        let subject = finding
            .subject
            .as_ref()
            .map(|subject| format!(" ({subject})"))
            .unwrap_or_default();
        let place = Some(&fix.file).filter(|file| !file.is_empty());
        let place = place.map(|file| format!("{file}: ")).unwrap_or_default();
        let text = format!("{place}{}", fix.text.trim().replace('\n', "\n      "));
        let line = format!("{}{subject}: {}\n      {}", finding.id, finding.title, text);
        if !self.by_hand.contains(&line) {
            self.by_hand.push(line);
        }
    }
}

/// Settings with several fields never lower one that is higher already.
fn raised(facts: &Facts, text: &str) -> String {
    let line = |line: &str| {
        let Some((name, wanted)) = line.split_once('=') else {
            return line.to_owned();
        };
        let key = Key::plain("sysctl", name.trim());
        let wanted: Vec<&str> = wanted.split_whitespace().collect();
        let running = facts
            .running(&key)
            .map(ToString::to_string)
            .unwrap_or_default();
        let running: Vec<&str> = running.split_whitespace().collect();
        if wanted.len() < 2 || wanted.len() != running.len() {
            return line.to_owned();
        }
        let fields: Vec<&str> = wanted
            .iter()
            .zip(&running)
            .map(|(wanted, running)| {
                if amount(running) > amount(wanted) {
                    *running
                } else {
                    *wanted
                }
            })
            .collect();
        format!("{} = {}", name.trim(), fields.join(" "))
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn readme(files: &BTreeMap<String, String>, steps: &[String], by_hand: &[String]) -> String {
    let mut text = String::from(
        "What the audit of this host would change. Nothing has been installed.\n\n\
         Read every file; each line names its rule (gristmill audit explain RULE). Keep copies\n\
         of what you replace, install one mechanism at a time, audit again.\n\nFiles, by their places on the host:\n",
    );
    for path in files.keys() {
        let _ = writeln!(text, "  {path}");
    }
    if !steps.is_empty() {
        text.push_str("\nThen:\n");
        for step in steps {
            let _ = writeln!(text, "  {step}");
        }
    }
    if !by_hand.is_empty() {
        text.push_str("\nBy hand:\n");
        for line in by_hand {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}
