#!/usr/bin/env bash
# What lab/probe.sh runs in the virtual machine of lab/nfs.sh: ext4 on a device that is sound at first, and then
# keeps one wrong byte of each write (that of Linux 6.1 spoils no reads).
#
#   lab/probe-flakey.sh TEST
set -euo pipefail

sectors=$((256 * 2048))
at=/tmp/lab/flakey
mkdir -p "$at"
truncate -s $((sectors * 512)) /tmp/lab/disk
below=$(losetup -f --show /tmp/lab/disk)
dmsetup --noudevsync create flakey --table "0 $sectors linear $below 0"
device=/dev/$(basename "$(readlink -f /sys/class/block/dm-*)")
mkfs.ext4 -q "$device"
mount "$device" "$at"
check() { GRISTMILL_LAB_A=$at "$1" --ignored --exact "$2" --nocapture --test-threads 1; }
# This also brings what the file system needs for itself into memory, so that only data are spoiled later.
check "$1" sound_storage_returns_what_was_written
dmsetup --noudevsync suspend flakey
dmsetup --noudevsync load flakey --table "0 $sectors flakey $below 0 0 3600 5 corrupt_bio_byte 2000 w 170 0"
dmsetup --noudevsync resume flakey
check "$1" wrong_bytes_are_found
