"""A real Kubernetes with real Slurm images on this machine."""
