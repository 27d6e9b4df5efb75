"""The shell scripts that run in containers of ours. Pure.

They are files of this package, read as the code is: what is rendered depends on the model alone.
Their comments are left out, as every pod would carry them.
"""

from functools import cache
from importlib.resources import files


@cache
def script(name: str) -> str:
    """Return the text of one script."""
    text = (files(__package__) / "scripts" / f"{name}.sh").read_text()
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))
