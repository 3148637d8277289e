#!/usr/bin/env bash
# A virtual machine whose settings may be spoiled: for tests that change them, audit, and install what mends them.
#
#   lab/audit.sh KERNEL COMMAND…   runs a command there, with GRISTMILL_LAB_AUDIT, a folder with two mounted file systems
#                                  (data and work, on disks vda and vdb), in its environment
#   e.g. lab/audit.sh /tmp/kernel target/debug/deps/lab-* --ignored --nocapture repairs
#
# /etc is a copy of this host's that may be written. UDEV names a folder with udev in it (`dpkg-deb -x udev_….deb UDEV`, and
# the libraries that it needs) where this host has none; without udev, rules are written but not triggered. KERNEL, MEMORY and ACCEL:
# see lab/machine.sh. Needs qemu-system-x86_64, busybox-static, e2fsprogs and patch.
set -euo pipefail

# shellcheck source=lab/machine.sh
. "$(dirname "$0")/machine.sh"
[ $# -gt 1 ] || { sed -n '4,6s/^# *//p' "$0" >&2; exit 2; }
kernel=$1
shift
need mkfs.ext4 patch
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

mkdir -p "$folder/lab/udev"
[ -z "${UDEV:-}" ] || cp -a "$UDEV/." "$folder/lab/udev"
for disk in data work; do
    truncate -s 256M "$folder/$disk"
    mkfs.ext4 -q -L "$disk" "$folder/$disk"
done
cat >"$folder/lab/prepare" <<'PREPARE'
cp -a /etc /tmp/lab/etc
mount --bind /tmp/lab/etc /etc
mount -t tmpfs own /mnt
mkdir -p /mnt/data /mnt/work
echo lab >/proc/sys/kernel/hostname
export LD_LIBRARY_PATH=/tmp/lab/udev/usr/lib/x86_64-linux-gnu:/tmp/lab/udev/lib/x86_64-linux-gnu
for udevadm in /tmp/lab/udev/bin/udevadm /tmp/lab/udev/usr/bin/udevadm "$(command -v udevadm || true)"; do
    if [ -x "$udevadm" ]; then
        # By this name it is the daemon.
        ln -s "$udevadm" /tmp/lab/systemd-udevd
        mkdir -p /run/udev /etc/udev/rules.d
        /tmp/lab/systemd-udevd --daemon
        break
    fi
done
printf '/dev/vda /mnt/data ext4 defaults,noatime 0 0\n/dev/vdb /mnt/work ext4 defaults,noatime 0 0\n' >/etc/fstab
mount /mnt/data
mount /mnt/work
PREPARE
{
    printf 'cd %q\n' "$PWD"
    printf 'export GRISTMILL_LAB_AUDIT=/mnt PATH=%q HOME=/tmp RUST_BACKTRACE=1\n' "$PATH"
    printf 'command=('
    printf '%q ' "$@"
    echo ')'
    cat <<'START'
bash -e /tmp/lab/prepare || { echo "lab: the machine was not made ready"; echo 2 >/dev/ttyS1; exit; }
# udevadm does nothing in a chroot, as which this looks to it.
export GRISTMILL_LAB_UDEVADM SYSTEMD_IGNORE_CHROOT=1
for udevadm in /tmp/lab/udev/bin/udevadm /tmp/lab/udev/usr/bin/udevadm; do
    [ ! -x "$udevadm" ] || GRISTMILL_LAB_UDEVADM="env LD_LIBRARY_PATH=/tmp/lab/udev/usr/lib/x86_64-linux-gnu:/tmp/lab/udev/lib/x86_64-linux-gnu $udevadm"
done
[ -n "${GRISTMILL_LAB_UDEVADM:-}" ] || GRISTMILL_LAB_UDEVADM=$(command -v udevadm || true)
"${command[@]}"
echo $? >/dev/ttyS1
START
} >"$folder/lab/start"

disks=()
for disk in data work; do
    disks+=(-drive "file=$folder/$disk,format=raw,if=virtio,cache=unsafe")
done
machine "$kernel" "virtio_blk crc32c_generic ext4 bfq" "$folder" "${disks[@]}"
