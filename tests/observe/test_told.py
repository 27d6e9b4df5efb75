"""The small cluster that queries are tried on is told by the exporter itself, and tells all."""

from shoal.exporter.catalogue import METRICS, NAMED

from .told import Told


def test_everything_that_can_happen_at_once_happens_to_it():
    told = Told()
    for _ in range(3):
        text = told.text(8080)
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}
    assert names == {metric.name for metric in METRICS if metric.port == 8080}
    own = {line.split()[2] for line in told.text(8081).splitlines() if line.startswith("# TYPE ")}
    # Who has accounting is not without it.
    absent = NAMED["slurm_exporter_collector_absent"].name
    assert own == {metric.name for metric in METRICS if metric.port == 8081} - {absent}
