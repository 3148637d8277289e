//! A patch for /etc/fstab: options taken out and put in.

use std::fmt::Write as _;

use crate::audit::Finding;
use crate::fields::unescaped;

/// What a rule wants of a mount's options.
pub(super) struct Change {
    rule: String,
    title: String,
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
            title: finding.title.clone(),
            point: finding.subject.clone()?,
            without: without.to_vec(),
            with: with.to_vec(),
        })
    }

    /// What people are told of a change that is not in the patch.
    fn by_hand(&self, fate: Fate) -> Option<String> {
        let Self {
            rule, title, point, ..
        } = self;
        let said = match fate {
            Fate::Patched => return None,
            Fate::Right => {
                "the line of /etc/fstab is right already: unmount and mount it".to_owned()
            }
            Fate::Forbidden => {
                "the line of /etc/fstab has sec=krb5, which does not go with it".to_owned()
            }
            Fate::NoLine => {
                let name = |option: &&&str| {
                    !self
                        .with
                        .iter()
                        .any(|with| with.split('=').next() == Some(**option))
                };
                let without: Vec<&str> = self.without.iter().filter(name).copied().collect();
                let out = Some(without.join(", ")).filter(|out| !out.is_empty());
                let put = Some(self.with.join(", ")).filter(|put| !put.is_empty());
                let steps = [
                    out.map(|out| format!("take out {out}")),
                    put.map(|put| format!("put in {put}")),
                ];
                let steps: Vec<String> = steps.into_iter().flatten().collect();
                format!(
                    "no options of it are in /etc/fstab; where it is mounted from (a map of autofs, a unit of \
                     systemd): {}",
                    steps.join(", ")
                )
            }
        };
        Some(format!("{rule} ({point}): {title}\n      {said}"))
    }
}

/// What became of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// No line with options is for its mount: a map of autofs, a unit of systemd.
    NoLine,
    /// The line says so already.
    Right,
    /// The line forbids it.
    Forbidden,
    /// It is in the patch.
    Patched,
}

/// A unified difference, `None` if no line changes; and what is left to people.
pub(super) fn patch(fstab: &str, changes: &[Change]) -> (Option<String>, Vec<String>) {
    let mut fates = vec![Fate::NoLine; changes.len()];
    let mut hunks = String::new();
    let mut grown = 0_usize;
    for (index, line) in fstab.lines().enumerate() {
        if line.trim_start().starts_with('#') {
            continue;
        }
        let point = unescaped(line.split_whitespace().nth(1).unwrap_or_default());
        let mut fitting = Vec::new();
        for (change, fate) in changes.iter().zip(&mut fates) {
            let now = if change.point == point {
                fate_on(line, change)
            } else {
                Fate::NoLine
            };
            if now == Fate::Patched {
                fitting.push(change);
            }
            if *fate != Fate::Patched && now != Fate::NoLine {
                *fate = now;
            }
        }
        let Some(new) = changed(line, &fitting).filter(|_| !fitting.is_empty()) else {
            continue;
        };
        let rules: Vec<&str> = fitting.iter().map(|change| change.rule.as_str()).collect();
        let number = index + 1;
        // A comment before the line names the rules.
        let _ = writeln!(hunks, "@@ -{number} +{},2 @@", number + grown);
        let _ = writeln!(hunks, "-{line}\n+# {}\n+{new}", rules.join(" "));
        grown += 1;
    }
    let left = changes.iter().zip(fates);
    let left = left
        .filter_map(|(change, fate)| change.by_hand(fate))
        .collect();
    let patch = (!hunks.is_empty()).then(|| format!("--- a/etc/fstab\n+++ b/etc/fstab\n{hunks}"));
    (patch, left)
}

fn fate_on(line: &str, change: &Change) -> Fate {
    match changed(line, &[change]) {
        None => Fate::NoLine,
        // What is mounted now may have been mounted by another line.
        Some(_) if change.rule == "NFS-102" && line.contains("sec=krb5") => Fate::Forbidden,
        Some(new) if new == line => Fate::Right,
        Some(_) => Fate::Patched,
    }
}

/// A line with other options; the rest of it stays as it is.
fn changed(line: &str, changes: &[&Change]) -> Option<String> {
    let options = line.split_whitespace().nth(3)?;
    let mut all: Vec<String> = options.split(',').map(str::to_owned).collect();
    for change in changes {
        all.retain(|option| {
            let name = option.split('=').next().unwrap_or(option);
            change.with.contains(&option.as_str()) || !change.without.contains(&name)
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
                title: "a title".to_owned(),
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
            patch(fstab, &changes).0.unwrap(),
            "--- a/etc/fstab\n+++ b/etc/fstab\n@@ -2 +2,2 @@\n-srv:/a  /a   nfs  rw,soft,nolock  0 0\n\
             +# NFS-112 NFS-113\n+srv:/a  /a   nfs  rw,hard  0 0\n@@ -4 +5,2 @@\n-/dev/c /c xfs nobarrier 0 0\n\
             +# FS-007\n+/dev/c /c xfs defaults 0 0\n"
        );
        let left = |fstab: &str, changes: &[Change]| {
            let (patch, left) = patch(fstab, changes);
            assert_eq!(patch, None);
            left.concat()
        };
        assert!(left(fstab, &changes[3..]).contains("take out nobarrier, barrier"));
        let several = [change("NFS-102", "/k")];
        assert!(left("srv:/k /k nfs4 sec=krb5p 0 0\n", &several).contains("sec=krb5"));
        assert!(left("srv:/k /k nfs4 nconnect=8,hard 0 0\n", &several).contains("right already"));
        assert!(left("srv:/k /k nfs4\n", &several).contains("systemd): put in nconnect=8"));
        let blank = [change("NFS-102", "/my data")];
        let (patch, left) = patch("srv:/k /my\\040data nfs4 hard 0 0\n", &blank);
        assert!(
            patch
                .unwrap()
                .contains("+srv:/k /my\\040data nfs4 hard,nconnect=8 0 0")
                && left.is_empty()
        );
    }
}
