#!/bin/bash
# Fill the jail: the root file system that all of a cluster's job steps and logins share.
#
#   populate_jail_entrypoint.sh [JAIL [SNAPSHOT [IMAGE]]]
#
# The source is the snapshot where a volume with files is mounted there, else what this image brings.
# OVERWRITE=1 fills a jail that is full already: whatever is not in the source goes, homes included.
#
# Killed at any moment and started again, it gives the same end. One file says how far it is: it is
# .populating from before the first change, and its rename to etc/soperator-jail-populated, after
# everything else is on the disk, is what makes the jail a populated one.
set -euo pipefail

jail=${1:-/mnt/jail} snapshot=${2:-/jail} image=${3:-/opt/jail}
unfinished=$jail/.populating
populated=$jail/etc/soperator-jail-populated
legacy=$jail/.populated

# What file systems and storage keep in a volume's root, and we ourselves: no part of any jail.
foreign_to_jails=(lost+found .snapshot .snapshots .populate.lock .populating)

say() { echo "populate_jail: $*"; }

# Print what a folder holds beside such files.
entries() {
    local name ignored=()
    for name in "${foreign_to_jails[@]}"; do ignored+=(! -name "$name"); done
    find "$1" -mindepth 1 -maxdepth 1 "${ignored[@]}" -print0 2>/dev/null || true
}

is_empty() { [ -z "$(entries "$1" | tr '\0' x)" ]; }

state() {
    if [ -e "$unfinished" ]; then
        echo unfinished
    elif [ -e "$populated" ]; then
        echo populated
    elif [ -e "$legacy" ] || { [ -d "$jail/dev" ] && [ -d "$jail/usr" ]; }; then
        echo legacy
    elif is_empty "$jail"; then
        echo empty
    else
        echo foreign
    fi
}

# From here on the jail counts as unfinished, also after a power cut.
begin() {
    if [ -e "$populated" ]; then
        mv -T "$populated" "$unfinished"
    else
        touch "$unfinished"
    fi
    sync "$unfinished" "$jail"
}

# Everything anew, also after half a copy: files of two images may have one size and one date.
copy() {
    local name source=$image without=()
    is_empty "$snapshot" || source=$snapshot
    say "copying $source to $jail"
    entries "$jail" | xargs -0 rm -rf --one-file-system --
    # What a snapshot holds of the jail that it was taken of, and no jail starts with.
    for name in "${foreign_to_jails[@]}" .populated etc/soperator-jail-populated \
        'dev/*' 'proc/*' 'sys/*' 'run/*' 'tmp/*'; do
        without+=(--exclude="./$name")
    done
    tar --create --directory="$source" --one-file-system --sparse --acls --xattrs \
        --xattrs-include='*' --numeric-owner "${without[@]}" . |
        tar --extract --directory="$jail" --preserve-permissions --same-owner --acls --xattrs \
            --xattrs-include='*' --numeric-owner --delay-directory-restore
}

# What has to be there whatever the source was.
complete() {
    local key=$jail/root/.ssh/id_ecdsa
    mkdir -p "$jail"/{dev,proc,sys,run,etc/slurm,mnt,home,opt}
    mkdir -p -m 700 "$jail/root" "$jail/root/.ssh"
    mkdir -p -m 1777 "$jail/tmp"
    # The public half is written last, so without it there is no key.
    if [ ! -s "$key.pub" ]; then
        rm -f "$key"
        ssh-keygen -q -t ecdsa -N '' -C root@jail -f "$key"
    fi
    grep -qsxFf "$key.pub" "$jail/root/.ssh/authorized_keys" ||
        cat "$key.pub" >>"$jail/root/.ssh/authorized_keys"
    chmod 600 "$jail/root/.ssh/authorized_keys"
    # sshd wants this of a ChrootDirectory.
    chown 0:0 "$jail"
    chmod 755 "$jail"
}

# Never by way of .populating: a run after a crash would then fill a jail that is in use.
adopt() {
    mkdir -p "$jail/etc"
    touch "$populated.new"
    sync "$populated.new"
    mv -T "$populated.new" "$populated"
    rm -f "$legacy"
    sync "$jail/etc" "$jail"
}

finish() {
    sync -f "$jail"
    mv -T "$unfinished" "$populated"
    rm -f "$legacy"
    sync "$populated" "$jail/etc" "$jail"
}

exec 9>"$jail/.populate.lock"
if ! flock --nonblock 9; then
    say 'waiting for another run to end'
    flock 9
fi
found=$(state)
if [ "${OVERWRITE:-0}" = 1 ]; then found=overwrite; fi
case $found in
populated)
    say "$jail is populated already; OVERWRITE=1 would fill it anew"
    ;;
legacy)
    say "$jail was populated by an earlier version: marking it"
    adopt
    ;;
foreign)
    say "$jail holds files, but is no jail: use an empty volume, or OVERWRITE=1 to delete them" >&2
    exit 1
    ;;
*)
    begin
    copy
    complete
    finish
    say "$jail is populated"
    ;;
esac
