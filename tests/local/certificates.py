"""Certificates for servers of the tests."""

import datetime as dt
import ipaddress
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# Certificates ask what is allowed, not what time it is: wide enough for any clock.
FIRST = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
LAST = dt.datetime(2100, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Pair:
    """A certificate that vouches for itself, and its key; both as PEM."""

    certificate: str
    key: str


def self_signed(host: str) -> Pair:
    """Make a pair for a server that is reached as `host`, a name or an address."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(FIRST)
        .not_valid_after(LAST)
        .add_extension(x509.SubjectAlternativeName([alternative(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return Pair(certificate.public_bytes(serialization.Encoding.PEM).decode(), secret.decode())


def alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
