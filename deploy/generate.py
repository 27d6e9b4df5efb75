"""Write the definitions of our kinds: `python deploy/generate.py FOLDER`."""

import sys
from pathlib import Path

import msgspec
import yaml

from shoal.dialects.nebius import crds as nebius
from shoal.dialects.slinky import crds as slinky
from shoal.kube.objects import Object

HEADER = "# Made by `make generate` from the types. Do not edit.\n"
DIALECTS = {"nebius": nebius.definitions, "slinky": slinky.definitions}


def text(definition: Object) -> str:
    """Return a definition as its file has it."""
    # Copied, so that what appears twice is written twice and not as an alias.
    plain = msgspec.json.decode(msgspec.json.encode(definition))
    return HEADER + yaml.safe_dump(plain, sort_keys=False, width=100)


def main() -> None:
    """Write every definition into the folder that the command line names."""
    for dialect, definitions in DIALECTS.items():
        folder = Path(sys.argv[1]) / dialect  # noqa: TID251 - a program that people run
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.yaml"):
            old.unlink()
        for definition in definitions():
            name = definition["spec"]["names"]["plural"]
            (folder / f"{name}.yaml").write_text(text(definition))


if __name__ == "__main__":
    main()
