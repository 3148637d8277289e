//! Files that mend what failed, for a person to install. Nothing here touches a host.

mod fstab;
mod kept;
mod limits;
mod multipath;
mod plain;
mod tuned;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Finding, Outcome};
use crate::facts::value::amount;
use crate::facts::{Facts, Key, Root};

use plain::{Line, SYSCTL, TMPFILES, UDEV};

/// Files by their paths below the root of the host; what cannot be a file is in `README`. Files of `root` that were
/// written before are written with what they say already, and /etc/fstab is what the patch is for.
pub fn files(facts: &Facts, findings: &[Finding], root: &Root) -> BTreeMap<String, String> {
    let installed = |path: &str| root.text(&format!("/{path}")).unwrap_or_default();
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
    let mut files = plan.written();
    for (path, text) in &mut files {
        text.insert_str(0, &kept::kept(&installed(path), text));
    }
    plan.say_who_wins(facts, files.get(SYSCTL).map_or("", String::as_str));
    if let Some((path, text)) = tuned::profile(facts, &plan.tuned, &installed) {
        plan.steps.push(format!(
            "tuned-adm profile {} && tuned-adm verify",
            tuned::NAME
        ));
        files.insert(path, text);
    }
    if let Some(text) = multipath::file(&plan.multipath, &installed(multipath::PATH)) {
        plan.steps.push("multipathd reconfigure".to_owned());
        files.insert(multipath::PATH.to_owned(), text);
    }
    let (patch, left) = fstab::patch(&installed("etc/fstab"), &plan.fstab);
    plan.by_hand.extend(left);
    if let Some(patch) = patch {
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
    blocks: BTreeMap<String, Vec<Block>>,
    tuned: Vec<tuned::Wanted>,
    fstab: Vec<fstab::Change>,
    multipath: Vec<multipath::Wanted>,
    steps: Vec<String>,
    by_hand: Vec<String>,
}

/// Lines that stand in a file once, whoever wants them.
struct Block {
    rules: Vec<String>,
    text: String,
    /// No rule is sure of them.
    advice: bool,
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
                self.step(APPLY_SYSCTL);
            }
            "tuned" if fix.text.starts_with('[') => {
                match plain::offered(facts, finding.subject.as_deref(), &fix.text) {
                    Some(text) => self.profile(facts, finding, &text, advice),
                    None => self.hand(finding),
                }
            }
            "modprobe" => {
                let path = fix.file.trim_start_matches('/').to_owned();
                self.lines(&path, finding, &fix.text, advice);
                self.step("dracut -f (or update-initramfs -u), then boot: parameters hold when a module is loaded");
            }
            "limits" => {
                let text = limits::raised(facts, &fix.text);
                let path = "etc/security/limits.d/90-gristmill-sas.conf";
                self.lines(path, finding, &text, advice);
                self.step("limits hold for sessions that log in afterwards");
            }
            "udev" if !has_gaps => self.plain(finding, &[(UDEV, fix.text.clone())], advice),
            // Of a rule with a gap for the volume the one that is mounted is meant.
            "udev" if fix.text.contains("read_ahead_kb") => {
                let rule = plain::read_ahead_of(facts, finding.subject.as_deref(), &fix.text);
                self.plain_or_hand(finding, rule.map(|rule| vec![(UDEV, rule)]), advice);
            }
            "nfs_conf" => {
                self.lines("etc/nfs.conf.d/gristmill.conf", finding, &fix.text, advice);
                self.step("nfs.conf holds for file systems that are mounted afterwards, if nfs-utils has nfsrahead");
            }
            "multipath" => {
                if let Some(wanted) = multipath::Wanted::of(finding, &fix.text, advice) {
                    self.multipath.push(wanted);
                } else {
                    self.hand(finding);
                }
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

    /// A section of a profile of TuneD, or what stands for it where there is no TuneD.
    fn profile(&mut self, facts: &Facts, finding: &Finding, text: &str, advice: bool) {
        if plain::has_tuned(facts) {
            self.tuned.push(tuned::Wanted {
                rule: finding.id.clone(),
                text: text.to_owned(),
                advice,
            });
        } else {
            let lines = plain::lines(facts, finding.subject.as_deref(), text);
            self.plain_or_hand(finding, lines, advice);
        }
    }

    /// What there is a means for is written, the rest left to people.
    fn plain_or_hand(&mut self, finding: &Finding, lines: Option<Vec<Line>>, advice: bool) {
        match lines {
            Some(lines) => self.plain(finding, &lines, advice),
            None => self.hand(finding),
        }
    }

    /// Lines of files that need no more than to be applied.
    fn plain(&mut self, finding: &Finding, lines: &[Line], advice: bool) {
        for (file, text) in lines {
            self.lines(file, finding, text, advice);
            self.step(match *file {
                UDEV => APPLY_UDEV,
                TMPFILES => "systemd-tmpfiles --create gristmill.conf",
                _ => APPLY_SYSCTL,
            });
        }
    }

    /// Lines of other files that are applied after ours and say something else.
    fn say_who_wins(&mut self, facts: &Facts, ours: &str) {
        // Lines that somebody must say yes to lose as well if they stay behind others.
        let ours = ours.lines().map(|line| line.trim_start_matches('#'));
        let ours = ours.filter_map(|line| line.split_once(" = "));
        for (name, value) in ours {
            self.lines_after(facts, name, (name, value));
            if let Some(twin) = twin(name) {
                self.lines_after(facts, &twin, (name, value));
            }
        }
    }

    /// Lines for a setting in files that are applied after ours, which sets `name` to `value`.
    fn lines_after(&mut self, facts: &Facts, setting: &str, (name, value): (&str, &str)) {
        let Some(fact) = facts.get(&Key::plain("sysctl", setting)) else {
            return;
        };
        for seen in fact.persisted.iter().filter(|seen| is_later(&seen.from)) {
            let said = seen.value.to_string();
            let harmless = if setting == name {
                said.split_whitespace().eq(value.split_whitespace())
            } else {
                // A twin that is 0 leaves ours alone.
                said == "0"
            };
            if !harmless {
                let place = &seen.from;
                self.by_hand.push(format!(
                    "{place}: take out {setting} = {said}, which is applied after {name} = {value}"
                ));
            }
        }
    }

    /// Adds lines to a file, once, with every rule that wants them.
    fn lines(&mut self, path: &str, finding: &Finding, text: &str, advice: bool) {
        let blocks = self.blocks.entry(path.to_owned()).or_default();
        let rule = format!("{}: {}", finding.id, finding.title);
        let text = text.trim();
        let Some(block) = blocks.iter_mut().find(|block| block.text == text) else {
            blocks.push(Block {
                rules: vec![rule],
                text: text.to_owned(),
                advice,
            });
            return;
        };
        block.advice &= advice;
        if !block.rules.contains(&rule) {
            block.rules.push(rule);
        }
    }

    /// Files of lines, each with its rules before it.
    fn written(&self) -> BTreeMap<String, String> {
        let files = self.blocks.iter().map(|(path, blocks)| {
            let mut text = String::new();
            for block in blocks {
                for rule in &block.rules {
                    let _ = writeln!(text, "# {}", said_of(rule, block.advice));
                }
                for line in block.text.lines() {
                    let _ = writeln!(text, "{}{line}", if block.advice { "#" } else { "" });
                }
            }
            (path.clone(), text)
        });
        files.collect()
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

/// The comment before what a rule writes.
fn said_of(rule: &str, advice: bool) -> String {
    let advises = if advice {
        " (depends on this host: take the # away if it is right here)"
    } else {
        ""
    };
    format!("{rule}{advises}")
}

/// What applies settings of the kernel as the next boot will; `sysctl --system` reads /etc/sysctl.conf last,
/// which the boot does not.
const APPLY_SYSCTL: &str = "systemctl restart systemd-sysctl (or /usr/lib/systemd/systemd-sysctl)";

/// What applies rules of udev.
const APPLY_UDEV: &str = "udevadm control --reload-rules && \
                          udevadm trigger --type=devices --subsystem-match=block --action=change \
                          (disks are called as the kernel calls them now; where that may change, match \
                          ENV{ID_SERIAL})";

/// The setting that another one sets to 0.
fn twin(name: &str) -> Option<String> {
    match name.strip_suffix("_ratio") {
        Some(stem) => Some(format!("{stem}_bytes")),
        None => Some(format!("{}_ratio", name.strip_suffix("_bytes")?)),
    }
}

/// True for lines of files that are applied after ours. That of the link to /etc/sysctl.conf is named by
/// its own name.
fn is_later(from: &str) -> bool {
    let path = from.split(':').next().unwrap_or_default();
    let base = path.rsplit('/').next().unwrap_or_default();
    let ours = SYSCTL.rsplit('/').next().unwrap_or_default();
    match () {
        () if path == "/etc/sysctl.conf" => true,
        () if base == "99-sysctl.conf" || !path.contains("/sysctl.d/") => false,
        () => base > ours,
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
