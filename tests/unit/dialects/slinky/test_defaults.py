import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dialects.slinky import defaults, types
from shoal.dialects.slinky.types import KINDS, TYPES

from .objects import KEY, make, objects


def read(kind, name="slurm", **spec):
    return msgspec.convert(make(kind, name, **spec), TYPES[kind])


def test_a_node_set_that_says_nothing_means_the_usual():
    spec = defaults.filled(read("NodeSet")).spec
    assert spec.replicas == 1
    assert spec.scaling_mode == "StatefulSet"
    assert spec.workload_disruption_protection is True
    assert spec.update_strategy.type == "RollingUpdate"
    assert spec.update_strategy.rolling_update.max_unavailable == "25%"
    assert spec.persistent_volume_claim_retention_policy.when_deleted == "Retain"
    assert spec.persistent_volume_claim_retention_policy.when_scaled == "Retain"
    assert spec.prune_slurm_node_records == "Never"


def test_empty_words_of_an_older_definition_mean_the_usual():
    spec = defaults.filled(
        read(
            "NodeSet",
            scalingMode="",
            pruneSlurmNodeRecords="",
            updateStrategy={"type": "", "rollingUpdate": {"maxUnavailable": ""}},
            persistentVolumeClaimRetentionPolicy={"whenDeleted": "", "whenScaled": ""},
        )
    ).spec
    assert spec == defaults.filled(read("NodeSet")).spec


def test_zero_is_kept_where_it_means_zero():
    spec = defaults.filled(
        read(
            "NodeSet",
            replicas=0,
            updateStrategy={"rollingUpdate": {"maxUnavailable": 0}},
            workloadDisruptionProtection=False,
        )
    ).spec
    assert spec.replicas == 0
    assert spec.update_strategy.rolling_update.max_unavailable == 0
    assert spec.workload_disruption_protection is False


@pytest.mark.parametrize("kind", ["LoginSet", "RestApi"])
def test_there_is_one_of_what_says_no_number(kind):
    assert defaults.filled(read(kind)).spec.replicas == 1


def test_a_controller_keeps_its_state_and_has_one_that_stands_by_when_there_is_any():
    spec = defaults.filled(read("Controller", ha={"enabled": True})).spec
    assert spec.persistence.enabled is True
    assert spec.ha.backups == 1


@pytest.mark.parametrize("said", [{}, {"port": 0, "database": ""}], ids=["nothing", "empty"])
def test_a_database_is_where_mariadb_usually_has_it(said):
    storage = {"host": "h", "passwordKeyRef": KEY, **said}
    found = defaults.filled(read("Accounting", storageConfig=storage)).spec.storage_config
    assert (found.port, found.database) == (3306, "slurm_acct_db")


def test_an_accounting_without_storage_is_left_alone():
    external = read("Accounting", storageConfig=None, external=True)
    assert defaults.filled(external) == external


def test_a_token_is_renewed_and_for_nobody_unless_it_says_otherwise():
    spec = defaults.filled(read("Token", username="")).spec
    assert (spec.refresh, spec.username) == (True, "nobody")
    assert defaults.filled(read("Token")).spec.username == "alice"


@pytest.mark.parametrize("kind", [kind.kind for kind in KINDS])
@settings(max_examples=10)
@given(st.data())
def test_an_object_that_the_api_server_took_means_what_it_says(kind, data):
    obj = msgspec.convert(data.draw(objects(kind)), TYPES[kind])
    once = defaults.filled(obj)
    assert defaults.filled(once) == once


def test_the_cluster_is_called_after_its_controller_unless_it_says_otherwise():
    assert defaults.cluster_name(read("Controller", "a")) == "prod_a"
    assert defaults.cluster_name(read("Controller", "a", clusterName="")) == "prod_a"
    assert defaults.cluster_name(read("Controller", "a", clusterName="sea")) == "sea"


def test_the_newer_name_of_the_signing_key_wins():
    old = {"name": "old", "key": "k"}
    assert defaults.signing_key(read("Token", jwtHs256KeyRef=old).spec).name == "keys"
    assert (
        defaults.signing_key(read("Token", jwtHs256KeyRef=old, jwtKeyRef=None).spec).name == "old"
    )
    assert defaults.signing_key(types.ControllerSpec()) is None


@pytest.mark.parametrize(
    ("hostname", "slurm_name", "prefix"),
    [
        ("gpu-", "gpu", "gpu-"),
        ("gpu", "gpu", "gpu"),
        (None, "workers", "workers-"),
        (7, "workers", "workers-"),
    ],
)
def test_slurm_names_workers_by_their_hostname_or_by_their_node_set(hostname, slurm_name, prefix):
    found = read("NodeSet", "workers", template={"spec": {"hostname": hostname}})
    assert (defaults.slurm_name(found), defaults.hostname_prefix(found)) == (slurm_name, prefix)
