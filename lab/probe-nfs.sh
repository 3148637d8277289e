#!/usr/bin/env bash
# What lab/probe.sh runs in the virtual machine of lab/nfs.sh: a second client of the server there, with network and
# host name of its own (and so, to the server, another host), and tests with several mount options.
#
#   lab/probe-nfs.sh TEST [NAME…]     NAME: only these cases
set -euo pipefail

test=$1
shift
only=" $* "
a=/tmp/lab/a b=/tmp/lab/b
mkdir -p "$a" "$b"

# The second client: a namespace that a process holds open.
unshare --net --uts sleep infinity &
other=$!
trap 'kill $other' EXIT
sleep 1
ip link add to-b type veth peer name to-a
ip link set to-a netns "$other"
in_b() { nsenter --target "$other" --net --uts "$@"; }
ip addr add 10.0.0.1/24 dev to-b
ip link set to-b up
in_b hostname client-b
in_b ip addr add 10.0.0.2/24 dev to-a
in_b ip link set to-a up
in_b ip link set lo up

failed=0
b_by=(in_b)
# A name for people, what the server may delegate, options of both mounts, and the test.
case_() {
    local name=$1 delegations=$2 options=$3 test_name=$4 source=127.0.0.1:/
    [ "$only" = "  " ] || [[ $only == *" $name "* ]] || return 0
    case $options in vers=3*) source=127.0.0.1:/tmp/lab/served ;; esac
    echo "== $name: $options, delegations $delegations"
    sysctl -qw fs.leases-enable="$delegations"
    mount -t nfs -o "$options" "$source" "$a"
    if [ ${#b_by[@]} = 0 ]; then
        mount -t nfs -o "$options" "$source" "$b"
    else
        "${b_by[@]}" mount -t nfs -o "$options" "10.0.0.1:${source#*:}" "$b"
    fi
    GRISTMILL_LAB_A=$a GRISTMILL_LAB_B=$b "$test" --ignored --exact "$test_name" --nocapture --test-threads 1 ||
        failed=1
    umount "$a" "$b"
}

case_ default 1 vers=4.2 nfs_shows_names_and_attributes_late_by_default
case_ actimeo 1 vers=4.2,actimeo=0,lookupcache=none nfs_shows_changes_at_once_without_attribute_cache
case_ excludes 1 vers=4.2 nfs_locks_exclude_between_clients
case_ forgets 0 vers=4.2 nfs_forgets_a_file_that_was_locked
case_ forgets-3 0 vers=3,nolock nfs_forgets_a_file_that_was_locked
case_ delegated 1 vers=4.2 a_delegation_keeps_a_file_that_was_locked
case_ nolock 0 vers=3,nolock local_locks_do_not_exclude_and_that_is_wrong
# Both by this host: caches of their own, and one client to the server.
b_by=()
case_ one-client 1 vers=4.2,nosharecache two_mounts_of_one_client_of_nfs_4_are_not_taken_for_two_hosts
b_by=(in_b)
case_ everything 1 vers=4.2 all_experiments_run_between_two_clients

# A memory group of version 2, with the controller handed down to those below it.
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /sys/fs/cgroup/lab/tests
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
echo +memory >/sys/fs/cgroup/lab/cgroup.subtree_control
echo $$ >/sys/fs/cgroup/lab/tests/cgroup.procs
case_ pressure 0 vers=4.2 short_memory_takes_the_page_cache
exit $failed
