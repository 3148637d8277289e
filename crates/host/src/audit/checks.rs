//! Checks that no comparison of one fact can say, by their names in rules.

mod files;
mod layout;
mod profiles;
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

/// All of them.
const ALL: [(&str, Check); 25] = [
    ("fstab-options", files::fstab_options),
    ("mount-drift", files::mount_drift),
    ("limits-soft-hard", files::limits_soft_hard),
    ("modprobe-accepted", files::modprobe_accepted),
    ("sunrpc-persisted", files::sunrpc_persisted),
    ("udev-accepted", files::udev_accepted),
    ("drop-caches", files::drop_caches),
    ("tmpfiles-work", files::tmpfiles_work),
    ("tuned-options", profiles::options),
    ("tuned-version", profiles::version),
    ("tuned-twins", profiles::twins),
    ("tuned-sysctl", profiles::sysctl),
    ("thp-writers", profiles::thp_writers),
    ("separate-mounts", layout::separate_mounts),
    ("work-striped", layout::work_striped),
    ("stripes-all-volumes", layout::stripes_all_volumes),
    ("xfs-aligned", layout::xfs_aligned),
    ("paths-equal", layout::paths_equal),
    ("fibre-channel", layout::fibre_channel),
    ("buffers-aligned", layout::buffers_aligned),
    ("guests-memory", layout::guests_memory),
    ("nfs-agree", shared::nfs_agree),
    ("gpfs-metadata", shared::gpfs_metadata),
    ("gpfs-pending", shared::gpfs_pending),
    ("time-synchronised", shared::time_synchronised),
];

/// A check by its name.
pub(crate) fn named(name: &str) -> Option<Check> {
    ALL.iter()
        .find(|(known, _)| *known == name)
        .map(|(_, check)| *check)
}
