# shellcheck shell=bash
# Sourced by the entrypoints: what a container of the cluster takes from the jail.

jail=${JAIL:-/mnt/jail}

say() { echo "${0##*/}: $*"; }

# Wait for a file of another container. There is no limit: whoever waits for ever shows why.
await() {
    local what=$1
    shift
    test "$@" && return
    say "waiting for $what"
    until test "$@"; do sleep 0.5; done
}

# Put a link where a file or a folder of the image is.
link() {
    if [ "$(readlink "$2" || true)" != "$1" ]; then
        rm -rf "$2"
        ln -s "$1" "$2"
    fi
}

# The users are the jail's: one `useradd` anywhere, and the whole cluster knows them.
link_users() {
    local file
    # A jail of Nebius' own image may have no other mark.
    await 'a populated jail' -e "$jail/etc/passwd"
    await 'the end of its population' ! -e "$jail/.populating"
    for file in passwd group shadow gshadow; do
        # Only readers of shadow files miss those of a jail that has none.
        [ ! -e "$jail/etc/$file" ] || link "$jail/etc/$file" "/etc/$file"
    done
}

link_configuration() {
    await "slurm.conf in $jail/etc/slurm" -e "$jail/etc/slurm/slurm.conf"
    link "$jail/etc/slurm" /etc/slurm
}

link_homes() {
    local folder
    for folder in home opt/soperator-home; do
        mkdir -p "$jail/$folder"
        link "$jail/$folder" "/$folder"
    done
}

await_munge() {
    await 'munge' -S /run/munge/munge.socket.2
}

# Copy a Secret's file for its owner alone, as Slurm wants its keys; the target appears whole.
install_key() {
    [ -e "$1" ] || return 0
    install -m 600 "$1" "$2.new"
    mv -T "$2.new" "$2"
}
