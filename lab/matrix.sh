#!/usr/bin/env bash
# Shows that a factorial series formats, mounts and sets what it says, and puts everything back, also after a kill:
# starts tests of crates/gristmill/tests/lab/matrix.rs on loop devices.
#
#   lab/matrix.sh can       whether this machine can do that: ends with 0 if so
#   lab/matrix.sh run       starts the tests; settings of this host (huge pages, dirty limits) change for seconds
#
# Needs root, mkfs.ext4, mkfs.xfs, loop devices, and 2 GB in /var/tmp.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "lab/matrix.sh: $*" >&2; exit 2; }

can() {
    [ "$(id -u)" = 0 ] || fail "root is needed"
    command -v mkfs.xfs >/dev/null || fail "no mkfs.xfs (xfsprogs)"
    [ -w /sys/kernel/mm/transparent_hugepage/enabled ] || fail "huge pages cannot be set here"
    lab/drive.sh with xfs 400M true
}

run() {
    can
    # One at a time: they change the same settings.
    cargo test -p gristmill --test lab -- --ignored --test-threads=1 matrix::
}

case "${1:-} $#" in
    "can 1" | "run 1") "$1" ;;
    *) sed -n '5,6s/^# *//p' "$0" >&2; exit 2 ;;
esac
