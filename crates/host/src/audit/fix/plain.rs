//! Hosts without TuneD: what a profile would set, by the means that every distribution has.

use crate::facts::Facts;
use crate::facts::derive::whole;

/// Where settings of sysctl go.
pub(super) const SYSCTL: &str = "etc/sysctl.d/90-gristmill.conf";

/// Where rules of udev go.
pub(super) const UDEV: &str = "etc/udev/rules.d/99-gristmill.rules";

/// Where what is written to /sys at boot goes.
pub(super) const TMPFILES: &str = "etc/tmpfiles.d/gristmill.conf";

/// A file and what it is to say.
pub(super) type Line = (&'static str, String);

/// True if anything is known of TuneD; a profile is of no use to a host that has it not.
pub(super) fn has_tuned(facts: &Facts) -> bool {
    let services = facts.class("service");
    let runs = |(key, _): (&crate::facts::Key, _)| key.subject.as_deref() == Some("tuned");
    ["tuned", "tuned-main"]
        .iter()
        .any(|class| facts.class(class).next().is_some())
        || services.into_iter().any(runs)
}

/// Files and the lines that stand for a section of a profile, for a subject; `None` if there is no
/// such means.
pub(super) fn lines(facts: &Facts, subject: Option<&str>, text: &str) -> Option<Vec<Line>> {
    let mut section = "";
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            continue;
        }
        let (name, value) = line.split_once('=')?;
        let (name, value) = (name.trim(), value.trim().trim_start_matches('>'));
        found.push(match (section, name) {
            ("sysctl", name) => (SYSCTL, format!("{name} = {value}")),
            ("vm", "transparent_hugepages") => (
                TMPFILES,
                format!("w /sys/kernel/mm/transparent_hugepage/enabled - - - - {value}"),
            ),
            ("vm", name) if name.starts_with("dirty_") => (SYSCTL, dirty(name, value)),
            ("disk", "readahead") => (UDEV, read_ahead(facts, subject?, value)?),
            ("disk", "elevator") => (UDEV, rule(facts, subject?, "queue/scheduler", value)?),
            _ => return None,
        });
    }
    Some(found)
}

/// Dirty memory as a share or in bytes; the one sets the other to 0.
fn dirty(name: &str, value: &str) -> String {
    match value.strip_suffix('%') {
        Some(share) => format!("vm.{} = {share}", name.replace("bytes", "ratio")),
        None => format!("vm.{name} = {value}"),
    }
}

/// A rule for the device that is mounted, with the value of one that has a gap for it.
pub(super) fn read_ahead_of(facts: &Facts, subject: Option<&str>, text: &str) -> Option<String> {
    read_ahead(facts, subject?, text.trim_end().rsplit('"').nth(1)?)
}

/// A rule that sets the read-ahead of what is mounted, in KiB; that of a btrfs is no setting of a device.
fn read_ahead(facts: &Facts, subject: &str, kb: &str) -> Option<String> {
    if facts.text("mount", subject, "fstype").as_deref() == Some("btrfs") {
        return None;
    }
    rule(facts, subject, "queue/read_ahead_kb", kb)
}

/// The device of a mount, or a device.
fn device_of(facts: &Facts, subject: &str) -> Option<String> {
    match facts.text("mount", subject, "block") {
        Some(device) => Some(whole(facts, &device).to_owned()),
        None if facts.subjects("block").contains(subject) => Some(subject.to_owned()),
        None => None,
    }
}

/// A section of a profile with a scheduler that the device offers: that of the rule, or the like of it that older
/// kernels have; `None` if it offers none of them.
pub(super) fn offered(facts: &Facts, subject: Option<&str>, text: &str) -> Option<String> {
    let name = "elevator=";
    let wanted = text.lines().find_map(|line| line.trim().strip_prefix(name));
    let device = subject.and_then(|subject| device_of(facts, subject));
    let all = device.and_then(|device| facts.of("block", &device, "schedulers").cloned());
    let (Some(wanted), Some(all)) = (wanted, all) else {
        return Some(text.to_owned());
    };
    let all = all.texts();
    let known = [wanted, "deadline", "none", "noop"];
    let found = known
        .into_iter()
        .find(|known| all.iter().any(|one| one == known))?;
    Some(text.replace(&format!("{name}{wanted}"), &format!("{name}{found}")))
}

/// A rule of udev for the device of a mount, or for a device.
fn rule(facts: &Facts, subject: &str, attribute: &str, value: &str) -> Option<String> {
    let device = device_of(facts, subject)?;
    let which = match facts.text("block", &device, "mapper_name") {
        Some(name) => format!("ENV{{DM_NAME}}==\"{name}\""),
        None => format!("KERNEL==\"{device}\""),
    };
    Some(format!(
        "ACTION==\"add|change\", SUBSYSTEM==\"block\", {which}, ATTR{{{attribute}}}=\"{value}\""
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Key;

    #[test]
    fn a_profile_is_written_by_other_means() {
        let mut facts = Facts::default();
        let mut run = |class: &str, subject: &str, name: &str, value: &str| {
            facts.run(Key::of(class, subject, name), value, "a");
        };
        run("mount", "/d", "block", "sdb1");
        run("block", "sdb", "scheduler", "none");
        run("mount", "/w", "block", "dm-3");
        run("block", "dm-3", "mapper_name", "vg-work");
        let of = |subject: &str, text: &str| lines(&facts, Some(subject), text);
        let one = |file: &'static str, line: &str| Some(vec![(file, line.to_owned())]);
        assert_eq!(
            of("/d", "[disk]\nreadahead=>4096\n"),
            one(
                UDEV,
                "ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"sdb\", \
                 ATTR{queue/read_ahead_kb}=\"4096\""
            )
        );
        assert_eq!(
            of("/w", "[disk]\nelevator=mq-deadline\n"),
            one(
                UDEV,
                "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DM_NAME}==\"vg-work\", \
                 ATTR{queue/scheduler}=\"mq-deadline\""
            )
        );
        assert_eq!(
            of("", "[vm]\ndirty_bytes = 40%\n"),
            one(SYSCTL, "vm.dirty_ratio = 40")
        );
        assert_eq!(
            of("", "[vm]\ndirty_bytes=31457280\n"),
            one(SYSCTL, "vm.dirty_bytes = 31457280")
        );
        assert_eq!(of("/nowhere", "[disk]\nreadahead=>4096\n"), None);
        assert_eq!(of("/d", "[cpu]\nboost=1\n"), None);
        assert!(!has_tuned(&facts));
    }
}
