"""Run a program and see each line as it is said."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from .run import CommandError


def stream(
    *argv: str | Path,
    line: Callable[[str], None],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> str:
    """Run `argv` to its end and call `line` for each line of output; return all of it.

    Standard error is part of it. A code other than 0 raises CommandError.
    """
    words = [str(word) for word in argv]
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=env,
            cwd=cwd,
        )
    except FileNotFoundError as missing:
        raise CommandError(words, 127, f"{missing.filename}: not found") from missing
    said: list[str] = []
    with process:
        try:
            assert process.stdout is not None
            for text in process.stdout:
                said.append(text)
                line(text.rstrip("\n"))
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise CommandError(words, process.returncode, "".join(said))
    return "".join(said)
