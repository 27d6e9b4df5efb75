# Have slurmctld and all slurmds read their files again whenever those that are mounted here change.
#
# Every pod has the files mounted for itself, and kubelets bring them one after the other, so a slurmd
# may read old ones. Once all must have the new ones they are read a second time.
set -u
trap 'exit 0' TERM INT

# kubelet turns this link once all files of a new state are there.
current() { readlink "$MOUNTED/..data"; }
# A shell that is the container's first process heeds signals only while it waits.
rest() { sleep "$1" & wait "$!"; }

seen=$(current)
# Beside a slurmctld that serves already we were started anew, and a change may have been missed.
if scontrol ping 2>/dev/null | grep -q ' is UP'; then seen=; fi
pause=$PERIOD_S tries=0 left=0
while rest "$pause"; do
    now=$(current)
    if [ "$now" = "$seen" ]; then
        [ "$left" -gt 0 ] || continue
        left=$((left - pause))
        [ "$left" -le 0 ] || continue
    fi
    if scontrol reconfigure; then
        echo "slurmctld has read the configuration again ($now)"
        [ "$now" = "$seen" ] || left=$SETTLE_S
        seen=$now tries=0 pause=$PERIOD_S
    else
        # Longer each time, up to a minute: what Slurm refuses it will refuse again.
        tries=$((tries + 1)) seen=
        pause=$((tries < 30 ? tries * 2 : 60))
        echo "slurmctld has not read the configuration ($now); again in $pause s" >&2
    fi
done
