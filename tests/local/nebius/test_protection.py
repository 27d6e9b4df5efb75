"""Protected Secrets, as the real API server asks the operator's webhook about them."""

import base64
import json
from pathlib import Path

import pytest

from shoal.controllers import nebius_webhooks
from shoal.kube import kinds
from shoal.kube.crds import Outside
from shoal.runtime.webhook import configurations

from ..certificates import self_signed
from ..clusters import Local, wait_for
from ..slinky.operator import ACCOUNT, ROOT, SPACE, Operator, free_port

pytestmark = pytest.mark.long
NAME = "slurm-operator"
SECRETS = {"secret/slurm-mariadb-password", "secret/slurm-mariadb-root"}


@pytest.fixture
def guard(operator, tmp_path):
    """Give an operator that serves webhooks, in place of the one that does not."""
    cluster = operator.cluster
    pair, port = self_signed(cluster.host), free_port()
    (tmp_path / "tls.crt").write_text(pair.certificate)
    (tmp_path / "tls.key").write_text(pair.key)
    may_watch(cluster)
    options = (
        "--enable-webhooks",
        f"--server-addr={cluster.host}:{port}",
        f"--cert-dir={tmp_path}",
    )
    operator.stop()
    other = Operator(cluster, operator.folder, options)
    other.start()
    try:
        register(cluster, f"https://{cluster.host}:{port}", pair.certificate)
        yield other
    finally:
        cluster.kubectl("delete", "validatingwebhookconfiguration", NAME, "--ignore-not-found")
        other.stop()
        operator.start()


def may_watch(cluster: Local) -> None:
    """Let the operator look at the configurations of its webhooks."""
    role: Path = ROOT / "deploy/rbac/webhooks.yaml"
    cluster.kubectl("apply", "--filename", role)
    if not cluster.exists("clusterrolebinding", "slurm-operator-webhooks"):
        cluster.kubectl(
            "create", "clusterrolebinding", "slurm-operator-webhooks",
            "--clusterrole=slurm-operator-webhooks", f"--serviceaccount={SPACE}:{ACCOUNT}",
        )  # fmt: skip


def register(cluster: Local, url: str, certificate: str) -> None:
    """Have the API server ask about Secrets, as the chart does."""
    rows = [row for row in nebius_webhooks.table(None) if row.kind is kinds.SECRET]  # type: ignore[arg-type]
    (made,) = configurations(NAME, rows, Outside(url))
    for hook in made["webhooks"]:
        hook["clientConfig"]["caBundle"] = base64.b64encode(certificate.encode()).decode()
    cluster.kubectl("apply", "--filename=-", stdin=json.dumps(made))


def test_a_protected_secret_cannot_be_changed_or_deleted_while_its_cluster_lives(guard, make_site):
    mine = make_site("protected")
    text = mine.text("minimal").replace("storage: {size: 1Gi}", "protectedSecret: true")
    assert "protectedSecret" in text
    mine.kubectl("apply", "--filename=-", stdin=text)
    wait_for("its Secrets", lambda: mine.named("secrets"), lambda seen: seen >= SECRETS)

    # A new configuration reaches the API server's admission a moment after it is stored.
    refused = wait_for(
        "a refusal",
        lambda: mine.kubectl("delete", "--dry-run=server", *SECRETS, check=False),
        lambda done: done.code != 0,
    )
    assert "SlurmCluster 'slurm' needs it" in refused.err
    bare = {"metadata": {"labels": {"slurm.nebius.ai/webhook": None}}}
    words = ("patch", "secret", "slurm-mariadb-password", f"--patch={json.dumps(bare)}")
    refused = mine.kubectl(*words, check=False)
    assert refused.code != 0
    assert "the Secret is protected" in refused.err
    assert mine.kubectl("delete", "secret", "slurm-mariadb-root", check=False).code != 0
    assert mine.named("secrets") >= SECRETS

    mine.kubectl("delete", "slurmcluster", "slurm")
    mine.kubectl("delete", *SECRETS)
    assert not mine.named("secrets") & SECRETS
