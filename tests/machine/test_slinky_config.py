"""A configuration reaches slurmctld once Slurm accepts it, and only then."""

from itertools import pairwise

import pytest

from fakes.network import Delayed
from shoal.decide.publish import AGAIN_S
from shoal.decide.waiting import LIMIT_BYTES
from shoal.kube import kinds
from shoal.runtime import clock

from .example import EXAMPLE, FILES, config_map
from .slinky import Scene
from .toys import EVICTED, ended, fair

GOOD = "SelectTypeParameters=CR_Core_Memory\n"
BAD = "Nonsense=1\n"
OLD = "SelectTypeParameters=CR_Core\n"


def trials(scene: Scene) -> list[str]:
    """Return what there is of trials."""
    pods = [name for name in scene.pods() if "check" in name]
    maps = [name for name in scene.objects(kinds.CONFIG_MAP) if "candidate" in name]
    return [*pods, *maps]


async def test_a_new_configuration_is_tried_then_published_and_the_trial_goes():
    async with Scene() as scene:
        await scene.rise()
        pods, old = scene.pods(), scene.conf()
        await scene.edit("Controller", "slurm", extraConf=GOOD)
        await clock.sleep(2)
        assert scene.conf() == old
        assert scene.ready("Controller", "slurm")[1] == "ConfigTried"
        assert scene.pods().items() >= pods.items()
        await scene.settle()
        assert len(scene.toys.tried) == 1
        assert GOOD.strip() in scene.conf()
        assert trials(scene) == []
        assert scene.unready() == []
        changed = {name for name, uid in scene.pods().items() if pods.get(name) != uid}
        assert changed == {"slurm-controller-0", *(n for n in scene.pods() if "restapi" in n)}


async def test_a_bad_configuration_is_held_told_and_forgotten_when_the_user_goes_back():
    async with Scene() as scene:
        await scene.rise()
        before, pods = scene.seen(), scene.pods()
        await scene.edit("Controller", "slurm", extraConf=BAD)
        await scene.settle()
        status, reason, message = scene.ready("Controller", "slurm")
        assert (status, reason) == ("False", "ConfigRefused")
        assert "Parsing error: Nonsense" in message
        assert scene.pods().items() >= pods.items()
        held = {k: v for k, v in scene.seen().items() if k in before}
        assert held == before | {"Controller default/slurm": held["Controller default/slurm"]}
        quiet = scene.written
        await clock.sleep(600)
        assert scene.written == quiet
        assert len(scene.toys.tried) == 1
        await scene.edit("Controller", "slurm", extraConf=OLD)
        await scene.settle()
        assert scene.seen() == before
        assert scene.pods() == pods


async def test_a_configuration_that_is_no_text_of_slurms_is_held_without_a_trial():
    async with Scene() as scene:
        await scene.rise()
        before, pods = scene.seen(), scene.pods()
        await scene.edit("Controller", "slurm", extraConf="no key\n")
        await scene.settle()
        status, reason, message = scene.ready("Controller", "slurm")
        assert (status, reason) == ("False", "ConfigRefused")
        assert "extraConf" in message
        assert scene.toys.tried == []
        assert scene.pods() == pods
        await scene.edit("Controller", "slurm", extraConf=OLD)
        await scene.settle()
        assert scene.seen() == before


@pytest.mark.parametrize(
    "status", [EVICTED, ended(2, "no time left"), ended(137)], ids=["evicted", "2", "137"]
)
async def test_a_trial_without_a_verdict_is_made_again_after_a_while_and_publishes_nothing(status):
    async with Scene() as scene:
        await scene.rise()
        pods, old = scene.pods(), scene.conf()
        scene.toys.judge = lambda _: status
        await scene.edit("Controller", "slurm", extraConf=GOOD)
        await clock.sleep(120)
        tries = scene.toys.tried
        assert len(tries) > 5
        # The age of a pod is known to the second.
        assert all(b - a >= AGAIN_S - 1 for a, b in pairwise(tries))
        assert scene.conf() == old
        assert scene.ready("Controller", "slurm")[1] == "ConfigTried"
        assert {k: v for k, v in scene.pods().items() if "check" not in k} == pods
        scene.toys.judge = fair
        await scene.settle()
        assert GOOD.strip() in scene.conf()
        assert scene.unready() == []


async def test_a_restart_of_the_operator_asks_for_no_second_trial():
    async with Scene() as scene:
        first = await scene.rise()
        await scene.edit("Controller", "slurm", extraConf=BAD)
        await scene.settle()
        await first.stop()
        quiet = scene.written
        scene.process()
        await scene.settle()
        assert scene.written == quiet
        assert len(scene.toys.tried) == 1


async def test_another_image_tries_what_the_last_one_refused():
    async with Scene() as scene:
        await scene.rise()
        await scene.edit("Controller", "slurm", extraConf=BAD)
        await scene.settle()
        scene.toys.judge = lambda _: ended(0)
        await scene.edit("Controller", "slurm", slurmctld={"image": "mine:26.05"})
        await scene.settle()
        assert BAD.strip() in scene.conf()
        assert scene.unready() == []


async def test_a_trial_that_has_no_node_to_run_on_follows_the_users_selector():
    async with Scene() as scene:
        await scene.rise()
        scene.toys.begins_after_s = 1000
        await scene.edit(
            "Controller", "slurm", extraConf=GOOD, template={"spec": {"nodeSelector": {"a": "b"}}}
        )
        await clock.sleep(30)
        await scene.edit("Controller", "slurm", template={"spec": {"nodeSelector": {"a": "c"}}})
        await clock.sleep(30)
        (check,) = [pod for name, pod in scene.objects(kinds.POD).items() if "check" in name]
        assert check["spec"]["nodeSelector"] == {"a": "c"}
        assert scene.ready("Controller", "slurm")[1] == "ConfigTried"


async def test_slurmctld_is_not_restarted_before_its_new_configuration_is_known_to_be_written():
    async with Scene() as scene:
        await scene.rise()
        before = scene.pods()["slurm-controller-0"]
        # The first is what is tried.
        scene.network.plan(Delayed(8.0), "apply", "configmaps", nth=2)
        await scene.edit("Controller", "slurm", extraConf=GOOD)
        await clock.sleep(7)
        assert len(scene.toys.tried) == 1
        assert scene.pods()["slurm-controller-0"] == before
        await scene.settle()
        assert scene.pods()["slurm-controller-0"] != before
        assert scene.unready() == []


async def test_a_file_that_the_user_edits_changes_the_digest_and_is_tried():
    async with Scene() as scene:
        await scene.rise()
        pods, note = scene.pods(), "slinky.slurm.net/slurm-config-hash"
        before = scene.find("ConfigMap", "slurm-config")["metadata"]["annotations"][note]
        await scene.rewrite("ConfigMap", "files", **{"gres.conf": "AutoDetect=off\n"})
        await scene.settle()
        assert len(scene.toys.tried) == 1
        assert scene.find("ConfigMap", "slurm-config")["metadata"]["annotations"][note] != before
        # slurmrestd reads slurm.conf alone.
        changed = {name for name, uid in scene.pods().items() if pods.get(name) != uid}
        assert changed == {"slurm-controller-0"}


async def test_while_a_configuration_is_held_slurmctld_keeps_its_files_too():
    async with Scene() as scene:
        await scene.rise()
        before, pods = files(scene), scene.pods()
        spec = {"configFileRefs": [{"name": "files"}, {"name": "more"}], "extraConf": BAD}
        await scene.edit("Controller", "slurm", **spec)
        await scene.make(config_map("more", helpers_conf="x"))
        await scene.rewrite("ConfigMap", "files", **{"gres.conf": "AutoDetect=off\n"})
        await scene.settle()
        assert scene.ready("Controller", "slurm")[1] == "ConfigRefused"
        assert files(scene) == before
        assert {k: v for k, v in scene.pods().items() if "check" not in k} == pods
        await scene.edit("Controller", "slurm", extraConf=OLD)
        await scene.settle()
        assert scene.unready() == []
        assert files(scene)["helpers.conf"] == "x"
        assert files(scene)["gres.conf"] == "AutoDetect=off\n"


def files(scene: Scene) -> dict[str, str]:
    """Return the files that slurmctld has."""
    data: dict[str, str] = scene.find("ConfigMap", "slurm-config")["data"]
    return data


async def test_a_running_slurmctld_has_no_file_of_the_users_that_was_not_tried():
    async with Scene() as scene:
        await scene.rise()
        await scene.edit("Controller", "slurm", inplaceReconfigure=True)
        await scene.settle()
        before = files(scene)
        scene.toys.judge = lambda _: ended(1, "gres.conf: no")
        await scene.rewrite("ConfigMap", "files", **{"gres.conf": "Nonsense=1\n"})
        await scene.settle()
        assert scene.ready("Controller", "slurm")[1] == "ConfigRefused"
        assert "gres.conf: no" in scene.ready("Controller", "slurm")[2]
        assert files(scene) == before
        assert "'files'" not in str(scene.find("Pod", "slurm-controller-0")["spec"]["volumes"])
        await scene.rewrite("ConfigMap", "files", **{"gres.conf": "AutoDetect=nvml\n"})
        await scene.settle()
        assert scene.unready() == []


async def test_slurmrestd_follows_the_configuration_in_use_and_not_the_one_that_is_wanted():
    async with Scene() as scene:
        await scene.rise()
        pods = scene.pods()
        await scene.edit("Controller", "slurm", extraConf=BAD)
        await scene.settle()
        assert {k: v for k, v in scene.pods().items() if "check" not in k} == pods
        assert scene.unready([("RestApi", "slurm")]) == []


async def test_in_place_slurmctld_is_not_restarted_for_a_new_configuration():
    async with Scene() as scene:
        await scene.rise()
        await scene.edit("Controller", "slurm", inplaceReconfigure=True)
        await scene.settle()
        pods = scene.pods()
        await scene.edit("Controller", "slurm", extraConf=GOOD)
        await scene.settle()
        assert GOOD.strip() in scene.conf()
        assert scene.pods()["slurm-controller-0"] == pods["slurm-controller-0"]
        # kubelet looks at a pod that changes at once, and brings the files.
        digests = {
            scene.find(kind, name)["metadata"]["annotations"]["slinky.slurm.net/slurm-config-hash"]
            for kind, name in (("Pod", "slurm-controller-0"), ("ConfigMap", "slurm-config"))
        }
        assert len(digests) == 1


async def test_a_configuration_that_somebody_deletes_comes_back_only_when_slurm_accepts_it():
    async with Scene() as scene:
        await scene.rise()
        before, pods = scene.seen(), scene.pods()
        await scene.edit("Controller", "slurm", extraConf=BAD)
        await scene.settle()
        await scene.remove(kinds.CONFIG_MAP, "slurm-config")
        await scene.settle()
        assert "slurm-config" not in scene.objects(kinds.CONFIG_MAP)
        assert {k: v for k, v in scene.pods().items() if "check" not in k} == pods
        assert scene.ready("Controller", "slurm")[1] == "ConfigRefused"
        await scene.edit("Controller", "slurm", extraConf=OLD)
        await scene.settle()
        assert scene.seen() == before
        assert scene.pods() == pods


async def test_a_configmap_that_is_not_there_is_told_and_the_configuration_in_use_stays():
    async with Scene() as scene:
        await scene.rise()
        before, pods = files(scene), scene.pods()
        await scene.edit("Controller", "slurm", prologScriptRefs=[{"name": "late"}])
        await scene.remove(kinds.CONFIG_MAP, "files")
        await scene.settle()
        _, reason, message = scene.ready("Controller", "slurm")
        assert reason == "Missing"
        assert "spec.configFileRefs[0]: ConfigMap files is not there" in message
        assert "spec.prologScriptRefs[0]: ConfigMap late is not there" in message
        assert files(scene) == before
        assert scene.pods() == pods
        await scene.make(config_map("late", check_sh="exit 0"), FILES)
        await scene.settle()
        assert scene.unready() == []
        assert "Prolog=check.sh" in scene.conf()
        assert files(scene)["check.sh"] == "exit 0"


async def test_slurmctld_does_not_begin_without_a_file_that_it_shall_have():
    async with Scene() as scene:
        await scene.rise(*(obj for obj in EXAMPLE if obj is not FILES))
        assert scene.ready("Controller", "slurm")[1] == "Missing"
        assert "slurm-controller" not in scene.objects(kinds.STATEFUL_SET)
        assert "slurm-config" not in scene.objects(kinds.CONFIG_MAP)
        await scene.make(FILES)
        await scene.settle()
        assert scene.unready() == []
        assert scene.toys.tried == []
        assert files(scene)["gres.conf"] == "AutoDetect=nvml\n"


async def test_files_that_do_not_fit_are_told_and_nothing_is_written():
    async with Scene() as scene:
        await scene.rise()
        before = files(scene)
        await scene.rewrite("ConfigMap", "files", **{"gres.conf": "#" * LIMIT_BYTES})
        await scene.settle()
        assert scene.ready("Controller", "slurm")[1] == "ConfigTooLarge"
        assert files(scene) == before
