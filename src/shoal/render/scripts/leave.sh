# Before a worker's pod ends: tell slurmctld, which then requeues the jobs of this node now and not
# after SlurmdTimeout, and starts no other one here. A node that was set DOWN serves again by itself
# as soon as a new pod registers it (ReturnToService=2).
#
# A node that has a reason keeps it, and its state: somebody drained it, and means it. Nothing
# happens where slurmctld does not answer, and the pod does not wait for that.
set -u
reason=$1
node=$(hostname)
record=$(timeout 5 scontrol --oneliner show node "$node") || exit 0
case " $record" in
*" Reason="*) exit 0 ;;
esac
timeout 5 scontrol update nodename="$node" state=down reason="$reason"
exit 0
