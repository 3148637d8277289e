#!/usr/bin/env bash
# A directory mounted by the kernel's NFS from the kernel's NFS server, in a virtual machine of its own.
#
#   lab/nfs.sh KERNEL COMMAND…   runs a command there, with GRISTMILL_LAB_NFS, the mounted directory, in its
#                                environment
#   e.g. lab/nfs.sh /tmp/kernel target/debug/deps/lab-* --ignored nfs
#
# KERNEL is a folder with boot/vmlinuz-* and lib/modules/*, such as `dpkg-deb -x linux-image-….deb KERNEL` makes.
# The machine sees this host's files read-only (9p) and has /tmp, /run and /var/lib/nfs of its own in memory;
# NFS_VERSION chooses the protocol (default 4.2), MODULES names more drivers, MEMORY its size (default 3G), ACCEL=kvm
# makes it faster where virtual machines work (default tcg: everywhere). Needs qemu-system-x86_64, busybox-static and nfs-kernel-server.
set -euo pipefail

# shellcheck source=lab/machine.sh
. "$(dirname "$0")/machine.sh"
[ $# -gt 1 ] || { sed -n '4,6s/^# *//p' "$0" >&2; exit 2; }
kernel=$1
shift
need rpc.nfsd exportfs rpc.mountd mount.nfs
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# What runs there: server, mount, command.
mkdir -p "$folder/lab"
{
    printf 'cd %q\n' "$PWD"
    printf 'export GRISTMILL_LAB_NFS=/tmp/lab/mounted PATH=%q HOME=/tmp RUST_BACKTRACE=1\n' "$PATH"
    printf 'export GRISTMILL_LAB_PROGRAM=%q\n' "${GRISTMILL_LAB_PROGRAM:-}"
    printf 'version=%q\ncommand=(' "${NFS_VERSION:-4.2}"
    printf '%q ' "$@"
    echo ')'
    cat <<'START'
serve() {
    set -e
    busybox ip link set lo up
    mkdir -p /tmp/lab/{served,mounted} /var/lib/nfs/{sm,sm.bak,v4recovery,nfsdcltrack,rpc_pipefs} /run/rpcbind /run/sendsigs.omit.d
    touch /var/lib/nfs/{etab,rmtab,state}
    mount -t nfsd nfsd /proc/fs/nfsd
    mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
    rpcbind -w
    # Those of 10 are clients that a command may make in network namespaces of their own.
    for client in 127.0.0.1 10.0.0.0/8; do
        exportfs -o rw,no_root_squash,no_subtree_check,sync,fsid=0 "$client:/tmp/lab/served"
    done
    rpc.mountd
    echo 10 >/proc/fs/nfsd/nfsv4leasetime
    echo 10 >/proc/fs/nfsd/nfsv4gracetime
    rpc.nfsd 4
    echo Y >/proc/fs/nfsd/v4_end_grace 2>/dev/null || true
    case $version in
        3) mount -t nfs -o vers=3,nolock 127.0.0.1:/tmp/lab/served /tmp/lab/mounted ;;
        *) mount -t nfs -o "vers=$version" 127.0.0.1:/ /tmp/lab/mounted ;;
    esac
}
( serve ) || { echo "lab: the server did not start"; echo 2 >/dev/ttyS1; exit; }
grep lab/mounted /proc/mounts
"${command[@]}"
echo $? >/dev/ttyS1
START
} >"$folder/lab/start"
machine "$kernel" "nfsd nfsv4 nfsv3 veth ${MODULES:-}" "$folder"
