# Virtual machines for `lab/run`, which sources this.
#
#   machine_folder FOLDER MODULES COMMAND…   prepares what a machine is to do: a shell command with arguments
#   machine FOLDER [ARGUMENT…]               starts it and returns the exit code of its command, 3 if it did not get
#                                            that far; further arguments are QEMU's
#
# `here` is the folder of this file; KERNEL is a folder with boot/vmlinuz-* and lib/modules/* (lab/kernel.sh). MODULES
# are loaded with all that they need. PROCESSOR and PROCESSORS are QEMU's -cpu and -smp, MEMORY its -m. A machine sees
# this host's files read-only (9p), so that the program that was just built, and the scripts of this folder, are there
# under the names that they have here. In memory of its own it has /tmp,
# /run, /var/log and the folders below /var/lib that servers write to. What it writes to /tmp/lab/out is in MACHINE_OUT
# afterwards (FOLDER/out). The environment has the variables that are exported and begin with GRISTMILL_, and those of
# `MACHINE_ENVIRONMENT`.

# Files of a module and of all that it needs, those first; nothing if it is part of the kernel.
module_files() { # kernel, version, module
    local line name modules=$1/lib/modules/$2
    # Names of files have dashes where names of modules have underscores.
    name=$(sed 's/[-_]/[-_]/g' <<<"$3")
    if line=$(grep -E "(^|/)$name\.ko(\.xz)?:" "$modules/modules.dep"); then
        echo "$line" | tr -d ':' | tr ' ' '\n' | grep . | tac
    elif ! grep -qE "/$name\.ko$" "$modules/modules.builtin"; then
        echo "lab: the kernel has no module $3" >&2
        return 3
    fi
}

machine_folder() {
    local folder=$1 wanted=$2 version root module file variable path
    shift 2
    version=$(basename "$KERNEL"/boot/vmlinuz-*)
    version=${version#vmlinuz-}
    root=$folder/root
    mkdir -p "$folder/lab" "$folder/out" "$root"/{bin,proc,new,lib/modules/"$version"}
    cp "$(command -v busybox)" "$root/bin/busybox"
    [ -s "$KERNEL/lib/modules/$version/modules.dep" ] || busybox depmod -b "$KERNEL" "$version"
    for module in 9p 9pnet_virtio virtio_pci crc32c_generic $wanted; do
        module_files "$KERNEL" "$version" "$module" || return
    done | awk '!seen[$0]++' >"$root/modules"
    while read -r file; do
        mkdir -p "$root/lib/modules/$version/$(dirname "$file")"
        cp "$KERNEL/lib/modules/$version/$file" "$root/lib/modules/$version/$file"
    done <"$root/modules"
    {
        printf 'cd %q\n' "$PWD"
        printf 'export PATH=%q HOME=/tmp RUST_BACKTRACE=1 GRISTMILL_LAB_OUT=/tmp/lab/out\n' "$PATH"
        for variable in $(compgen -e | grep '^GRISTMILL_' | grep -v '^GRISTMILL_LAB_OUT$') ${MACHINE_ENVIRONMENT:-}; do
            [ -z "${!variable:-}" ] || printf 'export %s=%q\n' "$variable" "${!variable}"
        done
        printf '%q ' "$@"
        printf '\necho $? >/dev/ttyS1\n'
    } >"$folder/lab/start"
    # Folders of the host that its own would hide.
    for path in "$(dirname "$here")" "${CARGO_TARGET_DIR:-}" "$(dirname "${GRISTMILL_LAB_PROGRAM:-/}")" "$PWD"; do
        case $path in /tmp/* | /run/*) echo "$path" ;; esac
    done | sort -u >"$root/hidden"
    # The first program of the machine: loads drivers, finds this host's files and goes on there.
    cat >"$root/init" <<INIT
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
while read -r file; do /bin/busybox insmod "/lib/modules/$version/\$file" || echo "lab: no \$file"; done </modules
how=trans=virtio,version=9p2000.L,cache=loose,msize=512000
/bin/busybox mount -t 9p -o "\$how,ro" host /new
/bin/busybox mkdir -p /host
/bin/busybox mount -o bind /new /host
/bin/busybox mount -t proc proc /new/proc
/bin/busybox mount -t sysfs sys /new/sys
/bin/busybox mount -t devtmpfs dev /new/dev
/bin/busybox mkdir -p /new/dev/shm
for at in tmp run dev/shm var/log var/lib/nfs var/lib/corosync; do
    [ ! -d /new/\$at ] || /bin/busybox mount -t tmpfs -o mode=1777 own /new/\$at
done
while read -r path; do
    /bin/busybox mkdir -p "/new\$path"
    /bin/busybox mount -o bind "/host\$path" "/new\$path"
done </hidden
/bin/busybox tar -x -C /new/tmp -f /work.tar
/bin/busybox mkdir -p /new/tmp/lab/out
/bin/busybox mount -t 9p -o "\$how" out /new/tmp/lab/out
/bin/busybox stty -onlcr
/bin/busybox chroot /new /bin/bash /tmp/lab/start
/bin/busybox sync
/bin/busybox poweroff -f
INIT
    chmod +x "$root/init"
    tar -C "$folder" -cf "$root/work.tar" lab
    (cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$folder/initrd"
    rm -r "$root"
}

machine() {
    local folder=$1 code
    shift
    : >"$folder/code"
    qemu-system-x86_64 -accel "${ACCEL:-tcg}" -cpu "${PROCESSOR:-max}" -m "${MEMORY:-2G}" -smp "${PROCESSORS:-2}" -nodefaults -no-reboot -display none \
        -kernel "$KERNEL"/boot/vmlinuz-* -initrd "$folder/initrd" -append "console=ttyS0 loglevel=3 panic=-1" \
        -serial stdio -serial "file:$folder/code" \
        -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
        -virtfs "local,path=${MACHINE_OUT:-$folder/out},mount_tag=out,security_model=none" "$@" </dev/null || return 3
    code=$(tr -d '\r\n' <"$folder/code")
    return "${code:-3}"
}
