"""Workers by number and on every node, bound to their nodes, and on their network."""

from collections.abc import Callable

from ..clusters import is_ready, wait_for
from ..slinky.site import Site
from . import jobs
from .jobs import PATIENCE_S
from .nodesets import SCALE_IN, UPDATE, Record, Workers, stays, timed

OTHER_MODE = "slurm-operator: Pod is pending termination: the NodeSet scales in another way now"
NODES = ("n0", "n1", "n2")


def both_ways(workers: Workers, record: Record) -> None:
    """Have workers by number, then on every node, then by number again, with jobs on them."""
    workers.make(2)
    busy = workers.node(1)
    at = workers.on_nodes()[busy]["spec"]["nodeName"]
    others = {*NODES} - {at}
    job = workers.start(busy)
    with timed(record, "all other nodes have a worker after"):
        mode(workers, scalingMode="DaemonSet")
        workers.only(busy, *others)
    workers.drains(busy, OTHER_MODE)
    stays("the worker with a job", lambda: busy in workers.uids() and job.runs(), 3)
    with timed(record, "its node has a worker after the job by"):
        job.end()
        job.ended_well()
        workers.only(*NODES)
        workers.serve(3)
    job = workers.start(at)
    with timed(record, "back, the idle are gone after"):
        mode(workers, scalingMode="StatefulSet")
        wait_for(
            "the idle to go",
            lambda: set(workers.on_nodes()),
            lambda seen: at in seen and not seen & others,
            PATIENCE_S,
        )
    workers.drains(at, OTHER_MODE)
    stays("the worker with a job", lambda: at in workers.uids() and job.runs(), 3)
    with timed(record, "back, all serve after the job by"):
        job.end()
        job.ended_well()
        workers.only(workers.node(0), workers.node(1))
        workers.serve(2)


def mode(workers: Workers, **spec: object) -> None:
    """Change the NodeSet's spec."""
    workers.site.patch(f"nodeset/{workers.name}", spec)


def where(workers: Workers) -> dict[str, str]:
    """Return on which node of Kubernetes each worker is."""
    return {name: pod["spec"].get("nodeName", "") for name, pod in workers.on_nodes().items()}


def bound(workers: Workers, record: Record) -> None:
    """Scale workers that are bound to their nodes to zero and back."""
    workers.make(3, pinToNode=True)
    before = where(workers)
    told = {str(number): before[workers.node(number)] for number in range(3)}
    wait_for(
        "word of the nodes",
        lambda: workers.site.cluster.get("nodeset", workers.name)["status"].get("ordinalToNode"),
        lambda seen: seen == told,
        PATIENCE_S,
    )
    workers.scale(0)
    workers.only()
    with timed(record, "back on their nodes after"):
        workers.scale(3)
        workers.serve(3)
    assert where(workers) == before
    # Slurm says where each of them is.
    assert {name: instance(workers, name) for name in before} == before
    # Bound by us, and not by the scheduler's habits.
    for pod in workers.pods().values():
        affinity = pod["spec"]["affinity"]["nodeAffinity"]
        (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert term["matchFields"][0]["values"] == [pod["spec"]["nodeName"]]


def instance(workers: Workers, node: str) -> str:
    """Return on which machine Slurm says that a node is."""
    seen = workers.site.run("scontrol", "show", "node", node, "--oneliner").out
    return jobs.fields(seen).get("InstanceId", "")


def of_another_shape(workers: Workers, record: Record) -> None:
    """Renew workers that may use less of their machine, and say so, while one has a job."""
    site = workers.site
    workers.make(2, extraConf="Weight=3 Features=slow")
    busy, idle = workers.node(0), workers.node(1)
    # What was asked for before that is taken for what they are.
    wait_for("word of their shape", lambda: all(map(is_shaped(site), (busy, idle))))
    job, old = workers.start(busy), workers.uids()
    limited = {"image": f"shoal/slurmd:{site.series}", "resources": {"limits": {"cpu": "1"}}}
    mode(workers, extraConf="Weight=7 Features=fast", slurmd=limited)
    with timed(record, "the idle serves anew after"):
        workers.renewed(old, idle)
    assert said(workers, idle) == ("7", f"fast,{workers.name}", "1")
    assert said(workers, busy)[0] == "3"
    workers.drains(busy, UPDATE)
    assert job.runs()
    with timed(record, "the busy serves anew after its job by"):
        job.end()
        job.ended_well()
        workers.renewed(old, busy)
    assert said(workers, busy) == ("7", f"fast,{workers.name}", "1")


def is_shaped(site: Site) -> Callable[[str], bool]:
    """Return what says of a node whether Slurm was told what its worker was made of."""
    return lambda node: '"shape"' in site.run("scontrol", "show", "node", node, "--oneliner").out


def said(workers: Workers, node: str) -> tuple[str, ...]:
    """Return what Slurm knows of a node: weight, features, and the cores that are for others."""
    seen = workers.site.run("scontrol", "show", "node", node, "--oneliner").out
    found = jobs.fields(seen)
    keys = ("Weight", "ActiveFeatures", "CoreSpecCount")
    return tuple(found.get(key, "") for key in keys)


def one_each(workers: Workers, record: Record) -> None:
    """Ask for more workers than nodes, without and with leave to share them."""
    workers.ask(4, oversubscribeNode=False)
    wait_for(
        "three workers that are ready",
        lambda: sum(is_ready(pod) for pod in workers.pods().values()),
        lambda seen: seen == 3,
        PATIENCE_S,
    )
    stays("one without a node", lambda: sorted(where(workers).values()) == ["", *NODES])
    job = jobs.start(workers.site, next(n for n, at in where(workers).items() if at))
    with timed(record, "all share nodes after"):
        # The one without a node is missing already, and would stop the update at one.
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
        mode(workers, oversubscribeNode=True, updateStrategy=strategy)
        # Kubernetes 1.34 overlooks that those who kept it away are gone, and tries it again only
        # after five minutes (kubernetes/kubernetes#134393).
        wait_for(
            "the last one to be ready",
            lambda: sum(is_ready(pod) for pod in workers.pods().values()),
            lambda seen: seen == 4,
            PATIENCE_S,
        )
    assert job.runs()
    job.end()
    job.ended_well()
    workers.serve(4)


def on_the_nodes_network(workers: Workers, record: Record) -> None:
    """Renew and scale in workers that are on the network of their nodes."""
    workers.make(2, template={"spec": {"hostNetwork": True}})
    assert set(workers.on_nodes()) < {*NODES}
    busy, idle = sorted(workers.on_nodes())
    job, old = workers.start(busy), workers.on_nodes()
    workers.renew("second")
    with timed(record, "the idle is renewed after"):
        wait_for(
            "the idle to be another",
            lambda: {
                pod["metadata"]["name"] for pod in workers.pods().values() if is_new(pod, old)
            },
            lambda seen: old[idle]["metadata"]["name"] in seen,
            PATIENCE_S,
        )
    workers.drains(busy, UPDATE)
    assert job.runs()
    job.end()
    job.ended_well()
    with timed(record, "all are renewed after the job by"):
        wait_for(
            "all to be others",
            lambda: [is_new(pod, old) for pod in workers.pods().values()],
            lambda seen: seen == [True, True],
            PATIENCE_S,
        )
        workers.serve(2)
    busy, idle = sorted(workers.on_nodes())
    job = workers.start(busy)
    workers.scale(0)
    workers.only(busy)
    workers.drains(busy, SCALE_IN)
    assert job.runs()
    with timed(record, "the last is gone after its job by"):
        job.end()
        job.ended_well()
        workers.only()
    # Slurm still has records by the names of nodes. Those of another NodeSet are not in its way.
    next_ones = Workers(workers.site, f"{workers.name}-next")
    with timed(record, "those of another NodeSet serve after"):
        next_ones.make(2, template={"spec": {"hostNetwork": True}})
    next_ones.scale(0)
    next_ones.only()


def is_new(pod, old) -> bool:
    """Say whether a ready pod is none of the old ones."""
    return is_ready(pod) and pod["metadata"]["uid"] not in {
        one["metadata"]["uid"] for one in old.values()
    }
