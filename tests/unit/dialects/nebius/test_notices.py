import pytest

from shoal.dialects.nebius import notices
from shoal.dialects.nebius.notices import unsupported

from ..tables import at
from .fields import NEW, OLD
from .objects import make, nodes, read
from .test_crds import schema_of

PROBE = {"tcpSocket": {"port": 6818}}
SSSD = {"sssd": {"image": "sssd"}}
CASES = [
    ("SlurmCluster", {"topology": {"blockSize": 4}}, "spec.topology.blockSize"),
    ("SlurmCluster", {"slurmConfig": {"suspendTime": 60}}, "spec.slurmConfig.suspendTime"),
    ("SlurmCluster", nodes(controller=SSSD), "spec.slurmNodes.controller.sssd"),
    ("SlurmCluster", nodes(login={"sssdConfSecretRefName": "a"}), "spec.slurmNodes.login.sssd"),
    (
        "SlurmCluster",
        nodes(login={"userIsolation": {"enabled": True}}),
        "spec.slurmNodes.login.userIsolation",
    ),
    (
        "SlurmCluster",
        nodes(exporter={"exporter": {"image": "a"}}),
        "spec.slurmNodes.exporter.exporter",
    ),
    (
        "SlurmCluster",
        nodes(worker={"slurmd": {"livenessProbe": PROBE}}),
        "spec.slurmNodes.worker.slurmd.livenessProbe",
    ),
    ("NodeSet", {"ephemeralNodes": True}, "spec.ephemeralNodes"),
    ("NodeSet", {"docker": {}}, "spec.docker"),
    ("NodeSet", {"topology": {"fabric": "a"}}, "spec.topology.fabric"),
    ("NodeSet", {"sssdLdapCAConfigMapRefName": "a"}, "spec.sssd"),
    ("NodeSet", {"workerInitRandomDelaySeconds": 9}, "spec.workerInitRandomDelaySeconds"),
    ("NodeSet", {"nodeConfig": {"autoResume": False}}, "spec.nodeConfig.autoResume"),
    ("NodeSet", {"slurmd": {"livenessProbe": PROBE}}, "spec.slurmd.livenessProbe"),
]


@pytest.mark.parametrize(("kind", "spec", "field"), CASES, ids=[c[2] for c in CASES])
def test_a_field_that_asks_for_what_is_not_there_is_named(kind, spec, field):
    assert unsupported(read(make(kind, **spec))) == (field,)


@pytest.mark.parametrize("kind", ["SlurmCluster", "NodeSet"])
def test_an_object_that_asks_for_nothing_new_is_told_nothing(kind):
    assert unsupported(read(make(kind))) == ()


OFF = [
    ("SlurmCluster", nodes(login={"userIsolation": {"enabled": False}})),
    ("NodeSet", {"docker": {"enabled": False}}),
    ("NodeSet", {"topology": {"fabric": "root"}}),
]


@pytest.mark.parametrize(("kind", "spec"), OFF, ids=str)
def test_what_is_switched_off_asks_for_nothing(kind, spec):
    assert unsupported(read(make(kind, **spec))) == ()


def test_every_line_has_a_case_and_names_a_field_that_there_is():
    lines = {("SlurmCluster", field) for field in notices.CLUSTER}
    lines |= {("NodeSet", field) for field in notices.NODE_SET}
    assert lines == {(kind, field) for kind, _, field in CASES}
    assert all(at(schema_of(NEW[kind]), field) for kind, field in lines)


def test_no_field_of_the_contract_is_without_effect_but_one_that_was_deprecated_there():
    named = {field for field in (*notices.CLUSTER, *notices.NODE_SET)}
    known = {path for table in OLD.values() for path in table.paths}
    assert named & known == {"spec.slurmNodes.exporter.exporter"}
