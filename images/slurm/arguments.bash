# shellcheck shell=bash
# Sourced by the entrypoints. Read the words for a daemon: first those of its *_OPTIONS variable,
# then the container's arguments.
#
# SchedMD's images join them into one line of shell, and pods are written for that: an argument may
# come as 'Feature=a Topology='"$POD_TOPOLOGY"'', quotes included. So text that opens with a quote,
# and an option with its values in one argument, are read as shell; all else stays as it is.

words=()

read_words() {
    local argument -
    set -o noglob
    eval "words=($1)"
    shift
    for argument; do
        case $argument in
        --conf=*) words+=("$argument") ;;
        [\'\"]* | -*[[:space:]]*) eval "words+=($argument)" ;;
        *) words+=("$argument") ;;
        esac
    done
}
