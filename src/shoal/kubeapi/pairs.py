"""A certificate and its key, from memory into a TLS context."""

import os
import ssl


def load_pair(tls: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Let `tls` present this pair (PEM); one that is no pair is an SSLError."""
    # Python's ssl reads from files only; this one has no name, and the root may be read-only.
    handle = os.memfd_create("pair")
    try:
        os.write(handle, certificate + b"\n" + key)
        # A key with a passphrase is refused: else OpenSSL would ask for it on the terminal.
        tls.load_cert_chain(f"/proc/self/fd/{handle}", password="")
    finally:
        os.close(handle)
