# Before slurmd starts: wait until slurmctld answers. Some versions end well also when it does not.
set -u
trap 'exit 1' TERM INT
tries=0
until timeout 10 scontrol ping 2>/dev/null | grep -q ' is UP'; do
    [ "$((tries % 30))" != 0 ] || echo 'slurmctld does not answer yet'
    tries=$((tries + 1))
    sleep 1
done
