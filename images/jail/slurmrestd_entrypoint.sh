#!/bin/bash
# Start slurmrestd, which nobody is root in; the container's arguments come last.
#
# SLURMRESTD_THREAD_COUNT and SLURMRESTD_MAX_CONNECTIONS are its -t and --max-connections.
set -euo pipefail
# shellcheck source=container.bash
. /opt/bin/slurm/container.bash

if [ -e /mnt/slurm-configs/slurm_rest.conf ]; then
    link /mnt/slurm-configs /etc/slurm
else
    link_configuration
fi
options=(-f /etc/slurm/slurm_rest.conf -u www-data -g www-data -a rest_auth/jwt)
options+=(-t "${SLURMRESTD_THREAD_COUNT:-3}" --max-connections "${SLURMRESTD_MAX_CONNECTIONS:-10}")
# Slurm 24.11 ends at once where accounting is asked for and there is none.
grep -qriE '^ *AccountingStorageType *= *accounting_storage/slurmdbd' /etc/slurm/ ||
    options+=(-s openapi/slurmctld)
# Its users bring their tokens; for itself it has none and needs none.
export SLURM_JWT=${SLURM_JWT:-daemon}
exec tini -g -- slurmrestd "${options[@]}" "$@" :6820
