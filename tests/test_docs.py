"""The documents keep their word: links lead somewhere, commands exist, snippets run.

A fence opened by ```sh shows commands, and their targets, commands and options are looked up.
One opened by ```sh run is run as well, from the root of the repository, and has to end well.
Those opened by ```sh cluster in the guide are run one after the other, on a cluster (`long`).
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from shoal.cli.main import shoal

ROOT = Path(__file__).parents[1]
DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
WRITTEN = [path for path in DOCS if "reference" not in path.parts]

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<to>[^)\s]+)\)")
SPAN = re.compile(r"`([^`\n]+)`")
TARGET = re.compile(r"^([a-z-]+):.*## ", re.MULTILINE)
# Up to what the shell would end a simple command with.
COMMAND = re.compile(r"(?<![\w./-])(?:\.venv/bin/)?(make|shoal)((?: +[^\s;&|()\"'<>#]+)*)")


@dataclass(frozen=True)
class Fence:
    """A fenced block; `info` is what follows its opening marks."""

    path: Path
    info: str
    body: str


def fences(path: Path) -> list[Fence]:
    return [Fence(path, m["info"].strip(), m["body"]) for m in FENCE.finditer(path.read_text())]


def prose(path: Path) -> str:
    return FENCE.sub("", path.read_text())


def anchors(path: Path) -> set[str]:
    """Return the names of the headings in `path`, as a forge makes them."""
    titles = re.findall(r"^#+ +(.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def shown(path: Path) -> list[tuple[str, list[str]]]:
    """Return every `make` and `shoal` command in the fences and code spans of `path`."""
    code = [fence.body for fence in fences(path) if fence.info.split()[:1] == ["sh"]]
    code += SPAN.findall(prose(path))
    return [(m[1], m[2].split()) for text in code for m in COMMAND.finditer(text)]


def value_follows(command: click.Command, word: str) -> bool:
    """Say whether option `word` of `command` takes the word after it; complain if there is none."""
    options = [p for p in command.params if isinstance(p, click.Option)]
    for option in options:
        if word.partition("=")[0] in (*option.opts, *option.secondary_opts):
            return not (option.is_flag or option.count or "=" in word)
    assert word == "--help", f"{command.name} has no option {word}"
    return False


def look_up(words: list[str]) -> None:
    """Walk `words` down the tree of commands; fail where it has no such branch."""
    command: click.Command = shoal
    rest = iter(words)
    for word in rest:
        if word == "--":
            return
        if word.startswith("-"):
            if value_follows(command, word):
                next(rest, None)
        elif isinstance(command, click.Group):
            assert word in command.commands, f"{command.name} has no command {word}"
            command = command.commands[word]


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_link_leads_somewhere(path):
    for match in LINK.finditer(prose(path)):
        target, _, anchor = match["to"].partition("#")
        if "://" in target:
            continue
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), match["to"]
        assert ROOT in file.parents, f"{match['to']} is outside the repository"
        assert not anchor or anchor in anchors(file), match["to"]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_command_that_is_shown_exists(path):
    targets = set(TARGET.findall((ROOT / "Makefile").read_text()))
    for program, words in shown(path):
        if program == "shoal":
            look_up(words)
        else:
            wanted = {word for word in words if "=" not in word and not word.startswith("-")}
            assert wanted <= targets, f"make {' '.join(words)}"


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_source_file_that_is_named_exists(path):
    named = [span for span in SPAN.findall(prose(path)) if re.fullmatch(r"src/[\w./]+", span)]
    assert [span for span in named if not (ROOT / span).exists()] == []


@pytest.mark.parametrize("words", [["local", "upp"], ["local", "up", "--nods", "3"], ["lokal"]])
def test_a_command_that_does_not_exist_is_found_out(words):
    with pytest.raises(AssertionError, match="has no"):
        look_up(words)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_shell_snippet_says_that_it_is_one(path):
    assert {fence.info for fence in fences(path)} <= {"sh", "sh run", "sh cluster", "text", "yaml"}


def bash(script: str) -> subprocess.CompletedProcess[str]:
    """Run `script` from the root of the repository, with the venv's programs at hand."""
    return subprocess.run(
        [
            "bash",
            "-eu",
            "-o",
            "pipefail",
            "-c",
            f"PATH={Path(sys.executable).parent}:$PATH\n{script}",
        ],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


RUNNABLE = [fence for path in WRITTEN for fence in fences(path) if fence.info == "sh run"]


@pytest.mark.parametrize("fence", RUNNABLE, ids=lambda fence: fence.path.name)
def test_a_runnable_snippet_runs(fence):
    done = bash(fence.body)
    assert done.returncode == 0, f"{fence.body}\n{done.stdout}\n{done.stderr}"


def test_the_command_reference_is_what_the_commands_say(tmp_path):
    subprocess.run([sys.executable, ROOT / "docs/generate.py", tmp_path], check=True)
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text() for path in (ROOT / "docs/reference").iterdir()}
    assert kept == made, "run make generate"


def test_ci_runs_the_command_that_the_readme_names():
    snippets = [fence.body for fence in fences(ROOT / "README.md")]
    assert any(re.search(r"^make test\b", body, re.MULTILINE) for body in snippets)
    assert re.search(r"^make test\b", (ROOT / ".ci/run").read_text(), re.MULTILINE)


def test_every_target_of_the_makefile_explains_itself():
    makefile = (ROOT / "Makefile").read_text()
    public = set(re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)) - {"lint"}
    assert public == set(TARGET.findall(makefile))


# The guide's commands mean the cluster `shoal`; here they get one of their own, unless they name
# one: of two --name the later wins.
ON_ITS_OWN_CLUSTER = """
shoal() {
    local words=("$1" "$2"); shift 2
    [ "${words[1]}" != node ] || { words+=("$1"); shift; }
    command shoal "${words[@]}" --name guide "$@"
}
trap 'shoal local down' EXIT
"""


@pytest.mark.long
def test_the_guide_works_as_written():
    steps = [fence.body for fence in fences(ROOT / "docs/local.md") if fence.info == "sh cluster"]
    done = bash(ON_ITS_OWN_CLUSTER + "set -x\n" + "".join(steps))
    assert done.returncode == 0, done.stdout + done.stderr
