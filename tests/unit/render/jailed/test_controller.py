from dataclasses import replace

import pytest

from shoal.model.controller import (
    ClaimTemplate,
    Endpoint,
    Ephemeral,
    ExistingVolume,
    Metrics,
    Monitor,
)
from shoal.model.maintenance import Mode
from shoal.render.controller import Published
from shoal.render.jailed import controller

from ..builders import container_of, environment, external_controller, notes_of, spec_of, the
from .worlds import (
    CLAIM,
    KEYS,
    OLDEST,
    make_accounting,
    make_cluster,
    make_controller,
    make_fittings,
    make_jail,
)

DIGEST = "slurm.nebius.ai/slurm-config-hash"


def made(cluster=None, published=None):
    cluster = cluster or make_cluster()
    return controller.objects(cluster, cluster.jail, published)


def stateful_set(cluster=None, published=None):
    return the("StatefulSet", made(cluster, published))


def before(cluster):
    return [c["name"] for c in spec_of(stateful_set(cluster))["initContainers"]]


def test_the_configuration_says_which_one_it_is():
    cluster = make_cluster()
    config = next(o for o in made(cluster) if o["metadata"]["name"] == "one-slurm-configs")
    wanted = controller.wanted(cluster, cluster.jail)
    assert config["metadata"]["annotations"] == {DIGEST: wanted.digest}
    assert config["data"] == wanted.files


def test_a_configuration_that_is_held_stays_and_nothing_is_restarted_for_the_wanted_one():
    held = Published({"slurm.conf": "old"}, "old-digest")
    config = next(o for o in made(published=held) if o["metadata"]["name"] == "one-slurm-configs")
    assert config["data"] == {"slurm.conf": "old"}
    other = make_cluster(extra="KillWait=7")
    assert stateful_set(published=held) == stateful_set(other, held)


@pytest.mark.parametrize("in_place", [True, False])
def test_slurmctld_is_restarted_for_a_configuration_only_where_it_is_not_read_in_place(in_place):
    one, other = (
        make_cluster(extra=extra, controller=make_controller(in_place=in_place))
        for extra in ("", "KillWait=7")
    )
    same = notes_of(stateful_set(one)) == notes_of(stateful_set(other))
    assert same is in_place
    assert ("reconfigure" in before(one)) is in_place


def test_a_new_key_restarts_slurmctld():
    rekeyed = replace(KEYS, munge=replace(KEYS.munge, digest="new"))
    one, other = stateful_set(), stateful_set(make_cluster(keys=rekeyed))
    assert notes_of(one) != notes_of(other)


def test_what_running_daemons_are_to_read_anew_is_said_by_its_digest():
    held = Published({}, "d")
    assert controller.read_in_place(make_cluster(), held) == {DIGEST: "d"}


# -- the state


def test_slurmctld_looks_for_its_state_before_anything_else_starts():
    assert before(make_cluster())[:2] == ["state", "munge"]


def test_a_state_that_goes_with_the_pod_is_not_looked_for():
    cluster = make_cluster(controller=make_controller(state=Ephemeral()))
    assert "state" not in before(cluster)
    volumes = {v["name"]: v for v in spec_of(stateful_set(cluster))["volumes"]}
    assert volumes["controller-spool"] == {"name": "controller-spool", "emptyDir": {}}


def test_a_state_of_its_own_outlives_the_pod():
    cluster = make_cluster(controller=make_controller(state=ClaimTemplate(CLAIM)))
    (claim,) = stateful_set(cluster)["spec"]["volumeClaimTemplates"]
    assert claim == {"metadata": {"name": "controller-spool"}, "spec": CLAIM}


def test_a_state_may_lie_on_any_volume():
    source = {"nfs": {"server": "files", "path": "/spool"}}
    cluster = make_cluster(controller=make_controller(state=ExistingVolume(source)))
    volumes = {v["name"]: v for v in spec_of(stateful_set(cluster))["volumes"]}
    assert volumes["controller-spool"] == {"name": "controller-spool", **source}


# -- what it waits for


def test_slurmctld_waits_for_accounting_only_where_there_is_some():
    assert "wait-for-accounting" not in before(make_cluster())
    assert "wait-for-accounting" in before(make_cluster(accounting=make_accounting()))


def test_tools_beside_slurmctld_find_its_files_without_an_entrypoint():
    sts = stateful_set(make_cluster(accounting=make_accounting()))
    for name in ("wait-for-accounting", "reconfigure"):
        container = container_of(sts, name)
        paths = [mount["mountPath"] for mount in container["volumeMounts"]]
        assert environment(container)["SLURM_CONF"] == "/mnt/jail/etc/slurm/slurm.conf"
        assert "/mnt/jail/etc/slurm" in paths
        # Read-only, it would have to have the folder already.
        assert "/mnt/jail" not in paths


# -- how it is found


def test_slurmctld_answers_itself_without_a_detour():
    (alias,) = spec_of(stateful_set())["hostAliases"]
    assert alias == {"ip": "127.0.0.1", "hostnames": ["one-controller-svc"]}


def test_its_service_leads_to_it_alone():
    services = [o for o in made() if o["kind"] == "Service"]
    assert [s["metadata"]["name"] for s in services] == ["one-controller-svc"]
    holder = the("DaemonSet", made())["spec"]["template"]["metadata"]["labels"]
    assert not services[0]["spec"]["selector"].items() <= holder.items()


def test_an_older_slurmctld_is_asked_whether_it_listens():
    main = container_of(stateful_set(make_cluster(version=OLDEST)), "slurmctld")
    assert "tcpSocket" in main["startupProbe"]
    assert main["startupProbe"]["periodSeconds"] == 1


def test_prometheus_reads_slurmctld_where_the_user_wants():
    monitor = Metrics(Monitor((Endpoint("/metrics/jobs"),)))
    cluster = make_cluster(controller=make_controller(metrics=monitor))
    assert the("ServiceMonitor", made(cluster))
    old = replace(cluster, version=OLDEST)
    assert not [o for o in made(old) if o["kind"] == "ServiceMonitor"]


# -- the rest


def test_images_are_held_ready_where_slurmctld_may_come_to_run():
    held = the("DaemonSet", made())
    assert [c["image"] for c in spec_of(held)["containers"]] == [
        "shoal/slurmctld:26.05",
        "shoal/munge:26.05",
    ]
    without = make_cluster(controller=make_controller(placeholder=""))
    assert not [o for o in made(without) if o["kind"] == "DaemonSet"]


@pytest.mark.parametrize("mode", Mode)
def test_a_cluster_that_is_down_has_no_slurmctld(mode):
    cluster = make_cluster(jail=make_jail(mode=mode))
    assert stateful_set(cluster)["spec"]["replicas"] == (0 if mode.down else 1)


def test_limits_are_the_images_own_where_nobody_names_a_map_for_them():
    cluster = make_cluster(controller=make_controller(fittings=make_fittings()))
    names = [obj["metadata"]["name"] for obj in made(cluster)]
    assert not [name for name in names if name.endswith("security-limits")]


def test_a_slurmctld_somewhere_else_has_no_shared_root():
    with pytest.raises(TypeError, match="somewhere else"):
        made(make_cluster(controller=external_controller()))


def test_slurmctld_finds_workers_and_login_nodes_by_their_bare_names():
    cluster = make_cluster(jail=make_jail(subdomains=("workers", "logins")))
    assert spec_of(stateful_set(cluster))["dnsConfig"]["searches"] == [
        f"{name}.{cluster.namespace}.svc.cluster.local" for name in ("workers", "logins")
    ]
