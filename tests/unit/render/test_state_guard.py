from dataclasses import replace

import pytest

from shoal.model.controller import STATE_GUARD, Ephemeral, ExistingClaim
from shoal.render import controller, state_guard

from .builders import container_of, make_cluster, make_controller, spec_of, the

MAP = "slurm-controller-state"


def objects(**changes):
    return controller.objects(make_cluster(controller=make_controller(**changes)))


def names(found):
    return [obj["metadata"]["name"] for obj in found]


@pytest.mark.parametrize("changes", [{}, {"state": ExistingClaim("mine")}], ids=["made", "brought"])
def test_the_state_is_looked_for_before_anything_else_of_the_pod_starts(changes):
    spec = spec_of(the("StatefulSet", objects(**changes)))
    guard = spec["initContainers"][0]
    assert guard["name"] == STATE_GUARD
    assert "restartPolicy" not in guard
    assert guard["image"] == spec["containers"][0]["image"]
    mounts = {mount["name"]: mount for mount in guard["volumeMounts"]}
    assert mounts["statesave"]["mountPath"] == "/var/spool/slurmctld/research_slurm"
    assert mounts["statesave"]["readOnly"] is True


def test_all_of_several_slurmctlds_look_at_the_same_state_by_the_same_rule():
    found = objects(replicas=2, state=ExistingClaim("shared"))
    assert names(found).count(MAP) == 1
    assert spec_of(the("StatefulSet", found))["initContainers"][0]["name"] == STATE_GUARD


def test_a_state_that_may_go_with_its_pod_is_not_guarded():
    found = objects(state=Ephemeral())
    assert MAP not in names(found)
    spec = spec_of(the("StatefulSet", found))
    assert STATE_GUARD not in [one["name"] for one in spec["initContainers"]]
    assert "env" not in container_of(the("StatefulSet", found), "slurmctld")


def test_that_there_is_a_state_now_restarts_no_slurmctld_and_is_no_new_configuration():
    before, after = make_cluster(), make_cluster(controller=make_controller(had_state=True))
    one, two = controller.objects(before), controller.objects(after)
    assert the("StatefulSet", one) == the("StatefulSet", two)
    assert controller.wanted(before) == controller.wanted(after)
    told = [obj["data"]["expected"] for each in (one, two) for obj in each if obj in _maps(each)]
    assert told == ["false\n", "true\n"]


def test_without_the_word_whether_a_state_is_expected_no_slurmctld_starts():
    (source,) = state_guard.volume(make_controller())["projected"]["sources"]
    assert source == {"configMap": {"name": MAP}}  # and not optional


def test_our_image_finds_the_check_for_starts_in_the_same_pod():
    main = container_of(the("StatefulSet", objects()), "slurmctld")
    told = {each["name"]: each["value"] for each in main["env"]}
    paths = {mount["mountPath"] for mount in main["volumeMounts"]}
    assert {told["STATE_GUARD"], told["STATE_FOLDER"]} <= paths
    assert state_guard.SCRIPT in state_guard.config_map(make_controller())["data"]


def test_marks_of_the_user_are_on_the_map_too():
    part = make_controller().part
    marked = replace(part, marks=replace(part.marks, labels={"team": "a"}))
    made = state_guard.config_map(make_controller(part=marked))
    assert made["metadata"]["labels"]["team"] == "a"


def _maps(found):
    return [obj for obj in found if obj["metadata"]["name"] == MAP]
