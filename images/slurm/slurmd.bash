#!/bin/bash
# Start slurmd: SLURMD_OPTIONS, then the container's arguments. sshd and sssd run beside it where
# their configuration is mounted.
#
# slurmd sees the whole machine. POD_CPUS and POD_MEMORY (MiB) are what this pod may use of it, the
# rest is withheld from jobs; POD_TOPOLOGY or SLINKY_TOPOLOGY is the node's place in the network.
set -euo pipefail
# shellcheck source=arguments.bash
. /usr/local/lib/slurm/arguments.bash
# shellcheck source=logins.bash
. /usr/local/lib/slurm/logins.bash

node=      # the text of --conf
options=() # every other word
dynamic=no

sort_words() {
    local i
    for ((i = 0; i < ${#words[@]}; i++)); do
        case ${words[i]} in
        --conf) node=${words[++i]-} ;;
        --conf=*) node=${words[i]#--conf=} ;;
        *) options+=("${words[i]}") ;;
        esac
        [[ ${words[i]-} =~ ^-[[:alpha:]]*Z ]] && dynamic=yes
    done
    return 0
}

# Add Key=Value to the node, unless the user gave that key.
add() {
    [[ " ${node,,}" == *[[:space:]]"${1,,}"=* ]] || node+="${node:+ }$1=$2"
}

withhold() {
    local hardware cpus=${POD_CPUS:-0} memory_mib=${POD_MEMORY:-0} cores usable
    ((cpus > 0 || memory_mib > 0)) || return 0
    hardware=$(slurmd -C)
    [[ $hardware =~ Boards=([0-9]+).*SocketsPerBoard=([0-9]+).*CoresPerSocket=([0-9]+) ]]
    cores=$((BASH_REMATCH[1] * BASH_REMATCH[2] * BASH_REMATCH[3]))
    [[ $hardware =~ ThreadsPerCore=([0-9]+).*RealMemory=([0-9]+) ]]
    usable=$((cpus / BASH_REMATCH[1]))
    ((usable > 0)) || usable=1
    if ((cpus > 0 && cores > usable)); then add CoreSpecCount $((cores - usable)); fi
    if ((memory_mib > 0 && BASH_REMATCH[2] > memory_mib)); then
        add MemSpecLimit $((BASH_REMATCH[2] - memory_mib))
    fi
}

# Let in only users with a job here, and make their logins part of it.
adopt_logins() {
    grep -q pam_slurm_adopt /etc/pam.d/sshd ||
        sed -i "/^@include common-account/i account required pam_slurm_adopt.so \
${PAM_SLURM_ADOPT_OPTIONS:-}" /etc/pam.d/sshd
}

read_words "${SLURMD_OPTIONS:-}" "$@"
sort_words
# slurmd would read the next key as the value of an empty "Topology=".
node=$(sed -E 's/(^|[[:space:]])topology=([[:space:]]|$)/\1/I; s/[[:space:]]+$//' <<<"$node")
if [ $dynamic = yes ]; then
    topology=${POD_TOPOLOGY:-${SLINKY_TOPOLOGY:-}}
    [ -z "$topology" ] || add Topology "$topology"
    withhold
fi
[ -z "$node" ] || options+=(--conf "$node")

add_sssd
if [ -e /etc/ssh/sshd_config ]; then
    adopt_logins
    prepare_sshd
    read_words "${SSHD_OPTIONS:-}"
    companions+=(++ /usr/sbin/sshd -D -e "${words[@]}")
fi
exec supervise --keep /usr/sbin/slurmd --systemd "${options[@]}" "${companions[@]}"
