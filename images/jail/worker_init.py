"""What a worker waits for before slurmd starts: `worker_init.py wait-controller`."""

import argparse
import subprocess
import sys

WAITS = {"wait-controller": "/opt/bin/slurm/wait-for-controller.sh"}

parser = argparse.ArgumentParser(description="Wait for what a worker needs.")
parser.add_argument("steps", nargs="+", choices=WAITS)
for step in parser.parse_args().steps:
    if code := subprocess.run([WAITS[step]], check=False).returncode:
        sys.exit(code)
