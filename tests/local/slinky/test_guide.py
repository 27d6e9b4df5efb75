"""The guides work as they stand."""

import re

import pytest

from ..clusters import run
from .operator import ROOT

STEP = re.compile(r"^```sh cluster\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.long
@pytest.mark.parametrize("guide", ["slinky.md", "workers.md"])
def test_the_guide_works_as_written(operator, guide):
    steps = [match["body"] for match in STEP.finditer((ROOT / "docs" / guide).read_text())]
    script = f"cd {ROOT}\nset -x\n" + "".join(steps)
    done = run(
        *("timeout", "600", "bash", "-eu", "-o", "pipefail", "-c", script),
        env=operator.cluster.shell,
        timeout_s=630,
        check=False,
    )
    assert done.code == 0, str(done)[-6000:]
