"""What the claims of a NodeSet's workers are called. Pure."""

from ..kube.objects import Object
from .nodeset import NodeSet


def claim_name(nodeset: NodeSet, template: Object, whose: str) -> str:
    """Return a claim's name; `whose` is a worker's number as names have it, or its hostname."""
    name: str = template["metadata"]["name"]
    return f"{name}-{nodeset.part.name}-{whose}"
