from shoal.model.controller import Keys
from shoal.render.jailed import containers
from shoal.render.pods import Inside

from .worlds import KEYS, image, make_part


def part(**munge):
    return make_part("controller", munge=image("munge", "64Mi", **munge))


def test_munged_starts_before_the_daemon_and_ends_after_it():
    made = containers.munge(part())
    assert made["restartPolicy"] == "Always"
    assert made["startupProbe"]["periodSeconds"] == 1


def test_a_container_gets_no_more_memory_than_it_asks_for_and_any_cpu_time_that_is_left():
    made = containers.munge(part())
    assert made["resources"]["limits"] == {"memory": "64Mi"}


def test_a_worker_gets_exactly_what_it_asks_for():
    asked = {"resources": {"requests": {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "8"}}}
    made = containers.bounded(asked, cpu=True)
    assert made["resources"]["limits"] == asked["resources"]["requests"]


def test_limits_of_the_users_own_are_kept():
    asked = {"resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}}
    assert containers.bounded(asked)["resources"]["limits"] == {"memory": "2Gi"}


def test_a_container_that_asks_for_nothing_has_no_limits():
    assert containers.bounded({"name": "x"}) == {"name": "x"}


def test_memory_is_counted_in_whole_mebibytes():
    cases = {"512Mi": 512, "1G": 953, "1000M": 953}
    for told, mebibytes in cases.items():
        found = containers.requested(make_part("x", slurmd=image("x", told)), "slurmd", "memory")
        assert containers.mebibytes(found) == mebibytes


def test_what_is_not_asked_for_is_nothing():
    assert containers.requested(make_part("x"), "slurmd", "memory") == 0


def test_what_the_user_wants_to_run_first_runs_before_munged():
    own = {"name": "own", "image": "busybox", "args": ["once"]}
    asked = make_part("x", spec={"initContainers": [own], "nodeSelector": {"a": "b"}})
    made = containers.template(asked, Inside({"name": "main"}, [containers.munge(part())]))
    assert [c["name"] for c in made["spec"]["initContainers"]] == ["own", "munge"]
    assert made["spec"]["initContainers"][0] == own
    assert made["spec"]["nodeSelector"] == {"a": "b"}


def test_a_cluster_without_a_key_of_munge_mounts_none():
    names = [volume["name"] for volume in containers.munge_volumes(Keys(None, None))]
    assert names == ["munge-socket"]
    assert containers.munge_digest(KEYS) == {"munge-key": "d1"}
