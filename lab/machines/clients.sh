# A second client of a server of this machine: namespaces with an address, a host name and a /run of its own, so that to
# the server it is another host. What it mounts below /tmp/lab is seen by all. To be sourced.
#
#   second_client          makes it, from 10.0.0.1 (this machine) to 10.0.0.2
#   as_second COMMAND…     runs a command there

second_client() {
    local other
    mount --rbind /tmp/lab /tmp/lab
    mount --make-shared /tmp/lab
    setsid unshare --net --uts --mount --propagation unchanged sleep infinity </dev/null >/dev/null 2>&1 &
    other=$!
    echo "$other" >/tmp/lab/second
    # It is another namespace from when its name can be changed on.
    while [ "$(readlink "/proc/$other/ns/net")" = "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
    ip link add to-b type veth peer name to-a
    ip link set to-a netns "$other"
    ip addr add 10.0.0.1/24 dev to-b
    ip link set to-b up
    as_second hostname client-b
    as_second ip addr add 10.0.0.2/24 dev to-a
    as_second ip link set to-a up
    as_second ip link set lo up
    as_second mount -t tmpfs own /run
}

# Its root is named, since the other namespace begins below this one's.
as_second() {
    local other
    other=$(cat /tmp/lab/second)
    nsenter --target "$other" --net --uts --mount --root="/proc/$other/root" "$@"
}
