"""What wakes an object: test_read_fields shows that every field that names something does."""

import pytest

from shoal.dialects.nebius.references import references
from shoal.kube.objects import Meta, Resource

from .objects import make, nodes, read


def named(kind="SlurmCluster", **spec):
    return list(references(read(make(kind, **spec))))


def test_a_cluster_is_found_by_the_secrets_that_are_made_for_it():
    assert named() == [
        "prod/Secret/slurm-munge",
        "prod/Secret/slurm-rest-jwt-key",
        "prod/Secret/slurm-sshd-keys",
    ]


@pytest.mark.parametrize("secret", ["slurm-mariadb-password", "mariadb-root"])
def test_passwords_outlive_a_cluster_and_are_looked_for_under_old_names_too(secret):
    assert f"prod/Secret/{secret}" in named(**nodes(accounting={"enabled": True}))


def test_a_database_of_the_users_needs_no_password_of_ours():
    database = {"enabled": True, "passwordSecretKeyRef": {"name": "pw"}}
    found = named(**nodes(accounting={"enabled": True, "externalDB": database}))
    assert "prod/Secret/pw" in found
    assert not any("mariadb" in one for one in found)


def test_what_names_nothing_is_found_by_nothing():
    assert named("NodeSet", clusterName=None) == []
    assert list(references(Resource(Meta("a", "b")))) == []
