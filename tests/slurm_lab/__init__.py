"""Real Slurm of our own images as processes of this machine, without Kubernetes.

with Lab(provide("26.05", settings)) as lab:
    lab.run("sinfo")
"""

from .image import Images, provide
from .lab import Lab

__all__ = ["Images", "Lab", "provide"]
