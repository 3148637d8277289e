//! `/proc/modules`: which modules are loaded; and files below `/sys/module/*/parameters`.

use super::{Found, after, base, found, lines};
use crate::facts::{Key, Value};

/// Modules whose presence says something about storage.
const TOLD: [&str; 32] = [
    "beegfs",
    "bonding",
    "ceph",
    "cifs",
    "dlm",
    "dm_crypt",
    "dm_multipath",
    "ena",
    "fuse",
    "gfs2",
    "hv_netvsc",
    "ixgbevf",
    "lpfc",
    "lustre",
    "mana",
    "mlx4_core",
    "mlx5_core",
    "mmfs26",
    "nfs",
    "nfsd",
    "nfsv3",
    "nfsv4",
    "nvme",
    "nvme_fc",
    "nvme_tcp",
    "qla2xxx",
    "rpcrdma",
    "sunrpc",
    "tcp_bbr",
    "tcp_htcp",
    "virtio_blk",
    "vxfs",
];

/// Reads `/proc/modules`.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let fact = |(number, line): (usize, &str)| {
        let name = line.split_ascii_whitespace().next()?;
        TOLD.contains(&name)
            .then(|| found(Key::of("module", name, "loaded"), 1_i64, number))
    };
    lines(text).filter_map(fact).collect()
}

/// Reads a parameter.
pub fn parse_parameter(path: &str, text: &str) -> Vec<Found> {
    let module = after(path, "module");
    let fact =
        module.map(|module| found(Key::of("module", module, base(path)), Value::of(text), 1));
    fact.into_iter().collect()
}
