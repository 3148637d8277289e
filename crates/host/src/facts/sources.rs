//! The table of everything that is read: where it is found, whether it tells what runs or what is
//! persisted, and its parser. A source that comes earlier is believed before a later one.

mod shared;

use super::commands::{Command, Each};
use super::parse::{self, Parse};

/// What a source tells about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// What holds now.
    Running,
    /// What holds after the next boot, or when a service starts.
    Persisted,
}

/// What of a path is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// What a file holds.
    File,
    /// The names in a folder.
    Names,
    /// Where a link points to.
    Link,
}

/// Something that is read.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// Its name, also for `--also NAME=FILE`.
    pub name: &'static str,
    /// What it tells about.
    pub layer: Layer,
    /// Paths, with `*` in components; all that exist are read.
    pub paths: &'static [&'static str],
    /// What of them is read.
    pub what: What,
    /// A command whose output is read.
    pub command: Option<Command>,
    /// Read only while nothing is known of this class.
    pub unless: Option<&'static str>,
    /// Files whose last components are the same replace each other, and these are the order: 1 for sysctl.d
    /// and its like, 2 for drop-ins of units. With 0 every file counts, in the order of `paths`.
    pub named_by: usize,
    /// Its parser.
    pub parse: Parse,
}

const fn file(name: &'static str, paths: &'static [&'static str], parse: Parse) -> Source {
    Source {
        name,
        layer: Layer::Running,
        paths,
        what: What::File,
        command: None,
        unless: None,
        named_by: 0,
        parse,
    }
}

/// A file that persists something.
const fn conf(name: &'static str, paths: &'static [&'static str], parse: Parse) -> Source {
    Source {
        layer: Layer::Persisted,
        ..file(name, paths, parse)
    }
}

/// Files in folders such as sysctl.d.
const fn drop_ins(name: &'static str, paths: &'static [&'static str], parse: Parse) -> Source {
    Source {
        named_by: 1,
        ..conf(name, paths, parse)
    }
}

const fn unless(class: &'static str, source: Source) -> Source {
    Source {
        unless: Some(class),
        ..source
    }
}

/// A command, run once, whose output sosreport keeps under one of some names.
const fn output(
    name: &'static str,
    argv: &'static [&'static str],
    captured: &'static [&'static str],
    parse: Parse,
) -> Source {
    each(name, Each::Once, argv, captured, parse)
}

const fn each(
    name: &'static str,
    each: Each,
    argv: &'static [&'static str],
    captured: &'static [&'static str],
    parse: Parse,
) -> Source {
    Source {
        command: Some(Command {
            name,
            argv,
            each,
            captured,
        }),
        ..file(name, &[], parse)
    }
}

/// All sources.
pub fn all() -> impl Iterator<Item = &'static Source> {
    [
        MOUNTS,
        KERNEL,
        DEVICES,
        NETWORK,
        SERVICES,
        SAS,
        shared::SHARED,
    ]
    .into_iter()
    .flatten()
}

/// A source by its name.
pub fn named(name: &str) -> Option<&'static Source> {
    all().find(|source| source.name == name)
}

const MOUNTS: &[Source] = &[
    file(
        "mountinfo",
        &["/proc/self/mountinfo"],
        parse::mountinfo::parse,
    ),
    unless(
        "mount",
        file(
            "mountinfo-1",
            &["/proc/1/mountinfo"],
            parse::mountinfo::parse,
        ),
    ),
    unless(
        "mount",
        file("mounts", &["/proc/mounts"], parse::mounts::parse),
    ),
    unless(
        "mount",
        output(
            "mount-command",
            &["mount"],
            &[
                "/mount",
                "/sos_commands/filesys/mount_-l",
                "/sos_commands/filesys/mount",
            ],
            parse::mount_command::parse,
        ),
    ),
    unless(
        "mount",
        output(
            "findmnt",
            &[],
            &["/sos_commands/filesys/findmnt"],
            parse::findmnt::parse,
        ),
    ),
    file(
        "mountstats",
        &["/proc/self/mountstats"],
        parse::mountstats::parse,
    ),
    output(
        "nfsstat",
        &["nfsstat", "-m"],
        &["/sos_commands/nfs/nfsstat_-m"],
        parse::nfsstat::parse,
    ),
    conf("fstab", &["/etc/fstab"], parse::fstab::parse),
    output(
        "df",
        &["df", "-kP"],
        &["/df", "/sos_commands/filesys/df_-al*"],
        parse::df::parse,
    ),
    each(
        "xfs_info",
        Each::Mount("xfs"),
        &["xfs_info", "{}"],
        &["/sos_commands/xfs/xfs_info_*"],
        parse::xfs_info::parse,
    ),
];

const KERNEL: &[Source] = &[
    file(
        "os-release",
        &["/etc/os-release", "/usr/lib/os-release"],
        parse::os_release::parse,
    ),
    unless(
        "os",
        file(
            "redhat-release",
            &["/etc/redhat-release"],
            parse::os_release::parse_redhat,
        ),
    ),
    output(
        "uname",
        &["uname", "-a"],
        &["/uname", "/sos_commands/kernel/uname_-a"],
        parse::uname::parse,
    ),
    file(
        "osrelease",
        &["/proc/sys/kernel/osrelease", "/proc/version"],
        parse::uname::parse,
    ),
    file("cpuinfo", &["/proc/cpuinfo"], parse::cpuinfo::parse),
    output(
        "lscpu",
        &["lscpu"],
        &["/sos_commands/processor/lscpu"],
        parse::lscpu::parse,
    ),
    file("meminfo", &["/proc/meminfo"], parse::meminfo::parse),
    file("cmdline", &["/proc/cmdline"], parse::cmdline::parse),
    conf(
        "default-grub",
        &["/etc/default/grub"],
        parse::cmdline::parse_grub,
    ),
    file(
        "proc-sys",
        &[
            "/proc/sys/fs/*",
            "/proc/sys/kernel/*",
            "/proc/sys/net/core/*",
            "/proc/sys/net/ipv4/*",
            "/proc/sys/sunrpc/*",
            "/proc/sys/vm/*",
        ],
        parse::sysctl::parse_file,
    ),
    output(
        "sysctl-a",
        &[],
        &["/sos_commands/kernel/sysctl_-a"],
        parse::sysctl::parse_all,
    ),
    drop_ins(
        "sysctl-d",
        &[
            "/lib/sysctl.d/*.conf",
            "/usr/lib/sysctl.d/*.conf",
            "/usr/local/lib/sysctl.d/*.conf",
            "/run/sysctl.d/*.conf",
            "/etc/sysctl.d/*.conf",
        ],
        parse::sysctl::parse_conf,
    ),
    conf(
        "sysctl-conf",
        &["/etc/sysctl.conf"],
        parse::sysctl::parse_conf,
    ),
    file("modules", &["/proc/modules"], parse::modules::parse),
    file(
        "module-parameters",
        &[
            "/sys/module/sunrpc/parameters/*",
            "/sys/module/nfs/parameters/*",
            "/sys/module/nfsd/parameters/*",
            "/sys/module/lpfc/parameters/*",
            "/sys/module/qla2xxx/parameters/*",
            "/sys/module/nvme_core/parameters/*",
            "/sys/module/dm_multipath/parameters/*",
            "/sys/module/intel_idle/parameters/*",
            "/sys/module/processor/parameters/*",
            "/sys/module/cifs/parameters/*",
            "/sys/module/ptlrpc/parameters/*",
            "/sys/module/ksocklnd/parameters/*",
            "/sys/module/scsi_mod/parameters/*",
        ],
        parse::modules::parse_parameter,
    ),
    drop_ins(
        "modprobe-d",
        &[
            "/lib/modprobe.d/*.conf",
            "/usr/lib/modprobe.d/*.conf",
            "/run/modprobe.d/*.conf",
            "/etc/modprobe.d/*.conf",
        ],
        parse::modprobe::parse,
    ),
    file(
        "thp",
        &[
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "/sys/kernel/mm/transparent_hugepage/defrag",
            "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
            "/sys/kernel/mm/redhat_transparent_hugepage/enabled",
        ],
        parse::thp::parse,
    ),
    file(
        "cpufreq",
        &[
            "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
            "/sys/devices/system/cpu/cpu*/cpufreq/scaling_driver",
            "/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference",
            "/sys/devices/system/cpu/cpu*/power/energy_perf_bias",
            "/sys/devices/system/cpu/cpu*/topology/core_id",
            "/sys/devices/system/cpu/cpu*/topology/physical_package_id",
            "/sys/devices/system/cpu/intel_pstate/no_turbo",
            "/sys/devices/system/cpu/intel_pstate/min_perf_pct",
            "/sys/devices/system/cpu/cpufreq/boost",
            "/sys/devices/system/cpu/smt/active",
        ],
        parse::cpufreq::parse,
    ),
    file(
        "cpuidle",
        &[
            "/sys/devices/system/cpu/cpu0/cpuidle/state*/name",
            "/sys/devices/system/cpu/cpu0/cpuidle/state*/disable",
            "/sys/devices/system/cpu/cpu0/cpuidle/state*/latency",
        ],
        parse::cpuidle::parse,
    ),
    file(
        "numa",
        &["/sys/devices/system/node/node*/cpulist"],
        parse::numa::parse,
    ),
    output(
        "cpupower",
        &[],
        &["/sos_commands/processor/cpupower_frequency-info"],
        parse::cpupower::parse,
    ),
    output(
        "dmesg",
        &["dmesg"],
        &[
            "/sos_commands/kernel/dmesg",
            "/sos_commands/kernel/dmesg_-T",
            "/var/log/dmesg",
        ],
        parse::dmesg::parse,
    ),
    file(
        "dmi",
        &[
            "/sys/class/dmi/id/sys_vendor",
            "/sys/class/dmi/id/product_name",
            "/sys/class/dmi/id/product_version",
            "/sys/class/dmi/id/bios_vendor",
            "/sys/class/dmi/id/chassis_asset_tag",
            "/sys/class/dmi/id/board_vendor",
        ],
        parse::dmi::parse,
    ),
    output(
        "dmidecode",
        &[],
        &["/dmidecode", "/sos_commands/hardware/dmidecode"],
        parse::dmi::parse_dmidecode,
    ),
];

const DEVICES: &[Source] = &[
    file(
        "queue",
        &[
            "/sys/block/*/queue/scheduler",
            "/sys/block/*/queue/read_ahead_kb",
            "/sys/block/*/queue/rotational",
            "/sys/block/*/queue/nr_requests",
            "/sys/block/*/queue/max_sectors_kb",
            "/sys/block/*/queue/max_hw_sectors_kb",
            "/sys/block/*/queue/add_random",
            "/sys/block/*/queue/rq_affinity",
            "/sys/block/*/queue/write_cache",
            "/sys/block/*/queue/optimal_io_size",
            "/sys/block/*/queue/minimum_io_size",
            "/sys/block/*/dm/name",
            "/sys/block/*/dm/uuid",
            "/sys/block/*/dev",
            "/sys/block/*/*/dev",
            "/sys/block/*/md/level",
            "/sys/block/*/md/chunk_size",
            "/sys/block/*/md/raid_disks",
        ],
        parse::block_queue::parse,
    ),
    Source {
        what: What::Names,
        ..file(
            "slaves",
            &["/sys/block/*/slaves"],
            parse::block_queue::parse_slaves,
        )
    },
    file(
        "scsi-device",
        &[
            "/sys/block/*/device/vendor",
            "/sys/block/*/device/model",
            "/sys/block/*/device/timeout",
            "/sys/block/*/device/queue_depth",
            "/sys/block/*/device/state",
        ],
        parse::scsi_device::parse,
    ),
    file(
        "bdi",
        &["/sys/class/bdi/*/read_ahead_kb"],
        parse::block_queue::parse_bdi,
    ),
    output(
        "lsblk-t",
        &["lsblk", "-t"],
        &["/sos_commands/block/lsblk_-t"],
        parse::lsblk::parse,
    ),
    output(
        "lsblk",
        &["lsblk"],
        &["/sos_commands/block/lsblk", "/lsblk"],
        parse::lsblk::parse,
    ),
    output(
        "blockdev",
        &[],
        &["/sos_commands/block/blockdev_--report"],
        parse::blockdev::parse,
    ),
    drop_ins(
        "udev-rules",
        &[
            "/lib/udev/rules.d/*.rules",
            "/usr/lib/udev/rules.d/*.rules",
            "/run/udev/rules.d/*.rules",
            "/etc/udev/rules.d/*.rules",
        ],
        parse::udev::parse,
    ),
    output(
        "lvs",
        &[
            "lvs",
            "-a",
            "--nameprefixes",
            "--noheadings",
            "--separator",
            "|",
            "--units",
            "b",
            "-o",
            "lv_name,vg_name,lv_read_ahead,lv_kernel_read_ahead,segtype,stripes,stripe_size,devices",
        ],
        &["/sos_commands/lvm2/lvs_-a_-o*"],
        parse::lvs::parse,
    ),
    output(
        "pvs",
        &[
            "pvs",
            "--nameprefixes",
            "--noheadings",
            "--separator",
            "|",
            "-o",
            "pv_name,vg_name",
        ],
        &["/sos_commands/lvm2/pvs_-a_*"],
        parse::lvs::parse_physical,
    ),
    // It reads from every device when it is run, and dead paths hold it up: only captures of it are
    // read.
    output(
        "blkid",
        &[],
        &["/sos_commands/block/blkid_-c_.dev.null", "/blkid"],
        parse::blkid::parse,
    ),
    output(
        "iscsiadm",
        &["iscsiadm", "-m", "session"],
        &["/sos_commands/iscsi/iscsiadm_-m_session"],
        parse::iscsiadm::parse,
    ),
    output(
        "dmsetup",
        &["dmsetup", "table"],
        &["/sos_commands/devicemapper/dmsetup_table"],
        parse::dmsetup::parse,
    ),
    output(
        "multipathd",
        &["multipathd", "show", "config"],
        &["/sos_commands/multipath/multipathd_show_config"],
        parse::multipath_conf::parse,
    ),
    conf(
        "multipath-conf",
        &["/etc/multipath.conf", "/etc/multipath/conf.d/*.conf"],
        parse::multipath_conf::parse,
    ),
    output(
        "multipath-ll",
        &["multipath", "-ll"],
        &[
            "/sos_commands/multipath/multipath_-ll",
            "/sos_commands/multipath/multipath_-v4_-ll",
        ],
        parse::multipath_ll::parse,
    ),
    file(
        "fc-host",
        &[
            "/sys/class/fc_host/*/port_state",
            "/sys/class/fc_host/*/speed",
            "/sys/class/fc_host/*/supported_speeds",
        ],
        parse::fc_host::parse,
    ),
    file(
        "libvirt",
        &["/etc/libvirt/qemu/*.xml"],
        parse::libvirt::parse,
    ),
];

const NETWORK: &[Source] = &[
    file(
        "net",
        &[
            "/sys/class/net/*/mtu",
            "/sys/class/net/*/speed",
            "/sys/class/net/*/operstate",
            "/sys/class/net/*/bonding/mode",
            "/sys/class/net/*/bonding/xmit_hash_policy",
            "/sys/class/net/*/bonding/slaves",
        ],
        parse::net::parse,
    ),
    Source {
        what: What::Link,
        ..file(
            "net-driver",
            &["/sys/class/net/*/device/driver"],
            parse::net::parse_driver,
        )
    },
    Source {
        what: What::Link,
        ..file(
            "net-level",
            &["/sys/class/net/*/master", "/sys/class/net/*/lower_*"],
            parse::net::parse_level,
        )
    },
    output(
        "ip-link",
        &[],
        &["/sos_commands/networking/ip_-s_-d_link"],
        parse::ip_link::parse,
    ),
    each(
        "ethtool",
        Each::Captured,
        &[],
        &["/sos_commands/networking/ethtool_[a-z]*"],
        parse::ethtool::parse,
    ),
    each(
        "ethtool-ring",
        Each::Interface,
        &["ethtool", "-g", "{}"],
        &["/sos_commands/networking/ethtool_-g_*"],
        parse::ethtool::parse_ring,
    ),
    each(
        "ethtool-pause",
        Each::Captured,
        &[],
        &["/sos_commands/networking/ethtool_-a_*"],
        parse::ethtool::parse_pause,
    ),
    each(
        "ethtool-coalesce",
        Each::Captured,
        &[],
        &["/sos_commands/networking/ethtool_-c_*"],
        parse::ethtool::parse_coalesce,
    ),
    each(
        "ethtool-offload",
        Each::Captured,
        &[],
        &["/sos_commands/networking/ethtool_-k_*"],
        parse::ethtool::parse_offload,
    ),
    each(
        "ethtool-driver",
        Each::Captured,
        &[],
        &["/sos_commands/networking/ethtool_-i_*"],
        parse::ethtool::parse_driver,
    ),
];

const SERVICES: &[Source] = &[
    file(
        "tuned-active",
        &["/etc/tuned/active_profile"],
        parse::tuned::parse_active,
    ),
    output(
        "tuned-adm",
        &["tuned-adm", "active"],
        &["/sos_commands/tuned/tuned-adm_active"],
        parse::tuned::parse_adm,
    ),
    output(
        "tuned-version",
        &["tuned", "--version"],
        &["/installed-rpms"],
        parse::tuned::parse_version,
    ),
    file(
        "tuned-main",
        &["/etc/tuned/tuned-main.conf"],
        parse::tuned::parse_main,
    ),
    conf(
        "tuned-profile",
        &[
            "/usr/lib/tuned/*/tuned.conf",
            "/usr/lib/tuned/profiles/*/tuned.conf",
            "/etc/tuned/*/tuned.conf",
            "/etc/tuned/profiles/*/tuned.conf",
        ],
        parse::tuned::parse_profile,
    ),
    conf(
        "limits-conf",
        &["/etc/security/limits.conf", "/etc/security/limits.d/*.conf"],
        parse::limits_conf::parse,
    ),
    drop_ins(
        "systemd-conf",
        &["/usr/lib/systemd/system.conf", "/etc/systemd/system.conf"],
        parse::systemd::parse_settings,
    ),
    Source {
        named_by: 2,
        ..drop_ins(
            "systemd-settings",
            &[
                "/usr/lib/systemd/system.conf.d/*.conf",
                "/run/systemd/system.conf.d/*.conf",
                "/etc/systemd/system.conf.d/*.conf",
                "/lib/systemd/system/user-.slice.d/*.conf",
                "/usr/lib/systemd/system/user-.slice.d/*.conf",
                "/run/systemd/system/*.d/*.conf",
                "/etc/systemd/system/*.d/*.conf",
            ],
            parse::systemd::parse_settings,
        )
    },
    output(
        "systemctl",
        &[
            "systemctl",
            "list-units",
            "--all",
            "--no-legend",
            "--plain",
            "--no-pager",
        ],
        &[
            "/sos_commands/systemd/systemctl_list-units",
            "/sos_commands/systemd/systemctl_list-units_--all",
        ],
        parse::systemd::parse,
    ),
    output(
        "unit-files",
        &["systemctl", "list-unit-files", "--no-legend", "--no-pager"],
        &["/sos_commands/systemd/systemctl_list-unit-files"],
        parse::systemd::parse,
    ),
    drop_ins(
        "tmpfiles-d",
        &[
            "/usr/lib/tmpfiles.d/*.conf",
            "/run/tmpfiles.d/*.conf",
            "/etc/tmpfiles.d/*.conf",
        ],
        parse::tmpfiles::parse,
    ),
    conf(
        "cron",
        &[
            "/etc/crontab",
            "/etc/cron.d/*",
            "/etc/cron.hourly/*",
            "/etc/cron.daily/*",
            "/etc/cron.weekly/*",
            "/var/spool/cron/*",
            "/var/spool/cron/crontabs/*",
            "/etc/systemd/system/*.service",
            "/etc/rc.local",
            "/etc/rc.d/rc.local",
        ],
        parse::tmpfiles::parse_cron,
    ),
    conf(
        "nfs-conf",
        &["/etc/nfs.conf", "/etc/nfs.conf.d/*.conf"],
        parse::tuned::parse_nfs_conf,
    ),
    conf(
        "nfsmount-conf",
        &["/etc/nfsmount.conf", "/etc/nfsmount.conf.d/*.conf"],
        parse::tuned::parse_nfs_conf,
    ),
    conf(
        "exports",
        &["/etc/exports", "/etc/exports.d/*.exports"],
        parse::exports::parse,
    ),
    output(
        "exportfs",
        &["exportfs", "-v"],
        &["/sos_commands/nfs/exportfs_-v"],
        parse::exports::parse,
    ),
];

const SAS: &[Source] = &[
    conf(
        "sas-config",
        &[
            "/opt/*/SASFoundation/*/sasv9.cfg",
            "/opt/*/*/SASFoundation/*/sasv9.cfg",
            "/usr/local/SASHome/SASFoundation/*/sasv9.cfg",
            "/sas/SASHome/SASFoundation/*/sasv9.cfg",
            "/opt/*/*/SASFoundation/*/nls/en/sasv9.cfg",
            "/usr/local/SASHome/SASFoundation/*/nls/en/sasv9.cfg",
            "/sas/SASHome/SASFoundation/*/nls/en/sasv9.cfg",
            "/opt/*/*/SASFoundation/*/sasv9_local.cfg",
            "/usr/local/SASHome/SASFoundation/*/sasv9_local.cfg",
            "/sas/SASHome/SASFoundation/*/sasv9_local.cfg",
            "/opt/*/*/Lev*/SASApp*/sasv9.cfg",
            "/opt/*/*/Lev*/SASApp*/sasv9_usermods.cfg",
            "/opt/*/Lev*/SASApp*/sasv9_usermods.cfg",
            "/sas/config/Lev*/SASApp*/sasv9_usermods.cfg",
        ],
        parse::sas_config::parse,
    ),
    file(
        "sas-options",
        &["/gristmill/given/sas-options"],
        parse::sas_options::parse,
    ),
    file("processes", &["/proc/*/cmdline"], parse::process::parse),
    output(
        "ps",
        &[],
        &[
            "/ps",
            "/sos_commands/process/ps_auxwww",
            "/sos_commands/process/ps_auxwwwm",
        ],
        parse::process::parse_ps,
    ),
    file(
        "process-limits",
        &["/proc/*/limits"],
        parse::process_limits::parse,
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_given_once() {
        let names: BTreeSet<&str> = all().map(|source| source.name).collect();
        assert_eq!(names.len(), all().count());
    }
}
