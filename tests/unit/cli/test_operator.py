"""`shoal operator`: its flags and variables, and what they come to."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal.cli import operator as cli
from shoal.controllers.operator import Options
from shoal.dialects.nebius import types as nebius
from shoal.dialects.slinky.types import KINDS, NODE_SET, TOKEN
from shoal.kube import kinds

KUBECONFIG = """
current-context: here
contexts: [{name: here, context: {cluster: c, user: u, namespace: mine}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
"""


@dataclass
class Runs:
    """Runs the command up to where the operator would begin."""

    kubeconfig: Path
    asked: bool = True  # whether it ends because it was asked to
    given: list[Options] = field(default_factory=list)

    def __call__(self, *words: str, kubeconfig: bool = True, **environment: str):
        where = ["--kubeconfig", str(self.kubeconfig)] if kubeconfig else []
        unset = {variable: None for _, variable, *_ in (*cli.FLAGS, *cli.SWITCHES) if variable}
        return CliRunner().invoke(cli.operator, [*where, *words], env={**unset, **environment})

    def options(self, *words: str, **environment: str) -> Options:
        ended = self(*words, **environment)
        assert ended.exit_code == 0, ended.output
        return self.given[-1]


@pytest.fixture
def runs(tmp_path, monkeypatch) -> Runs:
    (tmp_path / "config").write_text(KUBECONFIG)
    made = Runs(tmp_path / "config")

    async def run(options: Options) -> bool:
        made.given.append(options)
        return made.asked

    monkeypatch.setattr(cli, "run", run)
    monkeypatch.setattr(cli, "set_up", lambda _: None)
    monkeypatch.setattr(cli, "_resolver", lambda: "")
    return made


# -- flags


def test_every_flag_of_the_tables_is_in_the_help_with_its_words(runs):
    told = squeezed(runs("--help", kubeconfig=False).output)
    for names, _, default, words in cli.FLAGS:
        assert all(name in told for name in names)
        assert squeezed(words) in told
        assert not default or f"[default:{default}" in told
    for name, _, _, words in cli.SWITCHES:
        assert name.split("/")[0] in told
        assert squeezed(words) in told
    for kind in KINDS:
        assert f"--{kind.kind.lower()}-workers" in told


def squeezed(text: str) -> str:
    """Return `text` without white space: lines break within words that have a hyphen."""
    return "".join(text.split())


def test_no_flag_and_no_variable_is_there_twice():
    rows = (*cli.FLAGS, *((tuple(name.split("/")), *rest) for name, *rest in cli.SWITCHES))
    flags = [flag for names, *_ in rows for flag in names]
    variables = [variable for _, variable, *_ in rows if variable]
    assert len(set(flags)) == len(flags)
    assert len(set(variables)) == len(variables)


# What the manager of the other operator of slinky.slurm.net can be told.
THEIRS = (
    "--enable-http2", "--health-addr", "--leader-elect", "--leader-elect-namespace",
    "--metrics-addr", "--metrics-secure", "--namespaces", "--accounting-workers",
    "--controller-workers", "--loginset-workers", "--nodeset-workers", "--restapi-workers",
    "--token-workers", "--zap-log-level", "--server-addr", "--propagated-node-conditions",
    "--slurmclient-workers", "--profile", "--profile-addr",
)  # fmt: skip


def test_who_comes_from_the_other_operator_finds_its_flags():
    known = {flag for parameter in cli.operator.params for flag in parameter.opts}
    assert set(THEIRS) <= known


@pytest.mark.parametrize(("flag", "words"), cli.IDLE)
def test_a_flag_without_effect_is_taken_and_says_so(runs, flag, words):
    told = squeezed(runs("--help", kubeconfig=False).output)
    assert squeezed(f"{flag} INTEGER RANGE {words}") in told
    assert words.startswith("No effect: ")
    assert runs.options(flag, "3").settings == runs.options().settings


def test_conditions_of_nodes_are_a_list(runs):
    assert runs.options().settings.shown == frozenset()
    given = runs.options("--propagated-node-conditions", "GpuUnhealthy, DiskPressure,,")
    assert given.settings.shown == {"GpuUnhealthy", "DiskPressure"}


def test_profiles_are_served_on_this_machine_alone_and_only_when_asked_for(runs):
    assert runs.options("--profile-addr", ":1").profile == "0"
    assert runs.options("--profile").profile == "localhost:6060"
    assert runs.options("--profile", "--profile-addr", ":1").profile == ":1"


def test_where_webhooks_are_found_and_registered_can_be_said(runs):
    usual = runs.options().webhooks
    assert (usual.service, usual.namespace) == ("slurm-operator-webhook", "")
    assert usual.configuration == "slurm-operator"
    words = ("--webhook-service", "s", "--webhook-namespace", "n", "--webhook-configuration", "c")
    given = runs.options(*words).webhooks
    assert (given.service, given.namespace, given.configuration) == ("s", "n", "c")


@pytest.mark.parametrize("flag", ["--health-addr", "--health-probe-bind-address"])
def test_both_names_of_a_flag_mean_the_same(runs, flag):
    assert runs.options(flag, ":1").health == ":1"


def test_without_flags_it_leads_by_a_lease_and_sees_all_namespaces(runs):
    options = runs.options()
    assert options.lead
    assert options.namespaces == ()
    assert options.namespace == "mine"
    assert (options.health, options.metrics, options.metrics_secure) == (":8081", ":8080", False)
    assert options.settings.images == {}
    assert options.settings.domain == "cluster.local"
    assert set(options.settings.workers.values()) == {1}


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (("--namespaces", "a, b,,c"), {}),
        ((), {"SLURM_OPERATOR_WATCH_NAMESPACES": "a,b,c"}),
        (("--namespaces", "a,b,c"), {"SLURM_OPERATOR_WATCH_NAMESPACES": "x"}),
    ],
)
def test_namespaces_are_named_by_a_flag_or_a_variable_and_the_flag_wins(runs, words, environment):
    assert runs.options(*words, **environment).namespaces == ("a", "b", "c")


@pytest.mark.parametrize("text", ["", "*", "a,*", " , "])
def test_no_name_and_a_star_are_all_namespaces(runs, text):
    assert runs.options("--namespaces", text).namespaces == ()


@pytest.mark.parametrize(
    ("variable", "value", "read"),
    [
        ("LEADER_ELECTION", "false", lambda options: options.lead is False),
        ("OPERATOR_NAMESPACE", "ops", lambda options: options.namespace == "ops"),
        ("CLUSTER_DOMAIN", "k.example", lambda options: options.settings.domain == "k.example"),
        ("POD_NAME", "pod-7", lambda options: options.identity.startswith("pod-7_")),
    ],
)
def test_a_variable_counts(runs, variable, value, read):
    assert read(runs.options(**{variable: value}))


def test_two_processes_of_one_machine_are_told_apart(runs):
    assert runs.options(POD_NAME="p").identity != "p"


def test_a_kind_has_as_many_workers_as_its_flag_says_and_the_others_as_many_as_all(runs):
    workers = runs.options(
        "--max-concurrent-reconciles", "4", "--nodeset-workers", "8"
    ).settings.workers
    assert workers[NODE_SET] == 8
    assert workers[TOKEN] == 4
    assert (workers[nebius.NODE_SET], workers[nebius.SLURM_CLUSTER]) == (8, 4)
    assert set(workers) == {*KINDS, *nebius.KINDS}


# -- slurm.nebius.ai


def test_which_apis_it_understands_is_for_the_user_to_say_or_for_what_is_installed(runs):
    assert runs.options().dialects == ()
    assert runs.options("--dialects", "slinky").dialects == ("slinky",)
    ended = runs("--dialects", "slinky,other")
    assert ended.exit_code == 2
    assert "--dialects: 'other' is none" in ended.output


@pytest.mark.parametrize(
    ("text", "chosen"),
    {
        "": None,
        "*": None,
        "cluster, NodeSet": {"cluster", "nodeset"},
        "-topology": {"cluster", "nodeconfigurator", "nodeset", "rollingupdate"},
        "*,-nodeset": {"cluster", "nodeconfigurator", "rollingupdate", "topology"},
        "-cluster, nodeset": {"nodeset"},
    }.items(),
)
def test_controllers_are_chosen_as_upstream_has_it(runs, text, chosen):
    assert runs.options(SLURM_OPERATOR_CONTROLLERS=text).settings.controllers == chosen


def test_a_controller_that_nobody_has_is_refused(runs):
    ended = runs("--controllers", "cluster,-typo")
    assert ended.exit_code == 2
    assert "--controllers: 'typo' is none" in ended.output


def test_what_others_may_have_installed_is_left_alone_when_the_user_says_so(runs):
    assert runs.options().settings.unused == frozenset()
    told = runs.options(IS_MARIADB_CRD_INSTALLED="false", IS_PROMETHEUS_CRD_INSTALLED="true")
    assert told.settings.unused == {kinds.MARIADB, kinds.GRANT}
    assert kinds.APP_ARMOR_PROFILE in runs.options(IS_APPARMOR_CRD_INSTALLED="0").settings.unused


# -- what is refused


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--log-level", "loud"), "log level 'loud': one of"),
        (("--log-format", "xml"), "log format 'xml': one of"),
        (("--nodeset-workers", "0"), "--nodeset-workers"),
        (("--kubeconfig", "/no/such/file"), "kubeconfig /no/such/file"),
        (("--no-such-flag",), "--no-such-flag"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(runs, words, said):
    ended = runs(*words)
    assert ended.exit_code == 2
    assert said in ended.output
    assert runs.given == []


def test_outside_a_cluster_it_asks_for_a_kubeconfig(runs):
    ended = runs(kubeconfig=False, KUBERNETES_SERVICE_HOST="")
    assert ended.exit_code == 2
    assert "name a kubeconfig" in " ".join(ended.output.split())


@pytest.mark.parametrize(("asked", "code"), [(True, 0), (False, 1)])
def test_a_deposed_leader_ends_with_1_so_that_it_is_started_again(runs, asked, code):
    runs.asked = asked
    assert runs().exit_code == code


# -- images and the domain


def test_images_come_from_the_registry_with_the_tag_and_none_without_one(runs):
    assert cli.images("", "26.05") == {}
    made = runs.options("--image-registry", "r.example/x/", "--image-tag", "25.11").settings.images
    assert set(made) == {*cli.PROGRAMS, "mariadb"}
    assert made["mariadb"] == "r.example/x/mariadb:11.8"
    assert made["slurmd"] == "r.example/x/slurmd:25.11"


@pytest.mark.parametrize(
    ("resolver", "domain"),
    [
        ("", "cluster.local"),
        ("nameserver 10.0.0.1\n", "cluster.local"),
        ("search ns.svc.k.example svc.k.example k.example\n", "k.example"),
        ("search svc.k.example. corp\noptions ndots:5\n", "k.example"),
        ("# search svc.no.example\nsearch corp\n", "cluster.local"),
        ("search\n", "cluster.local"),
    ],
)
def test_the_domain_is_what_resolv_conf_says(resolver, domain, runs, monkeypatch):
    assert cli.domain(resolver) == domain
    monkeypatch.setattr(cli, "_resolver", lambda: resolver)
    assert runs.options().settings.domain == domain
