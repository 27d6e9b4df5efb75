#!/bin/bash
# Reboot this node; Slurm calls it as RebootProgram. Only nodes with NVIDIA's driver container let a
# pod do that: it is a root from which the node's first process can be reached.
set -euo pipefail
driver=/run/nvidia/driver
if [ ! -d "$driver/proc/1" ]; then
    echo "reboot.sh: $driver is not mounted, so this pod cannot reboot its node" >&2
    exit 1
fi
exec chroot "$driver" nsenter --target 1 --mount --uts --ipc --net reboot
