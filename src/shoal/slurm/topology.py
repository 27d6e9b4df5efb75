"""Network topologies: trees of switches, rows of blocks, and a node's place in them. Pure.

`parse` and `write` are for topology.conf, which holds one topology; topology_yaml.py is for the
file that holds several, and topology_flaws.py says what is wrong with them. `attachments` reads a
node's own places, as in `topo-switch:s2,topo-block:b2`.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from . import conf
from .conf import ConfError, Place
from .hostlists import HostlistError, expand, fold

GRAMMAR = conf.GRAMMARS["topology.conf"]
DEFAULT = "default"  # what slurmctld calls the topology of topology.conf

_UNIT = re.compile(r"[\w.-]+", re.ASCII)


@dataclass(frozen=True)
class Switch:
    """A switch above other switches, or a leaf above nodes."""

    name: str
    switches: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    link_speed: int | None = None
    place: Place = field(default=Place(), compare=False)


@dataclass(frozen=True)
class Tree:
    """topology/tree."""

    switches: tuple[Switch, ...]


@dataclass(frozen=True)
class Block:
    """Nodes that are close to each other."""

    name: str
    nodes: tuple[str, ...] = ()
    place: Place = field(default=Place(), compare=False)


@dataclass(frozen=True)
class Blocks:
    """topology/block; the first size is the one to plan with."""

    blocks: tuple[Block, ...]
    sizes: tuple[int, ...] = ()
    place: Place = field(default=Place(), compare=False)


@dataclass(frozen=True)
class Other:
    """A kind that is passed on as it is: flat, ring, torus3d, or a later one."""

    kind: str
    data: Any = True


Topology = Tree | Blocks | Other


@dataclass(frozen=True)
class Named:
    """One of the topologies in topology.yaml."""

    name: str
    topology: Topology
    cluster_default: bool = False


@dataclass(frozen=True)
class Attachment:
    """A node's place in one topology: its leaf or block, below the switches that lead there."""

    topology: str
    units: tuple[str, ...]

    def __str__(self) -> str:
        return ":".join((self.topology, *self.units))


def parse(text: str, source: str = "topology.conf") -> Tree | Blocks:
    """Return the topology in a file; whether it can be is for topology_flaws.py to say."""
    lines = conf.included(conf.parse(text, GRAMMAR, source), {}, GRAMMAR)
    found = conf.effective(lines, GRAMMAR)
    for line in lines:
        if line.key.lower() not in {"switchname", "blockname", "blocksizes"}:
            raise ConfError(line.place, line.key, "write SwitchName, BlockName or BlockSizes")
    switches = tuple(_switch(line) for line in found.get("switchname", ()))
    blocks = tuple(_block(line) for line in found.get("blockname", ()))
    sized = found.get("blocksizes")
    if switches and (blocks or sized):
        raise ConfError(switches[0].place, "SwitchName", "a tree has no blocks; remove either")
    if sized:
        return Blocks(blocks, _sizes(sized[-1]), sized[-1].place)
    return Blocks(blocks) if blocks else Tree(switches)


def write(topology: Tree | Blocks) -> str:
    """Return the text of topology.conf; names are sorted and folded."""
    match topology:
        case Tree(switches):
            return conf.write((_switch_line(switch) for switch in switches), GRAMMAR)
        case Blocks(blocks, sizes, _):
            lines = [_block_line(block) for block in blocks]
            if sizes:
                lines.append(conf.setting("BlockSizes", ",".join(map(str, sizes))))
            return conf.write(lines, GRAMMAR)


def _switch_line(switch: Switch) -> conf.Setting:
    speed = "" if switch.link_speed is None else str(switch.link_speed)
    children = ("Switches", fold(switch.switches)), ("Nodes", fold(switch.nodes))
    pairs = _pairs(("SwitchName", switch.name), *children, ("LinkSpeed", speed))
    return conf.Setting(pairs, switch.place)


def _block_line(block: Block) -> conf.Setting:
    pairs = _pairs(("BlockName", block.name), ("Nodes", fold(block.nodes)))
    return conf.Setting(pairs, block.place)


def _pairs(first: conf.Pair, *more: conf.Pair) -> tuple[conf.Pair, ...]:
    return first, *((key, value) for key, value in more if value)


def _switch(line: conf.Setting) -> Switch:
    values = _values(line, {"switches", "nodes", "linkspeed"})
    speed = values.get("linkspeed")
    return Switch(
        line.value,
        names(values.get("switches", ""), line.place, "Switches"),
        names(values.get("nodes", ""), line.place, "Nodes"),
        None if speed is None else _number(speed, line.place, "LinkSpeed"),
        line.place,
    )


def _block(line: conf.Setting) -> Block:
    values = _values(line, {"nodes"})
    return Block(line.value, names(values.get("nodes", ""), line.place, "Nodes"), line.place)


def _values(line: conf.Setting, allowed: set[str]) -> dict[str, str]:
    for key, _ in line.pairs[1:]:
        if key.lower() not in allowed:
            raise ConfError(line.place, key, f"is none of {', '.join(sorted(allowed))}")
    return {key.lower(): value for key, value in line.pairs[1:]}


def names(text: str, place: Place, key: str) -> tuple[str, ...]:
    """Return the names in a hostlist; an error in it names `place` and `key`."""
    try:
        return expand(text)
    except HostlistError as error:
        raise ConfError(place, key, str(error)) from error


def _sizes(line: conf.Setting) -> tuple[int, ...]:
    return tuple(_number(size.strip(), line.place, line.key) for size in line.value.split(","))


def _number(text: str, place: Place, key: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ConfError(place, key, f"{text!r} is no number")
    return int(text)


def attachments(spec: str, source: str = "") -> tuple[Attachment, ...]:
    """Return a node's places in a spec such as `topo-switch:s2,topo-block:b2`; none for none."""
    found: dict[str, Attachment] = {}
    for item in spec.split(",") if spec else ():
        topology, *units = item.split(":")
        if not units or not all(_UNIT.fullmatch(word) for word in (topology, *units)):
            why = f"{item!r} is no place; write TOPOLOGY:UNIT, such as topo-switch:s2"
            raise ConfError(Place(source), "", why)
        if topology in found:
            raise ConfError(Place(source), topology, "is there twice; a node has one place in each")
        found[topology] = Attachment(topology, tuple(units))
    return tuple(found.values())
