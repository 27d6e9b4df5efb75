"""Names that users' tooling knows: none of them is ours to change."""

from shoal.dialects.slinky import naming
from shoal.dialects.slinky.types import KINDS


def test_objects_are_called_as_they_always_were():
    names = naming.controller("c")
    assert (names.workload, names.service) == ("c-controller", "c-controller")
    assert (names.internal, names.config) == ("c-controller-internal", "c-config")
    assert naming.accounting("a") == "a-accounting"
    assert naming.rest("r") == "r-restapi"
    login = naming.login("l")
    assert (login.workload, login.host_keys, login.config) == (
        "l",
        "l-ssh-host-keys",
        "l-ssh-config",
    )
    assert naming.workers("c") == "slurm-workers-c"
    assert naming.budget("c") == "slurm-workers-pdb-c"
    assert naming.worker_ssh("n") == "n-ssh-config"
    assert naming.token_secret("t", "alice") == "t-jwt-alice"


def test_pods_are_found_by_the_labels_that_they_always_had():
    assert naming.labels("NodeSet", "cpu") == {
        "app.kubernetes.io/name": "slurmd",
        "app.kubernetes.io/instance": "cpu",
        "app.kubernetes.io/component": "worker",
    }
    for kind in naming.PARTS:
        selector, labels = naming.selector(kind, "x"), naming.labels(kind, "x")
        assert selector.items() < labels.items()
        assert set(selector) == {"app.kubernetes.io/name", "app.kubernetes.io/instance"}


def test_no_two_kinds_select_each_others_pods():
    programs = [program for program, _ in naming.PARTS.values()]
    assert len(set(programs)) == len(programs)


def test_every_kind_with_pods_has_its_labels():
    assert set(naming.PARTS) == {kind.kind for kind in KINDS} - {"Token"}


def test_keys_are_as_the_reference_has_them():
    labels, notes = naming.NAMING.labels, naming.NAMING.annotations
    assert labels.cluster == "slinky.slurm.net/cluster"
    assert labels.active == "controller.slinky.slurm.net/active"
    assert labels.revision == "controller.kubernetes.io/hash"
    assert labels.pod_name == "nodeset.slinky.slurm.net/pod-name"
    assert labels.pod_index == "nodeset.slinky.slurm.net/pod-index"
    assert labels.pod_hostname == "nodeset.slinky.slurm.net/pod-hostname"
    assert labels.pod_protect == "nodeset.slinky.slurm.net/pod-protect"
    assert labels.scaling_mode == "nodeset.slinky.slurm.net/scaling-mode"
    assert naming.NAMING.digest("slurm-key") == "slinky.slurm.net/slurm-key-hash"
    assert notes.pod_cordon == "nodeset.slinky.slurm.net/pod-cordon"
    assert notes.topology == "topology.slinky.slurm.net/spec"
    assert notes.features == "features.slinky.slurm.net/spec"


def test_what_is_ours_in_slurm_is_marked_as_before():
    assert naming.NAMING.reason_prefix == "slurm-operator: "
    assert naming.NAMING.feature_prefix == "k8s/"
    assert naming.NAMING.worker_taint == "nodeset.slinky.slurm.net/worker"
