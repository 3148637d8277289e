#!/usr/bin/env bash
# Shows that probes tell real file systems apart: starts tests of crates/gristmill/tests/lab_probe.rs on them.
#
#   lab/probe.sh atime TEST           ext4 and xfs on loop devices, with strictatime and with noatime
#   lab/probe.sh fuse TEST            one directory through two FUSE mounts (bindfs), whose locks are local
#   lab/probe.sh pressure TEST        ext4 on a loop device, and a memory cgroup of this host (version 1 or 2)
#   lab/probe.sh nfs KERNEL TEST      two clients of an NFS server in a virtual machine (see lab/nfs.sh)
#   lab/probe.sh corruption KERNEL TEST   ext4 on a device that keeps wrong bytes (dm-flakey), in such a machine
#   e.g. lab/probe.sh nfs /tmp/kernel target/debug/deps/lab_probe-*
#
# GRISTMILL_LAB_PROGRAM names another program than that of the tests, such as a release build.
# TEST is the test program that `cargo test -p gristmill --test lab_probe --no-run` names; NFS takes some minutes
# where machines are emulated. Needs root, and for fuse bindfs.
set -euo pipefail
folder=

fail() { echo "lab/probe.sh: $*" >&2; exit 2; }
usage() { sed -n '4,9s/^# *//p' "$0" >&2; exit 2; }
here=$(dirname "$0")

run() { # test program, name of a test
    "$1" --ignored --exact "$2" --nocapture --test-threads 1
}

atime() {
    local fs
    folder=$(mktemp -d)
    trap 'for at in "$folder"/*/; do "$here/drive.sh" down "${at%/}" || true; done; rmdir "$folder"' EXIT
    for fs in ext4 xfs; do
        for how in strictatime noatime; do
            MOUNT_OPTIONS=$how "$here/drive.sh" up "$folder/$fs-$how" "$fs" 512M 0
        done
        GRISTMILL_LAB_A=$folder/$fs-strictatime GRISTMILL_LAB_B=$folder/$fs-noatime \
            run "$1" atime_moves_with_strictatime_and_not_with_noatime
        GRISTMILL_LAB_A=$folder/$fs-noatime run "$1" a_local_file_system_keeps_what_was_locked
    done
}

fuse() {
    command -v bindfs >/dev/null || fail "no bindfs"
    folder=$(mktemp -d)
    trap 'umount "$folder/a" "$folder/b" 2>/dev/null || true; rm -r --one-file-system "$folder"' EXIT
    mkdir "$folder"/{below,a,b}
    bindfs "$folder/below" "$folder/a"
    bindfs "$folder/below" "$folder/b"
    GRISTMILL_LAB_A=$folder/a GRISTMILL_LAB_B=$folder/b run "$1" local_locks_do_not_exclude_and_that_is_wrong
    GRISTMILL_LAB_A=$folder/a run "$1" what_fuse_hides_is_absent
}

pressure() {
    folder=$(mktemp -d)
    trap '"$here/drive.sh" down "$folder/ext4" || true; rmdir "$folder"' EXIT
    MOUNT_OPTIONS=noatime "$here/drive.sh" up "$folder/ext4" ext4 512M 0
    GRISTMILL_LAB_A=$folder/ext4 run "$1" short_memory_takes_the_page_cache
}

nfs() {
    MEMORY=${MEMORY:-2G} "$here/nfs.sh" "$1" bash "$here/probe-nfs.sh" "$2"
}

corruption() {
    MEMORY=${MEMORY:-2G} MODULES="dm-flakey loop crc32c_generic ext4" "$here/nfs.sh" "$1" bash "$here/probe-flakey.sh" "$2"
}

case "${1:-} $#" in
    "atime 2" | "fuse 2" | "pressure 2" | "nfs 3" | "corruption 3") "$@" ;;
    *) usage ;;
esac
