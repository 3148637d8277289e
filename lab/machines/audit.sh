#!/usr/bin/env bash
# In a virtual machine: /etc as a copy of this host's that may be written, and two disks that /etc/fstab mounts at
# /mnt/data and /mnt/work.
#
#   lab/machines/audit.sh up
#
# UDEV names a folder with udev in it (`dpkg-deb -x udev_….deb UDEV`, and the libraries that it needs) where the host
# has none; without udev, rules are written but not triggered.
set -euo pipefail

case ${1:-} in
    up) ;;
    *) exit 2 ;;
esac
cp -a /etc /tmp/lab/etc
mount --bind /tmp/lab/etc /etc
mount -t tmpfs own /mnt
mkdir -p /mnt/data /mnt/work
echo lab >/proc/sys/kernel/hostname
libraries=${UDEV:-}/usr/lib/x86_64-linux-gnu:${UDEV:-}/lib/x86_64-linux-gnu
for udevadm in "${UDEV:-/none}/bin/udevadm" "${UDEV:-/none}/usr/bin/udevadm" "$(command -v udevadm || true)"; do
    if [ -x "$udevadm" ]; then
        # By this name it is the daemon.
        ln -s "$udevadm" /tmp/lab/systemd-udevd
        mkdir -p /run/udev /etc/udev/rules.d
        LD_LIBRARY_PATH=$libraries /tmp/lab/systemd-udevd --daemon
        # It does nothing in a chroot, as which this looks to it.
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s SYSTEMD_IGNORE_CHROOT=1 exec %s "$@"\n' "$libraries" "$udevadm" >/tmp/lab/udevadm
        chmod +x /tmp/lab/udevadm
        break
    fi
done
mkfs.ext4 -q -L data /dev/vda
mkfs.ext4 -q -L work /dev/vdb
printf '/dev/vda /mnt/data ext4 defaults,noatime 0 0\n/dev/vdb /mnt/work ext4 defaults,noatime 0 0\n' >/etc/fstab
mount /mnt/data
mount /mnt/work
