"""What is asked of each part of a cluster with a shared root.

Each is told which jail it has, whose mode says whether there are pods now, and which of the
cluster's objects are its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..decide.conditions import Failed, Need, Wanted, pods_failing
from ..kube import kinds
from ..model.accounting import ManagedAccounting
from ..model.cluster import Cluster
from ..model.database import ExternalDatabase, OwnDatabase
from ..model.exporter import Exporter
from ..model.jail import Jail
from ..model.jailed import Gate
from ..model.observed import Seen
from ..model.part import KeyRef
from ..model.rest import RestApi
from ..render import nodeset as workers
from ..render.jailed import accounting as render_accounting
from ..render.jailed import cluster as render_cluster
from ..render.jailed import database as render_database
from ..render.jailed import exporter as render_exporter
from ..render.jailed import login as render_login
from ..render.jailed import rest as render_rest
from ..runtime import clock
from ..runtime.apply import Rules
from .passes import Asked, host_keys, keys
from .published import LOST, published
from .secrets_once import Once
from .world import World


@dataclass(frozen=True)
class Whole:
    """A cluster with all its parts; None: the user wants it without."""

    cluster: Cluster
    jail: Jail
    gate: Gate | None = None
    rest: RestApi | None = None
    exporter: Exporter | None = None
    secrets: Sequence[Once] = ()  # keys of the whole cluster
    passwords: Sequence[Once] = ()  # of its database
    taken: Failed | None = None  # what of its database is somebody else's


# Of a part that the user wants.
Asking = Callable[[World, Whole, Jail, Rules], Asked]


def common(_: World, whole: Whole, jail: Jail, rules: Rules) -> Asked:
    """Ask for what belongs to no other part, and for what all workers share."""
    cluster = whole.cluster
    made = [*render_cluster.objects(jail), *workers.shared(cluster)]
    needs: tuple[Need, ...] = (*cluster.lacks, *keys(cluster.keys), host_keys(jail))
    return Asked(made, rules, Wanted(needs))


def accounting(world: World, whole: Whole, jail: Jail, rules: Rules) -> Asked:
    """Ask for slurmdbd, and its database where that is ours."""
    books = whole.cluster.accounting
    assert isinstance(books, ManagedAccounting), "slurmdbd is always ours here"
    if whole.taken is not None:
        # What is there stays, whoever's it is.
        return Asked((), Rules(), part=books.part, verdicts=(whole.taken,))
    needs: tuple[Need, ...] = (*keys(books.keys), *_opens(books))
    ref = books.database.password
    password = world.found(books.part.namespace).secrets.get(ref.name, {}).get(ref.key)
    if password is None:
        # What is there stays. Whoever runs the database may have to make it first.
        return Asked(render_database.objects(jail, books), Rules(), Wanted(needs), books.part)
    return Asked(
        render_accounting.objects(jail, books, _text(password, ref)),
        rules,
        Wanted(needs, pods=jail.mode.replicas(1)),
        books.part,
        (kinds.DEPLOYMENT, (books.part.namespace, render_accounting.names(books).workload)),
        verdicts=(_database(world, books),),
    )


def login(_: World, whole: Whole, jail: Jail, rules: Rules) -> Asked:
    """Ask for login nodes."""
    gate, cluster = whole.gate, whole.cluster
    assert gate is not None, "it is asked for"
    needs: tuple[Need, ...] = (*keys(cluster.keys), *((gate.sshd,) if gate.sshd else ()))
    return Asked(
        render_login.objects(cluster, jail, gate),
        rules,
        Wanted(needs, pods=jail.mode.replicas(gate.replicas)),
        gate.part,
        (kinds.STATEFUL_SET, (gate.part.namespace, gate.names.workload)),
    )


def rest(world: World, whole: Whole, jail: Jail, rules: Rules) -> Asked:
    """Ask for slurmrestd."""
    found, cluster = whole.rest, whole.cluster
    assert found is not None, "it is asked for"
    # What slurmctld uses, not what the user wants: that may be held back, for good even.
    used = published(world, cluster)
    if used is None or used is LOST:
        failed = Failed("Starting", "Slurm's configuration is not published yet")
        return Asked((), Rules(), part=found.part, verdicts=(failed,))
    return Asked(
        render_rest.objects(cluster, jail, found, used),
        rules,
        Wanted(keys(cluster.keys), pods=jail.mode.replicas(found.replicas)),
        found.part,
        (kinds.DEPLOYMENT, (found.part.namespace, found.workload or found.name)),
    )


def exporter(_: World, whole: Whole, jail: Jail, rules: Rules) -> Asked:
    """Ask for what tells Prometheus about the cluster."""
    found, asks = whole.exporter, whole.rest
    assert found is not None, "it is asked for"
    if asks is None:
        why = "there is no slurmrestd to ask; set spec.slurmNodes.rest.enabled to true"
        return Asked((), rules, part=found.part, verdicts=(Failed("Missing", why),))
    return Asked(
        render_exporter.objects(whole.cluster, jail, found, asks),
        rules,
        Wanted(pods=jail.mode.replicas(1)),
        found.part,
        (kinds.DEPLOYMENT, (found.part.namespace, found.name)),
    )


def _opens(books: ManagedAccounting) -> Iterator[KeyRef]:
    """Yield what slurmdbd and its database prove themselves with."""
    yield books.database.password
    match books.store:
        case OwnDatabase(root=root):
            yield root
        case ExternalDatabase(ca=ca, client=client):
            yield from (ref for ref in (ca, client) if ref is not None)
        case _:
            pass


def _database(world: World, books: ManagedAccounting) -> Failed | None:
    """Say what is wrong with a database of ours: slurmdbd only says that it waits."""
    if not isinstance(books.store, OwnDatabase):
        return None
    pods = world.pods(books.store.part)
    return pods_failing(Wanted(), Seen(0, clock.now(), pods=pods))


def _text(password: bytes, ref: KeyRef) -> str:
    try:
        return password.decode()
    except UnicodeDecodeError:
        raise ValueError(
            f"{ref.field}: {ref} holds no UTF-8 text; write the password as text"
        ) from None
