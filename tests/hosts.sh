#!/usr/bin/env bash
# tests/hosts.sh [--down WORD] COMMAND ARGUMENT...: mpirun of a command over three hosts, a, b and c, two ranks each.
# The hosts are this machine in namespaces of its own: network (a bridge between them), names, IPC, processes, and mounts
# (/proc, /dev/shm, /tmp/ggnn-host), so that none can read what is another one's. --down: c's link goes down a second after all
# six ranks have printed a line with WORD; "all ranks have ended 5123 ms after c's link went down" is printed then. All of it
# lives in one tree of processes, and goes with it.
# The end: "host a: 12345 bytes sent, 23456 received", as the interfaces counted them, a line each. Exit status: mpirun's; 124 after HOSTS_TIME (120)
# seconds; 77 where this cannot run, which is a failure where CI=true.
set -u
cannot() {
    echo "  skipped hosts: $1"
    [ "${CI:-}" = true ] && exit 1
    exit 77
}

if [ "${1:-}" != --inside ]; then
    command -v mpirun >/dev/null || cannot "mpirun is not installed"
    command -v ip >/dev/null || cannot "ip is not installed (iproute2)"
    mpirun --version 2>/dev/null | grep -q 'Open MPI' || cannot "mpirun is not Open MPI's"
    alone="--net --uts --ipc --mount --pid --fork --kill-child --mount-proc"
    try="ip link add bridge type bridge && ip link add one type veth peer name other && mount -t tmpfs tmpfs /dev/shm"
    if ! unshare $alone sh -c "$try" 2>/dev/null; then
        alone="--user --map-root-user $alone"
        unshare $alone sh -c "$try" 2>/dev/null || cannot "no namespaces of processes, mounts and networks for this user"
    fi
    # unshare itself ignores signals while it waits
    trap 'kill -KILL $tree 2>/dev/null' EXIT
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM
    setpriv --pdeathsig KILL unshare $alone bash "$0" --inside "$@" &
    tree=$!
    wait "$tree"
    exit
fi
shift
down=
if [ "${1:-}" = --down ]; then down=$2; shift 2; fi

hosts="a b c"
mount -t tmpfs tmpfs /dev/shm
room=/dev/shm/hosts # of this script: the hosts do not see it
mkdir "$room"
hostname start
ip link set lo up
ip link add bridge type bridge
ip addr add 10.77.0.100/24 dev bridge
ip link set bridge up

# Each host is a process that sleeps; NAME's number is in the file of that name.
number=0
for host in $hosts; do
    number=$((number + 1))
    unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc sh -c \
        "hostname $host; mount -t tmpfs tmpfs /dev/shm; touch /dev/shm/ready; exec sleep infinity" &
    parent=$!
    for _ in $(seq 100); do
        process=$(cat /proc/$parent/task/$parent/children 2>/dev/null | tr -d ' ')
        [ -n "$process" ] && [ -e "/proc/$process/root/dev/shm/ready" ] && break
        sleep .05
    done
    echo "$process" >"$room/10.77.0.$number"
    ip link add "to-$host" type veth peer name eth0 netns "$process"
    ip link set "to-$host" master bridge up
    nsenter -t "$process" -n sh -c "ip addr add 10.77.0.$number/24 dev eth0; ip link set eth0 up; ip link set lo up"
done

# What mpirun calls in place of ssh: agent HOST WORD...
cat >"$room/agent" <<'AGENT'
#!/bin/sh
process=$(cat "$(dirname "$0")/$1")
shift
exec nsenter -t "$process" --net --uts --ipc --mount --pid sh -c "$*"
AGENT

said=$room/said
exec 3>&1
[ -z "$down" ] || exec 3>"$said"
timeout -k 2 "${HOSTS_TIME:-120}" mpirun --mca plm_rsh_agent "sh $room/agent" --mca plm_rsh_no_tree_spawn 1 \
    --mca btl self,tcp --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
    --mca orte_tmpdir_base /dev/shm --mca mpi_yield_when_idle 1 --oversubscribe --allow-run-as-root --host 10.77.0.1:2,10.77.0.2:2,10.77.0.3:2 -n 6 "$@" </dev/null >&3 &
mpirun=$!

# mpirun itself may wait for ever for c's daemon: it is ended as soon as all ranks have.
if [ -n "$down" ]; then
    while kill -0 "$mpirun" 2>/dev/null && [ "$(grep -c "$down" "$said")" -lt 6 ]; do sleep .1; done
    sleep 1
    ip link set to-c down
    begin=$(date +%s%3N)
    while ps -C "$(basename "$1")" -o stat= | grep -q -v Z && [ $(($(date +%s%3N) - begin)) -lt 60000 ]; do sleep .1; done
    echo "all ranks have ended $(($(date +%s%3N) - begin)) ms after c's link went down"
    kill "$mpirun" 2>/dev/null
    cat "$said"
fi
wait "$mpirun" 2>/dev/null
status=$?
for host in $hosts; do
    ip -s link show "to-$host" | awk -v host=$host '/RX:/ { getline; sent = $1 } /TX:/ { getline; received = $1 }
        END { printf "host %s: %s bytes sent, %s received\n", host, sent, received }'
done
exit $status
