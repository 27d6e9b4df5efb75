"""Slurm's numbers for Prometheus."""
