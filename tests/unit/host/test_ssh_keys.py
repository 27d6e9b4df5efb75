"""SSH host keys."""

import shutil
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key

from shoal.host.ssh_keys import host_keys
from shoal.render.login import host_key_files

TYPES = {
    "rsa": rsa.RSAPrivateKey,
    "ed25519": ed25519.Ed25519PrivateKey,
    "ecdsa": ec.EllipticCurvePrivateKey,
}


@pytest.fixture(scope="module")
def keys():
    return host_keys()


def test_there_is_a_file_for_each_that_login_nodes_mount(keys):
    assert sorted(keys) == sorted(host_key_files())


@pytest.mark.parametrize("kind", TYPES)
def test_a_private_key_belongs_to_the_public_one_beside_it(keys, kind):
    private = load_ssh_private_key(keys[f"ssh_host_{kind}_key"], password=None)
    public = load_ssh_public_key(keys[f"ssh_host_{kind}_key.pub"])
    assert isinstance(private, TYPES[kind])
    assert private.public_key() == public


def test_keys_are_as_large_as_users_expect(keys):
    private = load_ssh_private_key(keys["ssh_host_rsa_key"], password=None)
    assert private.key_size == 4096
    curve = load_ssh_private_key(keys["ssh_host_ecdsa_key"], password=None)
    assert curve.curve.name == "secp256r1"


def test_a_public_key_is_one_line(keys):
    for name, text in keys.items():
        if name.endswith(".pub"):
            assert text.count(b"\n") == 1
            assert text.endswith(b"\n")


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="there is no ssh-keygen here")
@pytest.mark.parametrize("kind", TYPES)
def test_openssh_can_use_them(keys, kind, tmp_path):
    for end in ("", ".pub"):
        file = tmp_path / f"ssh_host_{kind}_key{end}"
        file.write_bytes(keys[file.name])
        file.chmod(0o600)
    private = tmp_path / f"ssh_host_{kind}_key"
    shown = subprocess.run(
        ["ssh-keygen", "-l", "-f", private], check=True, capture_output=True, text=True
    ).stdout
    assert f"({kind.upper()})" in shown
    derived = subprocess.run(
        ["ssh-keygen", "-y", "-f", private], check=True, capture_output=True, text=True
    ).stdout
    assert derived.split()[:2] == (tmp_path / f"{private.name}.pub").read_text().split()[:2]
