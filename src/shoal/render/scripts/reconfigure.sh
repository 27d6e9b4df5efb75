# Have slurmctld read its configuration again whenever the files that are mounted change.
set -u
mounted=${MOUNTED:-/etc/slurm}

# kubelet turns this link once all files of a new state are there.
current() { readlink "$mounted/..data"; }

seen=$(current)
# Beside a slurmctld that serves already we were started anew, and a change may have been missed.
if scontrol ping >/dev/null 2>&1; then seen=; fi
pause=$PERIOD_S
while sleep "$pause"; do
    now=$(current)
    pause=$PERIOD_S
    [ "$now" != "$seen" ] || continue
    if scontrol reconfigure; then
        echo "slurmctld has read the configuration again ($now)"
        seen=$now tries=0
    else
        # Longer each time, up to a minute: what Slurm refuses it will refuse again.
        tries=$((${tries:-0} + 1))
        pause=$((tries < 30 ? tries * 2 : 60))
        echo "slurmctld has not read the configuration ($now); again in $pause s" >&2
    fi
done
