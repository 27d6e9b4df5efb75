#!/bin/bash
# Start slurmdbd with the configuration that is mounted; the container's arguments come last.
set -euo pipefail
# shellcheck source=container.bash
. /opt/bin/slurm/container.bash

# A jail is not always mounted here; slurmdbd knows its users from slurmctld.
[ ! -e "$jail/etc/passwd" ] || link_users
await 'slurmdbd.conf in /mnt/slurm-configs' -e /mnt/slurm-configs/slurmdbd.conf
mkdir -p /etc/slurm /var/spool/slurmdbd
for file in /mnt/slurm-configs/* /mnt/slurm-secrets/*; do
    # It holds a password, and slurmdbd refuses it when others may read it.
    [ ! -f "$file" ] || install -m 600 "$file" /etc/slurm/
done
install_key /mnt/rest-jwt-key/rest_jwt.key /var/spool/slurmdbd/jwt_hs256.key
await_munge
exec tini -g -- slurmdbd -D "$@"
