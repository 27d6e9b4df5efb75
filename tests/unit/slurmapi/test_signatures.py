"""Keys: what they sign, what they refuse, and that they are never shown."""

import base64
import functools
import hashlib
import hmac
import json
import pickle
import traceback

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st

from shoal.slurmapi.signatures import Concealed, Hs256, Rs256, TokenError, parse_jwks

KEY = b"0123456789abcdef0123456789abcdef"
WHENCE = "Secret ns/slurm key jwt.key"
HUSH = "hush" * 2  # not as it stands in the source, which a traceback shows


def unpacked(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def packed(number: int) -> str:
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@functools.cache
def pair(_: str = "") -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, password: bytes = b"") -> bytes:
    form = serialization.PrivateFormat.PKCS8
    lock = serialization.BestAvailableEncryption(password) if password else None
    return key.private_bytes(serialization.Encoding.PEM, form, lock or serialization.NoEncryption())


def jwk(kid: str = "k1", **members: object) -> dict[str, object]:
    numbers = pair().public_key().public_numbers()
    public = {"kty": "RSA", "alg": "RS256", "n": packed(numbers.n), "e": packed(numbers.e)}
    return {**public, "kid": kid, **members}


def document(*keys: object) -> bytes:
    return json.dumps({"keys": keys}).encode()


# -- secrets


@given(st.text(min_size=4) | st.binary(min_size=4))
def test_a_secret_shows_nothing_of_itself(value):
    secret = Concealed(value)
    assert {repr(secret), str(secret), f"{secret}", f"{secret!r}"} == {"***"}
    assert secret.reveal() == value


def test_a_secret_is_not_written_down():
    with pytest.raises(TypeError, match="not written down"):
        pickle.dumps(Concealed("x"))


def test_a_secret_is_no_key_of_a_table():
    with pytest.raises(TypeError, match="no hash"):
        hash(Concealed("x"))


def test_two_secrets_can_be_compared():
    assert Concealed(b"x") == Concealed(b"x")
    assert Concealed("x") != Concealed("y")
    assert Concealed("x") != "x"


# -- HS256


# Not what looks like a key of another kind, which is refused below.
@given(st.binary(max_size=64).map(lambda key: b"\xff" + key))
def test_a_token_is_signed_with_every_byte_of_the_key(key):
    token = Hs256(Concealed(key), WHENCE).sign({"sun": "slurm", "exp": 5})
    head, body, signature = token.split(".")
    digest = hmac.digest(key, f"{head}.{body}".encode(), hashlib.sha256)
    assert unpacked(signature) == digest
    assert json.loads(unpacked(head)) == {"alg": "HS256", "typ": "JWT"}
    assert json.loads(unpacked(body)) == {"sun": "slurm", "exp": 5}


def test_a_newline_at_the_end_of_a_key_is_part_of_it():
    token = Hs256(Concealed(KEY), WHENCE).sign({})
    assert not Hs256(Concealed(KEY + b"\n"), WHENCE).verifies(token)


def test_a_key_knows_the_tokens_it_made():
    key, other = Hs256(Concealed(KEY), WHENCE), Hs256(Concealed(KEY[::-1]), WHENCE)
    token = key.sign({"exp": 1})  # long expired, and still its own
    assert key.verifies(token)
    assert not other.verifies(token)
    assert not key.verifies("garbage")
    assert not key.verifies("")


def test_an_unsigned_token_is_nobodys():
    head, body, _ = Hs256(Concealed(KEY), WHENCE).sign({}).split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    assert not Hs256(Concealed(KEY), WHENCE).verifies(f"{none}.{body}.")
    assert not Hs256(Concealed(KEY), WHENCE).verifies(f"{head}.{body}.")


def test_an_empty_key_knows_no_token():
    head, body, _ = Hs256(Concealed(KEY), WHENCE).sign({}).split(".")
    forged = hmac.digest(b"", f"{head}.{body}".encode(), hashlib.sha256)
    signature = base64.urlsafe_b64encode(forged).rstrip(b"=").decode()
    assert not Hs256(Concealed(b""), WHENCE).verifies(f"{head}.{body}.{signature}")


@pytest.mark.parametrize("key", [b"", pem(pair())])
def test_what_is_no_shared_key_is_refused_by_the_name_of_its_secret(key):
    with pytest.raises(TokenError, match=r"Secret ns/slurm key jwt\.key: .*HS256.*random bytes"):
        Hs256(Concealed(key), WHENCE).sign({})


# -- RS256


def test_a_token_signed_with_a_private_key_is_known_by_its_public_half():
    token = Rs256(Concealed(pem(pair())), "k1", WHENCE).sign({"sun": "slurm"})
    assert json.loads(unpacked(token.split(".")[0])) == {"alg": "RS256", "typ": "JWT", "kid": "k1"}
    assert parse_jwks(document(jwk("k0"), jwk("k1")), WHENCE).verifies(token)
    assert not parse_jwks(document(jwk("k0")), WHENCE).verifies(token)


def test_a_token_of_another_key_with_the_same_name_is_refused():
    token = Rs256(Concealed(pem(pair("other"))), "k1", WHENCE).sign({})
    assert not parse_jwks(document(jwk("k1")), WHENCE).verifies(token)


@pytest.mark.parametrize("token", ["", "a.b.c", "garbage"])
def test_what_is_no_token_is_nobodys(token):
    assert not parse_jwks(document(jwk()), WHENCE).verifies(token)


@pytest.mark.parametrize(
    "key",
    [
        b"",
        KEY,
        b"-----BEGIN PRIVATE KEY-----\n",
        pem(pair(), b"locked"),
        pem(ec.generate_private_key(ec.SECP256R1())),
        pair().public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
    ],
)  # fmt: skip
def test_what_is_no_private_key_is_refused_by_the_name_of_its_secret(key):
    with pytest.raises(TokenError, match=r"Secret ns/slurm key jwt\.key: .*RS256.*PEM"):
        Rs256(Concealed(key), "k1", WHENCE).sign({})


# -- JWKS documents


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "no JWKS document"),
        (b"[]", "no JWKS document"),
        (b'{"keys": {}}', "no JWKS document"),
        (b'{"keys": ["x"]}', "no JWKS document"),
        (document(), "no key in it has the alg RS256"),
        (document(jwk(alg="ES256")), "no key in it has the alg RS256"),
        (document(jwk(alg=None)), "no key in it has the alg RS256"),
        (document(jwk(), jwk(kid="")), r"keys\[1\].kid is not set, and slurmctld would not start"),
        (document(jwk(n=None)), r"keys\[0\].n is not set"),
        (document(jwk(e=3)), r"keys\[0\].e is not set"),
        (document(jwk(n="*")), r"keys\[0\].n and keys\[0\].e are no RSA key"),
        (document(jwk(d="AQAB")), r"keys\[0\].d is set: this is the private key"),
        (document(jwk("k1"), jwk("k1")), "two keys have the kid 'k1'"),
    ],
)
def test_a_document_that_slurm_would_stumble_over_is_refused(text, words):
    with pytest.raises(TokenError, match=f"ConfigMap ns/jwks: .*{words}"):
        parse_jwks(text, "ConfigMap ns/jwks")


def test_keys_of_other_kinds_are_passed_over_as_slurm_does():
    shared = {"kty": "oct", "alg": "HS256", "kid": "s", "k": "c2VjcmV0"}
    found = parse_jwks(document(shared, {"kty": "EC"}, jwk("k1")), WHENCE)
    assert [*found.keys] == ["k1"]


# -- nothing leaks


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: Hs256(Concealed(pem(pair())), WHENCE).sign({}),
        lambda: Rs256(Concealed(KEY), "k1", WHENCE).sign({}),
        lambda: Rs256(Concealed(pem(pair(), b"locked")), "k1", WHENCE).sign({}),
        lambda: parse_jwks(document(jwk(d=HUSH)), WHENCE),
        lambda: parse_jwks(document({"kty": "oct", "k": HUSH}), WHENCE),
    ],
)
def test_an_error_about_a_key_shows_nothing_of_it(attempt):
    with pytest.raises(TokenError) as caught:
        attempt()
    # What a library said is not kept either: it may quote the key in another version.
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    told = "".join(traceback.format_exception(caught.value))
    for secret in (KEY.decode(), "PRIVATE", HUSH, pem(pair()).decode()[40:80]):
        assert secret not in told


def test_a_key_is_shown_by_where_it_is_kept():
    for key in (Hs256(Concealed(KEY), WHENCE), Rs256(Concealed(KEY), "k1", WHENCE)):
        assert WHENCE in repr(key)
        assert KEY.decode() not in repr(key)
