#!/usr/bin/env bash
# A directory mounted by the kernel's NFS from the kernel's NFS server, in a virtual machine of its own.
#
#   lab/nfs.sh KERNEL COMMAND…   runs a command there, with GRISTMILL_LAB_NFS, the mounted directory, in its
#                                environment
#   e.g. lab/nfs.sh /tmp/kernel target/debug/deps/lab-* --ignored nfs
#
# KERNEL is a folder with boot/vmlinuz-* and lib/modules/*, such as `dpkg-deb -x linux-image-….deb KERNEL` makes.
# The machine sees this host's files read-only (9p) and has /tmp, /run and /var/lib/nfs of its own in memory;
# NFS_VERSION chooses the protocol (default 4.2), MEMORY its size (default 3G), ACCEL=kvm makes it faster where
# virtual machines work (default tcg: everywhere). Needs qemu-system-x86_64, busybox-static and nfs-kernel-server.
set -euo pipefail

fail() { echo "lab/nfs.sh: $*" >&2; exit 2; }
[ $# -gt 1 ] || { sed -n '4,6s/^# *//p' "$0" >&2; exit 2; }
kernel=$1
shift
for need in qemu-system-x86_64 busybox rpc.nfsd exportfs rpc.mountd mount.nfs; do
    command -v "$need" >/dev/null || fail "no $need"
done
image=$(ls "$kernel"/boot/vmlinuz-* 2>/dev/null | head -n 1)
[ -n "$image" ] || fail "no kernel below $kernel"
version=${image##*/vmlinuz-}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# The first program of the machine: loads drivers, finds this host's files and goes on there.
root=$folder/root
mkdir -p "$root"/{bin,proc,new,lib/modules/"$version"}
cp "$(command -v busybox)" "$root/bin/busybox"
wanted="9p 9pnet_virtio virtio_pci nfsd nfsv4 nfsv3"
busybox depmod -b "$kernel" "$version"
dependencies=$kernel/lib/modules/$version/modules.dep
files() { # of a module and all that it needs, those first
    local line
    line=$(grep -E "(^|/)$1\.ko(\.xz)?:" "$dependencies") || fail "the kernel has no module $1"
    echo "$line" | tr -d ':' | tr ' ' '\n' | grep . | tac
}
for module in $wanted; do files "$module"; done | awk '!seen[$0]++' >"$root/modules"
while read -r file; do
    mkdir -p "$root/lib/modules/$version/$(dirname "$file")"
    cp "$kernel/lib/modules/$version/$file" "$root/lib/modules/$version/$file"
done <"$root/modules"
cat >"$root/init" <<INIT
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
while read -r file; do /bin/busybox insmod "/lib/modules/$version/\$file" || echo "no \$file"; done </modules
/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 host /new
/bin/busybox mount -t proc proc /new/proc
/bin/busybox mount -t sysfs sys /new/sys
/bin/busybox mount -t devtmpfs dev /new/dev
for at in tmp run var/lib/nfs; do /bin/busybox mount -t tmpfs -o mode=1777 own /new/\$at; done
/bin/busybox tar -x -C /new/tmp -f /work.tar
/bin/busybox chroot /new /bin/bash /tmp/lab/start
/bin/busybox poweroff -f
INIT
chmod +x "$root/init"

# What runs there: server, mount, command.
mkdir -p "$folder/lab"
{
    printf 'cd %q\n' "$PWD"
    printf 'export GRISTMILL_LAB_NFS=/tmp/lab/mounted PATH=%q HOME=/tmp RUST_BACKTRACE=1\n' "$PATH"
    printf 'version=%q\ncommand=(' "${NFS_VERSION:-4.2}"
    printf '%q ' "$@"
    echo ')'
    cat <<'START'
serve() {
    set -e
    busybox ip link set lo up
    mkdir -p /tmp/lab/{served,mounted} /var/lib/nfs/{sm,sm.bak,v4recovery,nfsdcltrack,rpc_pipefs} /run/rpcbind /run/sendsigs.omit.d
    touch /var/lib/nfs/{etab,rmtab,state}
    mount -t nfsd nfsd /proc/fs/nfsd
    mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
    rpcbind -w
    exportfs -o rw,no_root_squash,no_subtree_check,sync,fsid=0 127.0.0.1:/tmp/lab/served
    rpc.mountd
    echo 10 >/proc/fs/nfsd/nfsv4leasetime
    echo 10 >/proc/fs/nfsd/nfsv4gracetime
    rpc.nfsd 4
    echo Y >/proc/fs/nfsd/v4_end_grace 2>/dev/null || true
    case $version in
        3) mount -t nfs -o vers=3,nolock 127.0.0.1:/tmp/lab/served /tmp/lab/mounted ;;
        *) mount -t nfs -o "vers=$version" 127.0.0.1:/ /tmp/lab/mounted ;;
    esac
}
( serve ) || { echo "lab: the server did not start"; echo 2 >/dev/ttyS1; exit; }
grep lab/mounted /proc/mounts
"${command[@]}"
echo $? >/dev/ttyS1
START
} >"$folder/lab/start"
tar -C "$folder" -cf "$root/work.tar" lab
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$folder/initrd"

qemu-system-x86_64 -accel "${ACCEL:-tcg}" -cpu max -m "${MEMORY:-3G}" -smp 2 -nodefaults -no-reboot -display none \
    -kernel "$image" -initrd "$folder/initrd" -append "console=ttyS0 quiet panic=-1" \
    -serial stdio -serial "file:$folder/code" \
    -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap </dev/null
code=$(tr -d '\r\n' <"$folder/code")
exit "${code:-2}"
