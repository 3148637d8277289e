//! What has to be put back, kept on disk before anything is changed, so that a process that was killed leaves
//! nothing behind that the next one cannot put back.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Name of the file in the series' folder.
pub const JOURNAL: &str = "journal.jsonl";

/// A file of the kernel with a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// Where.
    pub path: PathBuf,
    /// What it says, or is to say.
    pub value: String,
}

/// How something that was changed is put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Undo {
    /// A setting.
    Setting {
        /// What it is.
        what: String,
        /// What it was set to.
        set: Value,
        /// What puts it back. Its file may be another one: `dirty_bytes` and `dirty_ratio` are two views
        /// of one setting.
        restore: Value,
    },
    /// The profile of `TuneD`.
    Tuned {
        /// The one before; `None`: none was active.
        profile: Option<String>,
        /// Settings that profiles change, as they were before.
        then: Vec<Value>,
    },
    /// A mount.
    Mount {
        /// Where.
        point: PathBuf,
    },
    /// A loop device.
    Loop {
        /// Its file.
        image: PathBuf,
    },
    /// A volume group with all that is in it.
    VolumeGroup {
        /// Its name, which we gave it.
        name: String,
        /// The devices that were made part of it.
        devices: Vec<String>,
    },
}

/// A line of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    /// Number of the change.
    number: u64,
    /// The boot within which it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boot: Option<String>,
    /// How it is put back; absent: it has been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undo: Option<Undo>,
}

/// A change that was not put back yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its number.
    pub number: u64,
    /// True if the host was not started anew since.
    pub same_boot: bool,
    /// How it is put back.
    pub undo: Undo,
}

/// The journal of a series.
#[derive(Debug)]
pub struct Journal {
    file: File,
    boot: String,
    next: u64,
    /// Bytes of whole lines.
    whole: u64,
    pending: Vec<Pending>,
}

/// What the kernel calls this boot.
pub fn boot_id() -> io::Result<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(id.trim().to_owned())
}

/// Changes of a folder that were not put back, the oldest first.
pub fn pending(folder: &Path, boot: &str) -> io::Result<Vec<Pending>> {
    read(&folder.join(JOURNAL), boot).map(|(pending, _, _)| pending)
}

/// Changes not put back, the next number, and how many bytes are whole lines.
fn read(path: &Path, boot: &str) -> io::Result<(Vec<Pending>, u64, u64)> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        other => other?,
    };
    let mut open: BTreeMap<u64, Pending> = BTreeMap::new();
    let mut next = 1;
    let mut whole = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if !line.ends_with('\n') {
            // Cut short: the change that it announces was never made, since it is made after the whole line is on disk.
            break;
        }
        let line_read: Line = serde_json::from_str(line).map_err(|error| {
            let message = format!("{} (line {}): {error}", path.display(), at + 1);
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        whole += line.len() as u64;
        next = next.max(line_read.number + 1);
        match line_read.undo {
            Some(undo) => {
                let same_boot = line_read.boot.as_deref() == Some(boot);
                let pending = Pending {
                    number: line_read.number,
                    same_boot,
                    undo,
                };
                open.insert(pending.number, pending);
            }
            None => _ = open.remove(&line_read.number),
        }
    }
    Ok((open.into_values().collect(), next, whole))
}

impl Journal {
    /// Opens that of a folder.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(JOURNAL);
        let boot = boot_id()?;
        let (pending, next, whole) = read(&path, &boot)?;
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        if file.metadata()?.len() > whole {
            file.set_len(whole)?;
        }
        // The file itself must outlive a crash, not only its content.
        File::open(folder)?.sync_all()?;
        Ok(Self {
            file,
            boot,
            next,
            whole,
            pending,
        })
    }

    /// Changes that were not put back, the oldest first.
    pub fn pending(&self) -> &[Pending] {
        &self.pending
    }

    /// Announces a change; when this returns it may be made.
    pub fn announce(&mut self, undo: Undo) -> io::Result<u64> {
        let number = self.next;
        self.write(&Line {
            number,
            boot: Some(self.boot.clone()),
            undo: Some(undo.clone()),
        })?;
        self.next += 1;
        self.pending.push(Pending {
            number,
            same_boot: true,
            undo,
        });
        Ok(number)
    }

    /// Says that a change has been put back.
    pub fn done(&mut self, number: u64) -> io::Result<()> {
        self.write(&Line {
            number,
            boot: None,
            undo: None,
        })?;
        self.pending.retain(|one| one.number != number);
        Ok(())
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line).expect("lines have only plain keys");
        bytes.push(b'\n');
        let written = self
            .file
            .write_all(&bytes)
            .and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.whole += bytes.len() as u64,
            // Half a line must not be in the way of the next one.
            Err(_) => self.file.set_len(self.whole)?,
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(at: &str) -> Undo {
        Undo::Mount { point: at.into() }
    }

    #[test]
    fn what_was_announced_and_not_done_is_pending_whatever_became_of_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(folder.path()).unwrap();
        let first = journal.announce(mount("/a")).unwrap();
        journal.announce(mount("/b")).unwrap();
        journal.done(first).unwrap();
        drop(journal);
        let again = Journal::open(folder.path()).unwrap();
        let [left] = again.pending() else {
            panic!("{:?}", again.pending());
        };
        assert_eq!(
            (left.number, &left.undo, left.same_boot),
            (2, &mount("/b"), true)
        );
        let later = pending(folder.path(), "another boot").unwrap();
        assert!(!later[0].same_boot);
    }

    #[test]
    fn a_line_cut_short_announced_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(folder.path()).unwrap();
        journal.announce(mount("/a")).unwrap();
        journal.announce(mount("/b")).unwrap();
        drop(journal);
        let path = folder.path().join(JOURNAL);
        let text = fs::read_to_string(&path).unwrap();
        let first = text.find('\n').unwrap() + 1;
        for cut in first..text.len() - 1 {
            fs::write(&path, &text[..cut]).unwrap();
            let mut journal = Journal::open(folder.path()).unwrap();
            assert_eq!(journal.pending().len(), 1, "cut at {cut}");
            journal.announce(mount("/c")).unwrap();
            let again = Journal::open(folder.path()).unwrap();
            assert_eq!(again.pending()[1].undo, mount("/c"), "cut at {cut}");
        }
    }

    #[test]
    fn a_broken_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(JOURNAL), "{}\n").unwrap();
        let error = Journal::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("journal.jsonl (line 1)"), "{error}");
    }
}
