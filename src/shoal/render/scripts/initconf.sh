# Copy mounted files to a folder where they belong to their owner alone: kubelet lets the pod's
# group read what it mounts, and Slurm does not start on secrets that others may read.
set -eu
etc=${ETC:-/mnt/etc/slurm}
for file in "${GIVEN:-/mnt/slurm}"/*; do
    [ -f "$file" ] || continue
    case $file in
    *.key | */slurmdbd.conf) mode=600 ;;
    *) mode=644 ;;
    esac
    install -m "$mode" "$file" "$etc/"
    # By number: the image need not know the user.
    [ "$(id -u)" != 0 ] || chown "$SLURM_ID:$SLURM_ID" "$etc/${file##*/}"
done
