"""Tokens as slurmctld makes them, and as it should refuse them; without shoal's own code."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any

Claims = dict[str, Any]


def claims(user: str, lifetime_s: float = 600) -> Claims:
    """Return what a good token says."""
    now = int(time.time())  # noqa: TID251 - Slurm reads the machine's own clock
    return {"iat": now, "exp": now + int(lifetime_s), "sun": user}


def sign(key: bytes, said: Claims, algorithm: str = "HS256") -> str:
    """Return a token that says this."""
    head = {"alg": algorithm, "typ": "JWT"}
    signed = b".".join(_encoded(json.dumps(part).encode()) for part in (head, said))
    digest = {"HS256": hashlib.sha256, "HS512": hashlib.sha512}.get(algorithm)
    mark = hmac.digest(key, signed, digest) if digest else b""
    return b".".join((signed, _encoded(mark))).decode()


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
