"""`shoal exporter`: its flags and variables, and what they come to."""

import subprocess
import sys
from datetime import timedelta

import click
import pytest
from click.testing import CliRunner

from shoal.cli import exporter as cli
from shoal.exporter.catalogue import COLLECTORS, Collector
from shoal.exporter.jobs import JobSeries
from shoal.exporter.settings import NoToken, Origin, ScontrolToken, SecretToken, StaticToken
from shoal.kubeapi.access import AccessError

# As the upstream exporter has them.
THEIRS = {
    "--log-format": "SLURM_EXPORTER_LOG_FORMAT",
    "--log-level": "SLURM_EXPORTER_LOG_LEVEL",
    "--metrics-bind-address": "SLURM_EXPORTER_METRICS_BIND_ADDRESS",
    "--monitoring-bind-address": "SLURM_EXPORTER_MONITORING_BIND_ADDRESS",
    "--slurm-api-server": "SLURM_EXPORTER_SLURM_API_SERVER",
    "--cluster-namespace": "SLURM_EXPORTER_CLUSTER_NAMESPACE",
    "--cluster-name": "SLURM_EXPORTER_CLUSTER_NAME",
    "--collection-interval": "SLURM_EXPORTER_COLLECTION_INTERVAL",
    "--scontrol-path": "SLURM_EXPORTER_SCONTROL_PATH",
    "--key-rotation-interval": "SLURM_EXPORTER_KEY_ROTATION_INTERVAL",
    "--kubeconfig-path": "SLURM_EXPORTER_KUBECONFIG_PATH",
    "--standalone": "SLURM_EXPORTER_STANDALONE",
    "--static-token": "SLURM_EXPORTER_TOKEN",
    "--max-collector-inflight": "SLURM_EXPORTER_MAX_COLLECTOR_INFLIGHT",
    "--job-source": "SLURM_EXPORTER_JOB_SOURCE",
    "--accounting-jobs-lookback": "SLURM_EXPORTER_ACCOUNTING_JOBS_LOOKBACK",
}
NAMED = ("--cluster-name=c",)


def given(*words, **environment):
    """Return what the command gets to see."""
    seen = {}
    command = click.command()(cli.flags()(lambda **told: seen.update(told)))
    ended = CliRunner().invoke(command, [*NAMED, *words], env=environment)
    assert ended.exit_code == 0, ended.output
    return seen


def chosen(*words, **environment):
    return cli.settings(given(*words, **environment))


def test_every_flag_and_variable_of_the_upstream_exporter_is_known():
    known = {option.opts[0]: option.envvar for option in cli.exporter.params}
    assert THEIRS.items() <= known.items()


def test_without_flags_it_is_as_upstream():
    told = chosen()
    assert (told.cluster, told.namespace, told.user) == ("c", "soperator", "root")
    assert (told.metrics, told.monitoring) == (":8080", ":8081")
    assert (told.pace.interval_s, told.pace.inflight) == (30.0, 1)
    assert (told.origin, told.lookback) == (Origin.CONTROLLER, timedelta(hours=1))
    assert told.sampling.series is JobSeries.ON
    assert told.collectors == COLLECTORS
    assert told.identity == SecretToken("soperator", "c-rest-jwt-key")


@pytest.mark.parametrize(
    ("words", "identity"),
    [
        (("--static-token=a.b.c",), StaticToken("a.b.c")),
        (("--standalone", "--key-rotation-interval=10m", "--scontrol-path=/s"),
         ScontrolToken("/s", timedelta(minutes=10))),
        (("--no-token",), NoToken()),
        (("--jwt-secret=keys", "--jwt-secret-key=jwt.key"),
         SecretToken("soperator", "keys", "jwt.key")),
    ],
)  # fmt: skip
def test_every_way_to_a_token_has_its_flags(words, identity):
    assert chosen(*words).identity == identity


def test_a_variable_is_as_good_as_its_flag():
    told = chosen(SLURM_EXPORTER_COLLECTION_INTERVAL="1m30s", SLURM_EXPORTER_TOKEN="a.b.c")
    assert told.pace.interval_s == 90
    assert told.identity == StaticToken("a.b.c")


def test_standalone_asks_no_kubernetes():
    assert Collector.TOPOLOGY not in chosen("--standalone").collectors
    assert not chosen("--standalone").needs_kubernetes
    assert Collector.TOPOLOGY in chosen("--standalone", "--kubeconfig-path=/k").collectors


def test_with_a_token_and_no_kubernetes_there_is_no_topology_and_all_else():
    told, access = cli.reach(chosen("--static-token=a.b.c"), "", {})
    assert (told.collectors, access) == (chosen("--standalone").collectors, None)


def test_a_key_in_kubernetes_needs_a_kubernetes():
    with pytest.raises(AccessError, match="name a kubeconfig"):
        cli.reach(chosen(), "", {})
    with pytest.raises(AccessError, match="/nowhere"):
        cli.reach(chosen("--static-token=a.b.c"), "/nowhere", {})


def test_jobs_can_come_from_elsewhere():
    told = chosen("--squeue-path=nsenter -t 1 -- squeue", "--job-source=accounting",
                  "--accounting-jobs-lookback=2h")  # fmt: skip
    assert told.squeue == ("nsenter", "-t", "1", "--", "squeue")
    assert (told.origin, told.lookback) == (Origin.ACCOUNTING, timedelta(hours=2))


def test_single_jobs_can_be_sampled_or_left_out():
    told = chosen("--job-series=sampled", "--job-series-sample=50")
    assert (told.sampling.series, told.sampling.ratio) == (JobSeries.SAMPLED, 0.02)
    assert chosen("--job-series=off").sampling.ratio == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--cluster-name"),
        ((*NAMED, "--collection-interval=often"), "is no duration"),
        ((*NAMED, "--collection-interval=0s"), "more than 0s"),
        ((*NAMED, "--collectors=pods"), "is no collector"),
        ((*NAMED, "--job-source=squeue"), "controller"),
        ((*NAMED, "--max-collector-inflight=0"), "max-collector-inflight"),
        ((*NAMED, "--log-level=loud"), "log level"),
        ((*NAMED, "--kubeconfig-path=/nowhere"), "/nowhere"),
    ],
)
def test_what_cannot_be_understood_is_said(words, said):
    ended = CliRunner().invoke(cli.exporter, words)
    assert ended.exit_code == 2
    assert said in ended.output


def test_other_commands_do_not_pay_for_the_exporter():
    code = "import sys, shoal.cli.exporter; print('shoal.exporter' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
