"""Ask a cluster's DNS, from here, through its Service address."""

import secrets
import socket
import struct
import time
from ipaddress import IPv4Address

from .addresses import Addresses
from .control_plane import DOMAIN
from .errors import LocalError

PORT = 53
QUERY_A = 1
CLASS_IN = 1
RECURSE = 0x0100
POINTER = 0xC0


def resolve(server: IPv4Address, name: str, timeout_s: float = 1) -> IPv4Address | None:
    """Return the address that `server` has for `name`; None: it says that there is none."""
    number = secrets.randbelow(1 << 16)
    question = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"
    header = struct.pack(">HHHHHH", number, RECURSE, 1, 0, 0, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(timeout_s)
        line.connect((str(server), PORT))
        line.send(header + question + struct.pack(">HH", QUERY_A, CLASS_IN))
        answer = line.recv(512)
    found, count = struct.unpack(">H4xH", answer[:8])
    if found != number or count == 0:
        return None
    record = _after_name(answer, len(header) + len(question) + 4)
    kind, length = struct.unpack(">H6xH", answer[record : record + 10])
    start = record + 10
    return IPv4Address(answer[start : start + length]) if kind == QUERY_A else None


def _after_name(message: bytes, at: int) -> int:
    """Return where the name at `at` ends: with an empty label, or with a pointer elsewhere."""
    while (length := message[at]) and length < POINTER:
        at += 1 + length
    return at + (2 if length else 1)


def wait_until_answering(addresses: Addresses, timeout_s: float = 60) -> None:
    """Wait until the Service of DNS knows the Service of the API server."""
    deadline = time.monotonic() + timeout_s
    name = f"kubernetes.default.svc.{DOMAIN}"
    while True:
        try:
            if resolve(addresses.dns, name) == addresses.kubernetes_service:
                return
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise LocalError(
                f"{addresses.dns} does not resolve {name} after {timeout_s:g} s",
                "look at `shoal local logs cp coredns` and `shoal local logs cp kube-proxy`",
            )
        time.sleep(0.1)
