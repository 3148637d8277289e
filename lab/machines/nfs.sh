#!/usr/bin/env bash
# In a virtual machine: the kernel's NFS server on tmpfs, or on XFS, and two clients of it.
#
#   lab/machines/nfs.sh up                 the server; mounts with MOUNT_OPTIONS
#   lab/machines/nfs.sh serve              the server alone, and no client
#   lab/machines/nfs.sh helpers            what locks of NFS 3 need at the second client
#   lab/machines/nfs.sh mount [OPTIONS]    mounts anew: NFS version 3 or 4.2, by GRISTMILL_LAB_NFS, unless OPTIONS say
#   lab/machines/nfs.sh serve-xfs OPTIONS  serves an XFS, mounted with OPTIONS, from now on; then mount
#
# DELEGATIONS=0: the server delegates no files (fs.leases-enable). SECOND=here: the second mount is made by the same client.
set -euo pipefail

# shellcheck source=lab/machines/clients.sh
. "$(dirname "$0")/clients.sh"
SERVED=/tmp/lab/served DIR=/tmp/lab/dir PEER=/tmp/lab/peer

serve() {
    mkdir -p "$SERVED" /var/lib/nfs/{sm,sm.bak,v4recovery,nfsdcltrack,rpc_pipefs} /run/rpcbind /run/sendsigs.omit.d
    touch /var/lib/nfs/{etab,rmtab,state}
    mount -t nfsd nfsd /proc/fs/nfsd
    mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
    rpcbind -w
    export_it
    rpc.mountd
    echo 10 >/proc/fs/nfsd/nfsv4leasetime
    echo 10 >/proc/fs/nfsd/nfsv4gracetime
    rpc.nfsd 4
    echo Y >/proc/fs/nfsd/v4_end_grace 2>/dev/null || true
}

up() {
    # Locks of NFS 3 need statd at both ends, and begin when the server's time of grace is over.
    echo 1 >/proc/sys/fs/nfs/nlm_grace_period 2>/dev/null || true
    serve
    rpc.statd --no-notify
    second_client
    as_second "$0" helpers
    mount_both "${MOUNT_OPTIONS:-}"
}

helpers() {
    mount -t tmpfs own /var/lib/nfs
    mkdir -p /var/lib/nfs/{sm,sm.bak} /run/rpcbind /run/sendsigs.omit.d
    touch /var/lib/nfs/state
    rpcbind -w
    rpc.statd --no-notify
}

export_it() {
    local client
    for client in 127.0.0.1 10.0.0.0/8; do
        exportfs -o rw,no_root_squash,no_subtree_check,sync,fsid=0 "$client:$SERVED"
    done
}

mount_both() { # options
    local options=$1 source=/ by=(as_second)
    case ",$options," in *,vers=*) ;; *) options=vers=$GRISTMILL_LAB_NFS${options:+,$options} ;; esac
    case ",$options," in *,vers=3,*) source=$SERVED ;; esac
    [ "${SECOND:-}" != here ] || by=()
    sysctl -qw "fs.leases-enable=${DELEGATIONS:-1}"
    mount -t nfs -o "$options" "127.0.0.1:$source" "$DIR"
    "${by[@]}" mount -t nfs -o "$options" "10.0.0.1:$source" "$PEER"
}

# Mounts that may be there or not.
leave() {
    local at
    for at in "$DIR" "$PEER"; do ! mountpoint -q "$at" || umount "$at"; done
}

serve_xfs() { # options
    leave
    exportfs -u -a
    exportfs -f
    if mountpoint -q "$SERVED"; then
        umount "$SERVED"
    else
        truncate -s 400M /tmp/lab/xfs
        mkfs.xfs -q /tmp/lab/xfs
    fi
    mount -o "loop,$1" /tmp/lab/xfs "$SERVED"
    export_it
}

case ${1:-} in
    up) up ;;
    serve) serve ;;
    helpers) helpers ;;
    mount) leave; mount_both "${2:-}" ;;
    serve-xfs) serve_xfs "$2" ;;
    *) exit 2 ;;
esac
