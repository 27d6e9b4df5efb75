from pathlib import Path

import pytest

from . import files
from .slinky import case as slinky

HERE = Path(__file__).parent
DIALECTS = {"slinky": slinky}
CASES = [
    pytest.param(dialect, path.parent, id=f"{dialect}/{path.parent.name}")
    for dialect in DIALECTS
    for path in sorted((HERE / dialect).glob("*/in.yaml"))
]


@pytest.mark.parametrize(("dialect", "folder"), CASES)
def test_the_same_resources_give_the_same_bytes_as_ever(dialect, folder, rewrite):
    made = files.texts(DIALECTS[dialect].render(folder / "in.yaml"))
    if rewrite:
        files.write(folder / "out", made)
    assert files.there(folder / "out") == made


@pytest.mark.parametrize(("dialect", "folder"), CASES)
def test_rendering_twice_gives_the_same_bytes(dialect, folder):
    render = DIALECTS[dialect].render
    assert files.texts(render(folder / "in.yaml")) == files.texts(render(folder / "in.yaml"))


def test_every_folder_is_a_case():
    folders = [path for dialect in DIALECTS for path in (HERE / dialect).iterdir() if path.is_dir()]
    cases = {param.values[1] for param in CASES}
    assert {path for path in folders if path.name != "__pycache__"} == cases
