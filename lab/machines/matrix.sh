#!/usr/bin/env bash
# In a virtual machine: what factorial series change that a host of tests does not have. Four disks without anything on
# them, LVM, an NFS server on tmpfs, TuneD's daemon.
#
#   lab/machines/matrix.sh up
set -euo pipefail

here=$(dirname "$0")

# LVM_SYSTEM_DIR names the folder. There is no udev, and /etc cannot be written.
lvm_settings() {
    mkdir -p "$LVM_SYSTEM_DIR" /run/lock/lvm /run/lvm
    cat >"$LVM_SYSTEM_DIR/lvm.conf" <<CONF
activation { udev_sync = 0 udev_rules = 0 }
backup { backup = 0 archive = 0 }
devices { use_devicesfile = 0 }
CONF
}

tuned_daemon() {
    # It keeps the profile that was chosen below /etc.
    mkdir -p /tmp/lab/tuned /run/dbus /run/tuned
    cp -a /etc/tuned/. /tmp/lab/tuned
    mount --bind /tmp/lab/tuned /etc/tuned
    dbus-daemon --system --fork
    tuned --daemon
    for _ in $(seq 60); do
        tuned-adm list >/dev/null 2>&1 && return
        sleep 1
    done
    tuned-adm list
}

case ${1:-} in
    up)
        lvm_settings
        "$here/nfs.sh" serve
        tuned_daemon
        ;;
    *) exit 2 ;;
esac
