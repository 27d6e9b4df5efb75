import pytest

from shoal.model.controller import ExistingClaim
from shoal.render import slurmd

from .builders import (
    NEWEST,
    OLDEST,
    environment,
    external_controller,
    make_cluster,
    make_controller,
    make_nodeset,
    make_part,
    make_ssh,
    wishing,
)


def container(cluster=None, **changes):
    return slurmd.container(cluster or make_cluster(), make_nodeset(**changes))


def asking(**wishes):
    return make_part("NodeSet", "cpu", slurmd=wishes)


# -- arguments


def test_slurmd_joins_by_itself_with_the_users_keys():
    assert container(extra="Weight=10 Gres=gpu:8")["args"] == [
        "-Z",
        "--conf-server",
        "slurm-controller.research:6817",
        "--instance-id",
        "$(POD_NODE_NAME)",
        "--conf",
        "'Features=cpu Gres=gpu:8 Weight=10'",
    ]


def test_slurmd_asks_an_external_slurmctld_at_its_own_port():
    made = make_cluster(controller=external_controller("ctl.example.com", 7817))
    assert container(made)["args"][2] == "ctl.example.com:7817"


def test_slurmd_asks_each_of_several_slurmctlds():
    controller = make_controller(replicas=2, state=ExistingClaim("x"))
    assert container(make_cluster(controller=controller))["args"][2].count(":6817") == 2


def test_slurm_finds_the_kubernetes_node_of_a_worker_by_its_instance_id():
    made = container()
    place = made["args"].index("--instance-id") + 1
    name = made["args"][place].removeprefix("$(").removesuffix(")")
    (told,) = [one for one in made["env"] if one["name"] == name]
    assert told["valueFrom"] == {"fieldRef": {"fieldPath": "spec.nodeName"}}


# -- topology


def test_a_workers_shape_is_what_it_tells_slurm_and_nothing_else():
    plain = slurmd.shape(make_nodeset())
    assert plain == slurmd.shape(make_nodeset(part=asking(image="other:1")))
    told = {slurmd.shape(make_nodeset(extra=extra)) for extra in ("Weight=1", "Features=fast")}
    limited = asking(resources={"limits": {"cpu": "1"}})
    assert len({plain, *told, slurmd.shape(make_nodeset(part=limited))}) == 4
    assert slurmd.shape(make_nodeset(extra="Comment='")) == ""


def topology(made):
    return {one["name"] for one in made["env"] if one["name"].endswith("TOPOLOGY")}


def test_a_nodes_place_is_that_of_its_pod_at_the_start_for_every_image():
    """SchedMD's images read one name, custom ones the other."""
    made = container()
    assert topology(made) == {"POD_TOPOLOGY", "SLINKY_TOPOLOGY"}
    for one in made["env"]:
        if one["name"] in topology(made):
            path = one["valueFrom"]["fieldRef"]["fieldPath"]
            assert path == "metadata.annotations['topology.slinky.slurm.net/spec']"


def test_there_is_never_an_empty_topology_in_the_arguments():
    """https://github.com/SlinkyProject/slurm-operator/issues/261"""
    assert "Topology" not in " ".join(container(extra="CoreSpecCount=2")["args"])


@pytest.mark.parametrize(
    ("version", "extra"), [(NEWEST, "topology=default:s1"), (OLDEST, ""), (OLDEST, "Weight=1")]
)
def test_a_place_is_not_named_twice_nor_to_a_slurm_that_knows_none(version, extra):
    assert not topology(container(make_cluster(version=version), extra=extra))


# -- limits


@pytest.mark.parametrize(
    ("pod", "own", "cpus", "memory"),
    [
        ({}, {}, "0", "0"),
        ({"cpu": "1"}, {}, "1", "0"),
        ({"memory": "1Gi"}, {}, "0", "1024"),
        ({"cpu": 4, "memory": "2Gi"}, {"cpu": "1", "memory": "1Gi"}, "1", "1024"),
        ({"cpu": "4"}, {"memory": "2Gi"}, "4", "2048"),
        ({}, {"cpu": "3500m", "memory": "1500Ki"}, "4", "1"),
    ],
)
def test_slurm_is_told_how_much_of_the_machine_the_pod_may_use(pod, own, cpus, memory):
    part = wishing(asking(resources={"limits": own}), spec={"resources": {"limits": pod}})
    found = environment(container(part=part))
    assert (found["POD_CPUS"], found["POD_MEMORY"]) == (cpus, memory)


def test_limits_in_the_templates_container_count_too():
    theirs = {"containers": [{"name": "slurmd", "resources": {"limits": {"cpu": 2}}}]}
    part = wishing(asking(), spec=theirs)
    assert environment(container(part=part))["POD_CPUS"] == "2"


# -- rights


def rights(cluster=None, **changes):
    return container(cluster, **changes)["securityContext"]


def test_a_worker_is_privileged_unless_the_user_says_otherwise():
    found = rights()
    assert found["privileged"] is True
    assert found["capabilities"]["add"] == ["BPF", "NET_ADMIN", "SYS_ADMIN", "SYS_NICE"]


@pytest.mark.parametrize("extra", ["TaskPlugin=task/none", "TaskPlugin=task/cgroup"])
def test_an_unprivileged_worker_has_the_least_that_runs_jobs(extra):
    """https://github.com/SlinkyProject/slurm-operator/issues/238"""
    part = asking(securityContext={"privileged": False})
    assert rights(make_cluster(extra), part=part) == {
        "privileged": False,
        "capabilities": {"drop": ["ALL"], "add": ["CHOWN", "KILL", "SETGID", "SETUID"]},
    }


@pytest.mark.parametrize("extra", ["", "TaskPlugin=task/affinity,task/cgroup"])
def test_binding_tasks_to_cores_takes_one_right_more(extra):
    part = asking(securityContext={"privileged": False})
    assert "SYS_NICE" in rights(make_cluster(extra), part=part)["capabilities"]["add"]


def test_sshd_keeps_what_container_runtimes_give():
    part = asking(securityContext={"privileged": False})
    assert "drop" not in rights(part=part, ssh=make_ssh())["capabilities"]


def test_the_users_capabilities_are_the_ones():
    """https://github.com/SlinkyProject/slurm-operator/issues/238"""
    wanted = {"privileged": False, "capabilities": {"drop": ["ALL"], "add": ["SYS_PTRACE"]}}
    assert rights(part=asking(securityContext=wanted)) == wanted


def test_no_is_heard_in_the_templates_container_too():
    theirs = {"containers": [{"name": "slurmd", "securityContext": {"privileged": False}}]}
    assert rights(part=wishing(asking(), spec=theirs))["privileged"] is False


# -- how it starts and ends


@pytest.mark.parametrize(
    ("version", "handler"), [(NEWEST, "httpGet"), (OLDEST, "tcpSocket"), (None, "tcpSocket")]
)
def test_a_worker_is_asked_in_the_way_that_its_slurm_answers(version, handler):
    made = container(make_cluster(version=version))
    assert handler in made["startupProbe"]
    assert handler in made["readinessProbe"]


def test_a_slurmd_that_is_silent_does_not_cost_its_jobs():
    """Jobs go on without slurmd; the end of its container is their end."""
    assert "livenessProbe" not in container()


def test_a_worker_that_goes_says_so_with_our_reason():
    command = container()["lifecycle"]["preStop"]["exec"]["command"]
    assert command[-1] == "slurm-operator: Pod is terminating"


def test_ssh_is_there_only_when_asked_for():
    without, with_ssh = container(), container(ssh=make_ssh())
    assert [port["name"] for port in without["ports"]] == ["slurmd"]
    assert [port["name"] for port in with_ssh["ports"]] == ["slurmd", "ssh"]
    mounted = {mount["mountPath"] for mount in with_ssh["volumeMounts"]}
    assert {"/etc/ssh/sshd_config", "/etc/sssd/sssd.conf"} <= mounted
    assert len(without["volumeMounts"]) == len(with_ssh["volumeMounts"]) - 2
