"""What the images of a cluster with a jail promise, as far as files show it."""

import re
import subprocess
from pathlib import Path

import pytest

from shoal.local.buildah import SYSTEM_PATH
from shoal.local.images import BUNDLE_OF, JAIL, JAILED

IMAGES = Path(__file__).parents[3] / "images"
FOLDER = IMAGES / "jail"
SCRIPTS = sorted(FOLDER.glob("*.sh"))


def stages(containerfile):
    """Return the instructions of each stage, continued lines as one."""
    text = re.sub(r"\\\n\s*", " ", containerfile.read_text())
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    found = re.findall(r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM |\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: body.strip().splitlines() for name, body in found}


def test_both_series_have_every_image_of_a_jail():
    assert set(JAIL) == {"24.11", "26.05"}
    for series, names in JAIL.items():
        assert names == tuple(f"{name}:{series}" for name in JAILED)
        assert len({BUNDLE_OF[name].title for name in names}) == 1


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_sound_shell(path):
    checked = subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False)
    assert checked.stderr == ""


def test_every_image_starts_a_script_that_it_holds():
    for name in JAILED:
        lines = stages(FOLDER / "Containerfile")[name]
        (entrypoint,) = re.findall(r'^ENTRYPOINT \["(.*)"\]$', "\n".join(lines), re.MULTILINE)
        script = Path(entrypoint)
        copies = [line for line in lines if line.startswith("COPY") and script.name in line]
        assert [copy.split()[-1] for copy in copies] == [f"{script.parent}/"]


# A layer is shared only where every instruction up to it is the same.
def test_the_packages_are_the_layers_of_the_other_slurm_images():
    other = stages(IMAGES / "slurm/Containerfile")
    mine = stages(FOLDER / "Containerfile")
    assert mine["common"] == other["common"]
    for daemon, image in (
        ("slurmctld", "controller_slurmctld"),
        ("slurmdbd", "controller_slurmdbd"),
        ("slurmrestd", "rest_slurmrestd"),
    ):
        assert mine[image][:2] == other[daemon][:2]


class Pod:
    """The entrypoint of slurmd, with programs in its way that print what they are given."""

    PROGRAMS = (
        ("supervise", "#!/bin/bash\nprintf '%s\\n' \"$@\"\n"),
        # A long list, as grep must not end it in the middle.
        ("scontrol", "#!/bin/bash\nprintf '%s\\n' \"$3\" $(seq 20000)\n"),
        ("nvidia-smi", "#!/bin/bash\nprintf 'NVIDIA H200\\nNVIDIA H200\\nNVIDIA L4\\n'\n"),
    )

    def __init__(self, folder):
        self.folder = folder
        for name, text in self.PROGRAMS:
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)

    def slurmd(self, **variables):
        """Return the words that slurmd is started with."""
        environment = {"PATH": f"{self.folder}:{SYSTEM_PATH}", "HOSTNAME": "worker-3", **variables}
        words = ["bash", FOLDER / "slurmd_entrypoint.sh"]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        start, *rest = done.stdout.split("/usr/sbin/slurmd\n")
        assert start == "--keep\n"
        return rest[0].splitlines()


@pytest.fixture
def pod(tmp_path):
    return Pod(tmp_path)


PLACE = {"K8S_POD_NAME": "worker-3", "K8S_SERVICE_NAME": "w-svc", "K8S_POD_NAMESPACE": "lab"}


def test_a_dynamic_node_names_its_address_and_memory(pod):
    words = pod.slurmd(**PLACE, SLURM_REAL_MEMORY="512", INSTANCE_ID="n0")
    assert words == [
        "--systemd",
        "--instance-id",
        "n0",
        "-Z",
        "--conf",
        "NodeHostname=worker-3 NodeAddr=worker-3.w-svc.lab.svc RealMemory=512",
    ]


def test_a_node_has_the_features_whose_list_names_it(pod):
    lists = {"big": "worker-3", "old": "worker-4", "gpu-a.1": "worker-3"}
    words = pod.slurmd(**PLACE, **{f"SLURM_FEATURE_{name}": lists[name] for name in lists})
    found = words[-1].rpartition(" Feature=")[2]
    assert sorted(found.split(",")) == ["big", "gpu-a.1"]


def test_more_keys_of_a_node_come_last(pod):
    words = pod.slurmd(**PLACE, SLURM_NODE_CONF="CPUs=2 Weight=7")
    assert words[-1].endswith(".svc CPUs=2 Weight=7")


def test_a_node_of_a_cluster_with_gpus_counts_them_by_model(pod):
    assert "Gres=gpu:nvidia_h200:2,gpu:nvidia_l4:1" in pod.slurmd(SLURM_CLUSTER_TYPE="gpu")[-1]
    assert "Gres" not in pod.slurmd(SLURM_CLUSTER_TYPE="cpu")[-1]


def test_variables_in_a_nodes_extra_are_read(pod):
    words = pod.slurmd(INSTANCE_ID="n0", SLURM_NODE_EXTRA=r"{ \"on\": \"$INSTANCE_ID\", \"*\": 1 }")
    assert words[words.index("--extra") + 1] == '{ "on": "n0", "*": 1 }'


def test_a_node_that_slurm_conf_has_is_no_dynamic_one(pod):
    words = pod.slurmd(**PLACE, SOPERATOR_NODE_SETS_ON="true", INSTANCE_ID="n0")
    assert words == ["--systemd", "--instance-id", "n0"]
