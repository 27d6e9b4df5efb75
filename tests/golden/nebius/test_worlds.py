"""Clusters with a shared root, each as a whole: tests/golden/nebius/<case>/out."""

from pathlib import Path

import pytest

from unit.render.jailed.worlds import WORLDS

from .. import files

HERE = Path(__file__).parent


@pytest.mark.parametrize("case", WORLDS)
def test_the_same_cluster_gives_the_same_bytes_as_ever(case, rewrite):
    made = files.texts(WORLDS[case]().objects)
    if rewrite:
        files.write(HERE / case / "out", made)
    assert files.there(HERE / case / "out") == made


@pytest.mark.parametrize("case", WORLDS)
def test_rendering_twice_gives_the_same_bytes(case):
    assert files.texts(WORLDS[case]().objects) == files.texts(WORLDS[case]().objects)


def test_every_folder_is_a_case():
    folders = {path.name for path in HERE.iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == set(WORLDS)
