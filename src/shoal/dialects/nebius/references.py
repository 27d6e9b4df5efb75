"""What an object of slurm.nebius.ai names, so that it can be found by that. Pure."""

from collections.abc import Iterator

from ...kube.objects import Resource
from ..contents import reference
from . import defaults
from .accounting_types import Accounting
from .naming import Names
from .nodeset_types import NodeSet
from .types import SlurmCluster

SECRET, CONFIG_MAP, CLUSTER = "Secret", "ConfigMap", "SlurmCluster"
Named = tuple[str, str | None]  # kind and name


def references(obj: Resource) -> Iterator[str]:
    """Name what an object refers to, each as namespace/Kind/name, so that it can be found by it."""
    for kind, name in _named(obj):
        if name:
            yield reference(obj.metadata.namespace, kind, name)


def _named(obj: Resource) -> Iterator[Named]:
    match obj:
        case SlurmCluster():
            return _of_cluster(obj)
        case NodeSet():
            return _of_nodeset(obj)
        case _:
            return iter(())


def _of_nodeset(obj: NodeSet) -> Iterator[Named]:
    yield CLUSTER, defaults.cluster_of(obj)
    yield CONFIG_MAP, obj.spec.config_map_ref_sshd
    yield CONFIG_MAP, obj.spec.config_map_ref_supervisord


def _of_cluster(obj: SlurmCluster) -> Iterator[Named]:
    names, nodes = Names(obj.metadata.name), obj.spec.slurm_nodes
    # Those that are made once are not all owned by the cluster: what they open may outlive it.
    yield SECRET, names.munge
    yield SECRET, names.jwt
    yield SECRET, defaults.sshd_keys(obj)
    yield CONFIG_MAP, nodes.login.sshd_config_map_ref_name
    if nodes.worker is not None:
        yield CONFIG_MAP, nodes.worker.sshd_config_map_ref_name
        yield CONFIG_MAP, nodes.worker.supervisord_config_map_ref_name
    if nodes.accounting.enabled:
        yield from _of_accounting(names, nodes.accounting)


def _of_accounting(names: Names, found: Accounting) -> Iterator[Named]:
    theirs = found.external_db
    if theirs.enabled:
        ref, tls = theirs.password_secret_key_ref, theirs.tls
        yield SECRET, ref.name if ref else None
        yield SECRET, tls.server_ca_secret_ref if tls else None
        yield SECRET, tls.client_cert_secret_ref if tls else None
        return
    for one in (names, Names(names.cluster, legacy=True)):
        yield SECRET, one.database_password
        yield SECRET, one.database_root
