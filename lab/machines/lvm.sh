#!/usr/bin/env bash
# In a virtual machine: a volume of LVM over its eight disks with stripes of 64 KiB, and XFS on it.
#
#   lab/machines/lvm.sh up                makes it; mounts with MOUNT_OPTIONS
#   lab/machines/lvm.sh mount [OPTIONS]   mounts anew
set -euo pipefail

# There is no udev, and /etc cannot be written.
CONFIG='activation{udev_sync=0 udev_rules=0} backup{backup=0 archive=0} devices{use_devicesfile=0}'
VOLUME=/dev/mapper/lab-striped

mount_it() { mount ${1:+-o "$1"} "$VOLUME" /tmp/lab/dir; }

case ${1:-} in
    up)
        mkdir -p /run/lock/lvm /run/lvm
        export LVM_SUPPRESS_FD_WARNINGS=1
        vgcreate -q --config "$CONFIG" lab /dev/vd[a-h] >/dev/null
        lvcreate -q --config "$CONFIG" -Zn -Wn -i 8 -I 64k -l 100%FREE -n striped lab >/dev/null 2>&1
        vgmknodes --config "$CONFIG"
        mkfs.xfs -q "$VOLUME"
        mount_it "${MOUNT_OPTIONS:-}"
        ;;
    mount) umount /tmp/lab/dir; mount_it "${2:-}" ;;
    *) exit 2 ;;
esac
