"""Nodes: what they are, what they have, what they went through."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..runtime import clock
from ..slurm import gres
from ..slurm import nodes as language
from ..slurmapi.client import Client
from ..slurmapi.nodes import Node
from ..slurmapi.reads import NodeReads
from . import text
from .catalogue import FLAGS, NAMED, Collector
from .outages import NodeMemory, Standing, State, remember
from .records import REMEMBERED, resources
from .shared import Shared
from .snapshot import UNKNOWN, NodesSeen

MIB = 1 << 20
LONGEST_RESERVATION = 50
# In the order of FLAGS, which is the order of the labels.
_FLAG_WORDS: tuple[tuple[str, ...], ...] = (
    ("COMPLETING",), ("FAIL",), ("PLANNED",), ("NOT_RESPONDING",), ("INVALID", "INVALID_REG"),
    ("CLOUD",), ("POWER_DOWN", "POWER_DOWN_ASAP", "POWER_DOWN_FORCE"), ("POWER_DRAIN",),
    ("POWERED_DOWN",), ("POWERING_DOWN",), ("POWERING_UP",), ("POWER_UP",),
)  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """What follows from a node's state alone."""

    state: State
    labels: str  # all that the state decides, as they stand in slurm_node_info
    summary: str  # one word
    failed: bool
    unavailable: bool
    draining: bool


@lru_cache(REMEMBERED)
def facts_of(words: tuple[str, ...]) -> Facts:
    """Return what follows from a state; thousands of nodes have but some dozen of them."""
    told = language.parse(words)
    base = told.base or UNKNOWN
    drain = told.has("DRAIN")
    standing: State = (base, _said(drain), _said(told.in_maintenance), _said(told.reserved))
    flags = ["true" if told.has(*each) else "" for each in _FLAG_WORDS]
    names = (*NAMED["slurm_node_gpu_seconds_total"].labels[1:], *FLAGS, "is_unavailable")
    values = (*standing, *flags, "true" if told.unavailable else "")
    return Facts(
        state=standing,
        labels=text.labelled(names, values),
        summary=_summary(told, base),
        failed=(told.down or drain) and not told.power_managed,
        unavailable=told.unavailable,
        draining=drain and base in ("ALLOCATED", "MIXED"),
    )


def _said(value: bool) -> str:  # noqa: FBT001 - it is what is said
    return "true" if value else "false"


def _summary(told: language.NodeState, base: str) -> str:
    """Return the one word that says most: first what keeps a node from work, then its work."""
    if told.down:
        return "DOWN"
    if told.asked_to_drain:
        return "DRAINING" if told.busy else "DRAINED"
    if told.has("POWERED_DOWN", "POWERING_DOWN"):
        return "POWERED_DOWN"
    return base


@lru_cache(REMEMBERED)
def gpus_of(tracked: str, generic: str) -> int:
    """Return how many GPUs are named; where they are not tracked, by the generic resources."""
    if found := resources(tracked)[2]:
        return found
    try:
        return gres.total(gres.parse(generic), "gpu")
    except ValueError:
        return 0


class NodesCollector:
    """Reads and tells of nodes."""

    name = Collector.NODES

    def __init__(self, client: Client, shared: Shared) -> None:
        self._reads = NodeReads(client)
        self._shared = shared
        self.memory = NodeMemory()

    async def gather(self) -> NodesSeen:
        """Read all nodes, or learn that none changed."""
        found = await self._reads.nodes(newer_than=clock.ticks())
        return NodesSeen(list(found.nodes.values()))

    def tell(self, seen: NodesSeen, now: float) -> Iterator[str]:
        """Take note of what is seen, and yield it as text."""
        nodes = seen.nodes
        self._shared.instances = {node.name: node.instance_id for node in nodes if node.instance_id}
        facts = [facts_of(node.state) for node in nodes]
        gpus = [gpus_of(node.tres, node.gres) for node in nodes]
        standings = (
            _standing(node, one, count) for node, one, count in zip(nodes, facts, gpus, strict=True)
        )
        self.memory = remember(self.memory, standings, now)
        yield ""  # an end of a turn
        yield from _lines(nodes, facts, gpus)
        yield from _past(self.memory)

    async def close(self) -> None:
        """Read no more."""
        await self._reads.close()


def _standing(node: Node, facts: Facts, gpus: int) -> Standing:
    return Standing(
        name=node.name,
        state=facts.state,
        gpus=gpus,
        reason=node.reason,
        failed=facts.failed,
        unavailable=facts.unavailable,
        draining=facts.draining,
    )


def _lines(nodes: Sequence[Node], facts: Sequence[Facts], gpus: Sequence[int]) -> Iterator[str]:
    named = [f'node_name="{text.escaped(node.name)}"' for node in nodes]

    def column(name: str, values: Iterable[int | None]) -> Iterator[str]:
        told = zip(named, values, strict=True)
        return text.column(NAMED[name], ((label, v) for label, v in told if v is not None))

    yield from text.pieces(
        NAMED["slurm_node_info"],
        (_info(n, label, f) for n, label, f in zip(nodes, named, facts, strict=True)),
    )
    yield from column("slurm_node_cpus_total", (n.cpus for n in nodes))
    yield from column("slurm_node_cpus_allocated", (n.alloc_cpus for n in nodes))
    idle = (max(0, (n.effective_cpus or n.cpus) - n.alloc_cpus) for n in nodes)
    yield from column("slurm_node_cpus_idle", idle)
    yield from column("slurm_node_cpus_effective", (n.effective_cpus or n.cpus for n in nodes))
    yield from column("slurm_node_memory_total_bytes", (n.real_memory * MIB for n in nodes))
    yield from column("slurm_node_memory_allocated_bytes", (n.alloc_memory * MIB for n in nodes))
    free = ((None if (m := n.free_mem.whole) is None else m * MIB) for n in nodes)
    yield from column("slurm_node_memory_free_bytes", free)
    kept = (max(0, n.real_memory - n.specialized_memory) * MIB for n in nodes)
    yield from column("slurm_node_memory_effective_bytes", kept)
    yield from text.column(
        NAMED["slurm_node_partition"],
        (
            (f'{label},partition="{text.escaped(partition)}"', 1)
            for n, label in zip(nodes, named, strict=True)
            for partition in n.partitions
        ),
    )
    yield from column("slurm_node_gpus", (count or None for count in gpus))
    used = (
        gpus_of(n.tres_used, n.gres_used) if count else None
        for n, count in zip(nodes, gpus, strict=True)
    )
    yield from column("slurm_node_gpus_allocated", used)
    yield from _partitions(nodes, facts, gpus)


def _info(node: Node, label: str, facts: Facts) -> str:
    names = ("reservation_name", "address", "reason", "comment")
    values = (node.reservation[:LONGEST_RESERVATION], node.address, node.reason, node.comment)
    more = text.labelled(names, values)
    instance = f',instance_id="{text.escaped(node.instance_id)}"' if node.instance_id else ""
    return f"slurm_node_info{{{label}{instance},{facts.labels}{',' if more else ''}{more}}} 1\n"


def _partitions(
    nodes: Sequence[Node], facts: Sequence[Facts], gpus: Sequence[int]
) -> Iterator[str]:
    states = Counter[tuple[str, str]]()
    cpus, cards, memory = Counter[str](), Counter[str](), Counter[str]()
    for node, one, count in zip(nodes, facts, gpus, strict=True):
        for partition in node.partitions:
            states[partition, one.summary] += 1
            cpus[partition] += node.cpus
            cards[partition] += count
            memory[partition] += node.real_memory * MIB
    yield from text.family(NAMED["slurm_partition_nodes"], sorted(states.items()))
    for name, amounts in (
        ("slurm_partition_cpus", cpus),
        ("slurm_partition_gpus", cards),
        ("slurm_partition_memory_bytes", memory),
    ):
        yield from text.family(NAMED[name], (((p,), v) for p, v in sorted(amounts.items())))


def _past(memory: NodeMemory) -> Iterator[str]:
    yield from text.family(
        NAMED["slurm_node_gpu_seconds_total"],
        (
            ((node, *state), seconds)
            for node, states in memory.gpu_seconds.items()
            for state, seconds in states.items()
        ),
    )
    yield from text.family(
        NAMED["slurm_node_fails_total"],
        (
            ((node, *state, reason), count)
            for node, counts in memory.fails.items()
            for (state, reason), count in counts.items()
        ),
    )
    for name, spells in (
        ("slurm_node_unavailability_duration_seconds", memory.unavailable),
        ("slurm_node_draining_duration_seconds", memory.draining),
    ):
        yield from text.histogram(NAMED[name], (((n,), told) for n, told in spells.over.items()))
