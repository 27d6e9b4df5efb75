# Try a configuration on a slurmctld that has no state, no nodes and no jobs.
#   0: Slurm accepts it.  1: it does not, and the termination message says why.  2: nobody knows.
set -u
given=${GIVEN:-/mnt/slurm}
etc=${ETC:-/etc/slurm}
log=${LOG:-/tmp/slurmctld.log}

report() { tail -c 3500 | tee "${VERDICT:-/dev/termination-log}"; }

if [ "$(cat "$given/digest")" != "$DIGEST" ]; then
    echo 'the configuration that is mounted is not the one to be tried' | report
    exit 2
fi
for file in "$given"/*; do
    case $file in
    *.key) mode=600 ;;
    *) mode=755 ;; # there are scripts among them
    esac
    install -m "$mode" "$file" "$etc/"
done
mkdir -p "${RUN:-/run}/slurmctld"

slurmctld -D -f "$etc/slurm.conf" >"$log" 2>&1 &
daemon=$!
tenths=0
until grep -q 'Running as primary controller' "$log"; do
    tenths=$((tenths + 1))
    if [ "$tenths" -gt "$((LIMIT_S * 10))" ] || ! kill -0 "$daemon" 2>/dev/null; then
        kill "$daemon" 2>/dev/null
        if grep -q 'fatal' "$log"; then
            # Each once, and not when. A user's line may count for more than one of ours, and there
            # is no accounting here: Slurm says both of good ones too.
            grep -E 'fatal|error' "$log" | grep -v -e 'specified more than once, latest value used' \
                -e 'Job accounting information gathered, but not stored' |
                sed 's/^\[[^]]*\] //' | awk '!said[$0]++' | report
            exit 1
        fi
        echo 'slurmctld neither took the configuration nor refused it' >>"$log"
        tail -n 20 "$log" | report
        exit 2
    fi
    sleep 0.1
done
kill "$daemon"
echo 'accepted' | report
