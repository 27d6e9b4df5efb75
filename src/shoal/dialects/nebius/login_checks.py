"""What is checked of login nodes in a SlurmCluster of slurm.nebius.ai. Pure."""

import ipaddress
from decimal import Decimal

from ...kube import quantities
from ...kube.findings import Doubtful, Finding, Findings, Lookups, Wrong
from ...kube.kinds import CONFIG_MAP
from ...kube.values import existing
from . import shapes
from .node_types import Login, UserIsolation

FIELD = "spec.slurmNodes.login"
KEYS = f"{FIELD}.sshRootPublicKeys"
ISOLATION = f"{FIELD}.userIsolation"
# What Kubernetes gives to NodePorts unless its API server is told otherwise.
NODE_PORTS = range(30000, 32768)
_KEY_TYPES = ("ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")
# Of the memory of sshd's container, where the user does not say (as upstream has them).
HIGH = Decimal("0.8")
MOST = Decimal("0.9")


def login(found: Login, namespace: str, ask: Lookups) -> Findings:
    """Check login nodes; with a size of 0 there are none, and nothing to check."""
    if found.size == 0:
        return
    yield from _root_keys(found.ssh_root_public_keys)
    yield from _service(found)
    named = {f"{FIELD}.sshdConfigMapRefName": found.sshd_config_map_ref_name or ""}
    yield from existing(CONFIG_MAP, namespace, named, ask)
    if found.user_isolation is not None and found.user_isolation.enabled:
        yield from _isolation(found.user_isolation, found.sshd.resources.get("memory"))


def _root_keys(keys: tuple[str, ...]) -> Findings:
    if not any(key.strip() for key in keys):
        yield Wrong(KEYS, "is empty, so nobody could log in; add a public key, or set size to 0")
    for number, key in enumerate(keys):
        at = f"{KEYS}[{number}]"
        if not key.strip().isprintable():
            yield Wrong(at, "is more than one line; write each key as an entry of its own")
        elif key.strip() and not any(word.startswith(_KEY_TYPES) for word in key.split()):
            yield Doubtful(at, "is no public key that we know; it starts as ssh-ed25519 AAAA")


def _service(found: Login) -> Findings:
    port, kind = found.sshd_service_node_port, found.sshd_service_type
    if kind not in ("LoadBalancer", "NodePort"):
        yield Wrong(f"{FIELD}.sshdServiceType", f"{kind!r} is none; use LoadBalancer or NodePort")
    if kind == "NodePort" and port not in NODE_PORTS:
        message = f"must be a port from {NODE_PORTS[0]} to {NODE_PORTS[-1]}, got {port}"
        yield Wrong(f"{FIELD}.sshdServiceNodePort", message)
    address = found.sshd_service_load_balancer_ip
    ranges = found.sshd_service_load_balancer_source_ranges
    if kind == "NodePort" and (address or ranges):
        yield Doubtful(f"{FIELD}.sshdServiceType", "NodePort has no address and no source ranges")
    if address and not _is_network(address, single=True):
        message = f"{address!r} is no address; write it as 10.0.0.7"
        yield Wrong(f"{FIELD}.sshdServiceLoadBalancerIP", message)
    for number, text in enumerate(ranges):
        if not _is_network(text, single=False):
            message = f"{text!r} is no range; write it as 10.0.0.0/8"
            yield Wrong(f"{FIELD}.sshdServiceLoadBalancerSourceRanges[{number}]", message)


def _is_network(text: str, *, single: bool) -> bool:
    try:
        if single:
            ipaddress.ip_address(text)
        else:
            ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return single or "/" in text


def _isolation(found: UserIsolation, memory: int | str | None) -> Findings:
    """Check what one user may take: more than nothing, less than all, the soft limit first."""
    asked = {"memoryHigh": found.memory_high, "memoryMax": found.memory_max}
    wrong: list[Finding] = []
    for name, value in asked.items():
        if value is not None:
            wrong.extend(shapes.quantity(f"{ISOLATION}.{name}", value))
    yield from wrong
    if wrong or not _is_amount(memory):
        return
    whole = quantities.parse(memory or 0)
    high, most = (quantities.parse(v) if v is not None else None for v in asked.values())
    for name, amount in (("memoryHigh", high), ("memoryMax", most)):
        if amount is not None and amount >= whole:
            message = f"must be less than the memory of sshd's container, {memory}; lower it"
            yield Wrong(f"{ISOLATION}.{name}", message)
    if (high if high is not None else whole * HIGH) > (most if most is not None else whole * MOST):
        message = "is more than memoryMax; set both, or neither"
        usual = "without a value they are 80 % and 90 % of the memory of sshd's container"
        yield Wrong(f"{ISOLATION}.memoryHigh", f"{message}: {usual}")


def _is_amount(value: int | str | None) -> bool:
    try:
        return value is not None and quantities.parse(value) > 0
    except ValueError:
        return False
