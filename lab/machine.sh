# A virtual machine of its own for a script beside this file, which sources it and calls `machine`.
#
#   need PROGRAM…                    ends the script if one is missing
#   machine KERNEL MODULES FOLDER [ARGUMENT…]
#
# KERNEL is a folder with boot/vmlinuz-* and lib/modules/*, such as `dpkg-deb -x linux-image-….deb KERNEL` makes;
# MODULES are loaded with all that they need. The machine sees this host's files read-only (9p) and has /tmp, /run and
# /var/lib/nfs of its own in memory; FOLDER/lab is put there as /tmp/lab, and /tmp/lab/start is run, which writes its exit code to
# /dev/ttyS1. Further arguments are QEMU's. `machine` returns that code.

fail() { echo "lab/$(basename "$0"): $*" >&2; exit 2; }

need() {
    local program
    for program; do command -v "$program" >/dev/null || fail "no $program"; done
}

machine() {
    local kernel=$1 wanted=$2 folder=$3 image version root dependencies module file code
    shift 3
    need qemu-system-x86_64 busybox
    image=$(ls "$kernel"/boot/vmlinuz-* 2>/dev/null | head -n 1)
    [ -n "$image" ] || fail "no kernel below $kernel"
    version=${image##*/vmlinuz-}

    # The first program of the machine: loads drivers, finds this host's files and goes on there.
    root=$folder/root
    mkdir -p "$root"/{bin,proc,new,lib/modules/"$version"}
    cp "$(command -v busybox)" "$root/bin/busybox"
    busybox depmod -b "$kernel" "$version"
    dependencies=$kernel/lib/modules/$version/modules.dep
    files() { # of a module and all that it needs, those first
        local line
        line=$(grep -E "(^|/)$1\.ko(\.xz)?:" "$dependencies") || fail "the kernel has no module $1"
        echo "$line" | tr -d ':' | tr ' ' '\n' | grep . | tac
    }
    for module in 9p 9pnet_virtio virtio_pci $wanted; do files "$module"; done | awk '!seen[$0]++' >"$root/modules"
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
for at in tmp run var/lib/nfs; do /bin/busybox mount -t tmpfs -o mode=1777 own /new/\$at || echo "no /\$at"; done
/bin/busybox tar -x -C /new/tmp -f /work.tar
/bin/busybox chroot /new /bin/bash /tmp/lab/start
/bin/busybox poweroff -f
INIT
    chmod +x "$root/init"
    tar -C "$folder" -cf "$root/work.tar" lab
    (cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$folder/initrd"
    rm -r "$root"

    qemu-system-x86_64 -accel "${ACCEL:-tcg}" -cpu max -m "${MEMORY:-3G}" -smp 2 -nodefaults -no-reboot -display none \
        -kernel "$image" -initrd "$folder/initrd" -append "console=ttyS0 quiet panic=-1" \
        -serial stdio -serial "file:$folder/code" \
        -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap "$@" </dev/null
    code=$(tr -d '\r\n' <"$folder/code")
    return "${code:-2}"
}
