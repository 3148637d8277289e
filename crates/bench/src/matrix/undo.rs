//! Putting back what was changed, the last change first.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::journal::{Journal, Pending, Undo, Value};
use super::setting::{chosen, read, write};
use super::{filesystem, image, tool};

/// How long a mount may stay busy after the last process ended that used it.
const BUSY_MAX: Duration = Duration::from_secs(20);

/// What was put back, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// A sentence for each change that was put back.
    pub done: Vec<String>,
    /// Settings that somebody else has changed since: they stay as they are. A sentence each.
    pub left: Vec<String>,
    /// What could not be put back, and why; it stays in the journal.
    pub failed: Vec<String>,
}

/// Puts back everything that is pending.
pub fn all(journal: &mut Journal) -> Restored {
    let mut restored = Restored::default();
    // As it is before anything is put back: undoing one change may move others.
    let pending: Vec<(Pending, Option<String>)> = journal
        .pending()
        .iter()
        .map(|one| (one.clone(), changed_by_others(one, journal.pending())))
        .collect();
    for (one, others) in pending.into_iter().rev() {
        let what = describe(&one.undo);
        if let Some(why) = others {
            restored.left.push(why);
        } else if let Err(error) = put_back(&one) {
            restored
                .failed
                .push(format!("failed to put back {what}: {error}"));
            continue;
        } else {
            restored.done.push(what);
        }
        if let Err(error) = journal.done(one.number) {
            restored
                .failed
                .push(format!("failed to write the journal: {error}"));
        }
    }
    restored
}

/// Why a setting is left alone, if it is neither what it was nor what the series set it to.
fn changed_by_others(one: &Pending, all: &[Pending]) -> Option<String> {
    let Undo::Setting { what, set, restore } = &one.undo else {
        return None;
    };
    if !one.same_boot {
        return None;
    }
    let now = now(set).ok()?;
    let is_ours = |other: &Pending| match &other.undo {
        Undo::Setting {
            set: other,
            restore,
            ..
        } => other.path == set.path && (now == other.value || now == before(other, restore)),
        _ => false,
    };
    (!all.iter().any(is_ours)).then(|| {
        let before = before(set, restore);
        let set = &set.value;
        format!("{what} stays at {now}: somebody else set that after the series had set {set} (before: {before})")
    })
}

/// What a setting was; one that is put back by its other view was 0.
fn before<'a>(set: &Value, restore: &'a Value) -> &'a str {
    if restore.path == set.path {
        &restore.value
    } else {
        "0"
    }
}

fn now(value: &Value) -> io::Result<String> {
    Ok(chosen(&read(&value.path)?))
}

fn describe(undo: &Undo) -> String {
    match undo {
        Undo::Setting { restore, .. } => format!("{} to {}", restore.path.display(), restore.value),
        Undo::Tuned {
            profile: Some(profile),
            ..
        } => format!("the profile of TuneD to {profile}"),
        Undo::Tuned { profile: None, .. } => "TuneD to no profile".to_owned(),
        Undo::Mount { point } => format!("what was mounted at {}", point.display()),
        Undo::Loop { image } => format!("the loop device of {}", image.display()),
        Undo::VolumeGroup { name, .. } => format!("the devices of the volume group {name}"),
    }
}

fn put_back(one: &Pending) -> Result<(), String> {
    match &one.undo {
        // They do not outlive a boot.
        Undo::Setting { .. } | Undo::Mount { .. } | Undo::Loop { .. } if !one.same_boot => Ok(()),
        Undo::Setting { restore, .. } => set_back(restore),
        Undo::Tuned { profile, then } => {
            let command = match profile {
                Some(profile) => tool::words(&["tuned-adm", "profile", profile]),
                None => tool::words(&["tuned-adm", "off"]),
            };
            tool::run(&command).map_err(|error| error.to_string())?;
            if one.same_boot {
                then.iter().try_for_each(set_back)?;
            }
            Ok(())
        }
        Undo::Mount { point } => unmount(point),
        Undo::Loop { image } => image::detach(image),
        Undo::VolumeGroup { name, devices } => super::lvm::remove(name, devices),
    }
}

/// Sets a value unless it is there already. A file that is gone had its device removed, and its setting with it.
fn set_back(value: &Value) -> Result<(), String> {
    match now(value) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.to_string()),
        Ok(now) if now == value.value => return Ok(()),
        Ok(_) => {}
    }
    write(&value.path, &value.value).map_err(|error| error.to_string())?;
    match now(value) {
        Ok(now) if now == value.value => Ok(()),
        Ok(now) => Err(format!("it reads {now}")),
        Err(error) => Err(error.to_string()),
    }
}

fn unmount(point: &Path) -> Result<(), String> {
    let deadline = Instant::now() + BUSY_MAX;
    while filesystem::mounted_at(point).is_some() {
        let path = point.display().to_string();
        let Err(error) = tool::run(&tool::words(&["umount", &path])) else {
            continue;
        };
        if Instant::now() > deadline {
            return Err(error.to_string());
        }
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::super::setting::tests::{kernel, wanted};
    use super::super::setting::{Kernel, Of};
    use super::*;
    use crate::matrix::plan::Kind;

    const THP: &str = "sys/kernel/mm/transparent_hugepage/enabled";
    const SWAPPINESS: &str = "proc/sys/vm/swappiness";

    /// A setting that was announced and changed.
    fn changed(
        journal: &mut Journal,
        kernel: &Kernel,
        kind: Kind,
        setting: Option<&str>,
        value: &str,
    ) -> PathBuf {
        let knob = kernel
            .knobs(&wanted(kind, setting, value), Of::Host)
            .unwrap()
            .remove(0);
        journal.announce(knob.undo().unwrap()).unwrap();
        write(&knob.path, value).unwrap();
        knob.path
    }

    #[test]
    fn what_a_killed_process_changed_is_put_back_by_the_next() {
        let root = tempfile::tempdir().unwrap();
        let kernel = kernel(root.path(), &[(SWAPPINESS, "60\n")]);
        let mut journal = Journal::open(root.path()).unwrap();
        let path = changed(
            &mut journal,
            &kernel,
            Kind::Sysctl,
            Some("vm.swappiness"),
            "10",
        );
        changed(
            &mut journal,
            &kernel,
            Kind::Sysctl,
            Some("vm.swappiness"),
            "20",
        );
        drop(journal);
        let mut journal = Journal::open(root.path()).unwrap();
        let restored = all(&mut journal);
        assert_eq!((restored.failed, restored.left), (vec![], vec![]));
        assert_eq!(read(&path).unwrap(), "60");
        assert!(journal.pending().is_empty());
        assert_eq!(all(&mut journal), Restored::default());
    }

    #[test]
    fn what_somebody_else_set_meanwhile_stays() {
        let root = tempfile::tempdir().unwrap();
        let kernel = kernel(root.path(), &[(SWAPPINESS, "60\n")]);
        let mut journal = Journal::open(root.path()).unwrap();
        let path = changed(
            &mut journal,
            &kernel,
            Kind::Sysctl,
            Some("vm.swappiness"),
            "10",
        );
        fs::write(&path, "33\n").unwrap();
        let restored = all(&mut journal);
        assert_eq!(restored.left.len(), 1, "{restored:?}");
        assert!(restored.left[0].contains("stays at 33"), "{restored:?}");
        assert_eq!(read(&path).unwrap(), "33");
    }

    #[test]
    fn what_cannot_be_put_back_stays_in_the_journal() {
        let root = tempfile::tempdir().unwrap();
        // A file of choices does not take a plain word as the kernel does: it reads back otherwise only here.
        let kernel = kernel(root.path(), &[(THP, "always [madvise] never\n")]);
        let mut journal = Journal::open(root.path()).unwrap();
        let path = changed(&mut journal, &kernel, Kind::Thp, None, "never");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let restored = all(&mut journal);
        assert_eq!(restored.failed.len(), 1, "{restored:?}");
        assert_eq!(journal.pending().len(), 1);
    }

    #[test]
    fn a_boot_has_put_settings_back_already() {
        let root = tempfile::tempdir().unwrap();
        let kernel = kernel(root.path(), &[(SWAPPINESS, "60\n")]);
        let mut journal = Journal::open(root.path()).unwrap();
        let path = changed(
            &mut journal,
            &kernel,
            Kind::Sysctl,
            Some("vm.swappiness"),
            "10",
        );
        let file = root.path().join(super::super::journal::JOURNAL);
        let text = fs::read_to_string(&file).unwrap();
        let boot = super::super::journal::boot_id().unwrap();
        fs::write(&file, text.replace(&boot, "another")).unwrap();
        let restored = all(&mut Journal::open(root.path()).unwrap());
        assert_eq!(restored.done.len(), 1);
        assert_eq!(
            read(&path).unwrap(),
            "10",
            "the boot's own value is nobody's to change"
        );
    }
}
