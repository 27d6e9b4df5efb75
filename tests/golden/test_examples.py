"""What the examples become, each as a whole: tests/golden/examples/<example>, by namespace."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from shoal.dialects.nebius import admission as nebius_admission
from shoal.dialects.nebius import types as nebius_types
from shoal.dialects.slinky import admission as slinky_admission
from shoal.dialects.slinky import types as slinky_types
from shoal.kube.findings import Known, Verdict

from . import files
from .nebius import case as nebius
from .slinky import case as slinky

HERE = Path(__file__).parent / "examples"
EXAMPLES = Path(__file__).parents[2] / "examples"
# Examples run on machines of either version of cgroups: they use none.
MEANT = "CgroupPlugin is set by the operator too; this value wins"


def documents(path: Path) -> list[dict]:
    """Return the objects of an example, each in a namespace."""
    found = [one for one in yaml.safe_load_all(path.read_text()) if one]
    for one in found:
        one["metadata"].setdefault("namespace", "demo")
    return found


def of_controller(one: dict, controller: dict) -> bool:
    """Say whether an object of slinky.slurm.net is read together with a Controller."""
    meta, mine = one["metadata"], controller["metadata"]
    spec = one.get("spec", {})
    match one["kind"]:
        case "Controller":
            return one is controller
        case "Accounting":
            return controller["spec"].get("accountingRef") == {"name": meta["name"]}
        case "NodeSet" | "RestApi" | "LoginSet":
            return spec["controllerRef"] == {"name": mine["name"]}
        case kind:
            return kind in ("ConfigMap", "Secret")


def of_cluster(one: dict, cluster: dict) -> bool:
    """Say whether an object of slurm.nebius.ai is read together with a SlurmCluster."""
    match one["kind"]:
        case "SlurmCluster":
            return one is cluster
        case "NodeSet":
            return one["spec"]["clusterName"] == cluster["metadata"]["name"]
        case kind:
            return kind in ("ConfigMap", "Secret")


@dataclass(frozen=True)
class Dialect:
    """How examples of a dialect are read."""

    name: str  # of the folder with its examples
    prefix: str  # of the folders with what they become
    group: str
    head: str  # the kind that stands for a cluster
    belongs: Callable[[dict, dict], bool]
    render: Callable[[Path], Iterable[dict]]
    review: Callable[..., Verdict]
    kinds: Iterable

    def examples(self) -> dict[str, Path]:
        """Return the examples by what their folders of golden files are called."""
        # What is none of ours, such as a database, is not in here.
        return {
            f"{self.prefix}{path.stem}": path
            for path in sorted((EXAMPLES / self.name).glob("*.yaml"))
            if any(self.ours(one) for one in documents(path))
        }

    def ours(self, one: dict) -> bool:
        """Say whether an object is of this dialect."""
        return one["apiVersion"].startswith(f"{self.group}/")

    def clusters(self, found: list[dict]) -> list[list[dict]]:
        """Return what each cluster is read together with."""
        return [
            [
                one
                for one in found
                if one["metadata"]["namespace"] == head["metadata"]["namespace"]
                and self.belongs(one, head)
            ]
            for head in found
            if head["kind"] == self.head
        ]


DIALECTS = (
    Dialect(
        "slinky",
        "",
        slinky_types.GROUP,
        "Controller",
        of_controller,
        slinky.render,
        slinky_admission.review,
        slinky_types.KINDS,
    ),
    Dialect(
        "nebius",
        "nebius-",
        nebius_types.GROUP,
        "SlurmCluster",
        of_cluster,
        nebius.render,
        nebius_admission.review,
        nebius_types.KINDS,
    ),
)
OURS = {name: (dialect, path) for dialect in DIALECTS for name, path in dialect.examples().items()}


def rendered(dialect: Dialect, path: Path, scratch: Path) -> dict[str, dict[str, str]]:
    """Return the texts that an example becomes, by namespace."""
    objects: dict[str, list] = {}
    for one in dialect.clusters(documents(path)):
        (scratch / "in.yaml").write_text(yaml.safe_dump_all(one))
        for obj in dialect.render(scratch / "in.yaml"):
            objects.setdefault(obj["metadata"]["namespace"], []).append(obj)
    return {space: files.texts(made) for space, made in objects.items()}


@pytest.mark.parametrize("name", OURS)
def test_an_example_becomes_the_same_objects_as_ever(name, rewrite, tmp_path):
    made = rendered(*OURS[name], tmp_path)
    if rewrite:
        for space, texts in made.items():
            files.write(HERE / name / space, texts)
    folders = [path for path in (HERE / name).glob("*") if path.is_dir()]
    assert {path.name: files.there(path) for path in folders} == made


@pytest.mark.parametrize("name", OURS)
def test_an_example_is_accepted_and_nothing_is_doubted_that_it_does_not_mean(name):
    dialect, path = OURS[name]
    found = [one for one in documents(path) if dialect.ours(one)]
    of = {kind.kind: kind for kind in dialect.kinds}
    for one in found:
        verdict = dialect.review(of[one["kind"]], "CREATE", one, {}, Known(tuple(found)))
        assert verdict.errors == ()
        assert [word for word in verdict.warnings if MEANT not in word] == []


def test_every_folder_is_an_example():
    assert {path.name for path in HERE.iterdir()} == set(OURS)
