"""What runs all tests hides none of them."""

from pathlib import Path

from suites import ROOT, SUITES, Running, Suite, report

GOOD = "def test_good():\n    assert True\n"
BAD = "def test_bad():\n    assert 'a herring' == 'a shark'\n"
# As when the kernel kills it, or a test ends the process: no result, whatever the code is.
DEAD = "import os\n\n\ndef test_dead():\n    os._exit(0)\n"


def ran(folder: Path, *suites: Suite) -> tuple[int, str]:
    """Return the exit code and the text of a run."""
    said: list[str] = []
    code = report(suites, lambda suite: Running(suite, folder), said.append)
    return code, "\n".join(said)


def suite(folder: Path, name: str, text: str, **more: bool) -> Suite:
    file = folder / f"test_{name}.py"
    file.write_text(text)
    return Suite(name, (str(file),), **more)


def test_every_test_is_in_one_suite():
    def holds(one: Suite, path: Path) -> bool:
        below = (path.is_relative_to(folder) for folder in one.paths)
        return any(below) and not any(path.is_relative_to(folder) for folder in one.without)

    files = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")]
    homes = {path: [one.name for one in SUITES if holds(one, path)] for path in files}
    assert {path: names for path, names in homes.items() if len(names) != 1} == {}


def test_a_failure_is_shown_and_counted_whatever_runs_beside_it(tmp_path):
    code, said = ran(tmp_path, suite(tmp_path, "bad", BAD), suite(tmp_path, "good", GOOD))
    assert code == 1
    assert "'a herring' == 'a shark'" in said
    assert "\n1 failed, 1 passed in 0:" in said


def test_all_is_well_when_every_test_passes(tmp_path):
    code, said = ran(tmp_path, suite(tmp_path, "good", GOOD))
    assert code == 0
    assert "\n1 passed in 0:" in said


def test_a_suite_that_ends_without_a_result_has_failed(tmp_path):
    code, said = ran(tmp_path, suite(tmp_path, "dead", DEAD))
    assert code == 1
    assert "\n1 failed in 0:" in said


def test_nothing_starts_that_needs_what_could_not_be_built(tmp_path):
    build = suite(tmp_path, "build", BAD, builds=True, at_once=True)
    code, said = ran(tmp_path, build, suite(tmp_path, "good", GOOD))
    assert code == 1
    assert "not run, as nothing could be built: good" in said
    assert "good ends" not in said
