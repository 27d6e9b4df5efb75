import json
from pathlib import Path

import yaml

from shoal.local import control_plane, node
from shoal.local.cluster import Cluster, Networked

CLUSTER = Cluster("a", Path("/s/a"), Networked(1, 3))


def test_no_two_nodes_share_an_address_or_a_pod_range():
    addresses = {node.identity(CLUSTER, name).addresses for name in CLUSTER.node_names}
    ranges = {
        json.loads(node.cni_config(CLUSTER.place, i))["plugins"][0]["ipam"]["ranges"][0][0][
            "subnet"
        ]
        for i in range(3)
    }
    assert len(addresses) == len(ranges) == 3


def test_the_kubelet_starts_only_once_containerd_listens():
    kubelet = next(p for p in node.programs(CLUSTER, "n1") if p.name == "kubelet")
    assert kubelet.after == (node.SOCKET,)


def test_images_that_were_loaded_by_hand_are_never_collected():
    config = yaml.safe_load(node.kubelet_config(CLUSTER, "n0"))
    assert config["imageGCHighThresholdPercent"] == 100


def test_a_kubelet_answers_nobody_without_a_name_and_rights():
    config = yaml.safe_load(node.kubelet_config(CLUSTER, "n0"))
    assert config["authentication"]["anonymous"] == {"enabled": False}
    assert config["authorization"] == {"mode": "Webhook"}
    assert config["readOnlyPort"] == 0


def test_a_node_renews_its_lease_several_times_before_it_is_given_up():
    assert node.LEASE_S / 4 * 3 < control_plane.NODE_GRACE_S


def test_every_kernel_setting_that_a_kubelet_would_write_is_hidden_from_it():
    assert set(node.KERNEL_SETTINGS) == {
        "vm/overcommit_memory",
        "vm/panic_on_oom",
        "kernel/panic",
        "kernel/panic_on_oops",
        "kernel/keys/root_maxkeys",
        "kernel/keys/root_maxbytes",
    }
