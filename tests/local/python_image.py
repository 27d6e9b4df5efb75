"""An image with the Python that runs these tests, put together from this machine's own files.

It needs no registry and no build, and gives pods a language: files, sockets, TLS.
"""

import hashlib
import io
import json
import platform
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterable
from pathlib import Path

NAME = "docker.io/test/python:1"
UNWANTED = {"site-packages", "test", "idlelib", "tkinter", "ensurepip", "lib2to3"}
PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}


def python() -> Path:
    """Return the interpreter itself, not a venv's link to it."""
    return Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")


def command(script: str, *words: str) -> list[str]:
    """Return the command that runs `script` in a pod of this image."""
    return [str(python()), "-c", script, *words]


def shared_libraries(binaries: Iterable[Path]) -> set[Path]:
    """Return what the dynamic loader would load, under the names that it looks for."""
    found = set()
    for binary in binaries:
        listed = subprocess.run(["ldd", binary], capture_output=True, text=True, check=False)
        found |= set(map(Path, re.findall(r"(/\S+) \(0x", listed.stdout)))
    return found


def wanted() -> set[Path]:
    """Return every file of the image; each has the path that it has here."""
    library = Path(sysconfig.get_path("stdlib"))
    modules = {
        file
        for file in library.rglob("*")
        if file.suffix in {".py", ".so"} and not UNWANTED & set(file.relative_to(library).parts)
    }
    binaries = {python(), *(file for file in modules if file.suffix == ".so")}
    return {python(), *modules} | shared_libraries(binaries)


def write(archive: Path) -> None:
    """Write the image as `docker save` would."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        for file in sorted(wanted()):
            content = file.read_bytes()
            info = tarfile.TarInfo(str(file).lstrip("/"))
            # Readable whoever the pod runs as.
            info.size, info.mode = len(content), 0o755
            tar.addfile(info, io.BytesIO(content))
    digest = hashlib.sha256(layer.getvalue()).hexdigest()
    config = {
        "architecture": PROCESSORS[platform.machine()],
        "os": "linux",
        "config": {"Env": ["PATH=/usr/bin", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [NAME], "Layers": ["layer.tar"]}]
    contents = {
        "layer.tar": layer.getvalue(),
        "config.json": json.dumps(config).encode(),
        "manifest.json": json.dumps(manifest).encode(),
    }
    with tarfile.open(archive, "w") as tar:
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
