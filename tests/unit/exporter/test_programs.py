"""Programs beside the exporter."""

import sys

import pytest

from shoal.exporter import programs
from shoal.slurmapi.errors import ControllerDownError, TimedOutError, UnknownError


def python(code):
    return (sys.executable, "-c", code)


async def lines(*words, **more):
    return [line async for some in programs.printed(words, **more) for line in some]


async def test_lines_come_whole_however_they_are_cut():
    code = "import sys; sys.stdout.write('x' * 400_000 + '\\nshort\\n' + 'end')"
    assert [len(line) for line in await lines(*python(code))] == [400_000, 5, 3]


async def test_a_program_that_fails_says_why():
    with pytest.raises(UnknownError, match="no such partition"):
        await lines(*python("import sys; sys.exit('no such partition')"))


async def test_a_slurmctld_that_is_down_is_told_from_other_errors():
    said = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
    with pytest.raises(ControllerDownError):
        await lines(*python(f"import sys; sys.exit({said!r})"))


async def test_a_program_that_hangs_is_killed():
    with pytest.raises(TimedOutError, match="not done within"):
        await lines(*python("import time; print('a'); time.sleep(600)"), limit_s=0.2)


async def test_a_program_that_there_is_not_is_named():
    with pytest.raises(UnknownError, match="/nowhere/squeue"):
        await lines("/nowhere/squeue")


async def test_a_short_program_is_told_with_its_exit_code():
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    ran = await programs.run(python(code))
    assert (ran.code, ran.stdout, ran.stderr) == (3, "out\n", "err\n")


async def test_a_short_program_that_hangs_is_killed():
    with pytest.raises(TimedOutError):
        await programs.run(python("import time; time.sleep(600)"), limit_s=0.2)
