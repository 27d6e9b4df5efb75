from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509

from shoal.host.certificates import SKEW
from shoal.runtime.certificates import (
    Do,
    Keep,
    Lifetimes,
    Step,
    carry_out,
    decide,
    read,
    write,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LASTS = Lifetimes(
    authority=timedelta(days=30), serving=timedelta(days=9), overlap=timedelta(days=1)
)
HOSTS = ("shoal.ops.svc", "127.0.0.1")
HOUR = timedelta(hours=1)


def step(which, held=None, now=NOON, hosts=HOSTS):
    return carry_out(which, held, hosts, now, LASTS)


def advanced(held, now, hosts=HOSTS):
    """Take every step that is due, and return what is held then, and the steps."""
    taken = []
    while isinstance(action := decide(held, hosts, now, LASTS), Do):
        taken.append(action.step)
        held = step(action.step, held, now, hosts)
        assert len(taken) < 4, taken
    assert action.until > now
    return held, taken


def trusts(bundle, held):
    """Say whether whoever trusts `bundle` accepts what is served."""
    serving = x509.load_pem_x509_certificate(held.serving.certificate)
    for known in x509.load_pem_x509_certificates(bundle):
        if known.subject == serving.issuer:
            serving.verify_directly_issued_by(known)
            return True
    return False


def stored(held):
    return {key: value for key, value in write(held).items() if value is not None}


def test_the_first_replica_makes_everything():
    assert decide(None, HOSTS, NOON, LASTS).step is Step.BEGIN
    held = step(Step.BEGIN)
    assert trusts(held.trusted, held)
    assert held.serving.hosts == set(HOSTS)
    assert decide(held, HOSTS, NOON, LASTS) == Keep(NOON + timedelta(days=6))


def test_a_serving_certificate_is_for_names_and_addresses_and_for_serving_only():
    serving = x509.load_pem_x509_certificate(step(Step.BEGIN).serving.certificate)
    names = serving.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["shoal.ops.svc"]
    assert names.get_values_for_type(x509.IPAddress) == [ip_address("127.0.0.1")]
    assert not serving.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert serving.not_valid_before_utc == NOON - SKEW


def test_a_serving_certificate_is_renewed_in_its_last_third_by_the_same_authority():
    held = step(Step.BEGIN)
    assert isinstance(decide(held, HOSTS, NOON + timedelta(days=5.9), LASTS), Keep)
    now = NOON + timedelta(days=6)
    renewed, taken = advanced(held, now)
    assert taken == [Step.RENEW]
    assert renewed.authority == held.authority
    assert renewed.serving.ends == now + LASTS.serving


def test_a_new_host_renews_the_certificate_at_once():
    held = step(Step.BEGIN)
    hosts = (*HOSTS, "other.ops.svc")
    assert decide(held, hosts, NOON, LASTS) == Do(
        Step.RENEW, "the certificate is not for other.ops.svc"
    )
    assert "other.ops.svc" in advanced(held, NOON, hosts)[0].serving.hosts


def test_an_authority_is_trusted_before_it_signs_and_after_it_signed():
    held = step(Step.BEGIN)
    now = NOON + timedelta(days=20)
    announced, taken = advanced(held, now)
    assert taken == [Step.RENEW, Step.ANNOUNCE]
    assert announced.authority == held.authority
    assert isinstance(decide(announced, HOSTS, now + 0.99 * LASTS.overlap, LASTS), Keep)

    now += LASTS.overlap
    switched, taken = advanced(announced, now)
    assert taken == [Step.SWITCH]
    assert switched.authority == announced.coming
    assert switched.trusted == announced.trusted, "a switch needs no new bundle"
    assert trusts(announced.trusted, switched)
    assert trusts(switched.trusted, announced)

    retired, taken = advanced(switched, now + LASTS.overlap)
    assert taken == [Step.RETIRE]
    assert not trusts(retired.trusted, held)
    assert trusts(retired.trusted, retired)


def test_through_all_rotations_nobody_meets_a_certificate_that_is_not_trusted_or_not_valid():
    # Whoever is behind by less than the overlap, API server or replica, is served all the same.
    behind = timedelta(hours=18)
    ago, held, steps = [], None, set()
    for hours in range(0, 24 * 80, 6):
        now = NOON + hours * HOUR
        held, taken = advanced(held, now)
        steps.update(taken)
        ago = [(when, old) for when, old in ago if when >= now - behind] + [(now, held)]
        for _, old in ago:
            assert trusts(old.trusted, held)
            assert trusts(held.trusted, old)
            assert old.serving.ends > now
    assert steps == set(Step)


@pytest.mark.parametrize("days", [21, 27, 29.5, 29.99, 30, 400])
def test_whoever_was_away_for_long_comes_back_to_a_good_certificate(days):
    now = NOON + timedelta(days=days)
    held, _ = advanced(step(Step.BEGIN), now)
    for _ in range(60):
        now += HOUR
        held, _ = advanced(held, now)
        assert held.serving.ends > now
        assert held.authority.ends > now
        assert trusts(held.trusted, held)


def test_an_authority_that_was_announced_late_takes_over_before_the_old_one_ends():
    held, taken = advanced(step(Step.BEGIN), NOON + timedelta(days=29.5))
    assert taken == [Step.RENEW, Step.ANNOUNCE]
    action = decide(held, HOSTS, NOON + timedelta(days=29.5), LASTS)
    assert isinstance(action, Keep)
    assert action.until < held.authority.ends
    assert decide(held, HOSTS, action.until, LASTS).step is Step.SWITCH


@pytest.mark.parametrize("days", [0, 20, 21, 22])
def test_what_is_written_can_be_read(days):
    held = None
    for day in range(days + 1):
        held, _ = advanced(held, NOON + timedelta(days=day))
    assert read(stored(held)) == held


def test_an_ended_step_leaves_nothing_behind():
    held, _ = advanced(step(Step.BEGIN), NOON)
    assert {key for key, value in write(held).items() if value is None} == {
        "coming.crt",
        "coming.key",
        "past.crt",
    }


@pytest.mark.parametrize("key", ["tls.crt", "tls.key", "authority.crt", "authority.key", "since"])
def test_what_somebody_spoiled_is_not_used(key):
    data = stored(step(Step.BEGIN))
    assert read({**data, key: b"junk"}) is None
    assert read({name: value for name, value in data.items() if name != key}) is None


def test_a_certificate_with_the_key_of_another_is_not_used():
    data = stored(step(Step.BEGIN))
    assert read({**data, "tls.key": data["authority.key"]}) is None


def test_a_certificate_of_another_authority_is_not_used():
    data, other = stored(step(Step.BEGIN)), stored(step(Step.BEGIN))
    swapped = {key: other[key] for key in ("tls.crt", "tls.key")}
    assert read({**data, **swapped}) is None


def test_an_overlap_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="overlap"):
        Lifetimes(authority=timedelta(days=3), overlap=timedelta(days=1))


def test_a_key_is_never_shown():
    held = step(Step.BEGIN)
    assert "PRIVATE" not in repr(held)
    assert "CERTIFICATE" in repr(held)
