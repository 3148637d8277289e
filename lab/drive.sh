#!/usr/bin/env bash
# A drive of known speed: a file system on a loop device of this host, limited in each direction.
#
#   lab/drive.sh up DIR FS SIZE MB_PER_S   e.g. lab/drive.sh up /mnt/slow ext4 12G 60; 0 for no limit
#   lab/drive.sh down DIR                  unmounts it and removes its image DIR.img
#   lab/drive.sh mount DIR [OPTIONS]       unmounts it and mounts it again with other options
#   lab/drive.sh with FS SIZE COMMAND…     runs a command with such a drive of its own without a limit: its
#                                          GRISTMILL_LAB_DIR, and GRISTMILL_LAB_MOUNT (lab/run)
#   lab/drive.sh small BYTES COMMAND…      runs a command in a memory cgroup, so that little fits into the cache
#
# FS is ext3, ext4, xfs or btrfs; MOUNT_OPTIONS are options of the mount.
# Needs root and room for SIZE beside DIR (with: in /var/tmp); limits need cgroups of version 1 (blkio, memory).
# The limit is set in the root group, so that what the kernel writes back later is limited, too; the image is
# read and written past the host's page cache. A drive with a limit is written once from end to end before it is
# used: otherwise the host finds room for each part of it that is written for the first time, in the middle of
# what is measured.
set -euo pipefail

BLKIO=/sys/fs/cgroup/blkio MEMORY=/sys/fs/cgroup/memory

fail() { echo "lab/drive.sh: $*" >&2; exit 2; }
usage() { sed -n '4,10s/^# *//p' "$0" >&2; exit 2; }
number() { lsblk -ndo MAJ:MIN "$1" | tr -d ' '; }

limit() { # device bytes_per_s
    [ -e "$BLKIO/blkio.throttle.read_bps_device" ] || fail "no blkio limits: cgroups of version 1 are needed"
    for way in read write; do echo "$(number "$1") $2" >"$BLKIO/blkio.throttle.${way}_bps_device"; done
}

fill() { # image
    local bytes
    bytes=$(stat -c %s "$1")
    dd if=/dev/zero of="$1" bs=16M count="$bytes" iflag=count_bytes oflag=direct conv=notrunc,fsync status=none
}

up() {
    local dir=$1 fs=$2 size=$3 rate=$4 device
    ! mountpoint -q "$dir" || fail "$dir is mounted already"
    [ ! -e "$dir.img" ] || fail "$dir.img is there already"
    command -v "mkfs.$fs" >/dev/null || fail "no mkfs.$fs"
    mkdir -p "$dir"
    truncate -s "$size" "$dir.img"
    [ "$rate" = 0 ] || fill "$dir.img"
    device=$(losetup -f --show --direct-io=on "$dir.img")
    case $fs in
        ext3 | ext4) "mkfs.$fs" -q -E lazy_itable_init=0,nodiscard "$device" ;;
        xfs | btrfs) "mkfs.$fs" -q "$device" ;;
        *) losetup -d "$device"; fail "ext3, ext4, xfs or btrfs" ;;
    esac
    mount -t "$fs" ${MOUNT_OPTIONS:+-o "$MOUNT_OPTIONS"} "$device" "$dir"
    chmod 1777 "$dir"
    [ "$rate" = 0 ] || limit "$device" $((rate * 1000000))
    echo "$dir: $fs on $device, $rate MB/s in each direction"
}

made_here() { # directory; prints its device
    local dir=$1 device
    device=$(findmnt -no SOURCE "$dir") || fail "$dir is not mounted"
    case $device in /dev/loop*) ;; *) fail "$dir is on $device, not made by this script" ;; esac
    [ -e "$dir.img" ] || fail "there is no $dir.img: not made by this script"
    echo "$device"
}

mount_again() { # directory, options
    local dir=$1 device fs
    device=$(made_here "$dir") && fs=$(findmnt -no FSTYPE "$dir")
    umount "$dir"
    mount -t "$fs" ${2:+-o "$2"} "$device" "$dir"
}

down() {
    local dir=$1 device
    device=$(made_here "$dir")
    umount "$dir"
    [ ! -e "$BLKIO" ] || limit "$device" 0
    losetup -d "$device"
    rm "$dir.img"
    rmdir "$dir"
}

with() {
    local fs=$1 size=$2
    shift 2
    folder=$(mktemp -d -p /var/tmp)
    trap 'if mountpoint -q "$folder/drive"; then down "$folder/drive"; fi; rm -r --one-file-system "$folder"' EXIT
    trap 'trap "" TERM; exit 124' TERM
    up "$folder/drive" "$fs" "$size" 0 >&2
    GRISTMILL_LAB_DIR=$folder/drive GRISTMILL_LAB_MOUNT="$(realpath "$0") mount $folder/drive" "$@"
}

small() {
    local bytes=$1 group=$MEMORY/gristmill-small
    shift
    mkdir -p "$group" 2>/dev/null || fail "no memory groups: cgroups of version 1 are needed"
    echo "$bytes" >"$group/memory.limit_in_bytes"
    echo $$ >"$group/tasks"
    exec "$@"
}

case "${1:-} $#" in
    "up 5" | "down 2") "$@" ;;
    "mount 2" | "mount 3") mount_again "$2" "${3:-}" ;;
    with\ *) [ $# -ge 4 ] || usage; "$@" ;;
    small\ *) [ $# -ge 3 ] || usage; "$@" ;;
    *) usage ;;
esac
