import pytest
import yaml

from shoal.dialects.slinky.types import ACCOUNTING, CONTROLLER
from shoal.kube.findings import Known
from shoal.kube.kinds import CONFIG_MAP

from .fields import DATA
from .objects import KINDS, make
from .reviews import claim, config_map, created

NAMES = [kind.kind for kind in KINDS]
HA = {"ha": {"enabled": True}, "persistence": {"enabled": True, "existingClaim": "state"}}


def cases(file):
    """Return the cases of a file, each with a readable id."""
    found = yaml.safe_load((DATA / file).read_text())
    return [pytest.param(case, id=f"{case['kind']}-{case['spec']}") for case in found]


def judged(case):
    return created(case["kind"], "workers", **case["spec"])


@pytest.mark.parametrize("kind", NAMES)
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


@pytest.mark.parametrize("kind", ["Controller", "Accounting"])
def test_an_object_without_a_spec_is_refused_although_the_schema_takes_it(kind):
    errors = created(kind, **dict.fromkeys(make(kind)["spec"])).errors
    assert {"spec.slurmKeyRef", "spec.jwtKeyRef"} <= {error.field for error in errors}


# -- what others are needed for


def test_the_name_that_slurm_would_get_by_default_is_checked_too():
    (error,) = created("Controller", "a" * 38, clusterName=None).errors
    assert error.field == "spec.clusterName"
    assert "unless it is set" in error.message
    assert created("Controller", "a" * 38, clusterName="short").errors == ()


def test_a_claim_that_only_one_node_can_write_is_refused_for_several_slurmctlds():
    (error,) = created("Controller", ask=Known((claim("state", "ReadWriteOnce"),)), **HA).errors
    assert error.field == "spec.persistence.existingClaim"
    assert "access mode of ReadWriteMany; 'state' has ReadWriteOnce" in error.message
    assert created("Controller", ask=Known((claim("state", "ReadWriteMany"),)), **HA).errors == ()


def test_a_claim_that_is_not_there_yet_is_no_reason_to_refuse():
    assert created("Controller", ask=Known((claim("other"),)), **HA).errors == ()


FILES = {"configFileRefs": [{"name": "files"}]}


def test_a_config_map_that_is_not_there_is_refused_only_if_that_is_certain():
    nothing = Known(all_of=frozenset({CONFIG_MAP}))
    (error,) = created("Controller", ask=nothing, **FILES).errors
    assert (error.field, "make it first" in error.message) == ("spec.configFileRefs[0].name", True)
    assert created("Controller", ask=Known(), **FILES).errors == ()


@pytest.mark.parametrize("file", ["slurm_conf", "slurmdbd_conf", "slurm_key", "jwt_key"])
@pytest.mark.parametrize("field", ["configFileRefs", "prologScriptRefs"])
def test_a_file_of_the_operators_own_is_refused(field, file):
    ask = Known((config_map("files", **{file: ""}),))
    (error,) = created("Controller", ask=ask, **{field: [{"name": "files"}]}).errors
    assert error.field == f"spec.{field}[0].name"
    words = f"the configFile is reserved for slurm-operator use: {file.replace('_', '.')}"
    assert words in error.message


def test_a_file_that_slurm_does_not_know_is_doubtful_unless_it_is_a_script():
    ask = Known((config_map("files", gres_conf="", mine_sh=""),))
    (warning,) = created("Controller", ask=ask, **FILES).warnings
    assert "mine.sh in ConfigMap 'files'" in warning
    assert created("Controller", ask=ask, epilogScriptRefs=[{"name": "files"}]).warnings == ()


@pytest.mark.parametrize("kind", ["NodeSet", "LoginSet", "RestApi"])
def test_a_controller_may_come_later(kind):
    verdict = created(kind, "workers", Known(all_of=frozenset({CONTROLLER})))
    assert verdict.errors == ()
    assert verdict.warnings == (
        "spec.controllerRef.name: there is no Controller 'slurm' yet; it waits for one",
    )


def test_an_accounting_may_come_later():
    verdict = created(
        "Controller", ask=Known(all_of=frozenset({ACCOUNTING})), accountingRef={"name": "a"}
    )
    assert verdict.errors == ()
    assert "no Accounting 'a' yet" in verdict.warnings[0]


# -- two NodeSets


def pods(hostname):
    return {"template": {"spec": {"hostname": hostname}}}


def workers(name, hostname=None, **spec):
    return make("NodeSet", name, **(pods(hostname) if hostname else {}), **spec)


@pytest.mark.parametrize(
    ("name", "hostname", "field"),
    [
        ("b", "gpu-", "spec.template.spec.hostname"),
        ("b", "gpu", "spec.template.spec.hostname"),
        ("gpu", None, "metadata.name"),
    ],
)
def test_two_node_sets_of_a_cluster_never_share_a_name_in_slurm(name, hostname, field):
    ask = Known((workers("a", "gpu-"),))
    spec = workers(name, hostname)["spec"]
    (error,) = created("NodeSet", name, ask, **spec).errors
    assert error.field == field
    assert "NodeSet 'a' is 'gpu' in Slurm too" in error.message


def test_two_clusters_may_have_node_sets_of_the_same_name_in_slurm():
    ask = Known((workers("a", "gpu-", controllerRef={"name": "other"}),))
    assert created("NodeSet", "b", ask, **pods(hostname="gpu-")).errors == ()


def test_a_node_set_is_no_rival_of_its_own():
    ask = Known((workers("a", "gpu-"),))
    assert created("NodeSet", "a", ask, **pods(hostname="gpu-")).errors == ()


def test_a_node_set_that_is_being_deleted_still_has_its_nodes():
    old = workers("a", "gpu-")
    old["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    assert created("NodeSet", "b", Known((old,)), **pods(hostname="gpu-")).errors != ()


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("gpu", "gpu1", True),  # gpu10 of both
        ("gpu-", "gpu-1", True),
        ("gpu-", "gpu-1-", False),
        ("gpu-", "gpus-", False),
        ("a-", "b-", False),
    ],
)
def test_numbers_never_make_nodes_of_two_node_sets_the_same(one, other, clash):
    errors = created("NodeSet", "b", Known((workers("a", one),)), **pods(hostname=other)).errors
    assert bool(errors) is clash
    assert all("could have the same name" in error.message for error in errors)


def test_nodes_that_kubernetes_names_cannot_clash_by_their_numbers():
    ask = Known((workers("a", "gpu", scalingMode="DaemonSet"),))
    assert created("NodeSet", "b", ask, **pods(hostname="gpu1")).errors == ()
