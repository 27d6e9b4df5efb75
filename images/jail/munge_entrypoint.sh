#!/bin/bash
# Start munged with the key that is mounted at /mnt/munge-key.
set -euo pipefail

# munged wants a plain file that is its own, in folders that only it may write to.
install -d -o root -g root -m 700 "$(dirname "$MUNGE_KEY_FILE")" /var/log/munge /var/lib/munge
install -d -o root -g root -m 755 "$(dirname "$MUNGE_SOCKET_FILE")"
install -m 400 /mnt/munge-key/munge.key "$MUNGE_KEY_FILE"
exec munged --foreground --num-threads="$MUNGE_NUM_THREADS" --key-file="$MUNGE_KEY_FILE" \
    --pid-file="$MUNGE_PID_FILE" --socket="$MUNGE_SOCKET_FILE"
