"""What is judged of one object alone, case by case, and what others are needed for."""

import pytest
import yaml

from shoal.dialects.nebius.types import KINDS
from shoal.kube.findings import Known
from shoal.kube.kinds import CONFIG_MAP, SECRET

from .fields import DATA
from .objects import nodes
from .reviews import created


def cases(file):
    """Return the cases of a file, each with a readable id."""
    found = yaml.safe_load((DATA / file).read_text())
    return [pytest.param(case, id=f"{case['kind']}-{case['spec']}") for case in found]


def judged(case):
    return created(case["kind"], "workers", **case["spec"])


@pytest.mark.parametrize("kind", [kind.kind for kind in KINDS])
def test_a_plain_object_passes_without_a_word(kind):
    verdict = created(kind, "workers")
    assert (verdict.errors, verdict.warnings) == ((), ())


@pytest.mark.parametrize("case", cases("accepted.yaml"))
def test_what_is_right_passes_without_a_word(case):
    assert judged(case).errors == ()
    assert judged(case).warnings == ()


@pytest.mark.parametrize("case", cases("refused.yaml"))
def test_what_is_wrong_is_refused_with_its_field_and_a_cure(case):
    found = [error.message for error in judged(case).errors if error.field == case["field"]]
    assert any(case["words"] in message for message in found), judged(case).errors


@pytest.mark.parametrize("case", cases("doubtful.yaml"))
def test_what_is_doubtful_passes_with_a_warning(case):
    assert judged(case).errors == ()
    assert any(w.startswith(case["words"]) for w in judged(case).warnings), judged(case).warnings


def test_slurm_can_call_the_cluster_by_its_name():
    (error,) = created("SlurmCluster", "a" * 41).errors
    assert (error.field, "40 characters or fewer" in error.message) == ("metadata.name", True)
    assert created("SlurmCluster", "a" * 40).errors == ()


# -- what others are needed for

NOTHING = Known(all_of=frozenset({*KINDS, CONFIG_MAP, SECRET}))


@pytest.mark.parametrize(
    ("kind", "spec", "warning"),
    [
        ("NodeSet", {}, "spec.clusterName: there is no SlurmCluster 'slurm' yet"),
        ("NodeSet", {"configMapRefSshd": "a"}, "spec.configMapRefSshd: there is no ConfigMap 'a'"),
        (
            "SlurmCluster",
            nodes(login={"sshdConfigMapRefName": "a"}),
            "spec.slurmNodes.login.sshdConfigMapRefName: there is no ConfigMap 'a' yet",
        ),
        (
            "SlurmCluster",
            nodes(worker={"supervisordConfigMapRefName": "a"}),
            "spec.slurmNodes.worker.supervisordConfigMapRefName: there is no ConfigMap 'a' yet",
        ),
        (
            "SlurmCluster",
            {
                **nodes(worker={"size": 0}),
                "partitionConfiguration": {
                    "configType": "structured",
                    "partitions": [{"name": "a", "nodeSetRefs": ["gpu"]}],
                },
            },
            "spec.partitionConfiguration.partitions[0].nodeSetRefs[0]: there is no NodeSet 'gpu'",
        ),
    ],
)
def test_what_an_object_refers_to_may_come_later(kind, spec, warning):
    verdict = created(kind, "workers", NOTHING, **spec)
    assert verdict.errors == ()
    assert any(told.startswith(warning) for told in verdict.warnings)
    assert not created(kind, "workers", Known(), **spec).warnings


def test_the_password_of_a_database_may_come_later():
    database = {
        "enabled": True,
        "host": "db",
        "user": "slurm",
        "passwordSecretKeyRef": {"name": "db", "key": "password"},
    }
    spec = nodes(accounting={"enabled": True, "externalDB": database})
    verdict = created("SlurmCluster", "workers", NOTHING, **spec)
    assert verdict.errors == ()
    assert any("there is no Secret 'db' yet" in told for told in verdict.warnings)
