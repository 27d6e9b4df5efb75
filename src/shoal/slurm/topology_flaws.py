"""What is wrong with a topology, and with a node's places in several. Pure.

slurmctld does not start with some of it (a child that is not defined, a circle, a name twice), and
only warns of the rest (a node below two leaves, switches that nothing connects). 24.11 is stricter.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from .conf import Place
from .keys import V25_05, Version
from .topology import Attachment, Block, Blocks, Named, Other, Switch, Topology, Tree

MAX_NAME = 63  # a switch's name must be shorter than HOST_NAME_MAX


@dataclass(frozen=True)
class Flaw:
    """Something wrong; `fatal` where slurmctld would not start with it."""

    why: str
    fatal: bool = True


def flaws(
    topology: Topology, version: Version | None = None, nodes: Collection[str] | None = None
) -> tuple[Flaw, ...]:
    """Return what is wrong for `version`, where slurmctld knows `nodes`; None is unknown."""
    # From 25.05 on a leaf may be empty and a block smaller than its size.
    strict = version is not None and version < V25_05
    match topology:
        case Tree(switches):
            found = chain(_alone(switches), _tree(switches, strict=strict))
            units: tuple[Switch | Block, ...] = switches
        case Blocks(blocks, sizes, place):
            found = chain(_alone(blocks), _block_sizes(sizes, place))
            if strict:
                found = chain(found, _small(blocks, sizes))
            units = blocks
        case Other():
            return ()
    return (*found, *_homes(units, nodes))


def _flaw(unit: Switch | Block, why: str, *, fatal: bool = True) -> Flaw:
    return Flaw(": ".join(filter(None, (str(unit.place), unit.name, why))), fatal)


def _alone(units: Iterable[Switch | Block]) -> Iterator[Flaw]:
    seen: dict[str, Place] = {}
    for unit in units:
        if unit.name in seen:
            yield _flaw(unit, f"is there already ({seen[unit.name]}); give it another name")
        seen.setdefault(unit.name, unit.place)
    if not seen:
        yield Flaw("there is no switch and no block; define one")


def _tree(switches: Iterable[Switch], *, strict: bool) -> Iterator[Flaw]:
    by_name = {switch.name: switch for switch in switches}
    parents: dict[str, list[str]] = {name: [] for name in by_name}
    for switch in by_name.values():
        if len(switch.name) > MAX_NAME:
            yield _flaw(switch, f"has more than {MAX_NAME} characters; shorten it")
        if switch.switches and switch.nodes:
            yield _flaw(
                switch, "has both switches and nodes; move the nodes to a leaf", fatal=False
            )
        if strict and not switch.switches and not switch.nodes:
            yield _flaw(switch, "has neither switches nor nodes; Slurm before 25.05 refuses that")
        for child in switch.switches:
            if child not in parents:
                yield _flaw(switch, f"the switch {child} below it is not defined")
            else:
                parents[child].append(switch.name)
    yield from _shape(by_name, parents)


def _shape(by_name: Mapping[str, Switch], parents: Mapping[str, list[str]]) -> Iterator[Flaw]:
    for name, above in parents.items():
        if len(above) > 1:
            why = f"is below {' and '.join(above)}; keep one"
            yield _flaw(by_name[name], why, fatal=False)
    tops = [name for name, above in parents.items() if not above]
    for name in tops[1:]:
        why = f"is below no switch, as is {tops[0]}; no job can use the nodes of both"
        yield _flaw(by_name[name], why, fatal=False)
    for name in _circling(by_name, parents):
        yield _flaw(by_name[name], "is above itself, or below a switch that is; cut the circle")


def _circling(by_name: Mapping[str, Switch], parents: Mapping[str, list[str]]) -> Iterator[str]:
    """Return what is left when switches go one by one, each after all of its parents."""
    left = {name: len(above) for name, above in parents.items()}
    ahead = [name for name, above in left.items() if not above]
    while ahead:
        name = ahead.pop()
        for child in by_name[name].switches:
            if child in left:
                left[child] -= 1
                if not left[child]:
                    ahead.append(child)
    return (name for name, above in left.items() if above)


def _block_sizes(sizes: tuple[int, ...], place: Place) -> Iterator[Flaw]:
    last = 0
    for size in sizes:
        times, rest = divmod(size, sizes[0]) if sizes[0] else (0, 0)
        # Each is the first one times a power of two.
        if size <= last or rest or times & (times - 1):
            why = f"BlockSizes: {size} must be {sizes[0] or 1} times 2, 4, 8, ..., in rising order"
            yield Flaw(": ".join(filter(None, (str(place), why))))
        last = size


def _small(blocks: Iterable[Block], sizes: tuple[int, ...]) -> Iterator[Flaw]:
    least = sizes[0] if sizes else 1
    for block in blocks:
        if len(block.nodes) < least:
            why = f"has {len(block.nodes)} nodes of {least}; Slurm before 25.05 refuses that"
            yield _flaw(block, why)


def _homes(units: Iterable[Switch | Block], nodes: Collection[str] | None) -> Iterator[Flaw]:
    home: dict[str, Switch | Block] = {}
    known = None if nodes is None else frozenset(nodes)
    for unit in units:
        for node in unit.nodes:
            if known is not None and node not in known:
                yield _flaw(unit, f"Slurm has no node {node}; remove it")
            if home.setdefault(node, unit).name != unit.name:
                why = f"{node} is below {home[node].name} already; keep one"
                yield _flaw(unit, why, fatal=False)


def misplaced(places: Iterable[Attachment], topologies: Iterable[Named]) -> tuple[Flaw, ...]:
    """Return what is wrong with a node's places in the topologies of topology.yaml."""
    by_name = {named.name: named.topology for named in topologies}
    return tuple(
        Flaw(f"{place}: {why}")
        for place in places
        if (why := _misplaced(place, by_name.get(place.topology)))
    )


def _misplaced(place: Attachment, topology: Topology | None) -> str:
    match topology:
        case None:
            return f"there is no topology {place.topology}"
        case Blocks(blocks, _, _):
            known = {block.name for block in blocks}
            if len(place.units) > 1:
                return "a block is below nothing; name it alone"
            return "" if place.units[0] in known else f"there is no block {place.units[0]}"
        # Slurm makes the missing switches of a path that leads down from one it knows.
        case Tree(switches) if len(place.units) == 1:
            (unit,) = place.units
            found = [switch for switch in switches if switch.name == unit]
            if not found:
                return f"there is no switch {unit}"
            return f"{unit} is above switches; name a leaf" if found[0].switches else ""
        case _:
            return ""
