"""Who the exporter is to slurmrestd: each way to a token."""

import base64
import binascii
from collections.abc import Mapping
from datetime import timedelta
from typing import assert_never

import msgspec

from ..kube import kinds
from ..kube.objects import Resource
from ..kubeapi.client import Client, Ref
from ..kubeapi.errors import ApiError
from ..runtime import clock
from ..slurmapi.signatures import Concealed, Hs256, TokenError
from ..slurmapi.tokens import Claims, Nobody, Signed, Standalone, Static, Tokens
from . import programs
from .settings import Identity, NoToken, ScontrolToken, SecretToken, StaticToken

ISSUER = "soperator"  # as upstream; Slurm does not look at it
LIFETIME = timedelta(hours=1)


class Secret(Resource, frozen=True, gc=False, rename="camel"):
    """A Secret's values, in Base64."""

    data: dict[str, str] = msgspec.field(default_factory=dict)


class SecretTokens:
    """Tokens signed with a Secret's key, which is read again from time to time and when refused."""

    def __init__(self, client: Client, asked: SecretToken, user: str) -> None:
        self._client = client
        self._asked = asked
        self._claims = Claims(user, ISSUER, LIFETIME, subject=user)
        self._signed: Signed | None = None
        self._read_at = float("-inf")

    async def header(self) -> Mapping[str, str]:
        """Return the token in use, or a new one."""
        if clock.ticks() - self._read_at >= self._asked.rotation.total_seconds():
            await self._renew()
        assert self._signed is not None
        return await self._signed.header()

    def forget(self) -> None:
        """Read the Secret and sign a new one next time."""
        self._read_at = float("-inf")
        if self._signed is not None:
            self._signed.forget()

    async def _renew(self) -> None:
        try:
            signer = await self._signer()
        except ApiError:
            # Slurm knows the key that we have; a Kubernetes that does not answer changes nothing.
            if self._signed is None:
                raise
            return
        if self._signed is None:
            self._signed = Signed(signer, self._claims, clock.now)
        else:
            self._signed.rekey(signer)
        self._read_at = clock.ticks()

    async def _signer(self) -> Hs256:
        asked = self._asked
        whence = f"key {asked.key} of Secret {asked.namespace}/{asked.secret}"
        where = Ref(kinds.SECRET, asked.namespace, asked.secret)
        found = (await self._client.get(where, Secret)).data.get(asked.key)
        try:
            key = base64.b64decode(found or "", validate=True)
        except binascii.Error:
            key = b""
        if not key:
            cure = "name another Secret, or put Slurm's JWT key there"
            raise TokenError(whence, "there is no key", cure=cure)
        return Hs256(Concealed(key), whence)


def tokens(identity: Identity, user: str, client: Client | None) -> Tokens:
    """Return the tokens of `identity`; a Secret needs a `client` of Kubernetes."""
    match identity:
        case NoToken():
            return Nobody()
        case StaticToken(text):
            return Static(text, "the static token")
        case ScontrolToken(scontrol, lifetime):
            return Standalone(programs.run, user, lifetime, clock.now, scontrol)
        case SecretToken():
            assert client is not None
            return SecretTokens(client, identity, user)
        case _:
            assert_never(identity)
