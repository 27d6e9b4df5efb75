"""What is shipped is what the code makes."""

import subprocess
import sys
from pathlib import Path

import pytest

from .shipped import ROOT, SHIPPED, rules

MADE = ("dashboards", "rules", "kubernetes")


def generate(*words: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "deploy.observe.generate", *words], cwd=ROOT, check=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with all that is made, and a file that nobody makes any more."""
    folder = tmp_path_factory.mktemp("observe")
    (folder / "rules").mkdir()
    (folder / "rules/old.yaml").write_text("groups: []\n")
    generate(folder, "https://git.example.com/shoal/docs/runbooks.md")
    return folder


@pytest.mark.parametrize("folder", MADE)
def test_what_is_shipped_is_fresh(folder, tmp_path):
    generate(tmp_path)
    here = {path.name: path.read_text() for path in (SHIPPED / folder).iterdir()}
    assert here == {path.name: path.read_text() for path in (tmp_path / folder).iterdir()}, (
        "run make generate"
    )


def test_what_is_no_longer_made_goes(made):
    assert not (made / "rules/old.yaml").exists()


def test_runbooks_are_linked_to_where_you_keep_them(made):
    text = "".join(path.read_text() for path in (made / "rules").iterdir())
    links = [f"https://git.example.com/shoal/{r['annotations']['runbook_url']}" for r in rules()]
    assert all(link in text for link in links)
