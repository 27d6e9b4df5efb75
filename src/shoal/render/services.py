"""Services. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..kube.objects import Object
from ..model.part import Part, ServiceWishes
from .marks import metadata


@dataclass(frozen=True)
class Port:
    """The port of one of our containers."""

    name: str
    number: int

    @property
    def opened(self) -> Object:
        """Return it as a container declares it."""
        return {"name": self.name, "containerPort": self.number, "protocol": "TCP"}


class PortError(ValueError):
    """The user's Service has a port that is ours."""


def service(
    part: Part, name: str, wishes: ServiceWishes, port: Port, selector: Mapping[str, str]
) -> Object:
    """Return a Service as the user wants it, with our port behind the user's."""
    ours: Object = {
        "name": port.name,
        "port": wishes.port,
        "protocol": "TCP",
        "targetPort": port.name,
    }
    if wishes.node_port:
        ours["nodePort"] = wishes.node_port
    theirs = list(wishes.spec.get("ports") or ())
    for asked in theirs:
        _distinct(name, asked, ours)
    # externalIPs would let anybody who may write this object catch others' traffic: CVE-2020-8554.
    spec = {key: value for key, value in wishes.spec.items() if key != "externalIPs"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(part, name, wishes.marks),
        "spec": {
            **spec,
            "selector": {**spec.get("selector", {}), **selector},
            "ports": [*theirs, ours],
        },
    }


def headless(part: Part, name: str, port: Port, selector: Mapping[str, str]) -> Object:
    """Return a Service that gives each pod a name, also before it is ready."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(part, name),
        "spec": {
            "clusterIP": "None",
            # slurmctld resolves its own name before it listens, and workers each other's.
            "publishNotReadyAddresses": True,
            "selector": dict(selector),
            "ports": [
                {
                    "name": port.name,
                    "port": port.number,
                    "protocol": "TCP",
                    "targetPort": port.name,
                }
            ],
        },
    }


def _distinct(service_name: str, theirs: Object, ours: Object) -> None:
    where = f"Service {service_name}: service.spec.ports"
    if theirs.get("name") == ours["name"]:
        raise PortError(f"{where}: the name {ours['name']} is taken by our port; choose another")
    same_protocol = theirs.get("protocol", "TCP") == ours["protocol"]
    if same_protocol and theirs.get("port") == ours["port"]:
        raise PortError(
            f"{where}: port {ours['port']} is our own; leave it out, or set service.port to "
            "move ours"
        )
