import socket
import struct
import threading
from ipaddress import IPv4Address

from shoal.local import dns


def answering(answers):
    """Serve one DNS question on a free loopback port; return that port's socket and thread."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    server.settimeout(5)

    def serve():
        question, client = server.recvfrom(512)
        head = question[:2] + struct.pack(">HHHHH", 0x8180, 1, len(answers), 0, 0)
        server.sendto(head + question[12:] + b"".join(answers), client)

    thread = threading.Thread(target=serve)
    thread.start()
    return server, thread


def ask(monkeypatch, answers):
    server, thread = answering(answers)
    monkeypatch.setattr(dns, "PORT", server.getsockname()[1])
    try:
        return dns.resolve(IPv4Address("127.0.0.1"), "a.example")
    finally:
        thread.join()
        server.close()


RECORD = struct.pack(">HHIH", 1, 1, 5, 4) + bytes([10, 66, 0, 1])


def test_an_answer_is_understood_whether_its_name_is_written_out_or_points_back(monkeypatch):
    for name in (b"\x01a\x07example\0", b"\xc0\x0c"):
        assert ask(monkeypatch, [name + RECORD]) == IPv4Address("10.66.0.1")


def test_a_name_without_an_address_has_none(monkeypatch):
    assert ask(monkeypatch, []) is None
