#!/bin/bash
# A Slurm of several nodes on this one machine: a controller and a slurmd for each node, on ports of their own
# (Debian's packages slurm-wlm, which allow it). Nothing outside of the folder is touched.
#
#   lab/slurm.sh up FOLDER [NODES]        starts it; prints the line  export SLURM_CONF=...
#   lab/slurm.sh down FOLDER              ends it and removes the folder
#   lab/slurm.sh kill FOLDER NODE         ends a node as if it had lost its power
#   lab/slurm.sh wake FOLDER NODE         starts it again
#   lab/slurm.sh run NODES COMMAND...     starts it, runs the command, ends it
#
# As root each node has a file system of its own, 64 MB in memory, at the same path on all of them: FOLDER/local; and
# with bindfs FOLDER/local/shared, a mount of its own of what all nodes share. What is mounted below FOLDER is seen by all.
set -euo pipefail

missing() { # packages
    for tool in slurmctld slurmd sbatch srun scontrol; do
        command -v "$tool" > /dev/null || { echo "$tool is missing: apt-get install slurm-wlm" >&2; exit 3; }
    done
}

start() { # folder, node
    local folder=$1 node=$2
    if [ "$(id -u)" != 0 ]; then
        slurmd -N "$node"
        return
    fi
    mkdir -p "$folder"/{local,shared}
    # shellcheck disable=SC2016
    unshare --mount --propagation slave sh -ec '
        mount -t tmpfs -o size=64M,mode=1777 "$1" "$0/local"
        if command -v bindfs > /dev/null && [ -e /dev/fuse ]; then
            mkdir "$0/local/shared"
            bindfs "$0/shared" "$0/local/shared"
        fi
        exec slurmd -N "$1"' "$folder" "$node"
}

up() { # folder, nodes
    local folder=$1 nodes=${2:-4} host port
    missing
    host=$(hostname -s)
    port=${SLURM_LAB_PORT:-27817}
    mkdir -p "$folder"
    if [ "$(id -u)" = 0 ]; then
        # What is mounted below the folder later is mounted for the nodes, too.
        mount --bind "$folder" "$folder"
        mount --make-shared "$folder"
    fi
    mkdir -p "$folder"/{state,log,run}
    for node in $(seq "$nodes"); do mkdir -p "$folder/spool.node$node"; done
    # Every node claims 8 processors, so that as many as there are nodes fit on the machine.
    cat > "$folder/slurm.conf" << END
ClusterName=lab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=1,defer_batch=0,bf_interval=1
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$folder/log/jobcomp.txt
SlurmdParameters=config_overrides
NodeName=node[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1))-$((port + nodes)) CPUs=8 RealMemory=1000 State=UNKNOWN
PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
END
    export SLURM_CONF=$folder/slurm.conf
    slurmctld
    for node in $(seq "$nodes"); do start "$folder" "node$node"; done
    for _ in $(seq 300); do
        if [ "$(sinfo --noheader --format=%D --states=idle 2> /dev/null | head -1)" = "$nodes" ]; then
            echo "export SLURM_CONF=$SLURM_CONF"
            return
        fi
        sleep 0.1
    done
    echo "Slurm's nodes did not come up; see $folder/log" >&2
    exit 3
}

down() { # folder
    local folder=$1 file pids=()
    [ -d "$folder" ] || return 0
    for file in "$folder"/run/*.pid; do
        [ -s "$file" ] && pids+=("$(cat "$file")")
    done
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2> /dev/null || true
    pkill -f "^bindfs $folder/shared" || true
    # The files of process ids go before the processes do.
    for pid in "${pids[@]}"; do
        for _ in $(seq 100); do [ -d "/proc/$pid" ] || break; sleep 0.1; done
    done
    if mountpoint -q "$folder"; then umount "$folder"; fi
    rm -rf --one-file-system "$folder"
}

# Everything that runs on a node: its daemon, those that it started for steps, and what they started.
kill_node() { # folder, node
    local folder=$1 node=$2 pid
    kill -KILL "$(cat "$folder/run/slurmd.$node.pid")"
    for pid in $(grep -lz "^SLURMD_NODENAME=$node\$" /proc/[0-9]*/environ 2> /dev/null | cut -d/ -f3); do
        # The keeper of a step is the parent of what the step started.
        local parent
        parent=$(awk '/^PPid:/ {print $2}' "/proc/$pid/status" 2> /dev/null || true)
        if grep -q slurmstepd "/proc/$parent/comm" 2> /dev/null; then kill -KILL "$parent" || true; fi
        kill -KILL "$pid" 2> /dev/null || true
    done
}

wake() { # folder, node
    export SLURM_CONF=$1/slurm.conf
    start "$1" "$2"
    for _ in $(seq 300); do
        case $(sinfo --noheader --Node --nodes "$2" --format=%T | head -1) in
            idle) return ;;
            down*) scontrol update "nodename=$2" state=resume 2> /dev/null || true ;;
        esac
        sleep 0.2
    done
    echo "$2 did not come up again" >&2
    exit 3
}

run() { # nodes, command
    local nodes=$1 status=0
    shift
    folder=$(mktemp -d)
    trap 'down "$folder"' EXIT
    up "$folder" "$nodes" > /dev/null
    export SLURM_CONF=$folder/slurm.conf SLURM_LAB_FOLDER=$folder
    "$@" || status=$?
    return "$status"
}

case ${1:-} in
    up | down | wake | run) "$@" ;;
    kill) shift; kill_node "$@" ;;
    *) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
