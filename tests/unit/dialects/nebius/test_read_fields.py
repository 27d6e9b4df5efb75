"""Every field of both releases changes what is made, and every reference is known."""

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from shoal.dialects.nebius import read
from shoal.dialects.nebius.read import Around
from shoal.model.observed import Found

from ..tables import Row, Table
from .fields import HEAD, SEED
from .objects import make, nodes, patched
from .objects import read as read_object
from .readings import NOTHING, understood
from .without_effect import NO_EFFECT, why

# -- the fields


def leaves(table: Table) -> list[Row]:
    """Return the fields that hold no others."""
    parents = {
        path[: match.start()] for path in table.paths for match in re.finditer(r"(\[\])?\.", path)
    }
    specs = [row for row in table.rows if row.path.startswith("spec.")]
    return [row for row in specs if row.path not in parents]


EVERY = {(table.kind, row.path): row for table in (*SEED, *HEAD) for row in leaves(table)}

# -- what stands beside them: a cluster that has all parts

JAIL = {"volumeSourceName": "jail"}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
MOUNT = {"name": "m", "mountPath": "/m", **JAIL}
SET_MOUNT = {"name": "m", "mountPath": "/m", "volumeSource": {"emptyDir": {}}}
EXTERNAL = {
    "enabled": True,
    "host": "db",
    "user": "u",
    "passwordSecretKeyRef": {"name": "pw", "key": "k"},
    "tls": {"serverCASecretRef": "ca"},
}
WHOLE: dict[str, dict[str, Any]] = {
    "SlurmCluster": {
        "k8sNodeFilters": [
            {"name": "any", "nodeSelector": {"pool": "a"}},
            {"name": "other", "nodeSelector": {"pool": "b"}},
        ],
        "healthCheckConfig": {
            "healthCheckInterval": 9,
            "healthCheckProgram": "/p",
            "healthCheckNodeState": [{"state": "ANY"}],
        },
        "workerFeatures": [{"name": "f", "hostlistExpr": "worker-0", "nodesetName": "s"}],
        "plugStackConfig": {"customPlugins": [{"path": "/a.so"}]},
        "slurmNodes": {
            "accounting": {"enabled": True, "mariadbOperator": {"enabled": True, "image": "db"}},
            "controller": {"slurmctld": {"image": "slurmctld:26.05"}},
            "exporter": {"enabled": True},
            "rest": {"enabled": True},
        },
    },
    "NodeSet": {},
}
# What has to stand beside a field more than that, by patterns; the longest that fits counts.
CONTEXTS: dict[str, dict[str, Any]] = {
    "SlurmCluster spec.k8sNodeFilters[[]].name": {
        "k8sNodeFilters": [{"name": "any", "nodeSelector": {"a": "1"}}, {"name": "any"}]
    },
    "SlurmCluster spec.partitionConfiguration.rawConfig": {
        "partitionConfiguration": {"configType": "custom"}
    },
    "SlurmCluster spec.partitionConfiguration.configType": {
        "partitionConfiguration": {"rawConfig": ["PartitionName=x Nodes=ALL"]}
    },
    "SlurmCluster spec.partitionConfiguration.partitions*": {
        "partitionConfiguration": {"configType": "structured", "partitions": [{"name": "p"}]}
    },
    "SlurmCluster spec.slurmConfig.topologyParam": {
        "slurmConfig": {"topologyPlugin": "topology/flat"}
    },
    "SlurmCluster spec.plugStackConfig.pyxis.useSquashfuse": {
        "plugStackConfig": {"pyxis": {"importerPath": "/i"}}
    },
    "SlurmCluster spec.slurmNodes.accounting.externalDB.*": nodes(
        accounting={"mariadbOperator": None, "externalDB": EXTERNAL}
    ),
    "SlurmCluster spec.slurmNodes.accounting.externalDB.enabled": nodes(
        accounting={"externalDB": {**EXTERNAL, "enabled": None}}
    ),
    "SlurmCluster spec.slurmNodes.login.sshdServiceNodePort": nodes(
        login={"sshdServiceType": "NodePort"}
    ),
    "SlurmCluster spec.slurmNodes.rest.enabled": nodes(rest={"size": 2}),
    "SlurmCluster spec.slurmNodes.worker.enableGDRCopy": {"clusterType": "gpu"},
    "SlurmCluster spec.slurmNodes.controller.openMetrics.*": nodes(controller={"openMetrics": {}}),
    **{
        f"SlurmCluster spec.slurmNodes.{part}.volumes.{mounts}*": nodes(
            **{part: {"volumes": {mounts: [MOUNT]}}}
        )
        for part in ("controller", "login", "worker")
        for mounts in ("customMounts", "jailSubMounts")
    },
    "NodeSet spec.slurmd.volumes.customVolumeMounts*": {
        "slurmd": {"volumes": {"customVolumeMounts": [SET_MOUNT]}}
    },
    "NodeSet spec.slurmd.volumes.jailSubMounts*": {
        "slurmd": {"volumes": {"jailSubMounts": [SET_MOUNT]}}
    },
    "NodeSet spec.gpu.nvidia.gdrCopyEnabled": {"gpu": {"enabled": True}},
}
# Two values that differ, by patterns; the longest that fits counts.
VALUES: dict[str, tuple[Any, Any]] = {
    "*.appArmorProfile": ("unconfined", "runtime/default"),
    "*.k8sNodeFilterName": ("any", "other"),
    "*.volumeSourceName": ("jail", "spool"),
    "*.healthCheckNodeState[[]].state": ("ANY", "IDLE"),
    "*.k8sNodeFilters[[]].name": ("any", "else"),
    "*.rawConfig": (["PartitionName=a Nodes=ALL"], ["PartitionName=b Nodes=ALL"]),
    "*.nodeSetRefs": ([], ["gpu"]),
    "*.partitions[[]].config": ("MaxTime=1", "MaxTime=2"),
    "*.customSlurmConfig": ("KillWait=1", "KillWait=2"),
    "*.customCgroupConfig": ("ConstrainCores=yes", "ConstrainCores=no"),
    "*.maintenance": ("none", "downscale"),
    "*.sshdServiceType": ("LoadBalancer", "NodePort"),
    "*.maxUnavailable": (1, "20%"),
    "*.nodeConfig.static": ("Weight=1", "Weight=2"),
    "*.nodeConfig.gresConfig": (["Name=gpu Count=1"], ["Name=gpu Count=2"]),
    "*.serviceMonitor.endpoints": (["jobs"], ["nodes"]),
    "*.slurmConfig.topologyPlugin": ("topology/flat", "topology/3d_torus"),
    "*.spool": ({"emptyDir": {}}, {"volumeClaimTemplateSpec": CLAIM}),
    "*.volumeSources": (
        [{"name": name, "nfs": {"path": "/a"}} for name in ("jail", "spool")],
        [{"name": name, "nfs": {"path": "/b"}} for name in ("jail", "spool")],
    ),
    "*.clusterName": ("slurm", "other"),
}
BY_TYPE: dict[str, tuple[Any, Any]] = {
    "string": ("a", "b"),
    "integer": (1, 2),
    "boolean": (True, False),
    "int-or-string": ("1Gi", "2Gi"),
    "array<string>": (["a"], ["b"]),
    "map<string>": ({"x": "1"}, {"x": "2"}),
    "map<int-or-string>": ({"memory": "1Gi"}, {"memory": "2Gi"}),
    "k8s:Probe": ({"tcpSocket": {"port": 1}}, {"tcpSocket": {"port": 2}}),
    "k8s:PersistentVolumeClaimSpec": (CLAIM, {**CLAIM, "storageClassName": "fast"}),
    "array<k8s:EnvVar>": ([{"name": "A", "value": "1"}], [{"name": "A", "value": "2"}]),
    "array<k8s:Container>": ([{"name": "i", "image": "a"}], [{"name": "i", "image": "b"}]),
    "k8s:Volume(Source)": ({"nfs": {"path": "/a"}}, {"nfs": {"path": "/b"}}),
    "array<k8s:Toleration>": ([{"operator": "Exists"}], [{"operator": "Exists", "key": "a"}]),
    "k8s:Affinity": ({"nodeAffinity": {"a": [1]}}, {"nodeAffinity": {"a": [2]}}),
    "k8s:SecurityContext": ({"runAsUser": 1}, {"runAsUser": 2}),
    "k8s:PodSecurityContext": ({"fsGroup": 1}, {"fsGroup": 2}),
    "array<k8s:EnvFromSource>": ([{"prefix": "a"}], [{"prefix": "b"}]),
    "k8s:LabelSelector": ({"matchLabels": {"a": "1"}}, {"matchLabels": {"a": "2"}}),
}
# Fields that no object shows: the operator itself goes by them.
UNSEEN = (
    "SlurmCluster spec.slurmNodes.accounting.externalDB.passwordSecretKeyRef.key",
    "SlurmCluster spec.slurmNodes.accounting.externalDB.passwordSecretKeyRef.name",
    "SlurmCluster spec.slurmNodes.worker.size",
    "SlurmCluster spec.slurmNodes.worker.maxUnavailable",
    "NodeSet spec.replicas",
    "NodeSet spec.maxUnavailable",
    "NodeSet spec.slurmd.volumes.persistentVolumeClaimRetentionPolicy.whenDeleted",
    "NodeSet spec.slurmd.volumes.persistentVolumeClaimRetentionPolicy.whenScaled",
)
# What an operator may find around it: what a field is for may need it.
AROUND = Around(NOTHING, app_armor=True)
OPERATED = Around(NOTHING, app_armor=True, mariadb=True)
DATABASE = "spec.slurmNodes.accounting.mariadbOperator."


def fitting(table: dict[str, Any], named: str) -> Any:
    """Return what the longest pattern that fits says; None: none fits."""
    fits = [key for key in table if fnmatchcase(named, key)]
    return table[max(fits, key=len)] if fits else None


def values(kind: str, row: Row) -> tuple[Any, Any]:
    """Return two values of a field."""
    if found := fitting(VALUES, f"{kind} {row.path}"):
        return found
    if enum := row.constraints.get("enum"):
        return enum[0], enum[1]
    return BY_TYPE[row.type]


def with_field(spec: Any, words: list[str], value: Any) -> Any:
    """Return `spec` with the field at `words` set; of a list, that of the first item."""
    if not words:
        return value
    word, name = words[0], words[0].removesuffix("[]")
    before = spec.get(name) if isinstance(spec, dict) else None
    if word.endswith("[]"):
        item, *rest = before or [{}]
        return {**(spec or {}), name: [with_field(item, words[1:], value), *rest]}
    return {**(spec or {}), name: with_field(before or {}, words[1:], value)}


def world(kind: str, path: str, value: Any, around: Around) -> Any:
    """Return a whole cluster whose object of `kind` has a field set."""
    context = fitting(CONTEXTS, f"{kind} {path}") or {}
    specs = {name: patched(spec, context if name == kind else {}) for name, spec in WHOLE.items()}
    objs = [
        make("SlurmCluster", **specs["SlurmCluster"]),
        make("NodeSet", "gpu", **specs["NodeSet"]),
    ]
    changed = objs[0] if kind == "SlurmCluster" else objs[1]
    changed["spec"] = with_field(changed["spec"], path.split(".")[1:], value)
    return understood(*objs, around=around)


@pytest.mark.parametrize(("kind", "path"), EVERY)
def test_a_field_changes_what_is_made_unless_it_is_said_why_not(kind, path):
    # Some of a database's are for ours alone, some for mariadb-operator's.
    arounds = (AROUND, OPERATED) if path.startswith(DATABASE) else (AROUND,)
    one, other = (
        [world(kind, path, value, around) for around in arounds]
        for value in values(kind, EVERY[kind, path])
    )
    assert (one == other) is bool(why(kind, path))
    if one != other and f"{kind} {path}" not in UNSEEN:
        assert [w.objects for w in one] != [w.objects for w in other]


def test_every_line_of_the_tables_here_fits_a_field():
    fields = [f"{kind} {path}" for kind, path in EVERY]
    beside = {
        "SlurmCluster spec.slurmNodes.worker.slurmd.livenessProbe",  # of neither release
        "SlurmCluster spec.slurmNodes.controller.volumes.jailSubMounts*",
    }
    for table in (NO_EFFECT, CONTEXTS, VALUES, dict.fromkeys(UNSEEN)):
        idle = {key for key in table if not any(fnmatchcase(field, key) for field in fields)}
        assert idle <= beside


def test_there_are_fields_to_look_at():
    assert len(EVERY) > 600
    assert {kind for kind, _ in EVERY} == {"SlurmCluster", "NodeSet"}


# -- the guide

ROW = re.compile(r"^\| (?P<kind>\w+) \| `(?P<field>[\w.*]+)` \| (?P<why>[^|]+) \|$", re.M)


def test_the_guide_has_each_field_without_effect_and_says_why():
    guide = (Path(__file__).parents[4] / "docs/nebius.md").read_text()
    table = guide.partition("## Fields without effect")[2].partition("\n## ")[0]
    told = {f"{row['kind']} {row['field']}": row["why"] for row in ROW.finditer(table)}
    assert told == NO_EFFECT


# -- references

NAMED = {
    "spec.secrets.sshdKeysName": "Secret",
    "spec.slurmNodes.login.sshdConfigMapRefName": "ConfigMap",
    "spec.slurmNodes.worker.sshdConfigMapRefName": "ConfigMap",
    "spec.slurmNodes.worker.supervisordConfigMapRefName": "ConfigMap",
    "spec.slurmNodes.accounting.externalDB.passwordSecretKeyRef.name": "Secret",
    "spec.slurmNodes.accounting.externalDB.tls.serverCASecretRef": "Secret",
    "spec.slurmNodes.accounting.externalDB.tls.clientCertSecretRef": "Secret",
    "spec.configMapRefSshd": "ConfigMap",
    "spec.configMapRefSupervisord": "ConfigMap",
    "spec.clusterName": "SlurmCluster",
}


@pytest.mark.parametrize("path", NAMED)
def test_whatever_an_object_names_it_can_be_found_by(path):
    kind = next(kind for kind, found in EVERY if found == path)
    context = fitting(CONTEXTS, f"{kind} {path}") or {}
    obj = make(kind, **patched(WHOLE[kind], context))
    obj["spec"] = with_field(obj["spec"], path.split(".")[1:], "there")
    assert f"prod/{NAMED[path]}/there" in list(read.references(read_object(obj)))


def test_what_reads_contents_is_found_by_all_of_it():
    """Whatever is looked up while an object is read is among what it is found by."""
    asked: set[str] = set()

    class Noting(dict[str, Any]):
        def __init__(self, kind: str) -> None:
            super().__init__()
            self.kind = kind

        def get(self, name: str, default: Any = None) -> Any:
            asked.add(f"prod/{self.kind}/{name}")
            return default

    around = Around(Found(Noting("ConfigMap"), Noting("Secret")))
    refs = {"sshdConfigMapRefName": "one", "supervisordConfigMapRefName": "two"}
    spec = patched(WHOLE["SlurmCluster"], nodes(worker=refs, login={"sshdConfigMapRefName": "x"}))
    for database in ({}, {"mariadbOperator": None, "externalDB": EXTERNAL}):
        obj = make("SlurmCluster", **patched(spec, nodes(accounting=database)))
        asked.clear()
        understood(obj, around=around)
        # Its own configuration is owned by it.
        own = {"prod/ConfigMap/slurm-slurm-configs"}
        assert asked - own <= set(read.references(read_object(obj)))
        assert len(asked) > 5
