"""Write what the charts are made of: `python charts/generate.py ROOT` of a checkout, or of a copy.

Roles out of what the code declares, and the definitions of our kinds as templates.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import yaml

from shoal.controllers import rights
from shoal.dialects.nebius import crds as nebius
from shoal.dialects.slinky import crds as slinky
from shoal.kube.objects import Object

HEADER = "# Made by `make generate`. Do not edit.\n"
HELM_HEADER = "{{- /* Made by `make generate`. Do not edit. */ -}}\n"
# Charts -> where they have definitions: one has nothing else, the other has them when asked to.
CHARTS = ("slurm-operator-crds", "slurm-operator")
ROLES = ("deploy/rbac", "charts/slurm-operator/files/rbac")
KEEP = {"helm.sh/resource-policy": "keep"}  # with a definition every cluster would go
# What an installation decides -> the template that decides it, `{}` being the chart.
DECIDED = {
    "@labels@": '{{{{- include "{}.labels" . | nindent 4 }}}}',
    "@conversion@": (
        '{{{{- include "{}.conversion" (dict "root" . "name" "@name@") | nindent 4 }}}}'
    ),
    "@converted@": '{{{{ include "{}.converted" . }}}}',
}


def text(obj: Object) -> str:
    """Return an object as a file has it."""
    # Copied, so that what appears twice is written twice and not as an alias.
    plain = msgspec.json.decode(msgspec.json.encode(obj))
    return yaml.safe_dump(plain, sort_keys=False, width=100)


def template(chart: str, definition: Object) -> str:
    """Return a definition as a template of `chart`."""
    meta, spec = definition["metadata"], definition["spec"]
    versions = [v if v["storage"] else {**v, "served": "@converted@"} for v in spec["versions"]]
    # One with a single version has nothing to convert.
    converted = {"conversion": "@conversion@"} if len(versions) > 1 else {}
    open_: Object = {
        **definition,
        "metadata": {**meta, "annotations": KEEP, "labels": "@labels@"},
        "spec": {**spec, "versions": versions, **converted},
    }
    # Braces of a description are not for Helm.
    made = text(open_).replace("{{", '{{ "{{" }}')
    for word, decides in DECIDED.items():
        made = made.replace(f"'{word}'", decides.format(chart).replace("@name@", meta["name"]))
    if chart == "slurm-operator":
        made = "{{- if .Values.crds.enabled }}\n" + made + "{{- end }}\n"
    return HELM_HEADER + made


def files() -> Iterator[tuple[str, str]]:
    """Yield path and content of each file."""
    for part, role in rights.manifests().items():
        for folder in ROLES:
            yield f"{folder}/{part}.yaml", HEADER + text(role)
    for chart in CHARTS:
        for definition in slinky.definitions():
            name = definition["spec"]["names"]["plural"]
            yield f"charts/{chart}/templates/crds/{name}.yaml", template(chart, definition)
        for definition in nebius.definitions():
            name = definition["metadata"]["name"]  # with its group: both have NodeSets
            yield f"charts/{chart}/templates/crds/{name}.yaml", template(chart, definition)


def main() -> None:
    """Write all of them below the root that the command line names; their folders are all ours."""
    made = {Path(sys.argv[1]) / path: content for path, content in files()}  # noqa: TID251 - a program that people run
    for folder in {path.parent for path in made}:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.yaml"):
            old.unlink()
    for path, content in made.items():
        path.write_text(content)


if __name__ == "__main__":
    main()
