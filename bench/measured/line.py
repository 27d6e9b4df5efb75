"""A line that never waits: a stand-in for the API server whose events come as fast as one reads.

A real one on the same machine takes longer to make an event than we to take it, so each event wakes
us up on its own, and that is most of what is measured. Here the events come as they do after a lost
watch on a large machine: all at once.
"""

import argparse
import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from bench.measured import pods
from shoal.kube.objects import Object
from shoal.kubeapi.server import Tls
from shoal.runtime import certificates, clock

HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
EACH = 10  # pods of one owner
VERSION = b"VERSION"  # where a version comes
# As large as what the API server adds of its own accord.
ADDED = {"manager": "bench", "fieldsV1": {"f:x": "y" * 4500}}


class Line:
    """Serves one list and one watch of pods."""

    def __init__(self, herd: int, rounds: int) -> None:
        self._herd = herd
        self._rounds = rounds
        self._go = asyncio.Event()
        # Made beforehand: making them takes longer than taking them.
        made = (json.dumps(_pod(number)).encode() for number in range(herd))
        self._pods = [pod.partition(VERSION) for pod in made]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        url = urlsplit(request.split()[1])
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/go":
            self._go.set()
        if "watch" in asked:
            writer.write(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
            if url.path.endswith("/pods"):
                await self._go.wait()
                for event in self._events():
                    writer.write(b"%x\r\n%b\r\n" % (len(event), event))
                    await writer.drain()
            await asyncio.Event().wait()
        body = self._page(url.path, int(asked.get("continue", "0")), int(asked.get("limit", "1")))
        writer.write(f"{HEAD}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode())
        writer.write(body)
        await writer.drain()
        writer.close()

    def _page(self, path: str, start: int, limit: int) -> bytes:
        end = min(start + limit, self._herd) if path.endswith("/pods") else start
        after = str(end) if start < end < self._herd else ""
        meta = {"resourceVersion": str(self._herd), "continue": after}
        listed = b",".join(self._pod(number, 1 + number) for number in range(start, end))
        return b'{"metadata":%b,"items":[%b]}' % (json.dumps(meta).encode(), listed)

    def _events(self) -> Iterator[bytes]:
        for number in range(self._rounds * self._herd):
            pod = self._pod(number % self._herd, 1 + self._herd + number)
            yield b'{"type":"MODIFIED","object":%b}\n' % pod

    def _pod(self, number: int, version: int) -> bytes:
        head, _, tail = self._pods[number]
        return b"%b%d%b" % (head, version, tail)


def _pod(number: int) -> Object:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "controller": True, "uid": "u"}
    made = pods.pod("bench", f"w-{number}", {**owner, "name": f"flock-{number // EACH}"})
    made["metadata"] |= {"uid": str(number), "resourceVersion": VERSION.decode()}
    made["metadata"]["managedFields"] = [ADDED]
    return made


def kubeconfig(port: int, authority: bytes) -> str:
    """Return the way to the line."""
    trusted = base64.b64encode(authority).decode()
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority-data": trusted}
    return json.dumps(
        {
            "current-context": "line",
            "contexts": [{"name": "line", "context": {"cluster": "line"}}],
            "clusters": [{"name": "line", "cluster": cluster}],
        }
    )


async def run(options: argparse.Namespace) -> None:
    """Serve until killed."""
    lasts = certificates.Lifetimes()
    authority = certificates.authority(clock.now(), lasts)
    pair = certificates.issue(authority, ["127.0.0.1"], clock.now(), lasts)
    tls = Tls()
    tls.load(pair.certificate, pair.key)
    line = Line(options.herd, options.rounds)
    server = await asyncio.start_server(line.answer, "127.0.0.1", 0, ssl=tls.context)
    port = server.sockets[0].getsockname()[1]
    options.kubeconfig.write_text(kubeconfig(port, authority.certificate))
    print("up", flush=True)
    await server.serve_forever()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--herd", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=2)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
