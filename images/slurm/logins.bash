# shellcheck shell=bash
# Sourced by the entrypoints of images that people log in to.

# Programs beside the main one, each opened by ++ as `supervise` wants it.
companions=()

# Add sssd where it is configured.
add_sssd() {
    [ -e /etc/sssd/sssd.conf ] || return 0
    if ! command -v sssd >/dev/null; then
        echo 'entrypoint: /etc/sssd/sssd.conf is mounted, but this Debian has no sssd' >&2
        return 0
    fi
    read_words "${SSSD_OPTIONS:-}"
    # The file of an sssd that was killed would keep the next one from starting.
    rm -f /run/sssd.pid
    companions+=(++ /usr/sbin/sssd --interactive --logger=stderr "${words[@]}")
}

# Make ready what sshd needs; host keys that are mounted stay.
prepare_sshd() {
    mkdir -p /run/sshd
    chmod 755 /run/sshd
    ssh-keygen -A >/dev/null || echo 'entrypoint: host keys could not be made' >&2
}
