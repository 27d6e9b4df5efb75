#!/bin/bash
# Start slurmctld: SLURMCTLD_OPTIONS, then the container's arguments.
set -euo pipefail
# shellcheck source=arguments.bash
. /usr/local/lib/slurm/arguments.bash

read_words "${SLURMCTLD_OPTIONS:-}" "$@"
exec supervise /usr/sbin/slurmctld --systemd "${words[@]}"
