//! Parsers, one file a source. Each takes the path (or the name of the command) and the text, and
//! gives what it found; none fails. What one does not understand is left out, or reported as
//! `odd[path:line]` where a person should see it.

pub mod beegfs;
pub mod blkid;
pub mod block_queue;
pub mod blockdev;
pub mod cifs_debug;
pub mod cmdline;
pub mod corosync;
pub mod cpufreq;
pub mod cpuidle;
pub mod cpuinfo;
pub mod cpupower;
pub mod df;
pub mod dlm;
pub mod dmesg;
pub mod dmi;
pub mod dmsetup;
pub mod ethtool;
pub mod exports;
pub mod fc_host;
pub mod findmnt;
pub mod fstab;
pub mod gfs2;
pub mod gluster;
pub mod gpfs_colon;
pub mod gpfs_state;
pub mod ip_link;
pub mod iscsiadm;
pub mod libvirt;
pub mod limits_conf;
pub mod lsblk;
pub mod lscpu;
pub mod lustre;
pub mod lvs;
pub mod meminfo;
pub mod mmlsconfig;
pub mod mmlsdisk;
pub mod mmlsmount;
pub mod modprobe;
pub mod modules;
pub mod mount_command;
pub mod mountinfo;
pub mod mounts;
pub mod mountstats;
pub mod multipath_conf;
pub mod multipath_ll;
pub mod net;
pub mod nfsstat;
pub mod numa;
pub mod os_release;
pub mod process;
pub mod process_limits;
pub mod sas_config;
pub mod sas_options;
pub mod scsi_device;
pub mod sysctl;
pub mod systemd;
pub mod thp;
pub mod tmpfiles;
pub mod tuned;
pub mod udev;
pub mod uname;
pub mod vxtunefs;
pub mod windows;
pub mod xfs_info;

use std::collections::BTreeMap;

use super::{Key, Value};

/// Something that a source says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub key: Key,
    /// Its value.
    pub value: Value,
    /// The line that says it, from 1; 0 if it is the whole text.
    pub line: usize,
}

/// A parser: path and text in, facts out.
pub type Parse = fn(&str, &str) -> Vec<Found>;

/// Something that a line says.
pub(crate) fn found(key: Key, value: impl Into<Value>, line: usize) -> Found {
    Found {
        key,
        value: value.into(),
        line,
    }
}

/// A line that its reader will not take as its writer meant it.
pub(crate) fn odd(path: &str, line: usize, text: &str) -> Found {
    found(
        Key::of("odd", &format!("{path}:{line}"), "text"),
        text.trim(),
        line,
    )
}

/// Lines with their numbers, from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
}

/// Lines that say something: without blanks around them, no comments, numbered.
pub(crate) fn said<'a>(
    text: &'a str,
    comments: &'static [char],
) -> impl Iterator<Item = (usize, &'a str)> {
    lines(text)
        .map(|(number, line)| (number, line.trim()))
        .filter(move |(_, line)| !line.is_empty() && !line.starts_with(comments))
}

/// The last component of a path.
pub(crate) fn base(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path)
}

/// The component of a path behind `folder`: `after("/sys/block/sda/queue/a", "block")` is `sda`.
pub(crate) fn after<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let mut parts = path.split('/');
    parts.find(|part| *part == folder)?;
    parts.next()
}

/// Options of mounts whose values are nobody's business.
const SECRETS: [&str; 4] = ["password=", "password2=", "pass=", "secret="];

/// A text of mounts without the secrets that options of CIFS and Ceph may hold.
pub fn without_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('=') {
        let (head, tail) = rest.split_at(at + 1);
        out.push_str(head);
        rest = tail;
        let begins = |secret: &&str| {
            let before = out.strip_suffix(*secret);
            before
                .is_some_and(|before| before.is_empty() || before.ends_with([',', ' ', '\t', '\n']))
        };
        if SECRETS.iter().any(begins) {
            let end = rest.find([',', ' ', '\t', '\n', ')']).unwrap_or(rest.len());
            out.push_str("***");
            rest = &rest[end..];
        }
    }
    out.push_str(rest);
    out
}

/// Facts of a mount: type, source, options, and each option that has a value by its own name.
pub(crate) fn mount_facts(
    point: &str,
    fstype: &str,
    source: &str,
    options: Vec<String>,
    line: usize,
) -> Vec<Found> {
    let fact = |name: &str, value: Value| found(Key::of("mount", point, name), value, line);
    let mut facts = vec![fact("fstype", fstype.into()), fact("source", source.into())];
    let options: Vec<String> = options
        .into_iter()
        .map(|option| without_secrets(&option))
        .collect();
    for option in &options {
        if let Some((name, value)) = option.split_once('=')
            && !["fstype", "source", "options", "device"].contains(&name)
        {
            facts.push(fact(name, Value::of(value.trim_matches('"'))));
        }
    }
    facts.push(fact("options", Value::List(options)));
    facts
}

/// Facts of mounts, in the order in which they were made: of those at one place the last hides the others.
pub(crate) fn uppermost(mounts: Vec<Vec<Found>>) -> Vec<Found> {
    let point = |facts: &Vec<Found>| facts.first().and_then(|fact| fact.key.subject.clone());
    let last: BTreeMap<Option<String>, usize> =
        (0..).zip(&mounts).map(|(at, of)| (point(of), at)).collect();
    let seen = mounts.into_iter().enumerate();
    seen.filter(|(at, of)| last.get(&point(of)) == Some(at))
        .flat_map(|(_, of)| of)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_kept() {
        let line =
            "//a/b /c cifs username=u,password=p=q!,uid=0 0 0\nc /d ceph name=x,secret=y 0 0\n";
        assert_eq!(
            without_secrets(line),
            "//a/b /c cifs username=u,password=***,uid=0 0 0\nc /d ceph name=x,secret=*** 0 0\n"
        );
        assert_eq!(without_secrets("bypass=1,a=pass=2"), "bypass=1,a=pass=2");
        let facts = fstab::parse("/etc/fstab", line);
        let all = format!("{facts:?}");
        assert!(!all.contains("p=q") && !all.contains("\"y\""), "{all}");
    }
}
