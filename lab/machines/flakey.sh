#!/usr/bin/env bash
# In a virtual machine: ext4 on a device that is sound at first, and keeps one wrong byte of each write when it is told
# to (that of Linux 6.1 spoils no reads).
#
#   lab/machines/flakey.sh up                makes and mounts it
#   lab/machines/flakey.sh mount spoiled     from now on it is spoiled
set -euo pipefail

SECTORS=$((256 * 2048)) DISK=/tmp/lab/disk

case "${1:-} ${2:-}" in
    "up ")
        truncate -s $((SECTORS * 512)) "$DISK"
        below=$(losetup -f --show "$DISK")
        dmsetup --noudevsync create flakey --table "0 $SECTORS linear $below 0"
        device=/dev/$(basename "$(readlink -f /sys/class/block/dm-*)")
        mkfs.ext4 -q "$device"
        mount "$device" /tmp/lab/dir
        ;;
    "mount spoiled")
        below=$(losetup -nO NAME -j "$DISK" | tr -d ' ')
        dmsetup --noudevsync suspend flakey
        dmsetup --noudevsync load flakey \
            --table "0 $SECTORS flakey $below 0 0 3600 5 corrupt_bio_byte 2000 w 170 0"
        dmsetup --noudevsync resume flakey
        ;;
    *) exit 2 ;;
esac
