#!/usr/bin/env bash
# GlusterFS on this host: a volume that is spread over two bricks, mounted twice by FUSE, in namespaces of its own, so that
# neither its folders below /var nor its network are this host's, and all of it ends with the command.
#
#   lab/gluster.sh run FOLDER COMMAND…       started by lab/run
#   lab/gluster.sh mount FOLDER [OPTIONS]    within: mounts anew; OPTIONS with dots are options of the volume, which are set
#                                            first, others options of the mounts: performance.io-cache=off,acl
set -euo pipefail

DAEMON=10.99.0.1

mount_both() { # folder, options
    local folder=$1 option at options=()
    for option in ${2//,/ }; do
        case $option in
            *.*=*) gluster --mode=script volume set lab "${option%%=*}" "${option#*=}" >/dev/null ;;
            *) options+=(-o "$option") ;;
        esac
    done
    for at in dir peer; do
        mount -t glusterfs "${options[@]}" "$DAEMON:/lab" "$folder/$at"
        mountpoint -q "$folder/$at" || { echo "lab: glusterfs did not mount" >&2; exit 3; }
    done
}

inside() { # folder, command
    local folder=$1 at
    shift
    for at in /var/lib/glusterd /var/log/glusterfs /run; do mount -t tmpfs own "$at"; done
    mkdir -p /run/gluster "$folder"/{brick1,brick2,dir,peer}
    ip link set lo up
    ip addr add "$DAEMON/32" dev lo
    # A daemon refuses addresses of the loopback network, not those of its interface.
    glusterd
    for _ in $(seq 100); do
        ! gluster --mode=script pool list >/dev/null 2>&1 || break
        sleep 0.2
    done
    gluster --mode=script volume create lab "$DAEMON:$folder/brick1" "$DAEMON:$folder/brick2" force >/dev/null
    gluster --mode=script volume start lab >/dev/null
    mount_both "$folder" "${MOUNT_OPTIONS:-}"
    code=0
    GRISTMILL_LAB_DIR=$folder/dir GRISTMILL_LAB_PEER=$folder/peer GRISTMILL_LAB_MOUNT="$(realpath "$0") mount $folder" \
        "$@" || code=$?
    umount "$folder/dir" "$folder/peer"
    exit "$code"
}

case "${1:-} $#" in
    inside\ *) shift; inside "$@" ;;
    "mount 2" | "mount 3")
        umount "$2/dir" "$2/peer"
        mount_both "$2" "${3:-}"
        ;;
    run\ *) shift; exec unshare --mount --net --pid --fork --kill-child --mount-proc "$0" inside "$@" ;;
    *) sed -n '5,7s/^# *//p' "$0" >&2; exit 2 ;;
esac
