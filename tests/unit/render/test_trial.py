from shoal.model.config import Config
from shoal.model.part import Marks
from shoal.render import controller, trial

from .builders import (
    container_of,
    environment,
    make_cluster,
    make_controller,
    make_part,
    spec_of,
    wishing,
)
from .jailed import worlds as jailed


def check(managed=None):
    managed = managed or make_controller()
    made = make_cluster(controller=managed)
    return trial.check(made, managed, controller.wanted(made).digest)


def test_a_trial_is_named_after_the_configuration_that_it_tries():
    made = make_cluster()
    digest = controller.wanted(made).digest
    assert check()["metadata"]["name"] == f"slurm-controller-check-{digest[:8]}"
    assert environment(container_of(check(), "check"))["DIGEST"] == digest
    assert trial.candidate(made, made.controller)["data"]["digest"] == digest


def test_what_is_tried_is_what_would_be_published_but_for_slurm_conf():
    files = {"gres.conf": b"AutoDetect=nvml", "digest": b"the user's", "program": b"\xff"}
    made = make_cluster(config=Config(contents=files))
    candidate, wanted = trial.candidate(made, made.controller), controller.wanted(made)
    own = ("slurm.conf", "digest")
    tried, published = (
        {name: text for name, text in data.items() if name not in own}
        for data in (candidate["data"], wanted.files)
    )
    assert tried == published
    assert candidate["binaryData"] == wanted.binary
    assert candidate["data"]["digest"] == wanted.digest


def test_no_service_ever_takes_a_trial_for_slurmctld():
    labels = check()["metadata"]["labels"]
    assert not make_controller().part.selector.items() <= labels.items()


def test_a_trial_has_neither_the_state_nor_the_configuration_in_use():
    spec = spec_of(check())
    assert "persistentVolumeClaim" not in str(spec)
    (given,) = [v for v in spec["volumes"] if v["name"] == "given"]
    names = [next(iter(s.values()))["name"] for s in given["projected"]["sources"]]
    assert names == ["slurm-config-candidate", "slurm-auth", "slurm-jwt"]


def test_a_trial_runs_the_image_that_slurmctld_runs_and_ends_by_itself():
    part = make_part("Controller", "slurm", slurmctld={"image": "mine", "imagePullPolicy": "Never"})
    made = check(make_controller(part=part))
    main = container_of(made, "check")
    assert (main["image"], main["imagePullPolicy"]) == ("mine", "Never")
    assert made["spec"]["restartPolicy"] == "Never"
    assert made["spec"]["activeDeadlineSeconds"] > trial.LIMIT_S


def test_an_image_in_the_templates_container_counts_too():
    theirs = {"containers": [{"name": "slurmctld", "image": "mine"}, {"name": "endless"}]}
    made = check(make_controller(part=wishing(make_part("Controller", "slurm"), spec=theirs)))
    (only,) = made["spec"]["containers"]
    assert only["image"] == "mine"


def test_a_trial_may_run_where_slurmctld_may():
    theirs = {"nodeSelector": {"a": "b"}, "hostNetwork": True, "volumes": [{"name": "x"}]}
    part = wishing(make_part("Controller", "slurm"), spec=theirs, marks=Marks({"l": "m"}))
    spec = spec_of(check(make_controller(part=part)))
    assert spec["nodeSelector"] == {"a": "b"}
    assert "hostNetwork" not in spec
    assert "x" not in [volume["name"] for volume in spec["volumes"]]


def test_a_trial_passes_the_restricted_standard():
    spec = spec_of(check())
    right = {**spec["securityContext"], **spec["containers"][0]["securityContext"]}
    assert (right["runAsNonRoot"], right["allowPrivilegeEscalation"]) == (True, False)
    assert right["capabilities"] == {"drop": ["ALL"]}
    assert right["seccompProfile"] == {"type": "RuntimeDefault"}


def test_another_configuration_is_another_trial():
    names = []
    for extra in ("", "MinJobAge=2"):
        made = make_cluster(extra)
        digest = controller.wanted(made).digest
        names.append(trial.check(made, made.controller, digest)["metadata"]["name"])
    assert names[0] != names[1]


def test_a_trial_as_root_may_give_up_groups_and_nothing_else():
    made = jailed.make_cluster()
    spec = spec_of(trial.check(made, made.controller, "a-digest"))
    right = spec["containers"][0]["securityContext"]
    assert right["capabilities"] == {"drop": ["ALL"], "add": ["SETGID"]}
    assert (right["runAsUser"], right["allowPrivilegeEscalation"]) == (0, False)
