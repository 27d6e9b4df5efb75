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
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum

from cryptography.exceptions import InvalidSignature

from ..host import certificates
from ..host.certificates import Holder, Pair, read_certificate


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
    # A name of its own: of several with one name in a bundle, a client may try only the first.
    name = f"shoal-webhooks-{secrets.token_hex(4)}"
    return certificates.authority(name, now, lasts.authority)


def issue(by: Pair, hosts: Sequence[str], now: datetime, lasts: Lifetimes) -> Pair:
    """Make a serving certificate for `hosts`, names or addresses."""
    # A common name has at most 64 characters; who is meant is in the hosts.
    return certificates.issue(by, Holder(hosts[0][:64], hosts), now, lasts.serving)


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
        read_certificate(serving.certificate).verify_directly_issued_by(
            read_certificate(signs.certificate)
        )
        coming = _read_pair(data, "coming") if "coming.crt" in data else None
        past = data.get("past.crt")
        if past:
            read_certificate(past)
        since = datetime.fromisoformat(data["since"].decode())
        return Held(signs, serving, since, coming, past)
    except (KeyError, ValueError, InvalidSignature):
        return None


def _read_pair(data: Mapping[str, bytes], name: str) -> Pair:
    pair = Pair(data[f"{name}.crt"], data[f"{name}.key"])
    pair.check()
    return pair
