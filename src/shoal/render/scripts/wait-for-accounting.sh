# Before slurmctld starts for the first time: without a state it ends where slurmdbd does not answer.
# With one it starts without slurmdbd, and jobs are looked after whatever becomes of the database.
set -u
trap 'exit 1' TERM INT
tries=0
until [ -e "$STATE_FOLDER/last_tres" ] || timeout 10 sacctmgr --noheader list cluster >/dev/null 2>&1; do
    [ "$((tries % 30))" != 0 ] || echo 'slurmdbd does not answer yet'
    tries=$((tries + 1))
    sleep 1
done
