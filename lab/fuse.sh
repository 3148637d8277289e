#!/usr/bin/env bash
# A file system that hides its physical side: a directory behind FUSE (bindfs).
#
#   lab/fuse.sh COMMAND…   runs a command with GRISTMILL_LAB_FUSE, the mounted directory, in its environment
#   e.g. lab/fuse.sh cargo test -p gristmill --test lab -- --ignored fuse
#
# Needs bindfs (Debian: bindfs) and /dev/fuse.
set -euo pipefail

[ $# -gt 0 ] || { sed -n '4,5s/^# *//p' "$0" >&2; exit 2; }
for need in bindfs fusermount; do
    command -v "$need" >/dev/null || { echo "lab/fuse.sh: no $need" >&2; exit 2; }
done
folder=$(mktemp -d)
trap 'fusermount -u "$folder/mounted" 2>/dev/null || true; rm -r --one-file-system "$folder"' EXIT
mkdir "$folder/below" "$folder/mounted"
bindfs "$folder/below" "$folder/mounted"
GRISTMILL_LAB_FUSE=$folder/mounted "$@"
