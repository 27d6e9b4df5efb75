"""topology.yaml: several topologies by name (25.05 and later; topology.conf is ignored then). Pure.

From data and to data: whoever reads or writes the file has the YAML library.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from .conf import ConfError, Place
from .hostlists import fold
from .topology import Block, Blocks, Named, Other, Switch, Topology, Tree, names

Shape = TypeVar("Shape")
Hosts = str | list[str]


class _Struct(msgspec.Struct, forbid_unknown_fields=True):
    pass


class _Switch(_Struct):
    switch: str
    children: Hosts = ""
    nodes: Hosts = ""


class _Tree(_Struct):
    switches: list[_Switch]


class _Block(_Struct):
    block: str
    nodes: Hosts = ""


class _Blocks(_Struct):
    blocks: list[_Block] = []
    block_sizes: list[int] = []


def from_data(data: Any, source: str = "topology.yaml") -> tuple[Named, ...]:  # noqa: ANN401 - YAML
    """Return the topologies in a file that was loaded already."""
    items = _shaped(data, list[dict[str, Any]], source)
    return tuple(_named(item, f"{source}[{at}]") for at, item in enumerate(items))


def to_data(topologies: Iterable[Named]) -> list[dict[str, Any]]:
    """Return the file as data; a topology's name comes first, as Slurm wants it."""
    return [
        {"topology": named.name, "cluster_default": named.cluster_default, **_data(named.topology)}
        for named in topologies
    ]


def _named(item: Mapping[str, Any], path: str) -> Named:
    kinds = [key for key in item if key not in {"topology", "cluster_default"}]
    if len(kinds) != 1:
        why = "must have the name of a topology and one kind, such as tree or block"
        raise ConfError(Place(path), "", why)
    name = _shaped(item.get("topology"), str, f"{path}.topology")
    default = _shaped(item.get("cluster_default", False), bool, f"{path}.cluster_default")
    return Named(name, _topology(kinds[0], item[kinds[0]], f"{path}.{kinds[0]}"), default)


def _topology(kind: str, value: Any, path: str) -> Topology:  # noqa: ANN401 - any YAML
    match kind:
        case "tree":
            tree = _shaped(value, _Tree, path)
            listed = enumerate(tree.switches)
            return Tree(tuple(_switch(item, f"{path}.switches[{at}]") for at, item in listed))
        case "block":
            found = _shaped(value, _Blocks, path)
            blocks = (_block(b, f"{path}.blocks[{at}]") for at, b in enumerate(found.blocks))
            return Blocks(tuple(blocks), tuple(found.block_sizes), Place(path))
        case _:
            return Other(kind, value)


def _switch(item: _Switch, path: str) -> Switch:
    place = Place(path)
    children = _hosts(item.children, place, "children")
    return Switch(item.switch, children, _hosts(item.nodes, place, "nodes"), place=place)


def _block(item: _Block, path: str) -> Block:
    place = Place(path)
    return Block(item.block, _hosts(item.nodes, place, "nodes"), place)


def _hosts(value: Hosts, place: Place, key: str) -> tuple[str, ...]:
    return names(value if isinstance(value, str) else ",".join(value), place, key)


def _shaped(value: Any, shape: type[Shape], path: str) -> Shape:  # noqa: ANN401 - any YAML
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        # It ends with a place such as $.switches[0], where $ is what was given.
        why, _, inside = str(error).partition(" - at `$")
        raise ConfError(Place(path + inside.removesuffix("`")), "", why) from error


def _data(topology: Topology) -> dict[str, Any]:
    match topology:
        case Tree(switches):
            return {"tree": {"switches": [_switch_data(switch) for switch in switches]}}
        case Blocks(blocks, sizes, _):
            listed = [_filled(block=block.name, nodes=fold(block.nodes)) for block in blocks]
            return {"block": {**_filled(block_sizes=list(sizes)), "blocks": listed}}
        case Other(kind, data):
            return {kind: data}


def _switch_data(switch: Switch) -> dict[str, Any]:
    # There is no LinkSpeed here, and Slurm uses none.
    children, nodes = fold(switch.switches), fold(switch.nodes)
    return _filled(switch=switch.name, children=children, nodes=nodes)


def _filled(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any YAML
    return {key: value for key, value in values.items() if value}
