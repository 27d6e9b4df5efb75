"""House rules a linter does not know."""

import ast
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
JUNK = {"util", "utils", "common", "helper", "helpers", "misc", "base", "manager", "consts"}
PURE = {"kube", "slurm", "model", "dialects", "render", "decide"}


def python(*folders: str) -> list[Path]:
    """Return the Python files below `folders`, relative to the root, as they read in a test id."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in found)


SRC = python("src", "bench", "docs")
PURE_SRC = [path for path in SRC if PURE & set(path.parts)]
TESTS = [path for path in python("tests") if path.name.startswith("test_")]
UNIT = [path for path in TESTS if path.is_relative_to("tests/unit")]


def tree(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text())


@pytest.mark.parametrize("path", SRC, ids=str)
def test_a_module_fits_in_the_head(path):
    assert len((ROOT / path).read_text().splitlines()) <= 500


@pytest.mark.parametrize("path", SRC, ids=str)
def test_a_function_fits_on_a_screen(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < 60, f"{node.name} is too long"


@pytest.mark.parametrize("path", SRC, ids=str)
def test_a_module_is_named_after_what_it_holds(path):
    assert not {path.stem, path.parent.name} & JUNK


def test_a_package_appears_with_its_first_real_module():
    packages = {path.parent for path in SRC if path.name == "__init__.py"}
    with_modules = {path.parent for path in SRC if path.name != "__init__.py"}
    with_modules |= {folder.parent for folder in with_modules}
    assert packages <= with_modules


# With no pure package in the tree yet there is nothing to look at, so this is a loop, not a skip.
def test_the_pure_packages_open_nothing():
    for path in PURE_SRC:
        names = {node.id for node in ast.walk(tree(path)) if isinstance(node, ast.Name)}
        assert not names & {"open", "print", "input", "eval", "exec", "globals"}, path


@pytest.mark.parametrize("path", [*SRC, *TESTS], ids=str)
def test_what_is_left_to_do_names_its_issue(path):
    with tokenize.open(ROOT / path) as file:
        words = tokenize.generate_tokens(file.readline)
        comments = [word.string for word in words if word.type == tokenize.COMMENT]
    assert not [text for text in comments if re.search(r"TODO(?!\(#\d+\))|FIXME|XXX", text)]


@pytest.mark.parametrize("path", TESTS, ids=str)
def test_a_test_file_asserts_something(path):
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree(path)))


def given_up(module: ast.Module) -> list[int]:
    """Return the lines on which a test is skipped or expected to fail without saying why."""
    calls = {node.func: node for node in ast.walk(module) if isinstance(node, ast.Call)}
    silent = []
    for node in ast.walk(module):
        if not isinstance(node, ast.Attribute) or node.attr not in {"skip", "skipif", "xfail"}:
            continue
        if not ast.unparse(node).startswith("pytest."):
            continue
        call = calls.get(node)
        reasons = [word.value for word in call.keywords if word.arg == "reason"] if call else []
        if call and node.attr != "skipif":
            reasons += call.args[:1]
        if not any(not isinstance(why, ast.Constant) or why.value for why in reasons):
            silent.append(node.lineno)
    return silent


@pytest.mark.parametrize("path", python("tests"), ids=str)
def test_a_test_that_is_not_run_says_why(path):
    assert not given_up(tree(path))


@pytest.mark.parametrize(
    ("code", "silent"),
    [
        ("pytest.skip()", True),
        ("pytest.skip('')", True),
        ("pytest.xfail(reason='')", True),
        ("@pytest.mark.skip\ndef f(): ...", True),
        ("@pytest.mark.skipif(sys.platform == 'win32')\ndef f(): ...", True),
        ("pytest.skip('no root here')", False),
        ("pytest.skip(why)", False),
        ("@pytest.mark.xfail(reason='bug 7')\ndef f(): ...", False),
        ("@pytest.mark.skipif(not go, reason='no Go')\ndef f(): ...", False),
    ],
)
def test_silence_is_told_from_a_reason(code, silent):
    assert bool(given_up(ast.parse(code))) is silent


# test_scale.py and test_scale_interrupted.py both belong to scale.py.
@pytest.mark.parametrize("path", UNIT, ids=str)
def test_a_unit_test_stands_where_its_module_stands(path):
    folder = ROOT / "src/shoal" / path.relative_to("tests/unit").parent
    words = path.stem.removeprefix("test_").split("_")
    stems = ["_".join(words[: n + 1]) for n in range(len(words))]
    assert any((folder / f"{stem}.py").is_file() or (folder / stem).is_dir() for stem in stems)


CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
LAYERS = re.findall(r"\w+", " ".join(CONTRACTS["contracts"][0]["layers"]))

# One line that each contract refuses, and the module in which it stands.
VIOLATIONS = {
    "Layers": ("local/x.py", "import shoal.cli.y"),
    "The compiler is pure": ("decide/x.py", "import time"),
    "The two dialects": ("dialects/nebius/x.py", "import shoal.dialects.slinky.y"),
    "The runtime and the clients": ("kubeapi/x.py", "import shoal.model.y"),
    "slurmrestd's client": ("slurmapi/x.py", "import shoal.kube.y"),
    "The host package": ("host/x.py", "import shoal.kube.y"),
    "Only the client packages": ("runtime/x.py", "import aiohttp"),
    "No cycles": ("render/x.py", "import shoal.render.y"),
}


def lint_imports(folder: Path) -> list[str]:
    """Return the verdicts on the packages in `folder`, one line per contract."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [program, "--no-cache", "--no-logo"],
        cwd=folder,
        env={"PYTHONPATH": ".", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in done.stdout.splitlines() if re.search(r" (KEPT|BROKEN)\b", line)]


def planted(folder: Path) -> Path:
    """Lay out every package of the architecture, each with one module that imports nothing."""
    for name in [*LAYERS, "dialects/nebius", "dialects/slinky"]:
        package = folder / "shoal" / name
        package.mkdir(parents=True)
        (package / "y.py").write_text("")
    for package in [*folder.rglob("*/"), folder / "shoal"]:
        (package / "__init__.py").write_text("")
    (folder / "shoal/render/y.py").write_text("import shoal.render.x\n")
    (folder / "shoal/render/x.py").write_text("")
    return folder


def test_the_import_contracts_hold_for_the_whole_architecture(tmp_path):
    verdicts = lint_imports(planted(tmp_path))
    assert len(verdicts) == len(CONTRACTS["contracts"])
    assert all("KEPT" in line for line in verdicts)


@pytest.mark.parametrize("contract", VIOLATIONS)
def test_an_import_contract_refuses_what_it_is_for(contract, tmp_path):
    path, line = VIOLATIONS[contract]
    (planted(tmp_path) / "shoal" / path).write_text(line + "\n")
    broken = [line for line in lint_imports(tmp_path) if "BROKEN" in line]
    assert any(verdict.startswith(contract) for verdict in broken)


def test_every_import_contract_has_a_violation_to_refuse():
    for contract in CONTRACTS["contracts"]:
        assert any(contract["name"].startswith(name) for name in VIOLATIONS)


def test_a_new_package_must_find_its_place_in_the_layers(tmp_path):
    (planted(tmp_path) / "shoal/utilities").mkdir()
    (tmp_path / "shoal/utilities/__init__.py").write_text("")
    assert "BROKEN" in next(v for v in lint_imports(tmp_path) if v.startswith("Layers"))
