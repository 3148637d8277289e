#!/usr/bin/env bash
# In a virtual machine: GFS2 of one node on its disk.
#
#   lab/machines/gfs2.sh up                makes it; mounts with MOUNT_OPTIONS
#   lab/machines/gfs2.sh mount [OPTIONS]   mounts anew
set -euo pipefail

mount_it() { mount -t gfs2 ${1:+-o "$1"} /dev/vda /tmp/lab/dir; }

case ${1:-} in
    up)
        mkfs.gfs2 -q -O -p lock_nolock -j 1 -J 32 /dev/vda >/dev/null
        mount_it "${MOUNT_OPTIONS:-}"
        ;;
    mount) umount /tmp/lab/dir; mount_it "${2:-}" ;;
    *) exit 2 ;;
esac
