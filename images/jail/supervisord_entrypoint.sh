#!/bin/bash
# Make a worker's container ready, then start what /etc/supervisor/conf.d says: slurmd and sshd.
set -euo pipefail
# shellcheck source=container.bash
. /opt/bin/slurm/container.bash

# Steps get the limits of slurmd, so these are as wide as the node allows.
widen_limits() {
    local limit
    for limit in c d e f i l m q r s t u v x; do
        ulimit -HS"$limit" unlimited 2>/dev/null || true
    done
    ulimit -HSn 1048576 2>/dev/null || true
}

set_sysctls() {
    local key value
    [ -e /etc/sysctl.conf ] || return 0
    while IFS='= ' read -r key value; do
        case $key in '' | '#'* | ';'*) continue ;; esac
        echo "$value" >"/proc/sys/${key//.//}" 2>/dev/null || say "sysctl $key stays as it is"
    done </etc/sysctl.conf
}

# Where Slurm keeps its steps' cgroups when it is told to do without systemd.
prepare_cgroups() {
    local own
    [ -n "${CGROUP_V2:-}" ] || return 0
    own=$(sed -n 's/^0:://p' /proc/self/cgroup)
    if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ] || [ -z "$own" ]; then
        say 'CGROUP_V2 is set, but this node has cgroup v1: set cgroupVersion to v1'
        return 0
    fi
    [ "$own" = / ] || own=$own/..
    mkdir -p "/sys/fs/cgroup$own/system.slice"
}

# Slurm takes a file that is not there for one without plugins: steps would run outside the jail.
await_plugin() {
    until grep -qsE '^[[:space:]]*required[[:space:]]+(.*/)?chroot\.so' /etc/slurm/plugstack.conf; do
        say "waiting for \`required chroot.so $jail\` in plugstack.conf"
        sleep 2
    done
}

link_users
link_configuration
link_homes
await_plugin
widen_limits
set_sysctls
prepare_cgroups
mkdir -p /var/spool/slurmd
mkdir -p -m 755 /run/sshd
/opt/bin/slurm/complement_jail.sh -j "$jail" -u "$jail.upper" -w
await_munge
exec /usr/bin/supervisord --nodaemon --configuration /etc/supervisor/supervisord.conf
