#!/bin/bash
# Start slurmd as the Slurm node of this pod.
#
#   INSTANCE_ID            the Kubernetes node, by which Slurm's nodes and Kubernetes' are joined
#   SLURM_NODE_EXTRA       the node's Extra, read as shell: it may hold variables
#   SOPERATOR_NODE_SETS_ON true: slurm.conf has a line for the node. Else the node is a dynamic one, of
#                          K8S_POD_NAME, K8S_SERVICE_NAME, K8S_POD_NAMESPACE, SLURM_REAL_MEMORY (MiB),
#                          the GPUs where SLURM_CLUSTER_TYPE is gpu, each
#                          SLURM_FEATURE_<name>=<hostlist> that the pod is in, and SLURM_NODE_CONF,
#                          more keys as slurm.conf has them
set -euo pipefail

# From what this process was given: a shell does not show variables with a dash in their name.
features() {
    local line found=()
    while IFS= read -r -d '' line; do
        [[ $line == SLURM_FEATURE_?*=* ]] || continue
        # Not -q: it would end scontrol in the middle of a long list, which reads as an error.
        scontrol show hostnames "${line#*=}" | grep -xF "$K8S_POD_NAME" >/dev/null || continue
        line=${line%%=*}
        found+=("${line#SLURM_FEATURE_}")
    done </proc/$$/environ
    (IFS=, && echo "${found[*]}")
}

# As gres.conf's AutoDetect names them: gpu:nvidia_h200:8, one for each model.
gpus() {
    command -v nvidia-smi >/dev/null || return 0
    nvidia-smi --query-gpu=name --format=csv,noheader | tr 'A-Z ' 'a-z_' | sort | uniq -c |
        awk '{ printf "%sgpu:%s:%s", comma, $2, $1; comma = "," }'
}

# Add Key=Value to what is known of the node, where there is a value.
add() {
    [ -z "$2" ] || node+="${node:+ }$1=$2"
}

options=()
[ -z "${INSTANCE_ID:-}" ] || options+=(--instance-id "$INSTANCE_ID")
if [ -n "${SLURM_NODE_EXTRA:-}" ]; then
    set -o noglob
    options+=(--extra "$(eval "echo $SLURM_NODE_EXTRA")")
    set +o noglob
fi
if [ "${SOPERATOR_NODE_SETS_ON:-}" != true ]; then
    K8S_POD_NAME=${K8S_POD_NAME:-$HOSTNAME} node=
    add NodeHostname "$K8S_POD_NAME"
    [ -z "${K8S_SERVICE_NAME:-}" ] ||
        add NodeAddr "$K8S_POD_NAME.$K8S_SERVICE_NAME.$K8S_POD_NAMESPACE.svc"
    add RealMemory "${SLURM_REAL_MEMORY:-}"
    case ${SLURM_CLUSTER_TYPE:-} in gpu) add Gres "$(gpus)" ;; esac
    add Feature "$(features)"
    node+="${SLURM_NODE_CONF:+ $SLURM_NODE_CONF}"
    options+=(-Z --conf "$node")
fi
# Kept: the end of slurmd's container would be the end of its jobs.
exec supervise --keep /usr/sbin/slurmd --systemd "${options[@]}" "$@"
