#!/usr/bin/env bash
# Shows that a factorial series formats, mounts and sets what it says, and puts everything back, also after a kill:
# starts tests of crates/gristmill/tests/lab/matrix.rs on loop devices. And runs the RHEL paper's matrix on drives of
# known speed.
#
#   lab/matrix.sh can                        whether this machine can do that: ends with 0 if so
#   lab/matrix.sh run                        starts the tests; settings of this host (huge pages, dirty limits) change
#                                            for seconds
#   lab/matrix.sh paper MB_PER_S PROGRAM…    PROGRAM matrix mixed-8core …, its three volumes on loop devices of 2 GB,
#                                            each limited in each direction
#
#   e.g. lab/matrix.sh paper 60 target/release/gristmill --folder /tmp/rhel --scale 0.001 -- --time-scale 0.01
#
# Needs root, mkfs.ext4, mkfs.xfs, loop devices, and in /var/tmp 2 GB (paper: 6 GB); limits need a cgroup of version 1
# (blkio). The limit is set in the root group, and the files are written from end to end first, as lab/drive.sh does.
set -euo pipefail

BLKIO=/sys/fs/cgroup/blkio
VOLUMES=(input output saswork)
folder=
devices=()

fail() { echo "lab/matrix.sh: $*" >&2; exit 2; }

can() {
    [ "$(id -u)" = 0 ] || fail "root is needed"
    command -v mkfs.xfs >/dev/null || fail "no mkfs.xfs (xfsprogs)"
    [ -w /sys/kernel/mm/transparent_hugepage/enabled ] || fail "huge pages cannot be set here"
    "$(dirname "$0")/drive.sh" with xfs 400M true
}

run() {
    can
    cd "$(dirname "$0")/.."
    # One at a time: they change the same settings.
    cargo test -p gristmill --test lab -- --ignored --test-threads=1 matrix::
}

limit() { # device bytes_per_s
    for way in read write; do
        echo "$(lsblk -ndo MAJ:MIN "$1" | tr -d ' ') $2" >"$BLKIO/blkio.throttle.${way}_bps_device"
    done
}

down() {
    for device in "${devices[@]}"; do
        limit "$device" 0
        losetup -d "$device"
    done
    rm -r --one-file-system "$folder"
}

paper() {
    local rate=$1 program=$2 volume device options=()
    shift 2
    [ "$(id -u)" = 0 ] || fail "root is needed"
    [ -e "$BLKIO/blkio.throttle.read_bps_device" ] || fail "no blkio limits: cgroups of version 1 are needed"
    folder=$(mktemp -d -p /var/tmp)
    trap down EXIT
    for volume in "${VOLUMES[@]}"; do
        dd if=/dev/zero of="$folder/$volume" bs=16M count=128 oflag=direct conv=fsync status=none
        device=$(losetup -f --show --direct-io=on "$folder/$volume")
        devices+=("$device")
        limit "$device" $((rate * 1000000))
        options+=(--device "$volume=$device" --format "$device")
    done
    "$program" matrix mixed-8core "${options[@]}" "$@"
}

case "${1:-} $#" in
    "can 1" | "run 1") "$1" ;;
    paper\ *) [ $# -ge 3 ] || fail "paper MB_PER_S PROGRAM…"; "$@" ;;
    *) sed -n '6,10s/^# *//p' "$0" >&2; exit 2 ;;
esac
