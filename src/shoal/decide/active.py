"""Which of several slurmctlds serves. Pure.

Slurm decides that; here it is only told to the Service, by a label. Where Slurm does not say, the
label stays: a Service that leads to nobody helps nobody.
"""

from collections.abc import Mapping, Sequence

from ..kube.pods import Pod


def active(pods: Sequence[Pod], answers: Mapping[str, bool] | None, label: str) -> str | None:
    """Return the pod that serves; `answers` by the pods' names, in Slurm's order of precedence."""
    there = {pod.metadata.name: pod for pod in pods if not pod.deleting and not pod.over}
    # The first that answers: those behind it stand by for as long as it does.
    answering = [name for name, answered in (answers or {}).items() if answered and name in there]
    if answering:
        return answering[0]
    labelled = [name for name, pod in there.items() if pod.metadata.labels.get(label) == "true"]
    ready = [name for name, pod in there.items() if pod.ready]
    return next(iter((*labelled, *ready, *there)), None)
