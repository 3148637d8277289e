//! Small hosts, each with only the files that its rules look at: what is said of them, and what is written for
//! them.

mod fixes;
mod judged;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use host::audit::catalogue::Catalogue;
use host::audit::{Finding, Outcome, Site, fix, judge};
use host::facts::Root;
use host::facts::collect::{Given, collect};

fn write(base: &Path, path: &str, text: &str) {
    let path = base.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What was said of a host.
struct Audited {
    findings: Vec<Finding>,
    files: BTreeMap<String, String>,
}

impl Audited {
    /// The result of a rule on a subject, or on the host.
    fn result(&self, id: &str, subject: Option<&str>) -> Outcome {
        let mut of = self.findings.iter().filter(|finding| finding.id == id);
        let found = of.clone().find(|one| one.subject.as_deref() == subject);
        let found = found.or_else(|| of.next()).unwrap();
        found.result
    }

    fn file(&self, path: &str) -> &str {
        self.files.get(path).map_or("", String::as_str)
    }
}

/// Audits a host that computes and has these files; /sas and "/sas data" hold its data.
fn audit(files: &[(&str, &str)]) -> Audited {
    let paths = [("sasdata", "/sas"), ("sasdata", "/sas data")];
    audit_as("compute", &paths, files)
}

/// Audits a host of a role that has these files, with these roles of paths.
fn audit_as(role: &str, paths: &[(&str, &str)], files: &[(&str, &str)]) -> Audited {
    let folder = tempfile::tempdir().unwrap();
    // A tree of one folder would be taken for an archive's.
    write(folder.path(), "proc/uptime", "1 1\n");
    write(folder.path(), "etc/hostname", "small\n");
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    let given = Given {
        paths: paths
            .iter()
            .map(|(role, path)| ((*role).to_owned(), (*path).to_owned()))
            .collect(),
        ..Given::default()
    };
    let root = Root::tree(folder.path());
    let facts = collect(&root, &given).unwrap();
    let site = Site {
        host_roles: vec![role.to_owned()],
        today: "2026-11-21".to_owned(),
        ..Site::default()
    };
    let findings = judge(&Catalogue::built_in().unwrap(), &facts, &site);
    let files = fix::files(&facts, &findings, &root);
    Audited { findings, files }
}
