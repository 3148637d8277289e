//! A patch for /etc/fstab: options taken out and put in.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::audit::Finding;

/// What a rule wants of a mount's options.
pub(super) struct Change {
    rule: String,
    point: String,
    /// Options, or names before `=`, that go.
    without: Vec<&'static str>,
    with: Vec<&'static str>,
}

/// What each rule takes out and puts in.
const CHANGES: [(&str, &[&str], &[&str]); 18] = [
    ("BLK-109", &["discard"], &[]),
    (
        "BLK-110",
        &[
            "barrier",
            "nobarrier",
            "inrt",
            "retains",
            "delaylog",
            "nodelaylog",
        ],
        &[],
    ),
    ("CIFS-102", &["nobrl"], &[]),
    ("FS-007", &["nobarrier", "barrier"], &[]),
    (
        "FS-009",
        &["atime", "relatime", "strictatime"],
        &["noatime"],
    ),
    (
        "FS-010",
        &["atime", "relatime", "strictatime"],
        &["noatime"],
    ),
    ("GFS2-101", &["errors"], &[]),
    ("GFS2-103", &["nobarrier", "barrier"], &[]),
    ("LUS-008", &["noflock", "localflock", "flock"], &["flock"]),
    (
        "NFS-001",
        &["actimeo", "acregmin", "acregmax", "acdirmin", "acdirmax"],
        &["actimeo=0"],
    ),
    ("NFS-005", &["soft", "softerr", "hard"], &["hard"]),
    ("NFS-102", &["nconnect"], &["nconnect=8"]),
    ("NFS-104", &["acdirmin"], &["acdirmin=0"]),
    ("NFS-106", &["nocto"], &[]),
    ("NFS-108", &["rsize", "wsize"], &[]),
    ("NFS-112", &["nolock", "local_lock"], &[]),
    (
        "NFS-113",
        &["soft", "softerr", "softreval", "hard"],
        &["hard"],
    ),
    ("VIRT-007", &["nobarrier", "barrier"], &[]),
];

impl Change {
    /// The change of a finding on a mount, if options of fstab can mend it.
    pub(super) fn of(finding: &Finding) -> Option<Self> {
        let (_, without, with) = CHANGES.iter().find(|(rule, _, _)| *rule == finding.id)?;
        Some(Self {
            rule: finding.id.clone(),
            point: finding.subject.clone()?,
            without: without.to_vec(),
            with: with.to_vec(),
        })
    }
}

/// A unified difference; `None` if no line of fstab is for any of the mounts.
pub(super) fn patch(fstab: &str, changes: &[Change]) -> Option<String> {
    let mut by_point: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
    for change in changes {
        by_point.entry(&change.point).or_default().push(change);
    }
    let mut hunks = String::new();
    let mut grown = 0_usize;
    for (index, line) in fstab.lines().enumerate() {
        let point = line.split_whitespace().nth(1).unwrap_or_default();
        let Some(changes) = by_point
            .get(point)
            .filter(|_| !line.trim_start().starts_with('#'))
        else {
            continue;
        };
        let Some(new) = changed(line, changes).filter(|new| new != line) else {
            continue;
        };
        let rules: Vec<&str> = changes.iter().map(|change| change.rule.as_str()).collect();
        let number = index + 1;
        // A comment before the line names the rules.
        let _ = writeln!(hunks, "@@ -{number} +{},2 @@", number + grown);
        let _ = writeln!(hunks, "-{line}\n+# {}\n+{new}", rules.join(" "));
        grown += 1;
    }
    (!hunks.is_empty()).then(|| format!("--- a/etc/fstab\n+++ b/etc/fstab\n{hunks}"))
}

/// A line with other options; the rest of it stays as it is.
fn changed(line: &str, changes: &[&Change]) -> Option<String> {
    let options = line.split_whitespace().nth(3)?;
    let mut all: Vec<String> = options.split(',').map(str::to_owned).collect();
    let kerberos = all.iter().any(|option| option.starts_with("sec=krb5"));
    // What is mounted now may have been mounted by another line.
    let fits = |change: &&&Change| !(kerberos && change.rule == "NFS-102");
    for change in changes.iter().filter(fits) {
        all.retain(|option| {
            let name = option.split('=').next().unwrap_or(option);
            !change.without.contains(&name)
        });
        for option in &change.with {
            if !all.iter().any(|known| known == option) {
                all.push((*option).to_owned());
            }
        }
    }
    if all.is_empty() {
        all.push("defaults".to_owned());
    }
    // The fourth field, wherever it stands.
    let mut at = 0;
    for _ in 0..3 {
        at += line[at..].find(|letter: char| !letter.is_whitespace())?;
        at += line[at..].find(char::is_whitespace)?;
    }
    let start = at + line[at..].find(|letter: char| !letter.is_whitespace())?;
    Some(format!(
        "{}{}{}",
        &line[..start],
        all.join(","),
        &line[start + options.len()..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_options_change() {
        let fstab = "# a\nsrv:/a  /a   nfs  rw,soft,nolock  0 0\nsrv:/b /b nfs rw 0 0\n/dev/c /c xfs nobarrier 0 0\n";
        let change = |rule: &str, point: &str| {
            let (_, without, with) = CHANGES.iter().find(|(known, _, _)| *known == rule).unwrap();
            Change {
                rule: rule.to_owned(),
                point: point.to_owned(),
                without: without.to_vec(),
                with: with.to_vec(),
            }
        };
        let changes = [
            change("NFS-112", "/a"),
            change("NFS-113", "/a"),
            change("FS-007", "/c"),
            change("FS-007", "/d"),
        ];
        assert_eq!(
            patch(fstab, &changes).unwrap(),
            "--- a/etc/fstab\n+++ b/etc/fstab\n@@ -2 +2,2 @@\n-srv:/a  /a   nfs  rw,soft,nolock  0 0\n\
             +# NFS-112 NFS-113\n+srv:/a  /a   nfs  rw,hard  0 0\n@@ -4 +5,2 @@\n-/dev/c /c xfs nobarrier 0 0\n\
             +# FS-007\n+/dev/c /c xfs defaults 0 0\n"
        );
        assert_eq!(patch(fstab, &changes[3..]), None);
        let several = [change("NFS-102", "/k")];
        assert_eq!(patch("srv:/k /k nfs4 sec=krb5p 0 0\n", &several), None);
    }
}
