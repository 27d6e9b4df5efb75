#!/bin/bash
# Start slurmctld: SLURMCTLD_OPTIONS, then the container's arguments.
set -euo pipefail
# shellcheck source=arguments.bash
. /usr/local/lib/slurm/arguments.bash

# In the same pod, too, no start on a state that is gone: the pod's own check is over by then.
[ -z "${STATE_GUARD:-}" ] || sh "$STATE_GUARD/check.sh"
read_words "${SLURMCTLD_OPTIONS:-}" "$@"
exec supervise /usr/sbin/slurmctld --systemd "${words[@]}"
