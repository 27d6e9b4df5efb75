"""Run a program and get its output, or an error that says what it said."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ERROR_TAIL_LINES = 20


class CommandError(Exception):
    """A program that did not end well."""

    def __init__(self, argv: Sequence[str], code: int, said: str) -> None:
        tail = "\n".join(said.strip().splitlines()[-ERROR_TAIL_LINES:])
        super().__init__(f"{' '.join(argv)}: exit code {code}\n{tail}".rstrip())
        self.code = code
        self.said = said


@dataclass(frozen=True)
class Finished:
    """What a program left behind."""

    code: int
    stdout: str
    stderr: str


def run(
    *argv: str | Path,
    stdin: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout_s: float | None = 120,
    check: bool = True,
) -> Finished:
    """Run `argv` to its end; with `check`, a code other than 0 raises CommandError."""
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(
            words,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            env=env,
            cwd=cwd,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise CommandError(words, 124, f"no end after {timeout_s:g} s") from late
    except FileNotFoundError as missing:
        raise CommandError(words, 127, f"{missing.filename}: not found") from missing
    if check and done.returncode != 0:
        raise CommandError(words, done.returncode, done.stderr or done.stdout)
    return Finished(done.returncode, done.stdout, done.stderr)
