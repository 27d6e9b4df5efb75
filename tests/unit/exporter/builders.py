"""Jobs, nodes and readers of text, for tests of the exporter."""

from prometheus_client.parser import text_string_to_metric_families

from shoal.exporter.outages import Standing
from shoal.exporter.snapshot import Job, JobsSeen
from shoal.slurmapi.nodes import Node
from shoal.slurmapi.numbers import Number

NOW = 1_800_000_000
IDLE = ("IDLE", "false", "false", "false")


def some_job(job_id=1, state="RUNNING", **more):
    """Return a job that runs, or is in another state."""
    known = {
        "partition": "all",
        "account": "lab",
        "submit": NOW - 100,
        "holds": state == "RUNNING",
        "cpus": 4,
        **({} if state == "PENDING" else {"start": NOW - 60, "nodes": "w-0"}),
        **({} if state in ("PENDING", "RUNNING") else {"end": NOW - 10}),
    }
    return Job(job_id=str(job_id), state=state, **{**known, **more})


def seen(*jobs, source="list"):
    """Return what a source of jobs says."""
    return JobsSeen(jobs, source)


def number(value):
    """Return a number as slurmrestd wraps it."""
    return Number(set=True, number=value)


def some_node(name="w-0", state=("IDLE",), **more):
    """Return a node as slurmrestd tells of it."""
    known = {"cpus": 8, "effective_cpus": 8, "real_memory": 1024, "partitions": ("all",)}
    return Node(name=name, state=state, **{"free_mem": number(512), **known, **more})


def standing(name="w-0", **more):
    """Return what is remembered of a node."""
    return Standing(name, **{"state": IDLE, **more})


def samples(text):
    """Return all series, as another reader of the format than ours understands them."""
    families = text_string_to_metric_families(text)
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def value(text, name, **labels):
    """Return the value of one series; None where it is not there."""
    return samples(text).get((name, frozenset(labels.items())))
