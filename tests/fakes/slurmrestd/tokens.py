"""Tokens as Slurm checks them: HS256, with `exp` there and ahead; `iat` and `nbf` do not matter."""

import base64
import hashlib
import hmac
import json
from typing import Any


def user_of(token: str, key: bytes, now: float) -> str | None:
    """Return whose token it is, or None when it is not accepted."""
    try:
        head, body, mark = token.split(".")
        said: dict[str, Any] = json.loads(_bytes(body))
        algorithm = json.loads(_bytes(head)).get("alg")
        good = hmac.compare_digest(_bytes(mark), _signature(f"{head}.{body}", key))
    except ValueError:
        return None
    if algorithm != "HS256" or not good or said.get("exp", 0) <= now:
        return None
    return said.get("sun") or said.get("username")


def make(user: str, key: bytes, expires: float) -> str:
    """Return a token."""
    head = _text(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    body = _text(json.dumps({"sun": user, "exp": int(expires)}).encode())
    return f"{head}.{body}.{_text(_signature(f'{head}.{body}', key))}"


def _signature(text: str, key: bytes) -> bytes:
    return hmac.digest(key, text.encode(), hashlib.sha256)


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
