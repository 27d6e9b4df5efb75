"""What the examples become, each as a whole: tests/golden/examples/<example>, by namespace."""

from pathlib import Path

import pytest
import yaml

from . import files
from .slinky import case

HERE = Path(__file__).parent / "examples"
EXAMPLES = Path(__file__).parents[2] / "examples/slinky"
GROUP = "slinky.slurm.net/"


def documents(path: Path) -> list[dict]:
    """Return the objects of an example, each in a namespace."""
    found = [one for one in yaml.safe_load_all(path.read_text()) if one]
    for one in found:
        one["metadata"].setdefault("namespace", "demo")
    return found


# What is none of ours, such as a database, is not in here.
OURS = {
    path.stem: path
    for path in sorted(EXAMPLES.glob("*.yaml"))
    if any(one["apiVersion"].startswith(GROUP) for one in documents(path))
}


def clusters(found: list[dict]) -> list[list[dict]]:
    """Return what each Controller is read together with."""
    return [
        [one for one in found if belongs(one, controller)]
        for controller in found
        if controller["kind"] == "Controller"
    ]


def belongs(one: dict, controller: dict) -> bool:
    """Say whether an object is read together with a Controller."""
    meta, mine = one["metadata"], controller["metadata"]
    if meta["namespace"] != mine["namespace"]:
        return False
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


def rendered(path: Path, scratch: Path) -> dict[str, dict[str, str]]:
    """Return the texts that an example becomes, by namespace."""
    objects: dict[str, list] = {}
    for one in clusters(documents(path)):
        (scratch / "in.yaml").write_text(yaml.safe_dump_all(one))
        for obj in case.render(scratch / "in.yaml"):
            objects.setdefault(obj["metadata"]["namespace"], []).append(obj)
    return {space: files.texts(made) for space, made in objects.items()}


@pytest.mark.parametrize("name", OURS)
def test_an_example_becomes_the_same_objects_as_ever(name, rewrite, tmp_path):
    made = rendered(OURS[name], tmp_path)
    if rewrite:
        for space, texts in made.items():
            files.write(HERE / name / space, texts)
    folders = [path for path in (HERE / name).glob("*") if path.is_dir()]
    assert {path.name: files.there(path) for path in folders} == made


def test_every_folder_is_an_example():
    assert {path.name for path in HERE.iterdir()} == set(OURS)
