from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from shoal.host.certificates import (
    SKEW,
    Holder,
    Pair,
    authority,
    issue,
    read_certificate,
    signing_key,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def extension(pair, kind):
    return read_certificate(pair.certificate).extensions.get_extension_for_class(kind)


def issued(holder, by=None):
    return issue(by or authority("ca", NOON, DAY), holder, NOON, DAY)


def test_an_authority_signs_holders_and_no_other_authority():
    made = authority("sea", NOON, DAY)
    limits = extension(made, x509.BasicConstraints)
    assert (limits.critical, limits.value.ca, limits.value.path_length) == (True, True, 0)
    usage = extension(made, x509.KeyUsage).value
    assert (usage.key_cert_sign, usage.digital_signature) == (True, False)
    assert read_certificate(made.certificate).subject.rfc4514_string() == "CN=sea"


def test_a_certificate_is_signed_by_its_authority_and_by_no_other():
    ours, other = authority("ca", NOON, DAY), authority("ca", NOON, DAY)
    made = read_certificate(issued(Holder("a", ["a"]), ours).certificate)
    made.verify_directly_issued_by(read_certificate(ours.certificate))
    with pytest.raises(InvalidSignature) as caught:
        made.verify_directly_issued_by(read_certificate(other.certificate))
    assert caught.value


def test_a_certificate_holds_from_a_little_ago_until_its_time_is_over():
    made = issued(Holder("a", ["a"]))
    assert read_certificate(made.certificate).not_valid_before_utc == NOON - SKEW
    assert made.ends == NOON + DAY


def test_a_certificate_names_its_holder_group_names_and_addresses():
    made = issued(Holder("system:node:n0", ["n0", "10.0.0.1", "fd00::1"], "system:nodes"))
    subject = read_certificate(made.certificate).subject.rfc4514_string()
    assert subject == "CN=system:node:n0,O=system:nodes"
    names = extension(made, x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["n0"]
    found = names.get_values_for_type(x509.IPAddress)
    assert found == [ip_address("10.0.0.1"), ip_address("fd00::1")]
    assert made.hosts == {"n0", "10.0.0.1", "fd00::1"}


@pytest.mark.parametrize(
    ("more", "uses"),
    [
        ({}, [ExtendedKeyUsageOID.SERVER_AUTH]),
        ({"client": True}, [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
    ],
)
def test_only_who_calls_others_gets_a_certificate_to_call_with(more, uses):
    made = issued(Holder("a", ["a"], **more))
    assert list(extension(made, x509.ExtendedKeyUsage).value) == uses
    assert not extension(made, x509.BasicConstraints).value.ca
    assert not extension(made, x509.KeyUsage).value.key_cert_sign


def test_a_name_that_is_too_long_is_refused_and_not_cut_into_another():
    with pytest.raises(ValueError, match="64"):
        issued(Holder("n" * 65, ["a"], client=True))
    assert issued(Holder("n" * 64, ["a"], client=True)).hosts == {"a"}


def test_a_pair_that_is_none_is_refused():
    one, other = issued(Holder("a", ["a"])), issued(Holder("a", ["a"]))
    one.check()
    with pytest.raises(ValueError, match="no pair"):
        Pair(one.certificate, other.key).check()
    key = rsa.generate_private_key(65537, 1024).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    with pytest.raises(ValueError, match="elliptic"):
        Pair(one.certificate, key).check()
    assert authority("ca", NOON, DAY).hosts == frozenset()


def test_a_key_is_never_shown():
    assert "PRIVATE" not in repr(issued(Holder("a", ["a"])))


def test_a_signing_key_comes_with_its_public_half():
    key, public = signing_key()
    private = serialization.load_pem_private_key(key, password=None)
    assert private.public_key() == serialization.load_pem_public_key(public)
