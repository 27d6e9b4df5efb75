from shoal.model.part import Marks
from shoal.render import pods
from shoal.render.pods import Inside

from .builders import make_part, wishing


def make(part, **changes):
    main = pods.container(part, "slurmctld", {"args": ["-D"], "env": [{"name": "A", "value": "1"}]})
    return pods.template(part, Inside(main, **changes))


def test_what_the_user_says_of_a_container_wins_also_when_it_is_false_or_nothing():
    """https://github.com/SlinkyProject/slurm-operator/issues/252"""
    part = make_part("Controller", "slurm", slurmctld={"tty": False, "workingDir": ""})
    main = make(part)["spec"]["containers"][0]
    assert (main["tty"], main["workingDir"]) == (False, "")


def test_arguments_of_the_user_follow_ours_and_variables_are_merged_by_name():
    theirs = {"args": ["-v"], "env": [{"name": "A", "value": "2"}]}
    main = make(make_part("Controller", "slurm", slurmctld=theirs))["spec"]["containers"][0]
    assert main["args"] == ["-D", "-v"]
    assert main["env"] == [{"name": "A", "value": "2"}]


def test_a_container_of_ours_in_the_users_template_is_merged_and_not_doubled():
    part = make_part("Controller", "slurm")
    theirs = {"containers": [{"name": "slurmctld", "tty": True}, {"name": "mine"}]}
    found = make(wishing(part, spec=theirs))["spec"]["containers"]
    assert [(one["name"], one.get("tty")) for one in found] == [("slurmctld", True), ("mine", None)]


def test_the_users_terms_of_affinity_do_not_take_away_ours():
    mine = pods.apart({"a": "b"})
    theirs = {"podAntiAffinity": pods.apart({"c": "d"})["podAntiAffinity"]}
    part = wishing(make_part("Controller", "slurm"), spec={"affinity": theirs})
    made = make(part, spec={"affinity": mine})["spec"]["affinity"]["podAntiAffinity"]
    found = made["requiredDuringSchedulingIgnoredDuringExecution"]
    assert [term["labelSelector"]["matchLabels"] for term in found] == [{"a": "b"}, {"c": "d"}]


def test_marks_are_layered_resource_template_ours():
    name = "app.kubernetes.io/name"
    part = make_part("Controller", "slurm", marks=Marks({"a": "1", "b": "1"}, {"n": "1"}))
    part = wishing(part, marks=Marks({"b": "2", name: "x"}, {"d": "user"}))
    meta = make(part, digests={"d": "ours"})["metadata"]
    assert (meta["labels"]["a"], meta["labels"]["b"], meta["labels"][name]) == (
        "1",
        "2",
        "slurmctld",
    )
    assert (meta["annotations"]["n"], meta["annotations"]["d"]) == ("1", "ours")


def test_kubectl_shows_the_daemon_when_no_container_is_named():
    notes = make(make_part("Controller", "slurm"))["metadata"]["annotations"]
    assert notes["kubectl.kubernetes.io/default-container"] == "slurmctld"


def test_no_pod_can_talk_to_the_api_server():
    assert make(make_part("Controller", "slurm"))["spec"]["automountServiceAccountToken"] is False


def test_a_container_beside_has_the_daemons_image_unless_the_user_names_another():
    main = {"name": "slurmctld", "image": "a", "imagePullPolicy": "Never"}
    part = make_part("Controller", "slurm")
    assert pods.logfile(part, main, "slurmctld")["image"] == "a"
    assert pods.logfile(part, main, "slurmctld")["imagePullPolicy"] == "Never"
    other = make_part("Controller", "slurm", logfile={"image": "b"})
    assert pods.logfile(other, main, "slurmctld")["image"] == "b"


def test_the_log_is_a_pipe_before_the_daemon_starts():
    made = pods.logfile(make_part("Controller", "slurm"), {"name": "x"}, "slurmctld")
    assert made["restartPolicy"] == "Always"
    assert "test -p" in made["lifecycle"]["postStart"]["exec"]["command"][-1]
    assert made["env"] == [{"name": "SOCKET", "value": "/var/log/slurm/slurmctld.log"}]


def test_merging_does_not_change_the_model():
    part = wishing(make_part("Controller", "slurm"), spec={"containers": [{"name": "slurmctld"}]})
    before = repr(part)
    make(part)["spec"]["containers"][0]["args"].append("changed")
    assert repr(part) == before
