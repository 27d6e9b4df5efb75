#!/bin/bash
# Start the sshd of a login node: whoever logs in is in the jail.
set -euo pipefail
# shellcheck source=container.bash
. /opt/bin/slurm/container.bash

link_users
link_configuration
link_homes
mkdir -p -m 755 /run/sshd
/opt/bin/slurm/complement_jail.sh -j "$jail" -u "$jail.upper"
await_munge
exec tini -- /usr/sbin/sshd -D -e -f /mnt/ssh-configs/sshd_config "$@"
