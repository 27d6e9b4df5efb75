import pytest

from shoal.render import probes
from shoal.slurm.keys import Version


@pytest.mark.parametrize("version", [Version(25, 11), Version(26, 5), Version(27, 5)])
def test_a_slurm_that_answers_http_is_asked_how_it_is(version):
    ask = probes.handler(version, "slurmctld", probes.READY)
    assert ask == {"httpGet": {"path": "/readyz", "port": "slurmctld"}}


@pytest.mark.parametrize("version", [None, Version(24, 11), Version(25, 5)])
def test_an_older_or_unknown_slurm_is_only_called(version):
    ask = probes.handler(version, "slurmctld", probes.READY)
    assert ask == {"tcpSocket": {"port": "slurmctld"}}


def patience_s(probe):
    return probe["periodSeconds"] * probe["failureThreshold"]


def test_a_start_is_seen_within_a_second_and_may_take_minutes():
    started = probes.started(probes.connects("x"))
    assert started["periodSeconds"] == 1
    assert patience_s(started) >= 60


def test_nobody_is_restarted_before_a_minute_of_silence():
    assert patience_s(probes.alive(probes.connects("x"))) >= 60
