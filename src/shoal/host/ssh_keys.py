"""SSH host keys."""

from collections.abc import Mapping

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

RSA_BITS = 4096


def host_keys() -> Mapping[str, bytes]:
    """Return new host keys as sshd has them, by file name; takes a second, so not in a loop."""
    made: Mapping[str, rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey]
    made = {
        "rsa": rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS),
        "ed25519": ed25519.Ed25519PrivateKey.generate(),
        "ecdsa": ec.generate_private_key(ec.SECP256R1()),
    }
    files = {}
    for name, key in made.items():
        private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        files[f"ssh_host_{name}_key"] = private
        files[f"ssh_host_{name}_key.pub"] = public + b"\n"
    return files
