from dataclasses import replace

import pytest

from shoal.model.jail import Claimed
from shoal.model.jailed import Registration
from shoal.model.maintenance import Mode
from shoal.model.part import Files, Marks
from shoal.model.settings import Cgroup, Feature
from shoal.render import nodeset as engine
from shoal.render import revisions
from shoal.render.jailed import nodeset

from ..builders import container_of, environment, notes_of, spec_of, the
from .worlds import (
    CLAIM,
    JAIL,
    NEWEST,
    image,
    make_cluster,
    make_fittings,
    make_jail,
    make_nodeset,
    make_part,
    make_workers,
    with_gpus,
)


def pod(nodeset_=None, **cluster):
    wished = nodeset_ or make_nodeset()
    return engine.Mould(make_cluster(nodesets=(wished,), **cluster), wished).pod(0)


def told(nodeset_=None, **cluster):
    return environment(container_of(pod(nodeset_, **cluster), "slurmd"))


def workers(name="worker", **changes):
    return make_nodeset(name, jailed=make_workers(**changes))


# -- a worker is found, kept and ended as any other


def test_a_worker_is_called_as_its_slurm_node_is():
    made = pod()
    assert made["metadata"]["name"] == made["spec"]["hostname"] == "worker-0"
    assert made["metadata"]["labels"]["slurm.nebius.ai/pod-hostname"] == "worker-0"


def test_no_probe_ends_a_worker_whose_slurmd_is_slow():
    main = container_of(pod(), "slurmd")
    assert "livenessProbe" not in main
    assert main["startupProbe"]["periodSeconds"] == 1


def test_a_worker_that_ends_tells_slurmctld_first():
    command = container_of(pod(), "slurmd")["lifecycle"]["preStop"]["exec"]["command"]
    assert command[-1] == "slurm-operator: Pod is terminating"


def test_a_worker_stays_while_its_kubelet_is_away():
    assert [*engine.STAYING] == pod()["spec"]["tolerations"][1:]


def test_workers_alone_are_found_by_their_service_and_kept_apart():
    cluster = make_cluster(nodesets=(replace(make_nodeset(), oversubscribe=False),))
    names = the("Service", engine.shared(cluster))
    alike = {"slurm.nebius.ai/worker": "true"}
    assert names["spec"]["selector"] == {**alike, "slurm.nebius.ai/cluster": "one"}
    terms = pod(cluster.nodesets[0])["spec"]["affinity"]["podAntiAffinity"]
    (term,) = terms["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["labelSelector"] == {"matchLabels": alike}
    others = make_cluster().controller.part.labels
    assert not alike.items() <= others.items()


def test_the_service_of_all_workers_has_no_label_of_one_node_set():
    sets = (make_nodeset("a"), make_nodeset("b"))
    one, other = (
        engine.shared(make_cluster(nodesets=order)) for order in (sets, tuple(reversed(sets)))
    )
    assert one == other


# -- what slurmd is told


def test_slurmd_knows_its_host_and_its_node():
    env = {one["name"]: one.get("valueFrom") for one in container_of(pod(), "slurmd")["env"]}
    paths = {
        # Its Slurm node: of a cluster's own workers the pods have the cluster's name before it.
        "K8S_POD_NAME": "metadata.labels['slurm.nebius.ai/pod-hostname']",
        "K8S_POD_NAMESPACE": "metadata.namespace",
        "INSTANCE_ID": "spec.nodeName",
    }
    for name, path in paths.items():
        assert env[name] == {"fieldRef": {"fieldPath": path}}
    assert told()["K8S_SERVICE_NAME"] == "one-worker-svc"


def test_memory_is_told_in_the_units_of_both_releases():
    part = make_part("worker", slurmd=image("slurmd", "1G"))
    env = told(make_nodeset(part=part))
    assert env["SLURM_REAL_MEMORY"] == "953"
    assert env["SOPERATOR_NODE_REAL_MEMORY_BYTES"] == "1000000000"


def test_a_worker_has_the_feature_of_its_node_set_whatever_its_number():
    env = told(workers("gpu-a", features=("h200",)))
    assert env["SLURM_FEATURE_gpu_a"] == env["SLURM_FEATURE_h200"] == "$(K8S_POD_NAME)"


def test_kubelet_knows_a_workers_name_before_it_fills_it_in():
    names = [one["name"] for one in container_of(pod(), "slurmd")["env"]]
    assert names.index("K8S_POD_NAME") < names.index("SLURM_FEATURE_worker")


def test_features_of_some_workers_are_told_with_their_hostlist():
    env = told(workers(chosen=(Feature("fast", "worker-[0-3]"),)))
    assert env["SLURM_FEATURE_fast"] == "worker-[0-3]"


def test_a_worker_that_slurm_conf_names_brings_nothing_along():
    static = replace(workers(registration=Registration.STATIC), extra="Weight=3")
    env = told(static)
    assert env["SOPERATOR_NODE_SETS_ON"] == "true"
    assert not [name for name in env if name.startswith(("SLURM_FEATURE_", "SLURM_NODE_CONF"))]
    assert "SOPERATOR_NODE_SETS_ON" not in told()


def test_keys_of_a_node_reach_slurmd_where_it_brings_its_node_along():
    assert (
        told(replace(make_nodeset(), extra="Weight=3 State=DOWN"))["SLURM_NODE_CONF"] == "Weight=3"
    )


@pytest.mark.parametrize(("gpu", "kind"), [(True, "gpu"), (False, "cpu")])
def test_slurmd_knows_whether_there_are_gpus(gpu, kind):
    env = told(workers(gpu=gpu, gdr_copy=gpu), jail=make_jail(gpu=gpu))
    assert env["SLURM_CLUSTER_TYPE"] == kind
    assert env["NODESET_GPU_ENABLED"] == str(gpu).lower()
    assert ("NVIDIA_GDRCOPY" in env) is gpu


@pytest.mark.parametrize("version", Cgroup)
def test_slurmd_knows_the_version_of_cgroups(version):
    assert ("CGROUP_V2" in told(workers(cgroup=version))) is (version is Cgroup.V2)


def test_the_users_own_variables_are_added():
    part = make_part("worker", slurmd=image("slurmd", env=[{"name": "MINE", "value": "1"}]))
    assert told(make_nodeset(part=part))["MINE"] == "1"


# -- what is in the pod


def test_slurmd_starts_once_munged_and_slurmctld_are_there():
    assert [c["name"] for c in pod()["spec"]["initContainers"]] == ["munge", "worker-init"]


def test_a_worker_with_gpus_waits_for_the_nodes_driver_first():
    made = with_gpus().cluster
    found = engine.Mould(made, made.nodesets[0]).pod(0)
    assert found["spec"]["initContainers"][0]["name"] == "toolkit-validation"
    (mount,) = [
        m for m in container_of(found, "slurmd")["volumeMounts"] if m["mountPath"] == "/run/nvidia"
    ]
    assert mount["mountPropagation"] == "HostToContainer"
    assert "nvidia" not in [v["name"] for v in spec_of(pod())["volumes"]]


def test_a_worker_gets_exactly_what_it_asks_for():
    resources = container_of(pod(), "slurmd")["resources"]
    assert resources["limits"] == resources["requests"] == {"cpu": "2", "memory": "2Gi"}


def test_shared_memory_is_as_large_as_the_user_wants():
    volumes = {v["name"]: v for v in spec_of(pod(workers(shared_memory="1Gi")))["volumes"]}
    assert volumes["dev-shm"]["emptyDir"] == {"medium": "Memory", "sizeLimit": "1Gi"}


def test_run_is_the_images_own_as_jobs_see_it_and_an_empty_volume_is_for_all_to_write():
    paths = [mount["mountPath"] for mount in container_of(pod(), "slurmd")["volumeMounts"]]
    assert "/run" not in paths


def test_what_is_claimed_for_a_worker_is_its_own():
    made = workers(spool=Claimed(CLAIM))
    assert [c["metadata"]["name"] for c in engine.claims(made, "0")] == ["worker-spool-worker-0"]
    volumes = [v for v in spec_of(pod(made))["volumes"] if v["name"] == "worker-spool"]
    assert volumes == [
        {
            "name": "worker-spool",
            "persistentVolumeClaim": {"claimName": "worker-spool-worker-0"},
        }
    ]


def test_the_users_own_files_take_the_place_of_ours():
    files = {"sshd": Files("s", digest="x"), "supervisord": Files("v", digest="y")}
    volumes = {v["name"]: v for v in spec_of(pod(workers(**files)))["volumes"]}
    assert volumes["ssh-configs"]["configMap"]["name"] == "s"
    assert volumes["supervisord-config"]["configMap"]["name"] == "v"


def test_a_worker_says_what_it_was_started_with():
    notes = notes_of(pod(workers(sshd=Files("s", digest="x"))))
    assert notes["slurm.nebius.ai/munge-key-hash"] == "d1"
    assert notes["slurm.nebius.ai/sshd-conf-hash"] == "x"


def test_annotations_of_the_users_are_on_each_worker():
    part = make_nodeset().part
    part = replace(part, pods=replace(part.pods, marks=Marks(annotations={"a": "b"})))
    assert notes_of(pod(make_nodeset(part=part)))["a"] == "b"


# -- beside the pods


def test_limits_of_a_node_set_are_its_own():
    made = make_nodeset("a")
    (limits,) = engine.objects(make_cluster(nodesets=(made,)), made)
    assert limits["metadata"]["name"] == "one-nodeset-a-security-limits"
    assert "* hard memlock unlimited\n" in limits["data"]["limits.conf"]


def test_a_node_set_has_a_service_of_its_own_only_where_it_is_named():
    made = workers("a", service="one-nodeset-a-svc", fittings=make_fittings())
    (service,) = nodeset.objects(made, made.jailed)
    assert service["spec"]["selector"] == made.part.selector
    assert service["spec"]["clusterIP"] == "None"


# -- when workers are replaced


def test_neither_scaling_nor_maintenance_replaces_a_worker():
    made = make_nodeset()
    data = revisions.data(made)
    grown = replace(made, replicas=9, jailed=replace(made.jailed, listed=9))
    assert revisions.data(grown) == data
    one, other = (
        engine.Mould(make_cluster(jail=make_jail(mode=mode)), made).pod(0)
        for mode in (Mode.NONE, Mode.DOWNSCALE)
    )
    assert one == other


@pytest.mark.parametrize(
    "change",
    [
        {"gpu": True},
        {"shared_memory": "1Gi"},
        {"node_extra": "x"},
        {"features": ("a",)},
        {"chosen": (Feature("a", "worker-0"),)},
        {"cgroup": Cgroup.V1},
        {"spool": Claimed(CLAIM)},
        {"sshd": Files("s")},
        {"registration": Registration.STATIC},
        {"fittings": make_fittings(limits_conf="* soft core 0")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_the_user_wants_otherwise_replaces_workers(change):
    made = make_nodeset()
    other = replace(made, jailed=replace(made.jailed, **change))
    assert revisions.data(other) != revisions.data(made)


def test_what_is_kept_of_a_users_wishes_is_plain_data():
    assert JAIL.source == revisions.data(make_nodeset())["jailed"]["jail"]["given"]


def test_a_newer_slurmd_is_asked_by_http():
    assert "httpGet" in container_of(pod(version=NEWEST), "slurmd")["readinessProbe"]
