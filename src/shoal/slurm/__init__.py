"""Slurm's languages. Pure."""
