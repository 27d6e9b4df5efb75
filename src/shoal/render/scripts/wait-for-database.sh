# Before slurmdbd starts: wait until somebody listens where the database should be.
set -u
trap 'exit 1' TERM INT
tries=0
# In a bash of its own, whatever runs this: other shells cannot connect.
until timeout 5 bash -c 'exec 3<>"/dev/tcp/$STORAGE_HOST/$STORAGE_PORT"' 2>/dev/null; do
    [ "$((tries % 30))" != 0 ] || echo "nobody listens at $STORAGE_HOST:$STORAGE_PORT yet"
    tries=$((tries + 1))
    sleep 1
done
