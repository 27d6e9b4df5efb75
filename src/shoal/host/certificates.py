"""X.509 certificates with keys of an elliptic curve: made, and read again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# A machine whose clock is a little behind must not refuse what we just made.
SKEW = timedelta(hours=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)

    @property
    def ends(self) -> datetime:
        """Return when it is no longer valid."""
        return read_certificate(self.certificate).not_valid_after_utc

    @property
    def hosts(self) -> frozenset[str]:
        """Return the names and addresses that it is for."""
        found = read_certificate(self.certificate).extensions
        try:
            names = found.get_extension_for_class(x509.SubjectAlternativeName).value
        except x509.ExtensionNotFound:
            return frozenset()
        return frozenset(str(name.value) for name in names)

    def check(self) -> None:
        """Raise a ValueError unless certificate and key are readable and belong together."""
        if read_certificate(self.certificate).public_key() != _key(self).public_key():
            raise ValueError("certificate and key are no pair")


@dataclass(frozen=True)
class Holder:
    """Who a certificate is for: its name and group, and the hosts that it serves as."""

    common_name: str  # of 64 characters at most
    hosts: Sequence[str]  # names and addresses
    group: str = ""
    client: bool = False  # it also says who its holder is when it calls others


def authority(name: str, now: datetime, lasts: timedelta) -> Pair:
    """Make an authority that may sign certificates of holders, and no other authority."""
    key = _new_key()
    named = _name(name)
    made = (
        _builder(named, named, key, now, lasts)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return _pair(made, key)


def issue(by: Pair, holder: Holder, now: datetime, lasts: timedelta) -> Pair:
    """Make a certificate for `holder`, signed by an authority."""
    key = _new_key()
    issuer = read_certificate(by.certificate).subject
    subject = _name(holder.common_name, holder.group)
    uses = [ExtendedKeyUsageOID.SERVER_AUTH]
    uses += [ExtendedKeyUsageOID.CLIENT_AUTH] if holder.client else []
    hosts = x509.SubjectAlternativeName([_host(host) for host in holder.hosts])
    signed_by = x509.AuthorityKeyIdentifier.from_issuer_public_key(_key(by).public_key())
    made = (
        _builder(subject, issuer, key, now, lasts)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        .add_extension(hosts, critical=False)
        # RFC 5280 wants it of everybody who signs for others, and Python 3.13 insists.
        .add_extension(signed_by, critical=False)
        .sign(_key(by), hashes.SHA256())
    )
    return _pair(made, key)


def signing_key() -> tuple[bytes, bytes]:
    """Make a key without a certificate; return it and its public half, both PEM."""
    key = _new_key()
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return _pem(key), public


def read_certificate(pem: bytes) -> x509.Certificate:
    """Return a certificate; a ValueError when it is none."""
    return x509.load_pem_x509_certificate(pem)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _key(pair: Pair) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pair.key, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        # Not one of ours: ValueError, as for what is no key at all.
        raise ValueError("no key of an elliptic curve")  # noqa: TRY004
    return key


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    now: datetime,
    lasts: timedelta,
) -> x509.CertificateBuilder:
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + lasts)
        .add_extension(own, critical=False)
    )


def _name(common_name: str, group: str = "") -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    return Pair(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))
