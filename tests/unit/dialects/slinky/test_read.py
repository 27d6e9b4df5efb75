"""What the model says of an object, and of what was found beside it."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.dialects import contents
from shoal.dialects.slinky import naming, read, types
from shoal.dialects.slinky.types import TYPES
from shoal.model.accounting import ExternalAccounting, ManagedAccounting
from shoal.model.controller import (
    ClaimTemplate,
    Ephemeral,
    ExistingClaim,
    ExternalController,
    ManagedController,
)
from shoal.model.nodeset import Mode
from shoal.model.observed import Found
from shoal.model.part import Absent
from shoal.slurm.keys import Version

from .objects import KEY, make
from .readings import NOTHING, the, understood

# -- digests

CONTENTS = st.dictionaries(st.text("ab\0", max_size=2), st.binary(max_size=3), max_size=3)


@given(CONTENTS, CONTENTS)
def test_the_digest_of_a_configmap_changes_exactly_when_its_contents_do(one, other):
    spec = {"configFileRefs": [{"name": "files"}]}
    first, second = (
        the("Controller", found=Found({"files": held}, {}), **spec).config.files[0]
        for held in (one, other)
    )
    assert (first.digest == second.digest) is (one == other)
    assert first.digest
    assert first.files == tuple(sorted(one))


@given(st.binary(max_size=3), st.binary(max_size=3))
def test_the_digest_of_a_key_changes_exactly_when_the_key_does(one, other):
    def digest(held: bytes, beside: bytes) -> str:
        found = Found({}, {"keys": {"slurm.key": held, "other": beside}})
        return the("Controller", found=found).keys.slurm.digest

    assert (digest(one, b"") == digest(other, b"")) is (one == other)
    assert digest(one, one) == digest(one, other)
    assert digest(one, b"")


@given(CONTENTS, CONTENTS)
def test_the_digest_of_host_keys_changes_exactly_when_they_do(one, other):
    first, second = (
        the("LoginSet", "login", Found({}, {"login-ssh-host-keys": held})) for held in (one, other)
    )
    assert (first.host_keys_digest == second.host_keys_digest) is (one == other)


def test_what_is_not_there_has_no_digest_and_says_where_it_is_named():
    made = the("Controller", configFileRefs=[{"name": ""}, {"name": "files"}])
    assert made.keys.slurm.digest == made.keys.jwt.digest == ""
    assert made.keys.slurm.field == "spec.slurmKeyRef"
    assert made.keys.jwt.field == "spec.jwtKeyRef"
    (files,) = made.config.files
    assert (files.name, files.digest, files.field) == ("files", "", "spec.configFileRefs[1]")
    assert str(the("LoginSet").sssd) == "Secret keys, key slurm.key"
    assert the("LoginSet").host_keys_digest == ""


def test_a_key_that_is_not_in_the_secret_is_not_there():
    found = Found({}, {"keys": {"another": b"x"}})
    assert the("Controller", found=found).keys.slurm.digest == ""


def test_the_newer_name_of_the_signing_key_wins():
    old = {"name": "old", "key": "k"}
    both = the("Controller", jwtHs256KeyRef=old).keys.jwt
    assert (both.name, both.field) == ("keys", "spec.jwtKeyRef")
    alone = the("Controller", jwtKeyRef=None, jwtHs256KeyRef=old).keys.jwt
    assert (alone.name, alone.field) == ("old", "spec.jwtHs256KeyRef")


def test_public_keys_are_in_a_configmap():
    found = Found({"jwks": {"keys": b"{}"}}, {"jwks": {"keys": b"other"}})
    one = the("Controller", found=found, jwksKeyRef={"name": "jwks", "key": "keys"}).keys.jwks
    assert (one.kind, bool(one.digest)) == ("ConfigMap", True)


# -- marks


def marked(kind: str, **meta: Any) -> Any:
    obj = make(kind, template={"metadata": {"labels": {"a": "t"}, "annotations": {"n": "t"}}})
    obj["metadata"] |= meta
    made = understood(kind, obj)
    return made.controller.part if kind == "Controller" else made.part


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "Token"])
def test_marks_of_an_object_are_kept_apart_from_those_of_its_template(kind):
    part = marked(kind, labels={"a": "o"}, annotations={"n": "o"})
    assert (part.marks.labels, part.marks.annotations) == ({"a": "o"}, {"n": "o"})
    assert (part.pods.marks.labels, part.pods.marks.annotations) == ({"a": "t"}, {"n": "t"})


LEFT = {
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
    "kubectl.kubernetes.io/restartedAt": "now",
    "meta.helm.sh/release-name": "x",
    "meta.helm.sh/release-namespace": "x",
    "shoal/applied": "x",
    naming.NAMING.annotations.has_state: "x",
    naming.NAMING.annotations.accept_empty_state: "true",
    contents.SLURM_VERSION: "25.11",
}
TAKEN = {"kubectl.kubernetes.example/x": "1", "team": "a", "helm.sh/y": "2"}


@pytest.mark.parametrize("kind", TYPES)
def test_annotations_about_the_object_alone_are_not_handed_on(kind):
    obj = make(kind)
    obj["metadata"]["annotations"] = {**LEFT, **TAKEN}
    made = understood(kind, obj)
    part = made.controller.part if kind == "Controller" else getattr(made, "part", made)
    assert part.marks.annotations == TAKEN


def test_the_same_labels_find_a_parts_pods_as_before():
    part = the("RestApi", "slurm").part
    assert part.selector == {
        "app.kubernetes.io/name": "slurmrestd",
        "app.kubernetes.io/instance": "slurm",
    }
    assert part.labels == {**part.selector, "app.kubernetes.io/component": "restapi"}
    assert (part.name, part.namespace) == ("slurm", "prod")


# -- the version of Slurm, and images


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("slurmctld:26.05", Version(26, 5)),
        ("ghcr.io/slinkyproject/slurmctld:25.11-ubuntu24.04", Version(25, 11)),
        ("localhost:5000/slurmctld:24.11.5-1", Version(24, 11)),
        ("localhost:5000/slurmctld", None),
        ("slurmctld:latest", None),
        ("slurmctld@sha256:2605" + "0" * 60, None),
        ("slurmctld:25.05@sha256:" + "0" * 64, Version(25, 5)),
        ("", None),
        (7, None),
    ],
)
def test_the_version_is_the_one_that_the_tag_names(image, version):
    assert the("Controller", slurmctld={"image": image}).version == version


def test_an_annotation_says_the_version_where_the_image_does_not():
    obj = make("Controller", slurmctld={"image": "x@sha256:" + "0" * 64})
    obj["metadata"]["annotations"] = {"shoal/slurm-version": "25.11"}
    assert understood("Controller", obj).version == Version(25, 11)


def test_where_no_image_is_named_ours_stands_in_and_says_the_version():
    around = read.Around(NOTHING, {"slurmctld": "here/slurmctld:26.05", "slurmd": "here/slurmd:1"})
    one = msgspec.convert(make("Controller"), types.Controller)
    made = read.cluster(one, [], None, around)
    assert made.controller.part.pods.containers["slurmctld"] == {"image": "here/slurmctld:26.05"}
    assert made.version == Version(26, 5)
    theirs = msgspec.convert(
        make("NodeSet", slurmd={"image": "mine", "args": ["-v"]}), types.NodeSet
    )
    assert read.nodeset(theirs, around).part.pods.containers["slurmd"] == {
        "image": "mine",
        "args": ["-v"],
    }


# -- shapes


def test_a_controller_elsewhere_has_no_shape_of_ours():
    made = the("Controller", external=True, externalConfig={"host": "ctl", "port": 7000})
    assert isinstance(made.controller, ExternalController)
    assert (made.controller.host, made.controller.port) == ("ctl", 7000)
    assert made.controller.config == "slurm-config"


def test_an_accounting_elsewhere_is_where_it_says():
    made = the("Accounting", external=True, externalConfig={"host": "dbd", "port": 7000})
    assert made == ExternalAccounting("dbd", 7000)


@pytest.mark.parametrize(
    ("persistence", "state"),
    [
        ({"enabled": False, "existingClaim": "x"}, Ephemeral()),
        ({"enabled": True, "existingClaim": "x"}, ExistingClaim("x")),
        (None, ClaimTemplate(read.STATE)),
        (
            {"enabled": True, "storageClassName": "fast", "accessModes": ["ReadWriteMany"]},
            ClaimTemplate(
                {**read.STATE, "storageClassName": "fast", "accessModes": ["ReadWriteMany"]}
            ),
        ),
    ],
)
def test_the_state_lies_where_the_user_says(persistence, state):
    assert the("Controller", persistence=persistence).controller.state == state


@pytest.mark.parametrize(
    ("ha", "replicas"),
    [(None, 1), ({"enabled": False, "backups": 3}, 1), ({"enabled": True}, 2),
     ({"enabled": True, "backups": 2}, 3)],
)  # fmt: skip
def test_there_are_as_many_slurmctlds_as_stand_by_and_one(ha, replicas):
    made = the("Controller", ha=ha).controller
    assert isinstance(made, ManagedController)
    assert made.replicas == replicas


def test_metrics_are_off_unless_asked_for():
    assert the("Controller").controller.metrics is None
    assert the("Controller", metrics={"enabled": True}).controller.metrics.monitor is None


def test_a_monitor_reads_all_paths_with_its_own_interval_unless_a_path_says_otherwise():
    monitor = {"enabled": True, "interval": "1m", "scrapeTimeout": "5s"}
    made = the("Controller", metrics={"enabled": True, "serviceMonitor": monitor})
    endpoints = made.controller.metrics.monitor.endpoints
    assert [one.path for one in endpoints] == list(read.ENDPOINTS)
    assert {(one.interval, one.scrape_timeout) for one in endpoints} == {("1m", "5s")}
    own = {**monitor, "endpoints": [{"path": "/x", "interval": "2m"}]}
    made = the("Controller", metrics={"enabled": True, "serviceMonitor": own})
    (one,) = made.controller.metrics.monitor.endpoints
    assert (one.path, one.interval, one.scrape_timeout) == ("/x", "2m", "5s")


@pytest.mark.parametrize(
    ("kind", "port"),
    [("Controller", 6817), ("Accounting", 6819), ("RestApi", 6820), ("LoginSet", 22)],
)
@pytest.mark.parametrize(
    "service", [None, {}, {"port": 0, "nodePort": 0}, {"port": 7000, "nodePort": 30000}]
)
def test_a_service_has_the_usual_port_unless_another_is_named(kind, port, service):
    made = the(kind, service=service)
    wishes = made.controller.service if kind == "Controller" else made.service
    assert wishes.port == (7000 if service and service.get("port") else port)
    assert wishes.node_port == (30000 if service and service.get("nodePort") else None)


def test_slurm_calls_a_cluster_by_its_namespace_and_name_unless_it_has_another():
    assert the("Controller", "slurm").slurm_name == "prod_slurm"
    assert the("Controller", "slurm", clusterName="big").slurm_name == "big"


def test_a_node_sets_hostname_is_how_its_nodes_begin():
    plain = the("NodeSet", "cpu")
    assert (plain.slurm_name, plain.hostname(3), plain.pod_name(3)) == ("cpu", "cpu-3", "cpu-3")
    named = the("NodeSet", "cpu", template={"spec": {"hostname": "w-"}}, ordinalPadding=3)
    assert (named.slurm_name, named.hostname(3), named.pod_name(3)) == ("w", "w-003", "cpu-003")


def test_empty_words_of_an_older_definition_are_no_reason_to_fail():
    made = the("NodeSet", scalingMode="", pruneSlurmNodeRecords="")
    assert made.mode is Mode.REPLICAS
    books = the(
        "Accounting", storageConfig={"host": "db", "port": 0, "database": "", "passwordKeyRef": KEY}
    )
    assert isinstance(books, ManagedAccounting)
    assert (books.database.port, books.database.name) == (3306, "slurm_acct_db")


def test_a_cluster_has_its_node_sets_by_name_whatever_their_order():
    one = msgspec.convert(make("Controller"), types.Controller)
    sets = [msgspec.convert(make("NodeSet", name), types.NodeSet) for name in ("b", "c", "a")]
    made = read.cluster(one, sets, None, read.Around(NOTHING))
    assert [nodeset.part.name for nodeset in made.nodesets] == ["a", "b", "c"]
    assert {nodeset.cluster for nodeset in made.nodesets} == {"slurm"}


def test_a_cluster_lacks_the_accounting_that_it_names_until_that_is_there():
    obj = make("Controller", accountingRef={"name": "books"})
    assert understood("Controller", obj).lacks == (
        Absent("Accounting", "books", "spec.accountingRef"),
    )
    one = msgspec.convert(obj, types.Controller)
    books = msgspec.convert(make("Accounting", "books"), types.Accounting)
    made = read.cluster(one, [], books, read.Around(NOTHING))
    assert made.lacks == ()
    assert made.accounting.host == "books-accounting.prod"
    assert the("Controller").lacks == ()


@pytest.mark.parametrize(
    ("conf", "size"),
    [
        (b"", 0),
        (b"MaxNodeCount=2048\n", 2048),
        (b"#MaxNodeCount=9\nMaxNodeCount=1\nMaxNodeCount=7\n", 7),
    ],
)
def test_the_table_of_nodes_is_as_large_as_the_published_configuration_says(conf, size):
    found = Found({"slurm-config": {"slurm.conf": conf}}, {})
    assert the("Controller", found=found).node_table == size
    assert the("Controller", "other", found).node_table == 0


# -- tokens


def test_a_token_that_says_little_is_for_nobody_for_a_quarter_of_an_hour():
    made = the("Token", "t", username="")
    assert (made.user, made.lifetime, made.refresh) == ("nobody", timedelta(minutes=15), True)
    assert (made.secret.name, made.secret.key) == ("t-jwt-nobody", "SLURM_JWT")


def test_a_token_is_kept_where_its_user_says():
    made = the("Token", secretRef={"name": "mine", "key": "token"})
    assert (made.secret.name, made.secret.key) == ("mine", "token")


@pytest.mark.parametrize("lifetime", ["0", "0s", "-1h", "1ms", "soon"])
def test_a_token_that_would_be_over_at_once_is_refused_and_the_field_named(lifetime):
    with pytest.raises(ValueError, match=r"^spec\.lifetime: .*write"):
        the("Token", lifetime=lifetime)


def test_an_external_configuration_that_is_not_there_is_no_reason_to_fail():
    # The API server insists on it; an older definition may have let it through.
    assert the("Controller", external=True).controller.host == ""
    assert isinstance(the("Accounting", external=True), ExternalAccounting)
