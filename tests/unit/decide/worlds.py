"""Workers as they may be seen, and what becomes of them when a plan is carried out."""

from dataclasses import dataclass, field

from shoal.decide.plan import Action, CreateWorker, DeleteWorker, DrainWorker, Wait
from shoal.decide.scale import Worker, Workers
from shoal.dialects.slinky import naming
from shoal.kube.objects import Meta
from shoal.kube.pods import Pod, PodSpec, PodStatus
from shoal.model.nodeset import NodeSet
from shoal.model.part import Part
from shoal.slurm.nodes import Drain


def make_nodeset(replicas: int) -> NodeSet:
    """Return a NodeSet that wants so many workers."""
    part = Part("w", "ns", naming.selector("NodeSet", "w"), naming.labels("NodeSet", "w"))
    return NodeSet(part, "w", "w-", "slurm-workers-c", "slurm-workers-pdb-c", replicas=replicas)


@dataclass
class Seen:
    """One worker, in truth."""

    number: int
    ran: bool = True
    over: bool = False
    ending: bool = False
    drained: bool = False  # asked to take no more jobs
    busy: bool = False

    @property
    def pod(self) -> Pod:
        """Return the pod as it is seen."""
        when = "2026-01-01T00:00:00Z" if self.ending else None
        meta = Meta(f"w-{self.number}", "ns", f"uid-{self.number}", deletion_timestamp=when)
        phase = "Failed" if self.over else "Running"
        return Pod(meta, PodSpec("node" if self.ran else ""), PodStatus(phase))

    @property
    def drain(self) -> Drain:
        """Return what Slurm says of it."""
        if not self.drained:
            return Drain.SERVING
        return Drain.DRAINING if self.busy else Drain.DRAINED

    @property
    def may_go(self) -> bool:
        """Say whether no job can be lost with it."""
        return not self.ran or self.over or (self.drained and not self.busy)


@dataclass
class World:
    """All workers of a NodeSet; it checks what is done to them."""

    workers: dict[int, Seen] = field(default_factory=dict)

    def seen(self, *, silent: bool = False) -> Workers:
        """Return what is seen; with `silent`, Slurm says nothing."""
        every = [Worker(w.number, w.pod, f"w-{w.number}") for w in self.workers.values()]
        drains = {f"w-{w.number}": w.drain for w in self.workers.values() if w.ran}
        return Workers(every, None if silent else drains)

    def carry_out(self, action: Action) -> None:
        """Do it, and refuse what would lose a job."""
        assert action.why
        match action:
            case CreateWorker(number=number):
                assert number not in self.workers
                self.workers[number] = Seen(number)
            case DrainWorker(node=node, again_s=again_s):
                assert again_s > 0
                self.workers[int(node.removeprefix("w-"))].drained = True
            case DeleteWorker(pod=pod, uid=uid):
                worker = self.workers[int(pod.removeprefix("w-"))]
                assert uid == worker.pod.metadata.uid
                assert worker.may_go, f"{worker} is lost"
                worker.ending = True
            case Wait(again_s=again_s):
                assert again_s > 0

    def pass_time(self) -> None:
        """Let jobs end, and pods that were told to."""
        self.workers = {n: w for n, w in self.workers.items() if not w.ending}
        for worker in self.workers.values():
            worker.busy = False
