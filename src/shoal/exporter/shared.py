"""What collectors tell each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .snapshot import Place


@dataclass
class Shared:
    """What was seen last; each part has one collector that writes it."""

    instances: Mapping[str, str] = field(default_factory=dict)  # ids by node, of the nodes
    places: Mapping[str, Place] = field(default_factory=dict)  # by node, of the topology
