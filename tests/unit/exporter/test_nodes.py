"""What is told of nodes."""

import pytest

from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.exporter.nodes import NodesCollector, facts_of, gpus_of
from shoal.exporter.shared import Shared
from shoal.exporter.snapshot import NodesSeen

from .builders import NOW, samples, some_node, value


def told(*nodes, looks=1, shared=None):
    collector = NodesCollector(fake_client(FakeSlurm()), shared or Shared())
    for n in range(looks):
        text = "".join(collector.tell(NodesSeen(nodes), NOW + 30 * n))
    return text


def info(text):
    (found,) = (dict(labels) for name, labels in samples(text) if name == "slurm_node_info")
    return found


def test_a_nodes_state_is_in_its_labels():
    node = some_node(
        state=("IDLE", "DRAIN", "CLOUD", "NOT_RESPONDING"), reason='says "no"\n', comment="c\\d",
        instance_id="i-1", address="10.0.0.1", reservation="r" * 60,
    )  # fmt: skip
    assert info(told(node)) == {
        "node_name": "w-0",
        "instance_id": "i-1",
        "state_base": "IDLE",
        "state_is_drain": "true",
        "state_is_maintenance": "false",
        "state_is_reserved": "false",
        "state_is_cloud": "true",
        "state_is_not_responding": "true",
        "is_unavailable": "true",
        "reservation_name": "r" * 50,
        "address": "10.0.0.1",
        "reason": 'says "no"\n',
        "comment": "c\\d",
    }


def test_flags_that_are_not_set_are_left_out():
    assert set(info(told(some_node()))) == {
        "node_name", "state_base", "state_is_drain", "state_is_maintenance", "state_is_reserved",
    }  # fmt: skip


def test_what_a_node_has_is_told_in_bytes():
    text = told(some_node(alloc_cpus=3, alloc_memory=100, specialized_memory=24))
    for name, wanted in (
        ("cpus_total", 8),
        ("cpus_allocated", 3),
        ("cpus_idle", 5),
        ("cpus_effective", 8),
        ("memory_total_bytes", 1024 << 20),
        ("memory_allocated_bytes", 100 << 20),
        ("memory_free_bytes", 512 << 20),
        ("memory_effective_bytes", 1000 << 20),
    ):
        assert value(text, f"slurm_node_{name}", node_name="w-0") == wanted
    assert value(text, "slurm_node_partition", node_name="w-0", partition="all") == 1


def test_a_node_that_does_not_say_what_is_free_has_no_such_series():
    node = some_node(free_mem=type(some_node().free_mem)())
    assert value(told(node), "slurm_node_memory_free_bytes", node_name="w-0") is None


def test_gpus_are_told_of_nodes_that_have_them():
    text = told(some_node("w-0", tres="cpu=8,gres/gpu=8", tres_used="gres/gpu=3"), some_node("w-1"))
    assert value(text, "slurm_node_gpus", node_name="w-0") == 8
    assert value(text, "slurm_node_gpus_allocated", node_name="w-0") == 3
    assert value(text, "slurm_node_gpus", node_name="w-1") is None


def test_gpus_that_are_not_tracked_are_found_among_the_generic_resources():
    assert gpus_of("cpu=8", "gpu:h200:8(S:0-1),shard:4") == 8
    assert gpus_of("cpu=8", "((") == 0


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("IDLE", "IDLE"),
        ("IDLE DRAIN", "DRAINED"),
        ("MIXED DRAIN", "DRAINING"),
        ("DOWN DRAIN", "DOWN"),
        ("IDLE POWERED_DOWN", "POWERED_DOWN"),
        ("ALLOCATED PLANNED", "ALLOCATED"),
        ("NEVER_HEARD_OF", "UNKNOWN"),
    ],
)
def test_a_node_counts_as_one_thing_in_its_partition(state, word):
    assert facts_of(tuple(state.split())).summary == word
    text = told(some_node(state=tuple(state.split())))
    assert value(text, "slurm_partition_nodes", partition="all", state=word) == 1


@pytest.mark.parametrize(
    ("state", "failed", "unavailable", "draining"),
    [
        ("IDLE", False, False, False),
        ("DOWN", True, True, False),
        ("IDLE DRAIN", True, True, False),
        ("ALLOCATED DRAIN", True, False, True),
        ("DOWN POWERED_DOWN", False, False, False),
        ("IDLE NOT_RESPONDING", False, True, False),
    ],
)
def test_failing_being_out_of_service_and_draining_are_three_things(
    state, failed, unavailable, draining
):
    facts = facts_of(tuple(state.split()))
    assert (facts.failed, facts.unavailable, facts.draining) == (failed, unavailable, draining)


def test_gpu_seconds_grow_from_look_to_look():
    text = told(some_node(tres="gres/gpu=2"), looks=3)
    labels = {"state_is_drain": "false", "state_is_maintenance": "false"}
    name, more = "slurm_node_gpu_seconds_total", {"state_is_reserved": "false"}
    assert value(text, name, node_name="w-0", state_base="IDLE", **labels, **more) == 120


def test_a_failure_and_an_outage_are_told_after_they_were_seen():
    collector = NodesCollector(fake_client(FakeSlurm()), Shared())
    down = some_node(state=("DOWN",), reason="fire")
    for n, node in enumerate((some_node(), down, some_node())):
        text = "".join(collector.tell(NodesSeen([node]), NOW + 30 * n))
    (fails,) = (v for (name, _), v in samples(text).items() if name == "slurm_node_fails_total")
    assert fails == 1
    name = "slurm_node_unavailability_duration_seconds"
    assert value(text, f"{name}_sum", node_name="w-0") == 30


def test_a_partition_is_the_sum_of_its_nodes():
    text = told(some_node("w-0", tres="gres/gpu=2"), some_node("w-1", partitions=("all", "few")))
    assert value(text, "slurm_partition_cpus", partition="all") == 16
    assert value(text, "slurm_partition_gpus", partition="all") == 2
    assert value(text, "slurm_partition_memory_bytes", partition="few") == 1024 << 20


def test_others_learn_the_ids_of_instances():
    shared = Shared()
    told(some_node("w-0", instance_id="i-1"), some_node("w-1"), shared=shared)
    assert shared.instances == {"w-0": "i-1"}


async def test_nodes_are_read_again_in_each_run():
    slurm = FakeSlurm()
    slurm.slurmctld.add("w-[0-1]")
    collector = NodesCollector(fake_client(slurm), Shared())
    assert len((await collector.gather()).nodes) == 2
    slurm.slurmctld.add("w-2")
    assert len((await collector.gather()).nodes) == 3
    await collector.close()
