"""Who the exporter is to slurmrestd."""

import base64
from dataclasses import dataclass, field
from datetime import timedelta

import jwt
import pytest

from fakes.loop import VirtualLoop
from shoal.exporter.identity import Secret, SecretTokens, tokens
from shoal.exporter.settings import NoToken, ScontrolToken, SecretToken, StaticToken
from shoal.kubeapi.errors import UnreachableError
from shoal.runtime import clock
from shoal.slurmapi.signatures import TokenError
from shoal.slurmapi.tokens import HEADER, Nobody, Standalone, Static

LOOP = VirtualLoop
ASKED = SecretToken("here", "c-rest-jwt-key", rotation=timedelta(minutes=30))
FIRST, SECOND = b"1" * 32, b"2" * 32


@dataclass
class Secrets:
    """An API server with one Secret."""

    key: bytes | None = FIRST
    reads: list[str] = field(default_factory=list)
    down: bool = False

    async def get(self, what, type_):
        self.reads.append(f"{what.namespace}/{what.name}")
        if self.down:
            raise UnreachableError("no answer")
        data = {} if self.key is None else {"rest_jwt.key": base64.b64encode(self.key).decode()}
        assert type_ is Secret
        return Secret(data=data)


async def said(made, key):
    token = (await made.header())[HEADER]
    return jwt.decode(token, key, algorithms=["HS256"])


async def test_a_token_is_signed_with_the_secrets_key():
    secrets = Secrets()
    claims = await said(SecretTokens(secrets, ASKED, "root"), FIRST)
    assert (claims["sun"], claims["sub"], claims["iss"]) == ("root", "root", "soperator")
    assert claims["exp"] > claims["iat"]
    assert secrets.reads == ["here/c-rest-jwt-key"]


async def test_the_secret_is_read_again_from_time_to_time():
    secrets = Secrets()
    made = SecretTokens(secrets, ASKED, "root")
    await made.header()
    await made.header()
    assert len(secrets.reads) == 1
    secrets.key = SECOND
    await clock.sleep(1801)
    assert await said(made, SECOND)


async def test_a_token_that_is_refused_has_the_secret_read_again():
    secrets = Secrets()
    made = SecretTokens(secrets, ASKED, "root")
    await made.header()
    secrets.key = SECOND
    made.forget()
    assert await said(made, SECOND)


async def test_a_kubernetes_that_does_not_answer_takes_no_key_away():
    secrets = Secrets()
    made = SecretTokens(secrets, ASKED, "root")
    await made.header()
    secrets.down = True
    made.forget()
    assert await said(made, FIRST)


async def test_without_a_key_there_is_no_token():
    with pytest.raises(UnreachableError):
        await SecretTokens(Secrets(down=True), ASKED, "root").header()
    with pytest.raises(TokenError, match=r"rest_jwt.key of Secret here/c-rest-jwt-key"):
        await SecretTokens(Secrets(key=None), ASKED, "root").header()


def test_every_way_to_a_token_has_its_tokens():
    assert isinstance(tokens(NoToken(), "root", None), Nobody)
    assert isinstance(tokens(StaticToken("a.b.c"), "root", None), Static)
    assert isinstance(tokens(ScontrolToken(), "root", None), Standalone)
    assert isinstance(tokens(ASKED, "root", Secrets()), SecretTokens)
