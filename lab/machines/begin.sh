#!/usr/bin/env bash
# What a virtual machine does: brings up what a lab is about, by the script beside this one, then runs the command.
#
#   lab/machines/begin.sh SCRIPT COMMAND…
set -euo pipefail

script=$1
shift
busybox ip link set lo up
mkdir -p /tmp/lab/dir /tmp/lab/peer
"$script" up || { dmesg | tail -n 20; echo "lab: $(basename "$script") did not bring it up"; exit 3; }
grep ' /tmp/lab/' /proc/mounts | grep -v ' /tmp/lab/out ' || true
code=0
"$@" || code=$?
exit "$code"
