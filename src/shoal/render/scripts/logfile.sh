# Print what a daemon logs: make the FIFO that it takes for its log file, and copy it to the output.
set -eu
# A plain file is what a daemon leaves that was faster than we are.
[ -p "$SOCKET" ] || rm -f "$SOCKET"
# For its owner alone: on a worker, jobs see it too.
[ -p "$SOCKET" ] || mkfifo -m 600 "$SOCKET"
# For reading and writing, so that it never ends and no daemon waits for somebody to read.
exec 3<>"$SOCKET"
cat <&3 &
reader=$!
trap 'kill "$reader"; exit 0' TERM INT
wait
