"""One Slurm cluster as data: what every front end produces and every renderer reads.

Pure. Frozen dataclasses only; no JSON of an API, no Kubernetes client, no clock.
"""
