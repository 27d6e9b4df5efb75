"""The example for Alertmanager tells the right people, seen from their inboxes."""

import json
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from observe.shipped import NOTIFIER

from .inbox import Inbox, inbox
from .programs import CLUSTER, free_port, ready, until

ENDED = {
    "alertname": "SlurmJobEnded",
    "severity": "info",
    "job_name": "train",
    "job_state": "COMPLETED",
}


def configuration(found: Inbox) -> dict[str, object]:
    """Return the example, with our inboxes in place of example.com, and less patient."""
    text = yaml.safe_load(NOTIFIER.read_text())
    text["global"] = {
        "smtp_smarthost": found.smtp,
        "smtp_from": text["global"]["smtp_from"],
        "smtp_require_tls": False,
    }
    for route in (text["route"], *text["route"]["routes"]):
        route["group_wait"] = "1s"
    for receiver in text["receivers"]:
        for hook in receiver.get("webhook_configs", ()):
            hook["url"] = hook["url"].replace("https://pager.example.com", f"http://{found.http}")
            del hook["http_config"]
    return text


class Alertmanager:
    """One that runs."""

    def __init__(self, folder: Path, found: Inbox) -> None:
        self.address, self.log = f"127.0.0.1:{free_port()}", folder / "log"
        file = folder / "alertmanager.yml"
        file.write_text(yaml.safe_dump(configuration(found)))
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [
                    *("prometheus-alertmanager", f"--config.file={file}"),
                    *(f"--storage.path={folder}/data", f"--web.listen-address={self.address}"),
                    "--cluster.listen-address=",  # it is alone
                ],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    def tell(self, *alerts: Mapping[str, str]) -> None:
        """Tell it of alerts, as Prometheus does."""
        notes = {"summary": "a summary", "description": "a description."}
        body = json.dumps([{"labels": labels, "annotations": notes} for labels in alerts])
        request = urllib.request.Request(
            f"http://{self.address}/api/v2/alerts",
            body.encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10):
            pass


@pytest.fixture(scope="module")
def received(
    programs: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Alertmanager, Inbox]]:
    """Give an Alertmanager and the inboxes of all that it tells."""
    with inbox() as found:
        made = Alertmanager(tmp_path_factory.mktemp("alertmanager"), found)
        try:
            until(lambda: ready(made.address), made.log.read_text)
            yield made, found
        finally:
            made.process.terminate()
            made.process.wait()


def test_the_owner_of_a_job_and_nobody_else_hears_of_its_end(received):
    alertmanager, found = received
    alertmanager.tell(
        {**ENDED, **CLUSTER, "job_id": "7", "user_mail": "ada@example.com"},
        {**ENDED, **CLUSTER, "job_id": "8", "user_mail": "bob@example.com"},
    )

    def of_jobs() -> dict[tuple[str, ...], str]:
        mails = [mail for mail in found.mails if str(mail.message["Subject"]).startswith("Job ")]
        return {mail.to: str(mail.message["Subject"]) for mail in mails}

    until(lambda: len(of_jobs()) == 2, alertmanager.log.read_text)
    assert of_jobs() == {
        ("ada@example.com",): "Job 7 (train): COMPLETED",
        ("bob@example.com",): "Job 8 (train): COMPLETED",
    }


def test_what_cannot_wait_goes_to_the_pager_and_to_administrators(received):
    alertmanager, found = received
    alertmanager.tell(
        {"alertname": "SlurmctldUnreachable", "severity": "critical", **CLUSTER},
        # Told of already by the one above.
        {"alertname": "SlurmExporterStale", "severity": "warning", **CLUSTER},
        # Of another cluster, so it is not.
        {"alertname": "SlurmctldBusy", "severity": "warning", **CLUSTER, "namespace": "other"},
        {"alertname": "SlurmNodeDrainsLong", "severity": "info", **CLUSTER},
    )

    def to_administrators() -> list[str]:
        mails = [mail for mail in found.mails if mail.to == ("slurm-admins@example.com",)]
        return sorted(str(mail.message["Subject"]) for mail in mails)

    until(lambda: len(to_administrators()) >= 2 and bool(found.calls), alertmanager.log.read_text)
    told = " ".join(to_administrators())
    assert "SlurmctldUnreachable" in told
    assert "SlurmctldBusy" in told
    assert "SlurmExporterStale" not in told
    assert "SlurmNodeDrainsLong" not in told
    assert {a["labels"]["alertname"] for call in found.calls for a in call["alerts"]} == {
        "SlurmctldUnreachable"
    }
