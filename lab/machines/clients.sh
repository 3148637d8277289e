# A second client of a server of this machine: a network and UTS namespace with an address and a host name of its own,
# so that to the server it is another host. To be sourced.
#
#   second_client          makes it, from 10.0.0.1 (this machine) to 10.0.0.2
#   as_second COMMAND…     runs a command there

second_client() {
    local other
    setsid unshare --net --uts sleep infinity </dev/null >/dev/null 2>&1 &
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
}

as_second() { nsenter --target "$(cat /tmp/lab/second)" --net --uts "$@"; }
