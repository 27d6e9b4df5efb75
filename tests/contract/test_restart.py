"""What a process that begins anew does about objects that it wrote in an earlier life.

Nothing, as long as nobody has touched a field of ours; for every kind, whatever the API server has
made of the fields since.
"""

import base64
from typing import Any

import pytest

from shoal.kube import kinds
from shoal.kube.kinds import Kind, Kinds
from shoal.kube.objects import Object, Resource
from shoal.kubeapi.client import Client, Which
from shoal.runtime.apply import Applier, Outcome, Rules
from shoal.runtime.store import Store

from .apis import PARENT, Api

LABELS = {"app": "w"}
CONTAINER: Object = {
    "name": "main",
    "image": "x",
    "command": ["run", "it"],
    "env": [
        {"name": "A", "value": "1"},
        {"name": "HERE", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ],
    "ports": [
        {"name": "http", "containerPort": 80},
        {"name": "dns", "containerPort": 53, "protocol": "UDP"},
    ],
    "resources": {"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": {"memory": "1Gi"}},
    "readinessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 3},
    "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}},
    "volumeMounts": [{"name": "conf", "mountPath": "/etc/x"}, {"name": "run", "mountPath": "/run"}],
}
POD_SPEC: Object = {
    "containers": [CONTAINER],
    "volumes": [
        {"name": "conf", "projected": {"sources": [{"configMap": {"name": "c"}}]}},
        {"name": "run", "emptyDir": {}},
    ],
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "hostAliases": [],
    "securityContext": {},
    "terminationGracePeriodSeconds": 5,
}
TEMPLATE: Object = {"metadata": {"labels": LABELS}, "spec": POD_SPEC}
ENDING: Object = {"spec": {**POD_SPEC, "restartPolicy": "Never"}}
JOB: Object = {"template": ENDING}
CLAIM: Object = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}
WORD = base64.b64encode(b"word").decode()
API = "rbac.authorization.k8s.io"
RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}

PORTS = [{"name": "http", "port": 80, "targetPort": "http"}, {"name": "b", "port": 81}]
SELECTED: Object = {"selector": {"matchLabels": LABELS}}
ONE, OTHER = {"name": "a", "a": "1"}, {"name": "b", "b": "2"}
SHAPES = {"map": {"a": "b"}, "list": ["x"], "tags": ["t", "u"], "whole": {"a": "b"}}

# Of each kind: what it says, and what a stranger then changes of that.
OBJECTS: dict[Kind, tuple[Object, Object]] = {
    PARENT: (
        {"spec": {"replicas": 1, "items": [ONE, OTHER], **SHAPES}},
        {"spec": {"items": [{"name": "a", "a": "2"}, OTHER]}},
    ),
    kinds.CONFIG_MAP: ({"data": {"a": "1", "b": "2"}}, {"data": {"a": None}}),
    kinds.SECRET: ({"type": "Opaque", "data": {"a": WORD}}, {"data": {"a": ""}}),
    kinds.SERVICE: (
        {"spec": {"selector": LABELS, "clusterIP": "None", "ports": PORTS}},
        {"spec": {"selector": {"app": "another"}}},
    ),
    kinds.SERVICE_ACCOUNT: (
        {"automountServiceAccountToken": False},
        {"automountServiceAccountToken": True},
    ),
    kinds.DEPLOYMENT: (
        {"spec": {"replicas": 2, "template": TEMPLATE, **SELECTED}},
        {"spec": {"replicas": 5}},
    ),
    kinds.STATEFUL_SET: (
        {
            "spec": {
                "replicas": 1,
                "serviceName": "w",
                "template": TEMPLATE,
                "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": CLAIM}],
                **SELECTED,
            }
        },
        {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 6}}}},
    ),
    kinds.DAEMON_SET: (
        {"spec": {"template": TEMPLATE, **SELECTED}},
        {"metadata": {"labels": {"part": "another"}}},
    ),
    kinds.JOB: (
        {"spec": {"backoffLimit": 3, "parallelism": 1, "template": ENDING}},
        {"spec": {"parallelism": 2}},
    ),
    kinds.CRON_JOB: (
        {"spec": {"schedule": "* * * * *", "suspend": True, "jobTemplate": {"spec": JOB}}},
        {"spec": {"suspend": False}},
    ),
    kinds.PERSISTENT_VOLUME_CLAIM: ({"spec": CLAIM}, {"metadata": {"ownerReferences": None}}),
    kinds.POD_DISRUPTION_BUDGET: (
        {"spec": {"maxUnavailable": 0, **SELECTED}},
        {"spec": {"maxUnavailable": 1}},
    ),
    kinds.ROLE: ({"rules": [RULE]}, {"rules": []}),
    kinds.ROLE_BINDING: (
        {
            "roleRef": {"apiGroup": API, "kind": "Role", "name": "w"},
            "subjects": [{"kind": "ServiceAccount", "name": "w", "namespace": "x"}],
        },
        {"subjects": None},
    ),
    kinds.POD: ({"spec": POD_SPEC}, {"metadata": {"labels": {"part": None}}}),
}


async def applied(api: Api, client: Client, owner: Object, wanted: Object) -> Outcome:
    """Apply, as a process that has just begun and listed what there is."""
    kind = Kinds(PARENT).of(wanted)
    store: Store[Any] = Store(kind, Resource)
    for found in await client.every(Which(kind, api.namespace), Resource):
        store.put(found)
    applier = Applier(client, {kind: store}, Kinds(PARENT))
    return await applier.apply(owner, [wanted], Rules(post=(kinds.POD,)))


@pytest.mark.parametrize("kind", OBJECTS, ids=lambda kind: kind.kind)
async def test_a_restart_writes_nothing_unless_a_stranger_touched_a_field_of_ours(api, kind):
    said, change = OBJECTS[kind]
    owner = await api.create(api.config_map("owner"))
    wanted = api.obj(kind, "w", **said)
    wanted["metadata"]["labels"] = {"part": "w"}
    async with api.connect("shoal") as client:
        assert (await applied(api, client, owner, wanted)).written == 1
        assert (await applied(api, client, owner, wanted)).written == 0
        good = await api.get(kind, "w")

        # What others add beside our fields is theirs.
        beside = {"metadata": {"annotations": {"beside": "x"}}}
        await api.client.patch(api.ref(kind, "w"), beside, dict)
        assert (await applied(api, client, owner, wanted)).written == 0

        touched = await api.client.patch(api.ref(kind, "w"), change, dict)
        assert differences(good, touched)
        assert (await applied(api, client, owner, wanted)).written == 1
        assert differences(good, await api.get(kind, "w")) == set()
        assert (await applied(api, client, owner, wanted)).written == 0


def differences(one: Object, other: Object) -> set[str]:
    """Name the parts in which two states of an object differ, as far as users know them."""
    own = ("metadata", "status")
    parts = {key for key in {*one, *other} - set(own) if one.get(key) != other.get(key)}
    kept = ("labels", "ownerReferences")
    return parts | {k for k in kept if one["metadata"].get(k) != other["metadata"].get(k)}
