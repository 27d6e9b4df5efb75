#!/bin/bash
# Start slurmctld with the jail's users and configuration; the container's arguments come last.
set -euo pipefail
# shellcheck source=container.bash
. /opt/bin/slurm/container.bash

link_users
link_configuration
mkdir -p /var/spool/slurmctld
chmod 755 /var/spool/slurmctld
install_key /mnt/rest-jwt-key/rest_jwt.key /var/spool/slurmctld/jwt_hs256.key
await_munge
# In the same pod, too, no start on a state that is gone: the pod's own check is over by then.
[ -z "${STATE_GUARD:-}" ] || sh "$STATE_GUARD/check.sh"
exec supervise /usr/sbin/slurmctld --systemd "$@"
