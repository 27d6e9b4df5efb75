# Before slurmctld starts: where there was a state, an empty folder is a loss. slurmctld would not
# mind, forget all nodes and jobs, and give job ids anew.
#   0: it may start.  66: the state is gone, and the termination message says what to do.
# Builtins only: the image may have nothing but a shell.
set -u
for file in clustername job_state job_state.old node_state node_state.old; do
    [ ! -e "$STATE_FOLDER/$file" ] || exit 0
done
read -r expected 2>/dev/null <"$STATE_GUARD/expected" || expected=unknown
[ "$expected" != false ] || exit 0
words="there is no state in $STATE_FOLDER, and there was one: slurmctld is not started on an empty"
words="$words one, as jobs that still run would be lost; see the condition of the Controller"
echo "$words" >&2
echo "$words" 2>/dev/null >"${VERDICT:-/dev/termination-log}"
exit 66
