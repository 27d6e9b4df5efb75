"""What a worker's slurmd tells slurmctld about its node. Pure."""

from ..model.nodeset import NodeSet
from ..slurm import conf
from ..slurm.conf import ConfError, Place, Setting

_FEATURES = ("feature", "features")


def node_conf(nodeset: NodeSet) -> str:
    """Return the text for slurmd's --conf: the user's keys, and the feature that finds its node.

    All of it is there from the first registration on, Gres among it.
    """
    keys = node_keys(nodeset)
    theirs = [value for name in _FEATURES if name in keys for value in keys[name][1].split(",")]
    features = ",".join(sorted({nodeset.slurm_name, *filter(None, theirs)}))
    pairs = [pair for name, pair in keys.items() if name not in _FEATURES]
    lines = [Setting((("NodeName", "x"), pair)) for pair in [("Features", features), *pairs]]
    written = sorted(conf.write([line]).strip().removeprefix("NodeName=x ") for line in lines)
    return " ".join(written)


def node_keys(nodeset: NodeSet) -> dict[str, conf.Pair]:
    """Return the keys of the node that the user sets, by their names in lower case."""
    source = f"NodeSet {nodeset.part.name}, extraConf"
    # Images hand their arguments through a shell, where this is what ends the text.
    if "'" in nodeset.extra:
        raise ConfError(Place(source), "", "holds a ', which no value can have; remove it")
    told = " ".join(nodeset.extra.split())
    line = conf.parse(f"NodeName=x {told}", source=source)[0]
    found: dict[str, conf.Pair] = {}
    for key, value in line.pairs[1:] if isinstance(line, Setting) else ():
        before = found.get(key.lower())
        found[key.lower()] = (before[0], f"{before[1]},{value}") if before else (key, value)
    return found
