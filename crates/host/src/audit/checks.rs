//! Checks that no comparison of one fact can say, by their names in rules.

mod files;
mod layout;
mod profiles;
mod sas;
mod shared;

use crate::facts::Facts;

/// What a check finds of the host or of a subject.
pub(crate) struct Judged {
    /// Class and subject; none for the host.
    pub(crate) subject: Option<(&'static str, String)>,
    /// Whether it holds, if that can be told.
    pub(crate) holds: Option<bool>,
    /// What is so.
    pub(crate) running: Option<String>,
    /// Where it was found.
    pub(crate) evidence: Vec<String>,
}

impl Judged {
    /// Of the host: it holds if nothing is wrong.
    pub(crate) fn unless(wrong: Vec<String>) -> Self {
        Self {
            subject: None,
            holds: Some(wrong.is_empty()),
            running: None,
            evidence: wrong,
        }
    }

    /// Of a subject.
    pub(crate) fn of(class: &'static str, subject: &str, holds: bool, running: String) -> Self {
        Self {
            subject: Some((class, subject.to_owned())),
            holds: Some(holds),
            running: Some(running),
            evidence: Vec::new(),
        }
    }
}

/// A check: nothing to judge is no finding.
pub(crate) type Check = fn(&Facts) -> Vec<Judged>;

/// A check and what is not known when it finds nothing; without that it is for others then.
pub(crate) struct Entry {
    name: &'static str,
    pub(crate) check: Check,
    pub(crate) missing: Option<&'static str>,
}

/// All of them.
const ALL: [Entry; 28] = [
    needs("fstab-options", files::fstab_options, "fstab"),
    needs("mount-drift", files::mount_drift, "fstab"),
    needs("limits-soft-hard", files::limits_soft_hard, "limits.conf"),
    needs(
        "modprobe-accepted",
        files::modprobe_accepted,
        "modprobe.d and of messages of the kernel",
    ),
    entry("sunrpc-persisted", files::sunrpc_persisted),
    entry("udev-accepted", files::udev_accepted),
    entry("drop-caches", files::drop_caches),
    entry("tmpfiles-work", files::tmpfiles_work),
    needs("tuned-options", profiles::options, "the profile of TuneD"),
    needs("tuned-version", profiles::version, "the version of TuneD"),
    needs("tuned-twins", profiles::twins, "the profile of TuneD"),
    needs("tuned-sysctl", profiles::sysctl, "the profile of TuneD"),
    entry("thp-writers", profiles::thp_writers),
    entry("separate-mounts", layout::separate_mounts),
    entry("work-striped", layout::work_striped),
    entry("stripes-all-volumes", layout::stripes_all_volumes),
    entry("xfs-aligned", layout::xfs_aligned),
    entry("paths-equal", layout::paths_equal),
    entry("fibre-channel", layout::fibre_channel),
    entry("buffers-aligned", layout::buffers_aligned),
    entry("guests-memory", layout::guests_memory),
    needs("aligned-pages", sas::aligned_pages, "SAS's configuration"),
    needs("global-locks", sas::global_locks, "SAS's option FILELOCKS"),
    needs("sr-iov", shared::sr_iov, "drivers of network cards"),
    entry("nfs-agree", shared::nfs_agree),
    needs(
        "gpfs-metadata",
        shared::gpfs_metadata,
        "the disks of GPFS (mmlsdisk)",
    ),
    needs(
        "gpfs-pending",
        shared::gpfs_pending,
        "what the daemon of GPFS holds (mmdiag)",
    ),
    needs("time-synchronised", shared::time_synchronised, "services"),
];

const fn entry(name: &'static str, check: Check) -> Entry {
    Entry {
        name,
        check,
        missing: None,
    }
}

const fn needs(name: &'static str, check: Check, missing: &'static str) -> Entry {
    Entry {
        name,
        check,
        missing: Some(missing),
    }
}

/// A check by its name.
pub(crate) fn named(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
