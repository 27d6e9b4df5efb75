"""Kubernetes' nodes, as far as they are read. Pure."""

from .objects import Resource, Slim


class Taint(Slim, frozen=True, gc=False, rename="camel"):
    """What keeps pods away from a node."""

    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Slim, frozen=True, gc=False, rename="camel"):
    """What is read of a node's spec."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeCondition(Slim, frozen=True, gc=False, rename="camel"):
    """One condition of a node."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class NodeStatus(Slim, frozen=True, gc=False, rename="camel"):
    """What became of a node."""

    conditions: tuple[NodeCondition, ...] = ()


class Node(Resource, frozen=True, gc=False, rename="camel"):
    """A node."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def ready(self) -> bool:
        """Say whether its kubelet answers."""
        return any(c.type == "Ready" and c.status == "True" for c in self.status.conditions)
