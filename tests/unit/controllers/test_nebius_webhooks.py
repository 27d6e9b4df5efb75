"""The webhooks of slurm.nebius.ai."""

from shoal.controllers import webhooks
from shoal.controllers.nebius_webhooks import table
from shoal.dialects.nebius import naming
from shoal.dialects.nebius.types import KINDS, SLURM_CLUSTER
from shoal.kube.findings import Known
from shoal.kube.kinds import SECRET
from shoal.runtime.admission import Allowed, Denied, Review
from shoal.runtime.webhook import Validating


def rows(ask=None, **settings):
    return {row.path: row for row in table(ask or Known(), settings)}


def secret(data="eA==", cluster="one"):
    meta = {
        "name": "one-mariadb-password",
        "namespace": "ns",
        "labels": {naming.WEBHOOK: "true"},
        "annotations": {naming.CLUSTER: cluster},
    }
    return {"metadata": meta, "data": {"password": data}}


def test_every_kind_is_checked_under_the_path_that_upstream_has():
    found = rows(timeoutSeconds=7)
    assert [row.kind for row in found.values()] == [*KINDS, SECRET]
    assert "/validate--v1-secret" in found
    assert {row.settings["timeoutSeconds"] for row in found.values()} == {7}


def test_only_secrets_that_are_protected_are_asked_about():
    found = rows()["/validate--v1-secret"]
    assert isinstance(found, Validating)
    assert found.settings["objectSelector"] == {"matchLabels": {naming.WEBHOOK: "true"}}
    assert "DELETE" in found.operations


def test_a_protected_secret_cannot_be_changed_or_deleted_while_its_cluster_lives():
    there = {"kind": SLURM_CLUSTER.kind, "metadata": {"name": "one", "namespace": "ns"}}
    ask = Known((there,))
    check = rows(ask)["/validate--v1-secret"].validate
    changed = check(Review("UPDATE", secret("bmV3"), secret(), "ns", "one-mariadb-password"))
    deleted = check(Review("DELETE", {}, secret(), "ns", "one-mariadb-password"))
    assert isinstance(changed, Denied)
    assert isinstance(deleted, Denied)
    assert "SlurmCluster 'one' needs it" in deleted.message
    nobody = Known(all_of=frozenset({SLURM_CLUSTER}))
    without = rows(nobody)["/validate--v1-secret"].validate
    gone = without(Review("DELETE", {}, secret(), "ns", "one-mariadb-password"))
    assert gone == Allowed()


def test_a_spec_that_is_wrong_is_refused_with_its_fields():
    check = rows()["/validate-slurm-nebius-ai-v1-slurmcluster"].validate
    bare = {"metadata": {"name": "one", "namespace": "ns"}, "spec": {}}
    verdict = check(Review("CREATE", bare, {}, "ns", "one"))
    assert isinstance(verdict, Denied)
    assert verdict.causes


def test_no_path_is_served_twice():
    paths = [row.path for row in (*table(Known()), *webhooks.table(Known(), bindings=True))]
    own = {row.path for row in table(Known())}
    assert all(paths.count(path) == 1 for path in own)
