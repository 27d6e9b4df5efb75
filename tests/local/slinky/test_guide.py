"""The guide works as it stands."""

import re

import pytest

from ..clusters import run
from .operator import ROOT

STEP = re.compile(r"^```sh cluster\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.long
def test_the_guide_works_as_written(operator):
    steps = [match["body"] for match in STEP.finditer((ROOT / "docs/slinky.md").read_text())]
    script = f"cd {ROOT}\nset -x\n" + "".join(steps)
    done = run(
        *("timeout", "600", "bash", "-eu", "-o", "pipefail", "-c", script),
        env=operator.cluster.shell,
        timeout_s=630,
        check=False,
    )
    assert done.code == 0, str(done)[-6000:]
