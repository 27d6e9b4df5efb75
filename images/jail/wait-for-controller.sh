#!/bin/bash
# Wait until slurmctld answers: CONTROLLER_MAX_ATTEMPTS times, CONTROLLER_POLL_INTERVAL seconds apart.
set -euo pipefail
# shellcheck source=container.bash
. /opt/bin/slurm/container.bash

link_users
link_configuration
await_munge
for ((attempt = 1; attempt <= ${CONTROLLER_MAX_ATTEMPTS:-60}; attempt++)); do
    # It says how it is and ends with 0 also when all are down.
    said=$(timeout 30 scontrol ping 2>&1 || true)
    if [[ $said == *' is UP'* ]]; then
        exit 0
    fi
    say "${said:-slurmctld does not answer}"
    sleep "${CONTROLLER_POLL_INTERVAL:-5}"
done
say 'slurmctld does not answer: look at its pod, and at SlurmctldHost in slurm.conf' >&2
exit 1
