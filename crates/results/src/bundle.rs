//! A run directory packed for sending: one `.tar.gz`, if wanted without names of hosts, users and paths.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::audit::NodeAudit;
use crate::run::{Error, RunDirectory};

/// Names that are replaced, longest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replacements {
    /// Name and what stands for it.
    names: Vec<(String, String)>,
}

/// What was packed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed {
    /// Files.
    pub files: usize,
    /// What was replaced, by what, and how often.
    pub replaced: Vec<(String, String, usize)>,
    /// Files left out because they are no text, so that names in them could not be replaced.
    pub left_out: Vec<PathBuf>,
}

impl Replacements {
    /// For the names that a run knows: its nodes, its directories and what they are mounted from, and
    /// those given, such as the user's.
    pub fn of(directory: &RunDirectory, users: &[String]) -> Result<Self, Error> {
        let plan = directory.plan()?;
        let mut hosts = vec![plan.node.clone()];
        hosts.extend(plan.nodes.iter().skip(1).cloned());
        let mut paths: Vec<String> = plan
            .directories
            .values()
            .map(|path| path.display().to_string())
            .collect();
        let own =
            std::path::absolute(directory.path()).unwrap_or_else(|_| directory.path().to_owned());
        paths.push(own.display().to_string());
        let mut sources = Vec::new();
        for node in directory.nodes()? {
            if let Some(record) = directory.node(&node)? {
                for system in record.file_systems.into_values() {
                    paths.push(system.mount_point);
                    sources.push(system.source);
                }
            }
            hosts.push(node);
        }
        for audit in directory.audits()? {
            let names = audited(&audit);
            hosts.extend(names.hosts);
            sources.extend(names.sources);
            paths.extend(names.paths);
            hosts.push(audit.node);
        }
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        for (kind, names) in [
            ("host", hosts),
            ("source", sources),
            ("user", users.to_vec()),
        ] {
            for name in names {
                let number = all.values().filter(|value| value.starts_with(kind)).count() + 1;
                if is_telling(&name) {
                    all.entry(name).or_insert(format!("{kind}{number}"));
                }
            }
        }
        for path in paths.iter().flat_map(|path| Path::new(path).ancestors()) {
            let text = path.display().to_string();
            let number = all
                .values()
                .filter(|value| value.starts_with("/path"))
                .count()
                + 1;
            // The root is everybody's.
            if text.len() > 1 && text.starts_with('/') {
                all.entry(text).or_insert(format!("/path{number}"));
            }
        }
        let mut names: Vec<(String, String)> = all.into_iter().collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Ok(Self { names })
    }

    /// A text with the names replaced, and how often each was.
    fn apply(&self, text: &str, counts: &mut [usize]) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(first) = rest.chars().next() {
            let found = self.names.iter().position(|(name, _)| {
                rest.starts_with(&**name)
                    && !continues(before, name.chars().next())
                    && !continues(rest[name.len()..].chars().next(), name.chars().next_back())
            });
            let (taken, put) = match found {
                Some(at) => {
                    counts[at] += 1;
                    (self.names[at].0.len(), &*self.names[at].1)
                }
                None => (first.len_utf8(), &rest[..first.len_utf8()]),
            };
            out.push_str(put);
            before = rest[..taken].chars().next_back();
            rest = &rest[taken..];
        }
        out
    }
}

/// Names that findings of an audit tell.
#[derive(Debug, Default, PartialEq, Eq)]
struct Audited {
    hosts: Vec<String>,
    sources: Vec<String>,
    paths: Vec<String>,
}

/// Folders that every system has: paths below them tell nothing, and their own names stay.
const EVERYBODYS: [&str; 14] = [
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/opt", "/proc", "/run", "/sys", "/tmp",
    "/usr", "/var",
];

/// Below these are files of the system, whose names are the same everywhere.
const SYSTEM: [&str; 7] = [
    "/dev/", "/etc/", "/lib/", "/proc/", "/run/", "/sys/", "/usr/",
];

/// Mounts of servers, their hosts, and paths in what an audit found.
fn audited(audit: &NodeAudit) -> Audited {
    let mut names = Audited::default();
    for one in &audit.findings {
        // The subject of a path is its role and the path.
        let texts = [
            one.subject.as_ref(),
            one.running.as_ref(),
            one.persisted.as_ref(),
        ];
        let texts = texts.into_iter().flatten().chain(&one.evidence);
        let apart = |letter: char| letter.is_whitespace() || ",;()=\"'".contains(letter);
        for word in texts.flat_map(|text| text.split(apart)) {
            match word.split_once(":/") {
                Some((host, export)) if !host.is_empty() && !host.contains('/') => {
                    names.hosts.push(host.trim_matches(['[', ']']).to_owned());
                    names.sources.push(format!("{host}:/{export}"));
                }
                _ => {
                    // A line of a file: `/etc/fstab:12`.
                    let path = word
                        .split(':')
                        .next()
                        .unwrap_or_default()
                        .trim_end_matches('/');
                    let is_own = path.starts_with('/')
                        && !EVERYBODYS.contains(&path)
                        && !SYSTEM.iter().any(|system| path.starts_with(system));
                    if is_own {
                        names.paths.push(path.to_owned());
                    }
                }
            }
        }
    }
    names
}

/// Names that are no words of ours or everybody's: `none` and `tmpfs` are mounted everywhere.
fn is_telling(name: &str) -> bool {
    let common = [
        "",
        "none",
        "tmpfs",
        "overlay",
        "localhost",
        "root",
        "shm",
        "proc",
    ];
    !common.contains(&name)
}

/// Whether a letter beside a name makes it part of another name.
fn continues(beside: Option<char>, edge: Option<char>) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    beside.is_some_and(is_word) && edge.is_some_and(is_word)
}

/// Packs a run directory into `file`; with replacements all files must be texts.
pub fn pack(
    directory: &RunDirectory,
    file: &Path,
    replacements: Option<&Replacements>,
) -> Result<Packed, Error> {
    let failed = |action: &'static str, path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| Error::Io {
            action,
            path,
            source,
        }
    };
    let root = directory.path();
    let name = directory.plan()?.run;
    let mut packed = Packed::default();
    let names = replacements.map_or(&[][..], |replacements| &replacements.names);
    let mut counts = vec![0; names.len()];
    // A bundle made within the run directory is not part of the run.
    let mut all = files(root).map_err(failed("read", root))?;
    all.retain(|path| std::path::absolute(path).ok() != std::path::absolute(file).ok());
    // Elsewhere there is nothing to compare the hashes of outputs with, and they are long.
    all.retain(|path| path.file_name().is_none_or(|name| name != "written.jsonl"));
    let out = File::create(file).map_err(failed("create", file))?;
    let mut archive = tar::Builder::new(GzEncoder::new(out, Compression::default()));
    for path in all {
        let mut bytes = fs::read(&path).map_err(failed("read", &path))?;
        let inside = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        let mut target = format!("{name}/{inside}");
        if let Some(replacements) = replacements {
            let Ok(text) = String::from_utf8(bytes) else {
                packed.left_out.push(PathBuf::from(inside));
                continue;
            };
            bytes = replacements.apply(&text, &mut counts).into_bytes();
            target = replacements.apply(&target, &mut counts);
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive
            .append_data(&mut header, &target, &*bytes)
            .map_err(failed("write", file))?;
        packed.files += 1;
    }
    let encoder = archive.into_inner().map_err(failed("write", file))?;
    let out = encoder.finish().map_err(failed("write", file))?;
    out.sync_all().map_err(failed("write", file))?;
    packed.replaced = names
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|((name, by), count)| (name.clone(), by.clone(), count))
        .collect();
    Ok(packed)
}

/// All files below a directory, in order; links are not followed.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            found.extend(files(&entry.path())?);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_tells_servers_and_paths_of_others() {
        let finding = crate::audit::AuditFinding {
            subject: Some("saswork /sas work/".to_owned()),
            running: Some("/home2 holds sasdata, mounted from nas02:/ifs/home".to_owned()),
            persisted: Some("rw,hard (/etc/fstab:12)".to_owned()),
            evidence: vec![
                "/proc/self/mountinfo:6".to_owned(),
                "[fd00::2]:/x".to_owned(),
            ],
            ..crate::audit::AuditFinding::default()
        };
        let audit = NodeAudit {
            findings: vec![finding],
            ..NodeAudit::default()
        };
        let names = audited(&audit);
        assert_eq!(names.hosts, ["nas02", "fd00::2"]);
        assert_eq!(names.sources, ["nas02:/ifs/home", "[fd00::2]:/x"]);
        assert_eq!(names.paths, ["/sas", "/home2"]);
    }

    fn replaced(text: &str) -> String {
        let names = [
            ("/mnt/nas/bench", "/path1"),
            ("/mnt/nas", "/path2"),
            ("nas01", "host1"),
            ("ann", "user1"),
        ];
        let names = names.map(|(name, by)| (name.to_owned(), by.to_owned()));
        let all = Replacements {
            names: names.to_vec(),
        };
        all.apply(text, &mut [0; 4])
    }

    #[test]
    fn whole_names_are_replaced_and_parts_of_others_are_not() {
        assert_eq!(
            replaced("libname in '/mnt/nas/bench/x';"),
            "libname in '/path1/x';"
        );
        assert_eq!(
            replaced("/mnt/nas2 /mnt/nas /mnt/nas/y"),
            "/mnt/nas2 /path2 /path2/y"
        );
        assert_eq!(
            replaced("annual ann nas01:/e \"nas01\""),
            "annual user1 host1:/e \"host1\""
        );
    }
}
