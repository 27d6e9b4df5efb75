"""The floor of a scale run: a bare client posts copies of one pod, and tells what that cost it.

The pod comes on stdin.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.measured import usage
from bench.measured.bare import PODS, Bare, all_of
from shoal.kube.objects import Object


def copies(pod: Object, count: int) -> Iterator[Object]:
    """Return so many of it; what must differ in name does."""
    for number in range(count):
        metadata = {**pod["metadata"], "name": f"w-{number}"}
        yield {**pod, "metadata": metadata, "spec": {**pod["spec"], "hostname": f"w-{number}"}}


async def run(options: argparse.Namespace) -> None:
    """Post the pods."""
    pod: Object = msgspec.json.decode(sys.stdin.buffer.read())
    where = PODS.format(options.namespace)
    async with Bare(options.kubeconfig) as bare:
        began, cpu_s = time.monotonic(), usage.cpu_s()
        await all_of(bare.post(where, one) for one in copies(pod, options.pods))
        took = {"wall_s": time.monotonic() - began, "cpu_s": usage.cpu_s() - cpu_s}
    print(json.dumps(took))


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--pods", type=int, required=True)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
