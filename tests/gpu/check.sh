#!/bin/bash
# Run a worker of slurm.nebius.ai on this machine as it runs in a pod, and see jobs get its GPUs:
#
#   python tests/gpu/pack.py 26.05 node.tar.xz     where the images are
#   tests/gpu/check.sh node.tar.xz                 where the GPUs are: an NVIDIA driver, cgroup v2, root
#
# The configuration is that of the golden example `gpu`, for a host of this machine's, without
# accounting. All of it is in namespaces of its own, and ends with this script.
set -euo pipefail

if [ -z "${top:-}" ]; then
    file=$(realpath "${1:?usage: check.sh FILE}") top=$(mktemp -d)
    pod=/sys/fs/cgroup/check-${top##*.} code=0
    export file top pod LC_ALL=C.UTF-8
    unshare --mount --propagation private --pid --fork --kill-child bash "$0" || code=$?
    # What was mounted went with the processes, and left an empty folder and empty cgroups.
    rmdir "$top"
    sleep 1
    find "$pod" -depth -type d -exec rmdir {} +
    exit "$code"
fi
mount -t proc proc /proc
mount -t tmpfs tmpfs "$top"
tar --extract --xz --file="$file" --directory="$top"
root=$top/root jail=$top/root/mnt/jail
export root
failed=0

# -- the node

cp -r "$top"/conf/. "$root/etc/slurm/"
sed -i -e '/^AccountingStorage/d' -e '/^JobCompType/d' -e '/^AuthAlt/d' \
    -e 's|LogFile=.*|LogFile=/tmp/slurm.log|' "$root/etc/slurm/slurm.conf"
# Our images have no pyxis.
sed -i 's/^required spank_pyxis/optional spank_pyxis/' "$root/etc/slurm/plugstack.conf"
echo '127.0.0.1 localhost one-controller-0 one-controller-svc worker-0' \
    "worker-0.one-worker-svc.research.svc $(hostname)" >"$root/etc/hosts"
# What NVIDIA's container toolkit brings into a container.
cp "$(command -v nvidia-smi)" "$root/usr/bin/"
for library in libnvidia-ml.so.1 libcuda.so.1; do
    found=$(ldconfig -p | awk -v name=$library '$1 == name { print $NF; exit }')
    cp --dereference "$found" "$root/usr/lib/$(uname -m)-linux-gnu/$library"
done
# The jail is a root of the same programs, told apart by a file.
cp --archive "$root" "$top/jail"
mkdir -p "$jail" "$jail.upper" "$root/mnt/munge-key"
touch "$top/jail/this-is-the-jail"
mount --bind "$root" "$root"
mount --bind "$top/jail" "$jail"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"

head -c 1024 /dev/urandom >"$root/mnt/munge-key/munge.key"
env MUNGE_NUM_THREADS=2 MUNGE_KEY_FILE=/etc/munge/munge.key MUNGE_PID_FILE=/run/munge/munged.pid \
    MUNGE_SOCKET_FILE=/run/munge/munge.socket.2 \
    chroot "$root" /opt/bin/munge_entrypoint.sh >"$top/munge.log" 2>&1 &
until [ -S "$root/run/munge/munge.socket.2" ]; do sleep 0.2; done
unshare --uts sh -euc 'hostname one-controller-0; exec chroot "$root" slurmctld -D -c' \
    >"$top/slurmctld.log" 2>&1 &

# A pod has its own processes, its own cgroup, and that one as the root of all.
mkdir "$pod"
cat >"$top/worker" <<'END'
echo 0 >"$pod/cgroup.procs"
exec unshare --cgroup --uts --mount sh -euc '
    hostname worker-0
    mount -t proc proc "$root/proc"
    umount --lazy "$root/sys/fs/cgroup"
    mount -t cgroup2 none "$root/sys/fs/cgroup"
    mkdir -p "$root/sys/fs/cgroup/system.slice"
    chroot "$root" /opt/bin/slurm/complement_jail.sh -j /mnt/jail -u /mnt/jail.upper -w
    exec chroot "$root" /opt/bin/slurm/slurmd_entrypoint.sh'
END
env K8S_POD_NAME=worker-0 K8S_POD_NAMESPACE=research K8S_SERVICE_NAME=one-worker-svc INSTANCE_ID=node-1 \
    SLURM_CLUSTER_TYPE=gpu SLURM_REAL_MEMORY=2048 CGROUP_V2=true SLURM_FEATURE_worker=worker-0 \
    unshare --pid --fork --mount sh "$top/worker" >"$top/slurmd.log" 2>&1 &

# -- what jobs see of it

slurm() { chroot "$root" "$@" 2>&1; }
# The example gives a job a tebibyte by default.
step() { slurm srun --mpi=none --mem=500M --chdir=/ --immediate=20 "$@"; }

# Say whether what was seen is like a pattern.
check() {
    local promise=$1 pattern=$2 seen=$3
    if grep -qE "$pattern" <<<"$seen"; then
        echo "ok      $promise"
    else
        echo "not ok  $promise: no $pattern in: $seen"
        failed=1
    fi
}

for _ in $(seq 150); do
    slurm sinfo --noheader --Node --format='%N %T' | grep -q 'worker-0 idle' && break
    sleep 0.2
done
gpus=$(nvidia-smi --list-gpus | wc -l)
model=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr 'A-Z ' 'a-z_')
node=$(slurm scontrol show node worker-0)
echo "$(slurm slurmd -V), $gpus x $model"
check 'the node has its GPUs by their model' "Gres=gpu:$model:$gpus" "$node"
check 'the node serves' 'State=IDLE' "$node"
check 'a step is in the jail' '^/this-is-the-jail$' "$(step ls /this-is-the-jail)"
check 'a step with a GPU sees one' '^1$' "$(step --gres=gpu:1 sh -c 'nvidia-smi --list-gpus | wc -l')"
check 'a step with a GPU is told which' '^[0-9]+$' \
    "$(step --gres=gpu:1 sh -c 'echo $CUDA_VISIBLE_DEVICES')"
check 'a GPU can be asked for by its model' 'GPU 0' \
    "$(step "--gres=gpu:$model:1" nvidia-smi --list-gpus)"
check 'a step without a GPU sees none' 'No devices found' "$(step nvidia-smi --list-gpus)"
check 'more GPUs than there are is refused' 'configuration is not available' \
    "$(step "--gres=gpu:$((gpus + 1))" true)"
check 'steps are in cgroups of their own' 'slurmstepd.scope/.*/step_0/' "$(step cat /proc/self/cgroup)"
check 'a step has no more memory than it asked for' 'Out Of Memory' \
    "$(step --mem=100M sh -c 'head -c 400M /dev/zero | tail')"
job=$(chroot "$root" sbatch --parsable --mem=500M --chdir=/ --gres=gpu:1 --output=/dev/null \
    --wrap='nvidia-smi --list-gpus | grep -q GPU')
for _ in $(seq 100); do
    seen=$(slurm scontrol show job "$job")
    grep -qE 'JobState=(PENDING|RUNNING|COMPLETING)' <<<"$seen" || break
    sleep 0.2
done
check 'a batch job with a GPU completes' 'JobState=COMPLETED' "$seen"
if [ "$failed" = 1 ]; then tail --lines=30 "$top"/*.log "$root/tmp/slurm.log"; fi
exit "$failed"
