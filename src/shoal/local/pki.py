"""Certificates and kubeconfigs of a cluster, made once and kept."""

import base64
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ..host import files

LIFETIME = dt.timedelta(days=3650)
# A machine whose clock is a little behind must not refuse what we just made.
SKEW = dt.timedelta(hours=1)


@dataclass(frozen=True)
class Identity:
    """Who a certificate is for."""

    name: str  # the file's
    common_name: str
    group: str = ""
    addresses: tuple[IPv4Address, ...] = ()
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Authority:
    """A certificate authority in a folder."""

    folder: Path
    name: str

    @property
    def certificate(self) -> Path:
        """The certificate to trust."""
        return self.folder / f"{self.name}.crt"

    def ensure(self, now: dt.datetime) -> None:
        """Make the authority unless it is there."""
        if self.certificate.exists():
            return
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _subject(f"shoal-{self.name}", "")
        certificate = (
            _builder(subject, subject, key.public_key(), now)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        _save(self.folder, self.name, key, certificate)

    def issue(self, identities: Sequence[Identity], now: dt.datetime) -> None:
        """Make the certificates that are not there yet."""
        missing = [i for i in identities if not (self.folder / f"{i.name}.crt").exists()]
        if not missing:
            return
        signer = _read_key(self.folder / f"{self.name}.key")
        issuer = x509.load_pem_x509_certificate(self.certificate.read_bytes()).subject
        for identity in missing:
            key = ec.generate_private_key(ec.SECP256R1())
            subject = _subject(identity.common_name, identity.group)
            certificate = (
                _builder(subject, issuer, key.public_key(), now)
                .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
                .add_extension(_usage(signs=False), critical=True)
                .add_extension(_SERVER_AND_CLIENT, critical=False)
                .add_extension(_names(identity), critical=False)
                .sign(signer, hashes.SHA256())
            )
            _save(self.folder, identity.name, key, certificate)


_SERVER_AND_CLIENT = x509.ExtendedKeyUsage(
    [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
)


def service_account_key(folder: Path) -> None:
    """Make the key pair that signs service account tokens, unless it is there."""
    if (folder / "sa.pub").exists():
        return
    key = ec.generate_private_key(ec.SECP256R1())
    files.write(folder / "sa.key", _pem(key), 0o600)
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    files.write(folder / "sa.pub", public)


def kubeconfig(server: str, cluster: str, authority: Authority, user: str) -> str:
    """Write a kubeconfig that holds everything, so that it can be carried elsewhere."""

    def inline(path: Path) -> str:
        return base64.b64encode(path.read_bytes()).decode()

    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": cluster,
                    "cluster": {
                        "server": server,
                        "certificate-authority-data": inline(authority.certificate),
                    },
                }
            ],
            "users": [
                {
                    "name": user,
                    "user": {
                        "client-certificate-data": inline(authority.folder / f"{user}.crt"),
                        "client-key-data": inline(authority.folder / f"{user}.key"),
                    },
                }
            ],
            "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
            "current-context": cluster,
        },
        sort_keys=False,
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: dt.datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + LIFETIME)
    )


def _subject(common_name: str, group: str) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _names(identity: Identity) -> x509.SubjectAlternativeName:
    hosts = identity.hosts or (identity.name,)
    return x509.SubjectAlternativeName(
        [*map(x509.DNSName, hosts), *map(x509.IPAddress, identity.addresses)]
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
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


def _read_key(path: Path) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def _save(
    folder: Path, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate
) -> None:
    # The certificate last: its presence says that the pair is whole.
    files.write(folder / f"{name}.key", _pem(key), 0o600)
    files.write(folder / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM))
