"""Certificates of our own for the webhooks: what to do about them now, and how they are made.

A rotation has no gap, as nobody ever meets a certificate before its authority is trusted:

    begin     one authority, and a serving certificate by it
    announce  a coming authority is trusted, and signs nothing
    switch    after the overlap it signs; the one before it is past, and still trusted
    retire    after another overlap the past one is trusted no more

    renew     between these: a new serving certificate by the same authority

All of it lives in one Secret that several replicas may change: each step replaces the version that
it was decided upon.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from ipaddress import ip_address

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# A machine whose clock is a little behind must not refuse what we just made.
SKEW = timedelta(hours=1)


@dataclass(frozen=True)
class Lifetimes:
    """How long things last; an authority and a certificate are renewed in their last third."""

    authority: timedelta = timedelta(days=730)
    serving: timedelta = timedelta(days=90)
    # Longer than all API servers need to see a bundle, and all replicas to see the Secret.
    overlap: timedelta = timedelta(days=1)

    def __post_init__(self) -> None:
        if not timedelta(0) < self.overlap < self.authority / 3:
            raise ValueError("the overlap is shorter than a third of an authority's time")


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)

    @property
    def ends(self) -> datetime:
        """Return when it is no longer valid."""
        return _certificate(self.certificate).not_valid_after_utc

    @property
    def hosts(self) -> frozenset[str]:
        """Return the names and addresses that it is for."""
        found = _certificate(self.certificate).extensions
        try:
            names = found.get_extension_for_class(x509.SubjectAlternativeName).value
        except x509.ExtensionNotFound:
            return frozenset()
        return frozenset(str(name.value) for name in names)


@dataclass(frozen=True)
class Held:
    """What the Secret holds."""

    authority: Pair  # signs
    serving: Pair
    since: datetime  # when the authorities last changed
    coming: Pair | None = None  # trusted already, signs nothing yet
    past: bytes | None = None  # trusted still, signs nothing any more

    @property
    def trusted(self) -> bytes:
        """Return the bundle to trust; the same one while an authority merely moves on."""
        coming = self.coming.certificate if self.coming else b""
        return b"".join(sorted((self.authority.certificate, coming, self.past or b"")))


class Step(Enum):
    """A change of what is held; the words above say what each is."""

    BEGIN = "begin"
    RENEW = "renew"
    ANNOUNCE = "announce"
    SWITCH = "switch"
    RETIRE = "retire"


@dataclass(frozen=True)
class Do:
    """Take a step."""

    step: Step
    why: str


@dataclass(frozen=True)
class Keep:
    """Nothing to do before `until`."""

    until: datetime


def decide(held: Held | None, hosts: Sequence[str], now: datetime, lasts: Lifetimes) -> Do | Keep:
    """Return what to do now."""
    if held is None:
        return Do(Step.BEGIN, "there is no certificate yet")
    return (
        _successor(held, now, lasts)
        or _serving(held, hosts, now, lasts)
        or _rotation(held, now, lasts)
        or Keep(min(_authority_due(held, lasts), _serving_due(held, lasts)))
    )


def _successor(held: Held, now: datetime, lasts: Lifetimes) -> Do | None:
    if held.coming and now >= _authority_due(held, lasts):
        return Do(Step.SWITCH, "the coming authority is known long enough")
    if now >= held.authority.ends:
        return Do(Step.BEGIN, "the authority is over")
    return None


def _serving(held: Held, hosts: Sequence[str], now: datetime, lasts: Lifetimes) -> Do | None:
    if missing := sorted(set(hosts) - held.serving.hosts):
        return Do(Step.RENEW, f"the certificate is not for {', '.join(missing)}")
    if now >= _serving_due(held, lasts):
        return Do(Step.RENEW, "the certificate ends soon")
    return None


def _rotation(held: Held, now: datetime, lasts: Lifetimes) -> Do | None:
    if held.coming or now < _authority_due(held, lasts):
        return None
    if held.past:
        return Do(Step.RETIRE, "nobody serves by the past authority any more")
    return Do(Step.ANNOUNCE, "the authority ends soon")


def _authority_due(held: Held, lasts: Lifetimes) -> datetime:
    """Return when the authorities have to change."""
    if held.past:
        return held.since + lasts.overlap
    if held.coming:
        # Announced late, when this process was away for long: better a short overlap than none.
        return min(held.since + lasts.overlap, held.authority.ends - lasts.overlap / 10)
    return held.authority.ends - lasts.authority / 3


def _serving_due(held: Held, lasts: Lifetimes) -> datetime:
    return held.serving.ends - lasts.serving / 3


def carry_out(
    step: Step, held: Held | None, hosts: Sequence[str], now: datetime, lasts: Lifetimes
) -> Held:
    """Return what the Secret shall hold after `step`."""
    match step, held:
        case (Step.RENEW, Held()):
            return replace(held, serving=issue(held.authority, hosts, now, lasts))
        case (Step.ANNOUNCE, Held()):
            return replace(held, coming=authority(now, lasts), since=now)
        case (Step.SWITCH, Held(coming=Pair() as coming)):
            serving = issue(coming, hosts, now, lasts)
            return Held(coming, serving, now, past=held.authority.certificate)
        case (Step.RETIRE, Held()):
            return replace(held, past=None, since=now)
        case _:
            new = authority(now, lasts)
            return Held(new, issue(new, hosts, now, lasts), now)


def authority(now: datetime, lasts: Lifetimes) -> Pair:
    """Make an authority that may sign serving certificates and nothing else."""
    key = ec.generate_private_key(ec.SECP256R1())
    # A name of its own: of several with one name in a bundle, a client may try only the first.
    name = _name(f"shoal-webhooks-{secrets.token_hex(4)}")
    certificate = (
        _builder(name, name, key, now, now + lasts.authority)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return _pair(certificate, key)


def issue(by: Pair, hosts: Sequence[str], now: datetime, lasts: Lifetimes) -> Pair:
    """Make a serving certificate for `hosts`, names or addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = _certificate(by.certificate).subject
    certificate = (
        # A common name has at most 64 characters; who is meant is in the names below.
        _builder(_name(hosts[0][:64]), issuer, key, now, now + lasts.serving)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
        .sign(_key(by), hashes.SHA256())
    )
    return _pair(certificate, key)


def write(held: Held) -> dict[str, bytes | None]:
    """Return the Secret's data; None is a key that it must not have."""
    return {
        "tls.crt": held.serving.certificate,
        "tls.key": held.serving.key,
        "ca.crt": held.trusted,  # for whoever mounts the Secret; we do not read it
        "authority.crt": held.authority.certificate,
        "authority.key": held.authority.key,
        "coming.crt": held.coming.certificate if held.coming else None,
        "coming.key": held.coming.key if held.coming else None,
        "past.crt": held.past,
        "since": held.since.astimezone(UTC).isoformat().encode(),
    }


def read(data: Mapping[str, bytes]) -> Held | None:
    """Understand a Secret's data; None where they are not what we wrote."""
    try:
        signs, serving = _read_pair(data, "authority"), _read_pair(data, "tls")
        _certificate(serving.certificate).verify_directly_issued_by(_certificate(signs.certificate))
        coming = _read_pair(data, "coming") if "coming.crt" in data else None
        past = data.get("past.crt")
        if past:
            _certificate(past)
        since = datetime.fromisoformat(data["since"].decode())
        return Held(signs, serving, since, coming, past)
    except (KeyError, ValueError, InvalidSignature):
        return None


def _read_pair(data: Mapping[str, bytes], name: str) -> Pair:
    pair = Pair(data[f"{name}.crt"], data[f"{name}.key"])
    if _certificate(pair.certificate).public_key() != _key(pair).public_key():
        raise ValueError(f"{name}: certificate and key are no pair")
    return pair


def _key(pair: Pair) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pair.key, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        # Not one of ours: ValueError, as for what is no key at all.
        raise ValueError("no key of an elliptic curve")  # noqa: TRY004
    return key


def _certificate(pem: bytes) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pem)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    now: datetime,
    ends: datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(ends)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


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


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return Pair(certificate.public_bytes(serialization.Encoding.PEM), pem)
