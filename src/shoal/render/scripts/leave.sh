# Before a worker's pod ends: tell slurmctld, which then requeues the jobs of this node now and not
# after SlurmdTimeout, and starts no other one here. It is drained before it is set DOWN: slurmd
# still answers, and ReturnToService=2 takes a node that is only DOWN back in the next moment. The
# operator lifts both when a new pod serves.
#
# A node with somebody else's reason keeps it, and its state: he drained it, and means it. Nothing
# happens where slurmctld does not answer, and the pod does not wait for that.
set -u
reason=$1
node=$(hostname)
record=$(timeout 5 scontrol --oneliner show node "$node") || exit 0
case " $record" in
*" Reason=${reason%%:*}: "*) ;;
*" Reason="*) exit 0 ;;
esac
timeout 5 scontrol update nodename="$node" state=drain reason="$reason" &&
  timeout 5 scontrol update nodename="$node" state=down reason="$reason"
exit 0
