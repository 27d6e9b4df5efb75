"""The floor: a bare client posts pods, so many at once, and tells what that cost it."""

import argparse
import asyncio
import json
import time
from pathlib import Path

from bench.measured import pods, usage
from bench.measured.bare import PODS, Bare, all_of


async def run(options: argparse.Namespace) -> None:
    """Post the pods."""
    space = options.namespace
    async with Bare(options.kubeconfig) as bare:
        began, cpu_s = time.monotonic(), usage.cpu_s()
        made = (pods.pod(space, f"w-{i}") for i in range(options.pods))
        await all_of(bare.post(PODS.format(space), pod) for pod in made)
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
