import base64
from dataclasses import replace

import pytest

from shoal.model.accounting import ExternalAccounting
from shoal.model.controller import Keys
from shoal.model.part import Marks, ServiceWishes
from shoal.render import accounting

from .builders import (
    JWKS,
    JWT_KEY,
    SLURM_KEY,
    container_of,
    make_accounting,
    make_part,
    notes_of,
    spec_of,
    the,
    wishing,
)

HASH = "slinky.slurm.net/slurmdbd-conf-hash"


def pods(made=None, password="secret"):
    return the("StatefulSet", accounting.objects(made or make_accounting(), password))


def test_slurmdbd_consists_of_a_service_its_configuration_and_its_pod():
    found = [(o["kind"], o["metadata"]["name"]) for o in accounting.objects(make_accounting(), "")]
    assert found == [
        ("Service", "slurm-accounting"),
        ("Secret", "slurm-accounting"),
        ("StatefulSet", "slurm-accounting"),
    ]


def test_nothing_is_made_for_accounting_somewhere_else():
    assert accounting.objects(ExternalAccounting("dbd.example.com", 6819), "") == []


def test_the_configuration_is_a_secret_for_it_holds_the_password():
    held = the("Secret", accounting.objects(make_accounting(), "secret"))["data"]
    assert b"StoragePass=secret\n" in base64.b64decode(held["slurmdbd.conf"])


def test_the_password_is_nowhere_else():
    objects = accounting.objects(make_accounting(), "correct-horse")
    assert not [o for o in objects if "correct-horse" in str(o)]


def test_a_new_password_restarts_slurmdbd_and_cannot_be_guessed_from_its_digest():
    """Upstream neither watches the password's Secret nor keeps its digest apart."""
    made = make_accounting()
    password = replace(made.database.password, digest="other")
    changed = replace(made, database=replace(made.database, password=password))
    assert notes_of(pods(made))[HASH] != notes_of(pods(changed))[HASH]
    assert notes_of(pods(made, "a"))[HASH] == notes_of(pods(made, "b"))[HASH]


def test_new_lines_and_new_keys_restart_slurmdbd():
    made = make_accounting(keys=Keys(SLURM_KEY, JWT_KEY, JWKS))
    before = notes_of(pods(made))
    assert before["slinky.slurm.net/slurm-key-hash"] == SLURM_KEY.digest
    assert before["slinky.slurm.net/jwt-key-hash"] == JWT_KEY.digest
    assert before["slinky.slurm.net/jwks-hash"] == JWKS.digest
    assert before[HASH] != notes_of(pods(replace(made, extra="DebugLevel=debug")))[HASH]


def test_the_configuration_is_copied_to_where_only_its_owner_reads_it():
    """Slurm 24.11 does not start with slurmdbd.conf as kubelet mounts it."""
    made = pods()
    copied = {m["name"]: m["mountPath"] for m in container_of(made, "initconf")["volumeMounts"]}
    assert copied == {"slurm-config": "/mnt/slurm", "slurm-etc": "/mnt/etc/slurm"}
    etc = [m for m in container_of(made, "slurmdbd")["volumeMounts"] if m["name"] == "slurm-etc"]
    assert etc == [{"name": "slurm-etc", "mountPath": "/etc/slurm", "readOnly": True}]
    assert container_of(made, "initconf")["image"] == container_of(made, "slurmdbd")["image"]


def test_slurmdbd_has_the_marks_of_its_template():
    """Upstream leaves them out."""
    part = wishing(make_part("Accounting", "slurm"), marks=Marks({"team": "a"}))
    template = pods(make_accounting(part=part))["spec"]["template"]
    assert template["metadata"]["labels"]["team"] == "a"


def test_slurmdbd_is_not_restarted_for_a_database_that_is_away():
    main = container_of(pods(), "slurmdbd")
    assert main["readinessProbe"]["tcpSocket"] == {"port": "slurmdbd"}
    assert not {"livenessProbe", "startupProbe"} & main.keys()


def test_slurmdbd_passes_the_restricted_standard_and_writes_only_where_it_must():
    spec = spec_of(pods())
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for one in (*spec["initContainers"], *spec["containers"]):
        right = one["securityContext"]
        assert (right["runAsNonRoot"], right["allowPrivilegeEscalation"]) == (True, False)
        assert right["capabilities"] == {"drop": ["ALL"]}
        assert right["readOnlyRootFilesystem"] is True
    writable = [m for m in spec["containers"][0]["volumeMounts"] if not m.get("readOnly")]
    assert {m["mountPath"] for m in writable} == {"/run", "/tmp"}


@pytest.mark.parametrize("port", [6819, 7819])
def test_the_service_has_the_users_port(port):
    made = accounting.objects(make_accounting(service=ServiceWishes(port)), "")
    assert the("Service", made)["spec"]["ports"][0]["port"] == port
