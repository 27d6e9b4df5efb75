#!/bin/bash
# Start sackd: SACKD_OPTIONS, then the container's arguments.
set -euo pipefail
# shellcheck source=arguments.bash
. /usr/local/lib/slurm/arguments.bash

read_words "${SACKD_OPTIONS:-}" "$@"
exec supervise /usr/sbin/sackd --systemd "${words[@]}"
