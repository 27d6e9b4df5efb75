"""buildah, with its storage in the cache."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..host.run import run
from ..host.stream import stream

# Every file of an image gets this time, so that the same contents give the same image: 2026-01-01.
EPOCH = 1767225600

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
STEP = re.compile(r"(?:\[\d+/\d+\] )?STEP \d+/\d+: (.*)")


class Buildah:
    """Builds images in a storage of its own, never in the machine's."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.scratch = folder / "tmp"
        self.environment = {
            "PATH": SYSTEM_PATH,
            **environment,
            # No container runtime, no namespaces: works wherever chroot does.
            "BUILDAH_ISOLATION": "chroot",
            "TMPDIR": str(self.scratch),
        }

    def has(self, name: str) -> bool:
        """Say whether the storage holds an image of that name."""
        return self._run("images", "--quiet", "--filter", f"reference={name}") != ""

    def tag(self, name: str, another: str) -> None:
        """Give an image another name."""
        self._run("tag", name, another)

    def names(self, repository: str) -> list[str]:
        """Return the names that the storage has in `repository`, with their tags."""
        form = ("--format", "{{.Name}}:{{.Tag}}")
        return self._run("images", *form, "--filter", f"reference={repository}").split()

    def prune(self, unused: Sequence[str]) -> None:
        """Remove the images `unused`, and all that have neither a name nor an image on them."""
        if unused:
            self._run("rmi", *unused)
        self._run("rmi", "--prune")

    def import_root(self, archive: Path, name: str) -> None:
        """Make an image of one layer out of the tar archive of a root file system."""
        container = self._run("from", "scratch")
        try:
            self._run("add", "--quiet", container, str(archive), "/")
            self._run("config", "--cmd", "bash", container)
            self._run("commit", "--quiet", f"--timestamp={EPOCH}", container, name)
        finally:
            self._run("rm", container)

    def build(self, folder: Path, options: Sequence[str], line: Callable[[str], None]) -> str:
        """Build from `folder` and return the image's id, as another build may take its name."""
        written = folder.with_name("id")
        stream(
            *self._command("build"),
            *("--network=host", "--pull=never", "--layers", f"--timestamp={EPOCH}"),
            f"--build-arg=SOURCE_DATE_EPOCH={EPOCH}",
            f"--iidfile={written}",
            *options,
            folder,
            line=line,
            env=self.environment,
        )
        return written.read_text().strip()

    def push(self, image: str, name: str, layout: Path) -> None:
        """Add an image to an OCI layout; layers that it has already are not written again."""
        self._run("push", "--quiet", image, f"oci:{layout}:{name}")

    def _run(self, *words: str) -> str:
        command = self._command(*words)
        return run(*command, env=self.environment, timeout_s=600).stdout.strip()

    def _command(self, *words: str) -> tuple[str, ...]:
        self.scratch.mkdir(parents=True, exist_ok=True)
        storage = (f"--root={self.folder}/storage", f"--runroot={self.folder}/run")
        # Its mounts end with it, even when it is killed, and nobody else sees them.
        return ("unshare", "--mount", "buildah", *storage, *words)


def step(line: str) -> str:
    """Return the instruction that buildah says it begins with, or nothing."""
    found = STEP.match(line)
    return " ".join(found[1].split()) if found else ""
