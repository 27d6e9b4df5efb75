"""Tokens: when they are made, used and renewed, and that they are never shown."""

import asyncio
import json
import logging
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.slurmapi.signatures import Concealed, Hs256, TokenError
from shoal.slurmapi.tokens import (
    HEADER,
    LONGEST,
    Claims,
    Nobody,
    Signed,
    Standalone,
    Static,
    Token,
    clamped,
    issue,
    read_back,
)

NOON = datetime(2026, 1, 1, 12, 0, 0, 500, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SLURM = Claims("slurm", "slurm-operator", 15 * MINUTE)
ROOT = Claims("root", "soperator", timedelta(days=30), subject="root")
WHENCE = "Secret ns/slurm key jwt.key"
WRITTEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdW4iOiJzbHVybSJ9.c2lnbmF0dXJl"


def key(name: str = "a") -> Hs256:
    return Hs256(Concealed(name.encode() * 32), WHENCE)


@dataclass
class Clock:
    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True)
class Ran:
    code: int = 0
    stdout: str = ""
    stderr: str = ""


@dataclass
class Scontrol:
    """Prints a token that says how often it was asked."""

    answer: Ran | None = None
    asked: list[Sequence[str]] = field(default_factory=list)

    async def __call__(self, argv: Sequence[str]) -> Ran:
        self.asked.append(argv)
        await asyncio.sleep(0)  # noqa: TID251 - lets the other callers come
        return self.answer or Ran(stdout=f"SLURM_JWT=e30.{len(self.asked)}.c2ln\n")


def signed(clock: Clock, claims: Claims = SLURM) -> Signed:
    return Signed(key(), claims, clock)


async def token_of(tokens: Signed | Static | Standalone) -> str:
    return (await tokens.header())[HEADER]


def claims_of(token: str) -> dict[str, object]:
    claims: dict[str, object] = jwt.decode(token, options={"verify_signature": False})
    return claims


# -- claims


def test_a_token_says_what_slinky_says():
    issued = int(NOON.timestamp())
    assert SLURM.at(NOON, "id-1") == {
        "jti": "id-1",
        "iss": "slurm-operator",
        "iat": issued,
        "nbf": issued,
        "exp": issued + 900,
        "sun": "slurm",
    }


def test_a_token_names_its_subject_where_one_is_given():
    claims = ROOT.at(NOON, "id-1")
    assert (claims["iss"], claims["sub"], claims["sun"]) == ("soperator", "root", "root")


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (-MINUTE, timedelta(0)),
        (timedelta(0), timedelta(0)),
        (MINUTE, MINUTE),
        (timedelta.max, timedelta(seconds=2**31 - 2)),
    ],
)
def test_a_lifetime_stays_within_what_slurm_can_hold(asked, given):
    assert clamped(asked) == given


@given(st.timedeltas())
def test_a_token_expires_when_it_says_so(lifetime):
    token = issue(key(), Claims("u", "i", lifetime), NOON, "n")
    claims = claims_of(token.text.reveal())
    assert claims["exp"] == int(token.expires.timestamp())
    assert token.issued <= token.renewed <= token.expires <= token.issued + LONGEST


# -- signed


async def test_a_token_is_used_for_most_of_its_lifetime_and_then_renewed():
    clock = Clock()
    tokens = signed(clock)
    first = await token_of(tokens)
    clock.now = NOON + 11 * MINUTE
    assert await token_of(tokens) == first
    clock.now = NOON + 12 * MINUTE
    assert await token_of(tokens) != first


async def test_every_token_has_a_number_of_its_own():
    tokens = signed(Clock())
    numbers = set()
    for _ in range(3):
        numbers.add(claims_of(await token_of(tokens))["jti"])
        tokens.forget()
    assert len(numbers) == 3


async def test_a_token_from_before_the_clock_was_set_back_is_not_used():
    clock = Clock()
    tokens = signed(clock)
    first = await token_of(tokens)
    clock.now = NOON - MINUTE
    assert claims_of(await token_of(tokens))["iat"] < claims_of(first)["iat"]


async def test_a_token_that_was_refused_is_not_shown_again():
    tokens = signed(Clock())
    first = await token_of(tokens)
    tokens.forget()
    assert await token_of(tokens) != first


async def test_a_new_key_signs_from_the_next_request_on():
    tokens = signed(Clock())
    first = await token_of(tokens)
    tokens.rekey(key("b"))
    second = await token_of(tokens)
    assert key("a").verifies(first)
    assert key("b").verifies(second)


async def test_the_same_key_again_costs_no_new_token():
    tokens = signed(Clock())
    first = await token_of(tokens)
    tokens.rekey(key("a"))
    assert await token_of(tokens) == first


async def test_a_lifetime_of_nothing_is_a_new_token_each_time():
    tokens = signed(Clock(), Claims("u", "i", timedelta(0)))
    assert await token_of(tokens) != await token_of(tokens)


async def test_a_key_that_is_not_fit_is_named():
    tokens = Signed(Hs256(Concealed(b""), WHENCE), SLURM, Clock())
    with pytest.raises(TokenError, match=r"Secret ns/slurm key jwt\.key"):
        await tokens.header()


# -- stored


def test_a_stored_token_is_read_with_its_times():
    token = issue(key(), SLURM, NOON, "n")
    assert read_back(token.text.reveal() + "\n", NOON, WHENCE) == token


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        "a.b.c",
        WRITTEN,  # without iat and exp
        jwt.encode({"iat": "noon", "exp": 5}, "k" * 32),
        jwt.encode({"iat": 10**30, "exp": 10**30}, "k" * 32),
    ],
)
def test_what_is_no_token_is_refused_by_the_name_of_its_secret(text):
    with pytest.raises(
        TokenError, match=r"Secret ns/slurm key jwt\.key: what is there is no token"
    ):
        read_back(text, NOON, WHENCE)


@given(st.integers(0, 1000), st.integers(-10, 1100))
def test_a_token_is_fresh_from_its_issue_to_four_fifths_of_its_life(life_s, age_s):
    token = Token(Concealed("x"), NOON, NOON + timedelta(seconds=life_s))
    assert token.fresh_at(NOON + timedelta(seconds=age_s)) is (0 <= 5 * age_s < 4 * life_s)


# -- static and nobody


async def test_a_given_token_is_used_as_it_is_and_kept():
    tokens = Static(f" {WRITTEN}\n", "SLURM_EXPORTER_TOKEN")
    tokens.forget()
    assert await token_of(tokens) == WRITTEN


@pytest.mark.parametrize("text", ["", "one.two", f"{WRITTEN}\nX-Evil: 1", f"Bearer {WRITTEN}"])
def test_a_given_token_that_would_break_the_request_is_refused(text):
    with pytest.raises(TokenError, match="SLURM_EXPORTER_TOKEN: what is there is no token"):
        Static(text, "SLURM_EXPORTER_TOKEN")


async def test_nobody_sends_no_header():
    nobody = Nobody()
    nobody.forget()
    assert await nobody.header() == {}


# -- standalone


def standalone(scontrol: Scontrol, clock: Clock) -> Standalone:
    return Standalone(scontrol, "root", 30 * MINUTE, clock)


async def test_scontrol_is_asked_once_for_most_of_a_lifetime():
    scontrol, clock = Scontrol(), Clock()
    tokens = standalone(scontrol, clock)
    assert await token_of(tokens) == "e30.1.c2ln"
    clock.now = NOON + 23 * MINUTE
    assert await token_of(tokens) == "e30.1.c2ln"
    clock.now = NOON + 24 * MINUTE
    assert await token_of(tokens) == "e30.2.c2ln"
    assert scontrol.asked == [("scontrol", "token", "username=root", "lifespan=1800")] * 2


async def test_many_requests_at_once_are_one_run_of_scontrol():
    scontrol = Scontrol()
    tokens = standalone(scontrol, Clock())
    found = await asyncio.gather(*(token_of(tokens) for _ in range(20)))
    assert {*found} == {"e30.1.c2ln"}
    assert len(scontrol.asked) == 1


async def test_scontrol_is_asked_again_after_a_refusal():
    tokens = standalone(Scontrol(), Clock())
    first = await token_of(tokens)
    tokens.forget()
    assert await token_of(tokens) != first


@pytest.mark.parametrize(
    ("ran", "words"),
    [
        (Ran(stdout="Slurm\n"), "printed no line SLURM_JWT="),
        (Ran(stdout="SLURM_JWT=garbage\n"), "what is there is no token"),
        (Ran(1, stderr="slurm_fetch_token: denied\n"), "exit code 1: slurm_fetch_token: denied"),
        (Ran(127), "exit code 127: it says nothing"),
    ],
)
async def test_an_answer_without_a_token_names_the_command(ran, words):
    tokens = standalone(Scontrol(ran), Clock())
    with pytest.raises(TokenError, match="scontrol token username=root") as caught:
        await tokens.header()
    assert words in str(caught.value)


async def test_after_a_run_that_went_wrong_the_next_request_tries_again():
    scontrol = Scontrol(Ran(1))
    tokens = standalone(scontrol, Clock())
    with pytest.raises(TokenError):
        await tokens.header()
    scontrol.answer = None
    assert await token_of(tokens) == "e30.2.c2ln"


# -- nothing leaks


async def test_no_source_of_tokens_shows_one(caplog):
    sources = (signed(Clock()), Static(WRITTEN, "x"), standalone(Scontrol(), Clock()))
    for tokens in sources:
        header = await tokens.header()
        secret = header[HEADER]
        with caplog.at_level(logging.DEBUG):
            logging.getLogger("t").warning("%s %r %s %r", tokens, tokens, header, header)
        shown = f"{caplog.text} {vars(tokens)} {[header]}"
        assert HEADER in shown
        assert secret not in shown
        assert json.dumps(header) == json.dumps({HEADER: secret})  # it is still what is sent


@pytest.mark.parametrize(
    "ran", [Ran(1, WRITTEN, f"no: {WRITTEN}"), Ran(0, f"TOKEN={WRITTEN}"), Ran(0, f"{WRITTEN}\n")]
)
async def test_an_error_about_a_token_does_not_show_it(ran):
    with pytest.raises(TokenError) as caught:
        await standalone(Scontrol(ran), Clock()).header()
    assert WRITTEN not in "".join(traceback.format_exception(caught.value))


@given(st.text(min_size=3))
def test_a_token_that_is_refused_is_not_shown(text):
    hush = "hush" * 2  # not as it stands in the source, which a traceback shows
    with pytest.raises(TokenError) as caught:
        Static(f"{text} {hush}", "x")
    assert hush not in "".join(traceback.format_exception(caught.value))
