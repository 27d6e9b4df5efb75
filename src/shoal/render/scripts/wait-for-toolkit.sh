# Before anything of a worker with GPUs starts: wait until the node's driver is there for containers.
set -u
trap 'exit 1' TERM INT
tries=0
until [ -f "${NVIDIA:-/run/nvidia}/validations/toolkit-ready" ]; do
    [ "$((tries % 30))" != 0 ] || echo 'the container stack for GPUs is not set up yet'
    tries=$((tries + 1))
    sleep 1
done
