//! File systems that nodes share, and what else a host has of a cluster.

use super::{Each, Source, conf, each, file, output, unless};
use crate::facts::parse;

pub(super) const SHARED: &[Source] = &[
    output("mmlsconfig", &["mmlsconfig"], &[], parse::mmlsconfig::parse),
    unless(
        "gpfs",
        file(
            "mmfs-cfg",
            &["/var/mmfs/gen/mmfs.cfg"],
            parse::mmlsconfig::parse,
        ),
    ),
    output(
        "mmdiag-config",
        &["mmdiag", "--config", "-Y"],
        &[],
        parse::gpfs_colon::parse_config,
    ),
    output(
        "mmlsfs",
        &["mmlsfs", "all", "-Y"],
        &[],
        parse::gpfs_colon::parse_file_systems,
    ),
    // Which sections of the configuration are this node's; the daemon says what holds, if it may be
    // asked.
    unless(
        "gpfs-effective",
        output(
            "mmgetstate",
            &["mmgetstate", "-Y"],
            &[],
            parse::gpfs_state::parse_state,
        ),
    ),
    unless(
        "gpfs-effective",
        output(
            "mmlsnodeclass",
            &["mmlsnodeclass", "--all"],
            &[],
            parse::gpfs_state::parse_classes,
        ),
    ),
    // Commands of GPFS take a second each: what no rule asks for is read only where it is given.
    output(
        "mmlscluster",
        &[],
        &["/mmlscluster"],
        parse::gpfs_state::parse_cluster,
    ),
    output(
        "mmhealth",
        &[],
        &["/mmhealth"],
        parse::gpfs_state::parse_health,
    ),
    output(
        "mmdiag-waiters",
        &[],
        &["/mmdiag-waiters"],
        parse::gpfs_state::parse_waiters,
    ),
    output(
        "mmces",
        &[],
        &["/mmces"],
        parse::gpfs_state::parse_protocols,
    ),
    // They ask every disk of a file system, which takes long on large ones: given as files only.
    output("mmdf", &[], &["/mmdf"], parse::gpfs_state::parse_space),
    output(
        "mmlspool",
        &[],
        &["/mmlspool"],
        parse::gpfs_state::parse_pools,
    ),
    output(
        "mmlsqos",
        &[],
        &["/mmlsqos"],
        parse::gpfs_state::parse_quality,
    ),
    output(
        "mmlsmount",
        &["mmlsmount", "all", "-L"],
        &[],
        parse::mmlsmount::parse,
    ),
    each(
        "mmlsdisk",
        Each::SourceOf("gpfs"),
        &["mmlsdisk", "{}", "-Y"],
        &[],
        parse::mmlsdisk::parse,
    ),
    output(
        "lctl",
        &[
            "lctl",
            "get_param",
            "osc.*.max_pages_per_rpc",
            "osc.*.max_rpcs_in_flight",
            "osc.*.max_dirty_mb",
            "osc.*.checksums",
            "mdc.*.max_rpcs_in_flight",
            "llite.*.max_read_ahead_mb",
            "llite.*.max_read_ahead_per_file_mb",
            "ldlm.namespaces.*.lru_max_age",
        ],
        &["/sos_commands/lustre/params-*"],
        parse::lustre::parse,
    ),
    file(
        "lustre-files",
        &[
            "/proc/fs/lustre/osc/*/max_*",
            "/proc/fs/lustre/osc/*/checksums",
            "/proc/fs/lustre/mdc/*/max_rpcs_in_flight",
            "/proc/fs/lustre/llite/*/max_read_ahead_*",
            "/sys/fs/lustre/osc/*/max_*",
        ],
        parse::lustre::parse_file,
    ),
    output(
        "lfs-df",
        &["lfs", "df"],
        &["/sos_commands/lustre/lfs_df"],
        parse::lustre::parse_df,
    ),
    each(
        "lfs_getstripe",
        Each::Mount("lustre"),
        &["lfs", "getstripe", "-d", "{}"],
        &[],
        parse::lustre::parse_stripe,
    ),
    file(
        "gfs2",
        &[
            "/sys/fs/gfs2/*/id",
            "/sys/fs/gfs2/*/withdraw",
            "/sys/fs/gfs2/*/status",
        ],
        parse::gfs2::parse,
    ),
    output(
        "tunegfs2",
        &[],
        &["/sos_commands/gfs2/tunegfs2_-l_*"],
        parse::gfs2::parse_tune,
    ),
    file(
        "dlm",
        &[
            "/sys/kernel/config/dlm/cluster/dirtbl_size",
            "/sys/kernel/config/dlm/cluster/rsbtbl_size",
            "/sys/kernel/config/dlm/cluster/lkbtbl_size",
        ],
        parse::dlm::parse,
    ),
    output(
        "dlm_tool",
        &["dlm_tool", "ls"],
        &[
            "/sos_commands/dlm/dlm_tool_ls_-n",
            "/sos_commands/dlm/dlm_tool_ls",
        ],
        parse::dlm::parse_tool,
    ),
    file(
        "corosync",
        &["/etc/corosync/corosync.conf"],
        parse::corosync::parse,
    ),
    file(
        "cifs-debug",
        &["/proc/fs/cifs/DebugData"],
        parse::cifs_debug::parse,
    ),
    output(
        "gluster-status",
        &["gluster", "volume", "status"],
        &["/sos_commands/gluster/gluster_volume_status"],
        parse::gluster::parse_status,
    ),
    output(
        "gluster",
        &["gluster", "volume", "info"],
        &["/sos_commands/gluster/gluster_volume_info"],
        parse::gluster::parse,
    ),
    file(
        "beegfs",
        &["/proc/fs/beegfs/*/config"],
        parse::beegfs::parse,
    ),
    conf(
        "beegfs-client-conf",
        &["/etc/beegfs/beegfs-client.conf"],
        parse::beegfs::parse,
    ),
    each(
        "vxtunefs",
        Each::Mount("vxfs"),
        &["vxtunefs", "{}"],
        &[],
        parse::vxtunefs::parse,
    ),
    conf(
        "tunefstab",
        &["/etc/vx/tunefstab"],
        parse::vxtunefs::parse_tab,
    ),
    file(
        "registry",
        &["/gristmill/given/registry"],
        parse::windows::parse_registry,
    ),
    file(
        "hotfixes",
        &["/gristmill/given/hotfixes"],
        parse::windows::parse_hotfixes,
    ),
];
