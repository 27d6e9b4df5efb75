#!/bin/bash
# Start sshd, with sackd and, where configured, sssd beside it. People stay logged in when sackd
# fails, for instance because slurmctld is away: it is tried again.
set -euo pipefail
# shellcheck source=arguments.bash
. /usr/local/lib/slurm/arguments.bash
# shellcheck source=logins.bash
. /usr/local/lib/slurm/logins.bash

add_sssd
read_words "${SACKD_OPTIONS:-}" "$@"
companions+=(++ /usr/sbin/sackd --systemd "${words[@]}")
prepare_sshd
read_words "${SSHD_OPTIONS:-}"
exec supervise /usr/sbin/sshd -D -e "${words[@]}" "${companions[@]}"
