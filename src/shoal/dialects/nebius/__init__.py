"""slurm.nebius.ai: a SlurmCluster with a shared root, and NodeSets of workers."""
