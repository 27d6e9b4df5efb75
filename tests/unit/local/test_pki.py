import base64
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address

import yaml
from cryptography import x509

from shoal.local.pki import Authority, Identity, kubeconfig, service_account_key

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NODE = Identity("n0", "system:node:n0", "system:nodes", (IPv4Address("10.64.0.10"),))


def made(folder):
    authority = Authority(folder, "ca")
    authority.ensure(NOON)
    authority.issue([NODE], NOON)
    return authority


def certificate(path):
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_a_certificate_is_signed_by_the_authority_and_names_its_holder(tmp_path):
    authority = made(tmp_path)
    issued = certificate(tmp_path / "n0.crt")
    issued.verify_directly_issued_by(certificate(authority.certificate))
    assert issued.subject.rfc4514_string() == "CN=system:node:n0,O=system:nodes"
    names = issued.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.IPAddress) == [IPv4Address("10.64.0.10")]


def test_keys_and_certificates_are_made_once(tmp_path):
    made(tmp_path)
    service_account_key(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    made(tmp_path)
    service_account_key(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_only_the_owner_can_read_a_key(tmp_path):
    made(tmp_path)
    service_account_key(tmp_path)
    assert {p.name: oct(p.stat().st_mode & 0o777) for p in tmp_path.glob("*.key")} == {
        "ca.key": "0o600",
        "n0.key": "0o600",
        "sa.key": "0o600",
    }


def test_a_certificate_holds_on_a_machine_whose_clock_is_behind(tmp_path):
    made(tmp_path)
    assert certificate(tmp_path / "n0.crt").not_valid_before_utc < NOON - timedelta(minutes=59)


def test_a_kubeconfig_carries_everything_it_needs(tmp_path):
    authority = made(tmp_path)
    config = yaml.safe_load(kubeconfig("https://10.64.0.1:6443", "c", authority, "n0"))
    user = config["users"][0]["user"]
    found = base64.b64decode(user["client-certificate-data"])
    assert found == (tmp_path / "n0.crt").read_bytes()
    assert config["current-context"] == config["contexts"][0]["name"] == "c"
