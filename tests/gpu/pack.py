"""Packs a node of our images, with the configuration of a golden example, for a machine with GPUs.

There `tests/gpu/check.sh FILE` tells whether jobs get them. That machine needs an NVIDIA driver,
cgroup v2 and root, and neither Kubernetes nor a network nor this project.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from shoal.cli.environment import settings
from shoal.local import images
from shoal.local.bar import progress
from slurm_lab.image import unpack

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests/golden/nebius/gpu/out/configmap-one-slurm-configs.yaml"
NEEDED = ("worker_slurmd", "controller_slurmctld", "munge")
# It takes room, and no job asks for it.
UNUSED = ("usr/share/doc", "usr/share/locale", "usr/share/man", "var/cache", "var/lib/apt")


def pack(series: str, file: Path) -> None:
    """Write one file that holds a root with all programs, and the configuration."""
    where = settings()
    names = [f"{name}:{series}" for name in NEEDED]
    built = images.build(where, names, None, progress(sys.stderr))
    unpacked = [unpack(one, where.cache / "roots") for one in built]
    layers = dict.fromkeys(str(one.folder / layer) for one in unpacked for layer in one.layers)
    with tempfile.TemporaryDirectory() as folder:
        root, conf = Path(folder, "root"), Path(folder, "conf")
        root.mkdir()
        conf.mkdir()
        for name, text in yaml.safe_load(GOLDEN.read_text())["data"].items():
            (conf / name).write_text(text)
        stacked = f"lowerdir={':'.join(reversed(layers))}"
        subprocess.run(["mount", "-t", "overlay", "-o", stacked, "overlay", root], check=True)
        try:
            subprocess.run(
                [
                    *("tar", "--create", "--xz", "--numeric-owner", f"--file={file}"),
                    *(f"--exclude=root/{name}" for name in UNUSED),
                    *(f"--directory={folder}", "root", "conf"),
                ],
                check=True,
            )
        finally:
            subprocess.run(["umount", root], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("series")
    parser.add_argument("file", type=Path)
    asked = parser.parse_args()
    pack(asked.series, asked.file)
