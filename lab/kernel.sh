#!/usr/bin/env bash
# Prints the folder of the kernel that virtual machines of the labs run: KERNEL, or Debian's, which is fetched on first
# use (about 70 MB by apt-get; 400 MB unpacked below target/, where nothing is installed).
#
#   lab/kernel.sh
set -euo pipefail

folder=${KERNEL:-${CARGO_TARGET_DIR:-$(dirname "$(dirname "$(realpath "$0")")")/target}/lab/kernel}
found() { ls "$folder"/boot/vmlinuz-* >/dev/null 2>&1; }
if ! found; then
    [ -z "${KERNEL:-}" ] || { echo "lab/kernel.sh: no boot/vmlinuz-* below $folder (KERNEL)" >&2; exit 3; }
    [ "$(uname -m)" = x86_64 ] || { echo "lab/kernel.sh: only for x86_64" >&2; exit 3; }
    command -v apt-get >/dev/null || { echo "lab/kernel.sh: no apt-get; KERNEL names a folder with a kernel" >&2; exit 3; }
    package=$(apt-cache depends linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
    [ -n "$package" ] || { echo "lab/kernel.sh: apt knows no kernel (apt-get update?)" >&2; exit 3; }
    mkdir -p "$(dirname "$folder")"
    partly=$(mktemp -d -p "$(dirname "$folder")")
    trap 'rm -r "$partly"' EXIT
    (cd "$partly" && apt-get -qq download "$package" >&2 && dpkg-deb -x ./*.deb k) ||
        { echo "lab/kernel.sh: $package could not be fetched" >&2; exit 3; }
    busybox depmod -b "$partly/k" "${package#linux-image-}" >&2 || { echo "lab/kernel.sh: no busybox" >&2; exit 3; }
    mv "$partly/k" "$folder"
fi
echo "$folder"
