"""Clusters of slurm.nebius.ai on real Kubernetes and real Slurm: what these tests share."""
