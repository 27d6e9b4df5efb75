#!/bin/bash
# Give the jail, as this container sees it, what a root file system needs of its node.
#
#   complement_jail.sh -j JAIL -u UPPER [-w]
#
# The jail's files are all nodes' alike. Kernel file systems, devices, the pod's name service,
# volumes mounted below UPPER and Slurm's own programs are this node's: they are mounted over the
# jail's here, in this container's mount namespace, and go with it. With -w also what slurmstepd needs
# once it is in the jail. May be run again at any time; what is mounted stays.
set -euo pipefail

jail= upper= worker=no
while getopts j:u:w option; do
    case $option in
    j) jail=$OPTARG ;;
    u) upper=$OPTARG ;;
    w) worker=yes ;;
    *) exit 2 ;;
    esac
done
[ -n "$jail" ] && [ -n "$upper" ] || {
    echo 'usage: complement_jail.sh -j JAIL -u UPPER [-w]' >&2
    exit 2
}
readonly libraries=/usr/lib/$(uname -m)-linux-gnu

say() { echo "complement_jail: $*"; }

# Print where things are mounted below a folder, itself left out, parents first. A space in a path is
# \040 there, which printf %b turns back.
mounts_below() {
    local place
    awk -v folder="$1/" 'index($5, folder) == 1 { print $5 }' /proc/self/mountinfo | sort -u |
        while read -r place; do printf '%b\n' "${place//\\/\\0}"; done
}

is_mounted() {
    PLACE=${1// /\\040} awk '$5 == ENVIRON["PLACE"] { found = 1 } END { exit !found }' \
        /proc/self/mountinfo
}

# Have a folder or an empty file to mount on. A link is replaced: it would lead out of the jail here,
# as it is followed from this container's root.
ready() {
    local kind=$1 place=$2
    [ ! -L "$place" ] || rm -f "$place"
    if [ "$kind" = folder ]; then
        mkdir -p "$place"
    else
        mkdir -p "$(dirname "$place")"
        [ -e "$place" ] || touch "$place"
    fi
}

kind_of() { if [ -d "$1" ]; then echo folder; else echo file; fi; }

# Show a folder or file of this container at a place in the jail; without -r, nothing mounted below.
bind() {
    local how=--bind
    if [ "$1" = -r ]; then how=--rbind && shift; fi
    local source=$1 place=$jail/$2
    [ -e "$source" ] || return 0
    is_mounted "$place" && return
    ready "$(kind_of "$source")" "$place"
    mount "$how" "$source" "$place"
    # An unmount in the jail must not reach the container.
    [ "$how" = --bind ] || mount --make-rslave "$place"
}

kernel() {
    ready folder "$jail/proc"
    is_mounted "$jail/proc" || mount -t proc -o nosuid,nodev,noexec proc "$jail/proc"
    bind -r /sys sys
    bind -r /dev dev
}

# Not recursively: the token of the pod's service account is mounted below /run, readable for all.
run_time() {
    local place
    bind /run run
    # Only pods with sssd have it: whom the jail's programs ask for users.
    bind -r /var/lib/sss var/lib/sss
    mounts_below /run | while read -r place; do
        case $place in
        /run/secrets | /run/secrets/*) ;;
        *) bind "$place" "${place#/}" ;;
        esac
    done
}

# What nodes must not share: /tmp, logs, and who is called what.
of_this_node() {
    bind /tmp tmp
    chmod 1777 "$jail/tmp"
    bind /var/log var/log
    local file
    for file in resolv.conf hosts hostname; do bind "/etc/$file" "etc/$file"; done
}

# Volumes of the pod, as /mnt/jail.upper/data at /data.
submounts() {
    local place
    mounts_below "$upper" | while read -r place; do
        is_mounted "$jail/${place#"$upper/"}" || say "mounting ${place#"$upper"}"
        bind -r "$place" "${place#"$upper/"}"
    done
}

slurm_files() {
    dpkg -L slurm-client | grep '^/usr/bin/.'
    printf '%s\n' "$libraries"/libslurm*.so*
    echo "$libraries/slurm-wlm"
}

# What Slurm loads and a jail of another Debian may not have.
libraries_of_slurm() {
    { ldd /usr/bin/srun "$libraries"/slurm-wlm/*.so 2>/dev/null || true; } |
        awk '$3 ~ "^/" { sub("^/lib/", "/usr/lib/", $3); print $3 }' | sort -u
}

works() { chroot "$jail" scontrol --version >/dev/null 2>&1; }

# The same Slurm in the jail as in the daemons: whoever changes the images need not touch the jail.
slurm() {
    local file
    if ! cmp -s /usr/bin/srun "$jail/usr/bin/srun"; then
        # Never in the place of the jail's own; an empty one is what another node mounts on.
        libraries_of_slurm | while read -r file; do
            [ -s "$jail$file" ] || bind "$file" "${file#/}"
        done
    fi
    slurm_files | while read -r file; do
        [ -L "$file" ] || bind "$file" "${file#/}"
    done
    ready_link "$libraries/slurm-wlm" "$jail/usr/lib/slurm"
    works && return
    # A library may be new to the jail. The cache is every node's, so one at a time.
    (flock 9 && chroot "$jail" ldconfig) 9>"$jail/etc/.ldconfig.lock" || true
    works && return
    say "Slurm's programs do not run in this jail, which has an older libc: the jail's own are used." \
        'Fill the jail anew (OVERWRITE=1), or upgrade libc6 in it' >&2
    slurm_files | while read -r file; do
        if is_mounted "$jail$file"; then umount "$jail$file"; fi
    done
}

ready_link() {
    [ -e "$2" ] || [ -L "$2" ] || ln -s "$1" "$2" 2>/dev/null || [ -L "$2" ]
}

# slurmstepd goes on in the jail: it finds its spool there, with the batch scripts.
steps() {
    [ "$worker" = no ] || bind /var/spool/slurmd var/spool/slurmd
}

# Only where the node has NVIDIA's toolkit: its libraries are the driver's, and so the node's.
gpus() {
    command -v nvidia-container-cli >/dev/null || return 0
    (
        flock 9
        nvidia-container-cli --user configure --no-cgroups --ldconfig="@$(command -v ldconfig)" \
            --device=all --utility --compute "$jail"
        touch "$jail/etc/gpu_libs_installed.flag"
    ) 9>"$jail/etc/.gpu_libs.lock"
}

# Where checks and profilers of any user write.
outputs() {
    local name
    for name in nccl_logs slurm_jobs slurm_scripts local/{nccl_logs,slurm_jobs,slurm_scripts} \
        local/{task_prolog,health_checker_cmd_stdout} shared/{nccl_profiles,acceptance}; do
        mkdir -p "$jail/opt/soperator-outputs/$name"
        chmod 777 "$jail/opt/soperator-outputs/$name"
    done
}

for part in kernel run_time of_this_node submounts slurm steps gpus outputs; do
    $part
done
