"""Volumes: bound at once, seen from every node, gone with their claim."""

import json
from pathlib import Path

import pytest

from .clusters import Local, wait_for
from .objects import claim, mounted, pod
from .python_image import command

WRITE = "open('/data/word', 'w').write('kept')"
READ = "print(open('/data/word').read())"
IDLE = "import time; time.sleep(3600)"
# Who wrote a file, for which group, and may that group write to the folder?
OWNERS = """
import json, os
open('/data/mine', 'w').close()
folder, file = os.stat('/data'), os.stat('/data/mine')
print(json.dumps({'uid': file.st_uid, 'gid': file.st_gid, 'folder': folder.st_gid}))
"""


def folder_of(cluster: Local, name: str) -> Path:
    """Return the folder that a claim's volume is."""
    return cluster.folder / "volumes" / cluster.get("pvc", name)["spec"]["volumeName"]


def run_once(cluster: Local, one: dict) -> str:
    """Run a pod to its end, delete it, and return what it said."""
    name = one["metadata"]["name"]
    cluster.apply(one)
    cluster.wait("jsonpath={.status.phase}=Succeeded", f"pod/{name}")
    said = cluster.kubectl("logs", name).out
    cluster.kubectl("delete", "pod", name)
    return said


@pytest.fixture
def bound(ns: Local) -> Local:
    """Give a namespace with a bound claim `data`, for many nodes at once."""
    ns.apply(claim("data", "ReadWriteMany"))
    ns.wait("jsonpath={.status.phase}=Bound", "pvc/data")
    return ns


@pytest.mark.parametrize("mode", ["ReadWriteOnce", "ReadWriteMany"])
def test_a_claim_of_the_default_class_is_bound_without_a_pod(ns, mode):
    ns.apply(claim("data", mode))
    ns.wait("jsonpath={.status.phase}=Bound", "pvc/data")
    assert folder_of(ns, "data").is_dir()
    assert ns.get("pvc", "data")["status"]["accessModes"] == [mode]


def test_data_outlive_the_pod_that_wrote_them_also_on_another_node(bound, python):
    for name, node, script in (("writer", "n0", WRITE), ("reader", "n2", READ)):
        end = {"image": python, "command": command(script), "restartPolicy": "Never"}
        said = run_once(bound, pod(name, node, **end, **mounted("data")))
    assert said == "kept\n"


def test_a_volume_for_many_is_seen_from_two_nodes_at_once(bound, python):
    for node in ("n0", "n1"):
        bound.apply(pod(node, node, image=python, command=command(IDLE), **mounted("data")))
    bound.wait("condition=Ready", "pod/n0", "pod/n1")
    bound.kubectl("exec", "n0", "--", *command(WRITE))
    assert bound.kubectl("exec", "n1", "--", *command(READ)).out == "kept\n"


def test_a_pod_that_is_not_root_writes_for_the_group_that_it_asked_for(bound, python):
    end = {"image": python, "command": command(OWNERS), "restartPolicy": "Never"}
    group = {"securityContext": {"runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 2000}}
    said = run_once(bound, pod("writer", **end, **group, **mounted("data")))
    assert json.loads(said) == {"uid": 1000, "gid": 2000, "folder": 2000}


def test_a_deleted_claim_takes_its_volume_and_folder_with_it(bound):
    folder = folder_of(bound, "data")
    (folder / "below").mkdir()
    (folder / "below" / "word").write_text("gone")
    bound.kubectl("delete", "pvc", "data")
    wait_for("the folder to go", folder.exists, lambda there: not there)
    bound.kubectl("wait", "--for=delete", f"pv/{folder.name}", "--timeout=60s")
    assert not [*folder.parent.glob(f".*{folder.name}*")]
