"""Which objects of a SlurmCluster are of which part, and may go with it."""

from collections.abc import Mapping

from ..dialects.nebius import naming
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Resource
from ..runtime.apply import Rules

# What each part is made of, by the label of its component. Some objects of slurmctld have none, or
# one of their own: the pod that tries a configuration must not be taken for slurmctld.
COMPONENTS: Mapping[str, tuple[frozenset[str], tuple[Kind, ...]]] = {
    naming.COMMON: (
        frozenset({naming.COMMON}),
        (
            kinds.CONFIG_MAP,
            kinds.SERVICE,
            kinds.POD_DISRUPTION_BUDGET,
            kinds.APP_ARMOR_PROFILE,
        ),
    ),
    naming.ACCOUNTING: (
        frozenset({naming.ACCOUNTING, naming.DATABASE}),
        (
            kinds.DEPLOYMENT,
            kinds.STATEFUL_SET,
            kinds.SERVICE,
            kinds.SECRET,
            kinds.MARIADB,
            kinds.GRANT,
        ),
    ),
    naming.CONTROLLER: (
        frozenset({naming.CONTROLLER, f"{naming.CONTROLLER}-placeholder", ""}),
        (
            kinds.STATEFUL_SET,
            kinds.SERVICE,
            kinds.CONFIG_MAP,
            kinds.DAEMON_SET,
            kinds.SERVICE_MONITOR,
            kinds.POD,
        ),
    ),
    naming.LOGIN: (
        frozenset({naming.LOGIN}),
        (kinds.STATEFUL_SET, kinds.SERVICE, kinds.CONFIG_MAP),
    ),
    naming.REST: (frozenset({naming.REST}), (kinds.DEPLOYMENT, kinds.SERVICE)),
    naming.EXPORTER: (
        frozenset({naming.EXPORTER}),
        (
            kinds.DEPLOYMENT,
            kinds.POD_MONITOR,
            kinds.ROLE_BINDING,
            kinds.ROLE,
            kinds.SERVICE_ACCOUNT,
        ),
    ),
    naming.WORKERS: (frozenset({naming.WORKERS}), (kinds.CONFIG_MAP, kinds.SERVICE)),
}
PARTS = (
    naming.COMMON,
    naming.ACCOUNTING,
    naming.CONTROLLER,
    naming.LOGIN,
    naming.REST,
    naming.EXPORTER,
)
OF_NODE_SETS = Rules(prune=(kinds.CONFIG_MAP, kinds.SERVICE))


def rules(part: str) -> Rules:
    """Return which of a cluster's objects are of one part, and may go with it."""
    components, made = COMPONENTS[part]

    def among(obj: Resource) -> bool:
        return obj.metadata.labels.get(naming.COMPONENT, "") in components

    return Rules(prune=made, among=among)
