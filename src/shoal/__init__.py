"""shoal runs Slurm clusters on Kubernetes."""
