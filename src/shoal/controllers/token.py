"""Keep a token in a Secret, renewed before it ends."""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from ..decide.conditions import Wanted
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Object, Resource
from ..model.part import KeyRef
from ..model.token import Token
from ..runtime import clock
from ..runtime.apply import Rules
from ..runtime.controller import Done
from ..slurmapi import tokens
from ..slurmapi.signatures import Concealed, Hs256, TokenError
from .passes import Asked, Hands, soonest

RULES = Rules(prune=(kinds.SECRET,), recreate=(kinds.SECRET,))
ISSUER = "slurm-operator"
SOONEST_S = 1.0


@dataclass(frozen=True)
class TokenController:
    """Dependencies of the reconciler."""

    hands: Hands
    kind: Kind
    read: Callable[[Resource], Token]  # the dialect
    status: Callable[[datetime], Object]  # the dialect's, of when the token was issued

    async def reconcile(self, key: Key) -> Done:
        """Run one pass."""
        obj = self.hands.world.get(self.kind, key)
        if obj is None or obj.deleting:
            return Done()  # the Secret goes with it
        token = self.read(obj)
        signing = self._held(token, token.key)
        if signing is None:
            asked = Asked((), Rules(), Wanted((token.key,)))
            return await self.hands.bring_about(self.kind, obj, asked)
        now = clock.now()
        whence = f"Secret {token.namespace}/{token.key.name}, key {token.key.key}"
        signer = Hs256(Concealed(signing), whence)
        issued = self._good(token, signer, now) or self._issue(token, signer, now)
        secrets, owner = [_secret(token, issued)], self.kind.identity(obj)
        outcome = await self.hands.applier.apply(owner, secrets, RULES)
        # As it is kept: a Secret of somebody else may be in the way.
        kept = self._good(token, signer, now)
        told = self.status(kept.issued) if kept else None
        cure = f"{token.secret.field}: name another Secret"
        asked = Asked((), Rules(), status=told, refused=outcome.refused, cure=cure)
        done = await self.hands.bring_about(self.kind, obj, asked)
        if not token.refresh:
            return done
        return soonest(done, Done(max((issued.renewed - now).total_seconds(), SOONEST_S)))

    def _held(self, token: Token, ref: KeyRef) -> bytes | None:
        return self.hands.world.found(token.namespace).secrets.get(ref.name, {}).get(ref.key)

    def _good(self, token: Token, signer: Hs256, now: datetime) -> tokens.Token | None:
        """Return the token that is there, if it may stay: ours, of this key, and not too old."""
        text = self._held(token, token.secret)
        if text is None or not signer.verifies(text.decode(errors="replace")):
            return None  # not there, or the key was replaced
        try:
            found = tokens.read_back(text.decode(), now, str(token.secret))
        except TokenError:
            return None
        return found if not token.refresh or found.fresh_at(now) else None

    def _issue(self, token: Token, signer: Hs256, now: datetime) -> tokens.Token:
        claims = tokens.Claims(token.user, ISSUER, token.lifetime)
        return tokens.issue(signer, claims, now, str(uuid4()))


def _secret(token: Token, issued: tokens.Token) -> Object:
    text = b64encode(issued.text.reveal().encode()).decode()
    secret: Object = {
        "apiVersion": kinds.SECRET.api_version,
        "kind": kinds.SECRET.kind,
        "metadata": {
            "namespace": token.namespace,
            "name": token.secret.name,
            "labels": dict(token.marks.labels),
            "annotations": dict(token.marks.annotations),
        },
        "data": {token.secret.key: text},
    }
    return secret if token.refresh else {**secret, "immutable": True}
