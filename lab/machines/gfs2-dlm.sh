#!/usr/bin/env bash
# In two virtual machines with one disk: GFS2 of two nodes, with corosync and the kernel's distributed lock manager.
#
#   lab/machines/gfs2-dlm.sh serve               the second one: runs what the first sends
#   lab/machines/gfs2-dlm.sh up                  the first one: brings both up, mounts with MOUNT_OPTIONS
#   lab/machines/gfs2-dlm.sh on-peer COMMAND…    the first one: runs a command on the second, standard input and
#                                                output are passed on
#
# Nobody is fenced: a node that is lost stops the other.
set -euo pipefail

PORT=7000 DISK=/dev/vda DIR=/tmp/lab/dir TABLE=/sys/kernel/config/dlm/cluster/rsbtbl_size

wait_for() { # function
    for _ in $(seq 200); do
        ! "$1" || return 0
        sleep 0.5
    done
    echo "$1 does not come true" >&2
    return 1
}

network() { # number
    hostname "node$1"
    busybox ip link set lo up
    busybox ip addr add "10.0.0.$1/24" dev eth0
    busybox ip link set eth0 up
}

serve() {
    network 2
    mkdir -p "$DIR"
    socat -t 86400 "TCP-LISTEN:$PORT,reuseaddr,fork" "EXEC:$0 served"
}

# A line with the command, then what it reads.
served() {
    local line
    read -r line
    eval "exec $line"
}

on_peer() { { printf '%q ' "$@"; echo; cat; } | socat -t 86400 - "TCP:10.0.0.2:$PORT"; }

# Of both: the cluster.
join() { # number
    mkdir -p /tmp/lab/corosync /dev/misc
    cat >/tmp/lab/corosync/corosync.conf <<'CONF'
totem {
    version: 2
    cluster_name: lab
    transport: udpu
    crypto_cipher: none
    crypto_hash: none
    token: 20000
}
logging {
    to_stderr: no
    to_syslog: no
    to_logfile: yes
    logfile: /tmp/lab/corosync/log
}
quorum {
    provider: corosync_votequorum
    expected_votes: 2
    two_node: 1
    wait_for_all: 1
}
nodelist {
    node {
        ring0_addr: 10.0.0.1
        nodeid: 1
    }
    node {
        ring0_addr: 10.0.0.2
        nodeid: 2
    }
}
CONF
    # Where udev would have put them.
    for name in dlm-control dlm-monitor dlm_plock; do ln -sf "../$name" "/dev/misc/$name"; done
    mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
    mount --bind /tmp/lab/corosync/corosync.conf /etc/corosync/corosync.conf
    corosync
    is_quorate() { corosync-quorumtool -s 2>/dev/null | grep -q '^Quorate: *Yes'; }
    wait_for is_quorate
    dlm_controld --enable_fencing 0
    # The daemon answers before it has made its folder, where is the only one of the papers' three tables that Linux
    # still has.
    is_ready() { dlm_tool status 2>/dev/null | grep -q '^cluster nodeid' && [ -e "$TABLE" ]; }
    wait_for is_ready
    echo 4096 >"$TABLE"
    echo "node $1 has joined"
}

mount_it() { mount -t gfs2 -o "noatime${MOUNT_OPTIONS:+,$MOUNT_OPTIONS}" "$DISK" "$DIR"; }

up() {
    network 1
    answers() { (: <"/dev/tcp/10.0.0.2/$PORT") 2>/dev/null; }
    wait_for answers
    on_peer "$0" join 2 </dev/null >/tmp/lab/joined &
    join 1
    wait $!
    grep 'node 2 has joined' /tmp/lab/joined
    mkfs.gfs2 -q -O -p lock_dlm -t lab:shared -j 2 -J 32 "$DISK" >/dev/null
    mount_it
    on_peer env "MOUNT_OPTIONS=${MOUNT_OPTIONS:-}" "$0" mount </dev/null | grep 'mounted by node2'
}

case ${1:-} in
    serve | served | up) "$1" ;;
    join) join "$2" ;;
    mount) mount_it && echo "mounted by $(hostname)" ;;
    on-peer) shift; on_peer "$@" ;;
    *) exit 2 ;;
esac
