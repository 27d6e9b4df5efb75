import os
import ssl
import tempfile

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shoal.kubeapi.pairs import load_pair

from .test_server import pair_and_trust


def test_a_pair_is_loaded_where_no_file_can_be_written(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    pair, _ = pair_and_trust()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_pair(tls, pair.certificate, pair.key)
    assert list(tmp_path.iterdir()) == []


def test_a_pair_leaves_no_file_open():
    pair, _ = pair_and_trust()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), pair.certificate, pair.key)
        with pytest.raises(ssl.SSLError):
            load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), b"", b"")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_certificate_with_the_key_of_another_is_refused():
    (one, _), (other, _) = pair_and_trust(), pair_and_trust()
    with pytest.raises(ssl.SSLError) as caught:
        load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), one.certificate, other.key)
    assert caught.value.reason == "KEY_VALUES_MISMATCH"


def test_a_key_with_a_passphrase_is_refused_and_nobody_is_asked_for_it():
    pair, _ = pair_and_trust()
    locked = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"word"),
    )
    with pytest.raises(ssl.SSLError) as caught:
        load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), pair.certificate, locked)
    assert caught.value
