#!/usr/bin/env bash
# In a virtual machine: a share of Samba, and two clients of it, as cifs mounts them.
#
#   lab/machines/cifs.sh up                the server; mounts with MOUNT_OPTIONS
#   lab/machines/cifs.sh mount [OPTIONS]   mounts anew
set -euo pipefail

# shellcheck source=lab/machines/clients.sh
. "$(dirname "$0")/clients.sh"
SERVER=/tmp/lab/samba DIR=/tmp/lab/dir PEER=/tmp/lab/peer

up() {
    mkdir -p /var/log/samba "$SERVER"/{share,private,state,cache,lock,run,log,ncalrpc}
    cat >"$SERVER/smb.conf" <<CONF
[global]
workgroup = LAB
server role = standalone server
map to guest = Bad User
disable netbios = yes
smb ports = 445
private dir = $SERVER/private
state directory = $SERVER/state
cache directory = $SERVER/cache
lock directory = $SERVER/lock
pid directory = $SERVER/run
ncalrpc dir = $SERVER/ncalrpc
log file = $SERVER/log/smbd
load printers = no
[share]
path = $SERVER/share
read only = no
guest ok = yes
force user = root
CONF
    second_client
    smbd --daemon --configfile="$SERVER/smb.conf"
    for _ in $(seq 100); do
        ! (: </dev/tcp/127.0.0.1/445) 2>/dev/null || break
        sleep 0.2
    done
    mount_both "${MOUNT_OPTIONS:-}"
}

mount_both() { # options
    local options="guest,vers=3.1.1,uid=0,gid=0,file_mode=0644,dir_mode=0755${1:+,$1}"
    mount -t cifs -o "$options" //127.0.0.1/share "$DIR"
    as_second mount -t cifs -o "$options" //10.0.0.1/share "$PEER"
}

case ${1:-} in
    up) up ;;
    mount) umount "$DIR" "$PEER"; mount_both "${2:-}" ;;
    *) exit 2 ;;
esac
