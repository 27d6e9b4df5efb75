"""Keys that sign and check tokens; none is shown, neither by itself nor in an error about it."""

import hmac
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

import jwt
import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from jwt.algorithms import RSAAlgorithm

from .errors import UnknownError

Hidden = TypeVar("Hidden", str, bytes)
Algorithm = Literal["HS256", "RS256"]

_FIT: dict[Algorithm, str] = {
    "HS256": "put plain random bytes there, 32 or more",
    "RS256": "put an RSA private key in PEM form without a passphrase there",
}


class TokenError(UnknownError):
    """There is no token to ask with; the message names the Secret, file or program to see to."""

    cure = "replace it"


class Concealed(Generic[Hidden]):
    """A secret that is seen only where the code says `reveal`."""

    __slots__ = ("_value",)

    def __init__(self, value: Hidden) -> None:
        self._value: Hidden = value

    def reveal(self) -> Hidden:
        """Return the secret itself."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Concealed):
            return NotImplemented
        return hmac.compare_digest(_bytes(self._value), _bytes(other.reveal()))

    def __hash__(self) -> int:
        raise TypeError("a secret has no hash: it would tell it from others")

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written down")


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


class Signer(Protocol):
    """A key that makes tokens."""

    @property
    def whence(self) -> str:
        """Say where the key is kept, such as "Secret ns/name key jwt.key"."""
        ...

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Return a token that says `claims`, or raise TokenError."""
        ...


@dataclass(frozen=True)
class Hs256:
    """A key that Slurm has too (AuthAltParameters=jwt_key=...)."""

    key: Concealed[bytes]  # byte by byte as in the file: Slurm does not trim a newline
    whence: str

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Return a token that says `claims`, or raise TokenError."""
        if not self.key.reveal():  # not every PyJWT minds, and anybody could sign with it
            raise _unfit(self.whence, "HS256")
        with _quietly():
            try:
                return jwt.encode(dict(claims), self.key.reveal(), "HS256")
            except jwt.PyJWTError:
                raise _unfit(self.whence, "HS256") from None

    def verifies(self, token: str) -> bool:
        """Say whether this key made `token`; not whether it is still good."""
        return bool(self.key.reveal()) and _verified(token, self.key.reveal(), "HS256")


@dataclass(frozen=True)
class Rs256:
    """A private key in PEM form whose public half Slurm has (AuthAltParameters=jwks=...)."""

    key: Concealed[bytes]
    kid: str  # what the public half is called there
    whence: str

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Return a token that says `claims`, or raise TokenError."""
        try:
            key = load_pem_private_key(self.key.reveal(), password=None)
        except (TypeError, ValueError, UnsupportedAlgorithm):
            raise _unfit(self.whence, "RS256") from None
        if not isinstance(key, RSAPrivateKey):
            raise _unfit(self.whence, "RS256")
        with _quietly():
            return jwt.encode(dict(claims), key, "RS256", {"kid": self.kid})


def _unfit(whence: str, algorithm: Algorithm) -> TokenError:
    # Raised without its cause: what a library says about a key may quote it.
    return TokenError(whence, f"what is there is no key for {algorithm}", cure=_FIT[algorithm])


@contextmanager
def _quietly() -> Iterator[None]:
    # Whether a key is long enough is Slurm's to judge, and it takes short ones.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jwt.InsecureKeyLengthWarning)
        yield


def _verified(token: str, key: bytes | RSAPublicKey, algorithm: Algorithm) -> bool:
    with _quietly():
        try:
            jwt.PyJWS().decode(token, key, [algorithm])
        except (jwt.PyJWTError, TypeError, ValueError):
            return False
    return True


@dataclass(frozen=True)
class Jwks:
    """The public keys in a JWKS document, by their names."""

    keys: Mapping[str, RSAPublicKey] = field(repr=False)
    whence: str

    def verifies(self, token: str) -> bool:
        """Say whether one of these keys made `token`; not whether it is still good."""
        try:
            kid = jwt.get_unverified_header(token).get("kid")
        except jwt.PyJWTError:
            return False
        key = self.keys.get(str(kid))
        return key is not None and _verified(token, key, "RS256")


class _Document(msgspec.Struct):
    keys: list[dict[str, Any]]


def parse_jwks(document: bytes, whence: str) -> Jwks:
    """Return the keys that Slurm will find in `document`; refuse what would stop slurmctld."""
    try:
        entries = msgspec.json.decode(document, type=_Document).keys
    except msgspec.DecodeError:
        raise TokenError(whence, 'it is no JWKS document: {"keys": [...]}') from None
    # Slurm passes over every other kind of key, and over one that does not name its algorithm.
    fit = [(n, entry) for n, entry in enumerate(entries) if entry.get("alg") == "RS256"]
    keys: dict[str, RSAPublicKey] = {}
    for n, entry in fit:
        kid = _kid(n, entry, whence)
        if kid in keys:
            raise TokenError(whence, f"two keys have the kid {kid!r}", cure="rename one")
        keys[kid] = _public_key(n, entry, whence)
    if not keys:
        words = "no key in it has the alg RS256, and Slurm uses no other"
        raise TokenError(whence, words, cure='add "alg": "RS256" to a key of the type RSA')
    return Jwks(keys, whence)


def _kid(n: int, entry: Mapping[str, Any], whence: str) -> str:
    for member in ("kid", "n", "e"):
        if not entry.get(member) or not isinstance(entry[member], str):
            words = f"keys[{n}].{member} is not set, and slurmctld would not start"
            raise TokenError(whence, words, cure="add it, or leave the key out")
    if "d" in entry:
        words = f"keys[{n}].d is set: this is the private key, for everybody to read"
        raise TokenError(whence, words, cure="make a new key pair and publish its public half")
    return str(entry["kid"])


def _public_key(n: int, entry: Mapping[str, Any], whence: str) -> RSAPublicKey:
    try:
        key = RSAAlgorithm.from_jwk({**entry, "kty": "RSA"})
    except (jwt.PyJWTError, TypeError, ValueError):
        key = None
    if not isinstance(key, RSAPublicKey):
        raise TokenError(whence, f"keys[{n}].n and keys[{n}].e are no RSA key") from None
    return key
