"""A configuration of a cluster with a shared root is tried like any other."""

from shoal.render import trial
from shoal.render.jailed import controller

from ..builders import container_of, environment, spec_of
from .worlds import make_cluster


def check(cluster=None):
    cluster = cluster or make_cluster()
    digest = controller.wanted(cluster, cluster.jail).digest
    return trial.check(cluster, cluster.controller, digest)


def test_what_is_tried_is_what_would_be_published_but_for_slurm_conf():
    cluster = make_cluster(extra="KillWait=7")
    data = trial.candidate(cluster, cluster.controller)["data"]
    wanted = controller.wanted(cluster, cluster.jail)
    assert data.pop("digest") == wanted.digest
    assert data.pop("slurm.conf") != wanted.files["slurm.conf"]
    assert data == {k: v for k, v in wanted.files.items() if k != "slurm.conf"}


def test_a_trial_tries_the_configuration_that_is_wanted():
    cluster = make_cluster()
    wanted = controller.wanted(cluster, cluster.jail)
    assert environment(container_of(check(), "check"))["DIGEST"] == wanted.digest


def test_no_service_ever_takes_a_trial_for_slurmctld():
    labels = check()["metadata"]["labels"]
    assert not make_cluster().controller.part.selector.items() <= labels.items()


def test_a_trial_has_neither_the_state_nor_the_jail_nor_the_configuration_in_use():
    spec = spec_of(check())
    assert "persistentVolumeClaim" not in str(spec)
    (given,) = [v for v in spec["volumes"] if v["name"] == "given"]
    names = [next(iter(s.values()))["name"] for s in given["projected"]["sources"]]
    assert names == ["one-slurm-configs-candidate", "one-rest-jwt-key"]


def test_a_trial_ends_by_itself_though_munged_runs_beside_it():
    spec = spec_of(check())
    assert spec["restartPolicy"] == "Never"
    assert [c["name"] for c in spec["initContainers"]] == ["munge"]
    assert spec["initContainers"][0]["restartPolicy"] == "Always"
    assert [c["name"] for c in spec["containers"]] == ["check"]


def test_a_trial_runs_as_slurmctld_does_and_may_do_nothing_else():
    security = container_of(check(), "check")["securityContext"]
    assert security["runAsUser"] == 0
    # Without that one it could not give up its groups, and would end at once.
    assert security["capabilities"] == {"drop": ["ALL"], "add": ["SETGID"]}
