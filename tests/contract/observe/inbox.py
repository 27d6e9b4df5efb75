"""Where messages end up: a mail server and a webhook on this machine, which keep what they get."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Mail:
    """A message and whom it went to."""

    to: tuple[str, ...]
    message: EmailMessage


@dataclass
class Inbox:
    """All that was received."""

    mails: list[Mail] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    smtp: str = ""
    http: str = ""


class Smtp(socketserver.StreamRequestHandler):
    """As much of a mail server as it takes to get mail."""

    def handle(self) -> None:
        """Take messages until the sender is done."""
        to: list[str] = []
        self.say("220 here")
        while line := self.rfile.readline().decode().strip():
            verb = line[:4].upper()
            if verb == "RCPT":
                to.append(line.partition("<")[2].partition(">")[0])
            if verb == "DATA":
                self.say("354 go on")
                self.server.found.mails.append(Mail(tuple(to), self.body()))
            self.say("221 bye" if verb == "QUIT" else "250 ok")

    def body(self) -> EmailMessage:
        lines = iter(self.rfile.readline, b".\r\n")
        return message_from_bytes(b"".join(lines), policy=policy.default)

    def say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


class Hook(BaseHTTPRequestHandler):
    """Takes what is posted."""

    def do_POST(self) -> None:
        """Keep it."""
        size = int(self.headers["Content-Length"])
        self.server.found.calls.append(json.loads(self.rfile.read(size)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@contextmanager
def inbox() -> Iterator[Inbox]:
    """Give servers that listen."""
    found = Inbox()
    here = ("127.0.0.1", 0)
    with (
        socketserver.ThreadingTCPServer(here, Smtp) as smtp,
        ThreadingHTTPServer(here, Hook) as http,
    ):
        smtp.found = http.found = found
        threads = [threading.Thread(target=server.serve_forever) for server in (smtp, http)]
        for thread in threads:
            thread.start()
        found.smtp, found.http = (f"127.0.0.1:{s.server_address[1]}" for s in (smtp, http))
        try:
            yield found
        finally:
            smtp.shutdown()
            http.shutdown()
            for thread in threads:
                thread.join()
